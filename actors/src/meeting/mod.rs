//! A meeting: scheduled, live, ended or cancelled, with its participants. Pure.
//!
//! ```text
//!   SCHEDULED --start--> LIVE --end--> ENDED
//!       |                  `-- update stays LIVE
//!       |-- update stays SCHEDULED
//!       `----cancel--> CANCELLED
//! ```
//!
//! Repeating start, end or cancel after it has happened changes nothing and is not an error. Any other transition that
//! is not in the diagram is refused. Modules: `state` (the meeting and its life cycle), `participant` and `people` (who
//! is in it, and how they join and leave), `presence` (who is connected), `consent` (what they agreed to).
//!
//! Only changes to the meeting itself raise its version; changes to its participants have a revision and an event of
//! their own. Deliberately absent: lengths and syntax (checked by the HTTP layer), permissions (checked by `access`).

mod command;
mod consent;
mod event;
mod participant;
mod people;
mod presence;
mod state;

pub use command::{Command, FieldChange, Newcomer, Refusal, TimeLimits};
pub use consent::{Consent, ConsentAnswer, Decision, Digest, Ledger, LedgerEntry, Scope, Wording};
pub use event::Event;
pub use participant::{Participant, ParticipantStatus, People, Presence, Role};
pub use presence::{Link, MediaSession, Observation};
pub use state::{ConsentPolicy, EndReason, Meeting, MeetingDraft, State, Status};
