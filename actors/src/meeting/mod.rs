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
//! is refused. Deliberately absent: lengths and syntax (checked at the door), who may (checked by `access`).

mod command;
mod event;
mod state;

pub use command::{Command, Edit, Refusal};
pub use event::Event;
pub use state::{
    ConsentPolicy, Draft, EndReason, Meeting, Participant, ParticipantStatus, Presence, Role, State, Status,
};
