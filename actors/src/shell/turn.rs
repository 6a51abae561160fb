//! The commands that are taken together: decided one on another, saved at once, answered one by one.
//!
//! A refusal that was decided on a change which is not saved yet waits for that save like the change itself: what is not
//! saved did not happen, so nobody may be refused for it either.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Answer, Asked, Failure, Snapshot};
use crate::live::{Change, Decided, Live, RequestId, Unsaved};
use crate::panics::caught;
use crate::time::Time;

/// Where the answer to one command goes.
pub(super) type Back<L> = oneshot::Sender<Asked<L>>;

/// What was decided since the last save.
pub(super) struct Turn<L: Live> {
    before: Arc<Snapshot<L>>,
    /// The state after all changes.
    latest: Arc<Snapshot<L>>,
    changes: Vec<Decided<L>>,
    /// Who is answered when the changes are saved, and what.
    waiting: Vec<(Back<L>, Answer<L>)>,
    /// Commands, whatever came of them, and the events of those that changed something.
    taken: usize,
    events: usize,
}

/// What came of a command, for whoever counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// It changes something, or nothing.
    Taken,
    Refused,
    /// It panicked, or contradicted itself.
    Broken(&'static str),
}

impl<L: Live> Turn<L> {
    pub fn on(current: Arc<Snapshot<L>>) -> Self {
        let latest = Arc::clone(&current);
        Self { before: current, latest, changes: Vec::new(), waiting: Vec::new(), taken: 0, events: 0 }
    }

    /// Decides a command on the state after those before it, and answers it: at once if nothing is to be saved first.
    pub fn decide(&mut self, command: L::Command, request: RequestId, now: Time, back: Back<L>) -> Decision {
        self.taken += 1;
        match caught(|| self.latest.state.decide(command, now)) {
            Ok(Ok(change)) if !self.fits(&change) => {
                send(back, Err(Failure::Broken));
                Decision::Broken("a change contradicts itself")
            }
            Ok(Ok(change)) => {
                if !change.events.is_empty() {
                    self.events += change.events.len();
                    self.latest = Arc::new(Snapshot::new(change.next.clone()));
                    self.changes.push(Decided { change, request, at: now });
                }
                self.answer(back, Ok(Arc::clone(&self.latest)));
                Decision::Taken
            }
            Ok(Err(refusal)) => {
                self.answer(back, Err(Failure::Refused(refusal)));
                Decision::Refused
            }
            Err(_) => {
                send(back, Err(Failure::Broken));
                Decision::Broken("deciding panicked")
            }
        }
    }

    /// Whether the change is about this thing and counts its events rightly.
    fn fits(&self, change: &Change<L>) -> bool {
        let before = &self.latest.state;
        let events = u64::try_from(change.events.len()).ok();
        let revision = events.and_then(|events| before.revision().checked_add(events));
        change.next.key() == before.key() && Some(change.next.revision()) == revision
    }

    fn answer(&mut self, back: Back<L>, answer: Answer<L>) {
        if self.is_saved() {
            send(back, answer);
        } else {
            self.waiting.push((back, answer));
        }
    }

    /// Whether there is nothing to save.
    pub const fn is_saved(&self) -> bool {
        self.changes.is_empty()
    }

    pub const fn is_full(&self, most: usize) -> bool {
        self.taken >= most || self.events >= most
    }

    /// The changes, for the journal; and what is left to do when it has them.
    pub fn close(self) -> (Vec<Decided<L>>, Closed<L>) {
        let Self { before, latest, changes, waiting, .. } = self;
        (changes, Closed { before, latest, waiting })
    }
}

/// A turn whose changes are with the journal.
pub(super) struct Closed<L: Live> {
    pub before: Arc<Snapshot<L>>,
    pub latest: Arc<Snapshot<L>>,
    waiting: Vec<(Back<L>, Answer<L>)>,
}

impl<L: Live> Closed<L> {
    /// All is saved: each gets its own answer.
    pub fn tell(self) {
        for (back, answer) in self.waiting {
            send(back, answer);
        }
    }

    /// Nothing is, or nobody knows: then that is everybody's answer.
    pub fn give_up(self, unsaved: &Unsaved) {
        for (back, _) in self.waiting {
            send(back, Err(Failure::Unsaved(unsaved.clone())));
        }
    }
}

fn send<L: Live>(back: Back<L>, answer: Answer<L>) {
    // Nobody there: the sender went away while its command was under way, which changes nothing about it.
    let _ = back.send(Asked::Answered(answer));
}
