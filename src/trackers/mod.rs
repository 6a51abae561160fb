//! Issue trackers: a project is connected to one, and its approved user stories become issues there, exactly once.
//!
//! ```text
//! connections   who may call the tracker for a project, with sealed tokens that one process at a time refreshes
//! destinations  into which project and issue type stories go, with what the stories don't have
//! exports       a job: intent -> call -> issue id, batch by batch; what is in doubt is looked for before it is created
//! issues        which issue a story became, and how far the work on it is
//! ```
//! What differs between trackers is in `clients::trackers`, behind one trait.

pub mod audience;
pub mod connections;
pub mod destinations;
pub mod exports;
pub mod issues;
pub mod pacing;
pub mod providers;
pub mod running;
pub mod state;
pub mod token_locks;
