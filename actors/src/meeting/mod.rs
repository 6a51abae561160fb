//! A meeting: scheduled, held, ended or cancelled, with the people in it. Pure.
//!
//! ```text
//!   SCHEDULED --start--> LIVE --end--> ENDED
//!       |                  `-- update stays LIVE
//!       |-- update stays SCHEDULED
//!       `----cancel--> CANCELLED
//! ```
//!
//! Repeating start, end or cancel where it has happened changes nothing and is no error. All else that isn't drawn
//! is refused. Modules: `state` (the meeting and its life), `participant` and `people` (who is in it, and how they come
//! and go), `presence` (who is connected), `consent` (what they agreed to).
//!
//! Only what concerns the meeting itself raises its version; what concerns its people has a revision and an event of its
//! own. Deliberately absent: lengths and syntax (checked at the door), who may (checked by `access`).

mod command;
mod consent;
mod event;
mod participant;
mod people;
mod presence;
mod state;

pub use command::{Command, Edit, Newcomer, Refusal, TimeLimits};
pub use consent::{Answer, Consent, Decision, Digest, Entry, Ledger, Scope, Wording};
pub use event::Event;
pub use participant::{Participant, ParticipantStatus, People, Presence, Role};
pub use presence::{Link, MediaSession, Seen};
pub use state::{ConsentPolicy, Draft, EndReason, Meeting, State, Status};
