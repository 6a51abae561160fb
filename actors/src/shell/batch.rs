//! A batch of commands: decided one after the other, saved together, answered one by one.
//!
//! A refusal that was decided on a change which is not saved yet is only answered after that save, like the change
//! itself: what is not saved did not happen, so no command may be refused because of it.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{CommandError, CommandResult, SendOutcome, Snapshot};
use crate::live::{Change, Decided, Live, RequestId, Unsaved};
use crate::panics::caught;
use crate::time::Time;

/// The channel for the answer to one command.
pub(super) type ReplySender<L> = oneshot::Sender<SendOutcome<L>>;

/// What was decided since the last save.
pub(super) struct OpenBatch<L: Live> {
    before: Arc<Snapshot<L>>,
    /// The state after all changes.
    latest: Arc<Snapshot<L>>,
    changes: Vec<Decided<L>>,
    /// The answers to send once the changes are saved.
    waiting: Vec<(ReplySender<L>, CommandResult<L>)>,
    /// Number of decided commands, whatever their outcome. `events` is the number of events of those that changed
    /// something.
    taken: usize,
    events: usize,
}

/// The outcome of deciding a command, for the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchDecision {
    /// Accepted, whether it changes something or not.
    Taken,
    Refused,
    /// `decide` panicked or returned an inconsistent change.
    Broken(&'static str),
}

impl<L: Live> OpenBatch<L> {
    pub fn on(current: Arc<Snapshot<L>>) -> Self {
        let latest = Arc::clone(&current);
        Self { before: current, latest, changes: Vec::new(), waiting: Vec::new(), taken: 0, events: 0 }
    }

    /// Decides a command on the state after those before it, and answers it: immediately if there is nothing to save
    /// first.
    pub fn decide(
        &mut self,
        command: L::Command,
        request: RequestId,
        now: Time,
        reply_sender: ReplySender<L>,
    ) -> BatchDecision {
        self.taken += 1;
        match caught(|| self.latest.state.decide(command, now)) {
            Ok(Ok(change)) if !self.fits(&change) => {
                send(reply_sender, Err(CommandError::Broken));
                BatchDecision::Broken("a change is inconsistent")
            }
            Ok(Ok(change)) => {
                if !change.events.is_empty() {
                    self.events += change.events.len();
                    self.latest = Arc::new(Snapshot::new(change.next.clone()));
                    self.changes.push(Decided { change, request, at: now });
                }
                self.answer(reply_sender, Ok(Arc::clone(&self.latest)));
                BatchDecision::Taken
            }
            Ok(Err(refusal)) => {
                self.answer(reply_sender, Err(CommandError::Refused(refusal)));
                BatchDecision::Refused
            }
            Err(_) => {
                send(reply_sender, Err(CommandError::Broken));
                BatchDecision::Broken("deciding panicked")
            }
        }
    }

    /// Returns whether the change belongs to this entity and its revision matches its number of events.
    fn fits(&self, change: &Change<L>) -> bool {
        let before = &self.latest.state;
        let events = u64::try_from(change.events.len()).ok();
        let revision = events.and_then(|events| before.revision().checked_add(events));
        change.next.key() == before.key() && Some(change.next.revision()) == revision
    }

    fn answer(&mut self, reply_sender: ReplySender<L>, answer: CommandResult<L>) {
        if self.is_saved() {
            send(reply_sender, answer);
        } else {
            self.waiting.push((reply_sender, answer));
        }
    }

    /// Returns whether there is nothing to save.
    pub const fn is_saved(&self) -> bool {
        self.changes.is_empty()
    }

    pub const fn is_full(&self, most: usize) -> bool {
        self.taken >= most || self.events >= most
    }

    /// Splits the batch into the changes, for the journal, and what remains to be done once they are saved.
    pub fn close(self) -> (Vec<Decided<L>>, PendingBatch<L>) {
        let Self { before, latest, changes, waiting, .. } = self;
        (changes, PendingBatch { before, latest, waiting })
    }
}

/// A batch whose changes are being saved by the journal.
pub(super) struct PendingBatch<L: Live> {
    pub before: Arc<Snapshot<L>>,
    pub latest: Arc<Snapshot<L>>,
    waiting: Vec<(ReplySender<L>, CommandResult<L>)>,
}

impl<L: Live> PendingBatch<L> {
    /// Everything is saved: sends each command its own answer.
    pub fn reply_all(self) {
        for (reply_sender, answer) in self.waiting {
            send(reply_sender, answer);
        }
    }

    /// Nothing was saved, or the outcome is unknown: sends every command this error.
    pub fn reply_unsaved(self, unsaved: &Unsaved) {
        for (reply_sender, _) in self.waiting {
            send(reply_sender, Err(CommandError::Unsaved(unsaved.clone())));
        }
    }
}

fn send<L: Live>(reply_sender: ReplySender<L>, answer: CommandResult<L>) {
    // An error means that the sender dropped its future while the command was processed, which does not affect the
    // command.
    let _ = reply_sender.send(SendOutcome::Answered(answer));
}
