//! How a participant answers the request for consent, and whether a recording may run.

use std::collections::BTreeSet;

use super::command::Refusal;
use super::consent::{Consent, ConsentAnswer, ConsentDecision, ConsentScope, Digest, Ledger, LedgerEntry, Wording};
use super::event::Event;
use super::participant::Participant;
use super::state::{ConsentPolicy, Meeting, MeetingStatus};
use crate::ids::{self, Id};
use crate::live::Change;
use crate::time::Time;

impl Meeting {
    /// Records a participant's answer. Repeating the same answer changes nothing. The caller has already checked that
    /// the participant answers for themselves and was shown the current text.
    pub(super) fn consent(
        &self,
        who: Id<ids::Participant>,
        answer: ConsentAnswer,
        wording: Wording,
        user_agent: &str,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let participant = self.participants.get(&who).ok_or(Refusal::NoSuchParticipant)?;
        if participant.first_joined_at.is_none() {
            return Err(Refusal::NeverJoined);
        }
        if !matches!(self.status(), MeetingStatus::Live | MeetingStatus::Ended) {
            return Err(self.invalid());
        }
        let former = participant.consent.as_ref();
        let at = former.map_or(now, |former| now.max(former.at));
        let consent = match answer {
            ConsentAnswer::Grant(scopes) => Consent { decision: ConsentDecision::Granted, scopes, wording, at },
            ConsentAnswer::Decline => match former {
                Some(former) if former.decision == ConsentDecision::Granted => Consent {
                    decision: ConsentDecision::Withdrawn,
                    scopes: BTreeSet::new(),
                    wording: former.wording.clone(),
                    at,
                },
                // A refusal or withdrawal need not be repeated, even if the text has changed since.
                Some(_) => return Ok(self.unchanged()),
                None => Consent { decision: ConsentDecision::Refused, scopes: BTreeSet::new(), wording, at },
            },
        };
        if former.is_some_and(|former| (Consent { at, ..former.clone() }) == consent) {
            return Ok(self.unchanged());
        }
        let entry = LedgerEntry {
            number: self.ledger.entries + 1,
            meeting_id: self.id,
            participant_id: who,
            decision: consent.decision,
            scopes: consent.scopes.clone(),
            wording: consent.wording.clone(),
            at,
            user_agent_hash: Digest::of(user_agent),
            previous: self.ledger.head,
        };
        let mut next = self.clone();
        next.participants.put(Participant { consent: Some(consent), ..participant.clone() });
        next.ledger = Ledger { entries: entry.number, head: entry.hash() };
        Ok(next.with_events(vec![Event::Consented {
            entry: Box::new(entry),
            user_agent: user_agent.to_owned(),
            text: None,
        }]))
    }

    /// Checks whether a recording may run now. Under ALL, everyone who is in the meeting must have granted it; under
    /// NOTICE it always may.
    ///
    /// # Errors
    /// Returns the participants who have not granted it.
    pub fn may_record(&self) -> Result<(), Vec<Id<ids::Participant>>> {
        self.granted_by(ConsentScope::Recording, Participant::is_joined)
    }

    /// Checks whether a recording that was made elsewhere may be stored: everyone who ever joined must have granted it,
    /// whatever the policy.
    ///
    /// # Errors
    /// Returns the participants who have not granted it.
    pub fn may_import(&self) -> Result<(), Vec<Id<ids::Participant>>> {
        let lacking = self.lacking(ConsentScope::Recording, |one| one.first_joined_at.is_some());
        if lacking.is_empty() { Ok(()) } else { Err(lacking) }
    }

    fn granted_by(
        &self,
        scope: ConsentScope,
        selects: impl Fn(&Participant) -> bool,
    ) -> Result<(), Vec<Id<ids::Participant>>> {
        match (self.consent_policy, self.lacking(scope, selects)) {
            (ConsentPolicy::Notice, _) => Ok(()),
            (ConsentPolicy::All, lacking) if lacking.is_empty() => Ok(()),
            (ConsentPolicy::All, lacking) => Err(lacking),
        }
    }

    /// Returns those participants selected by `selects` who have not granted the scope.
    pub fn lacking(&self, scope: ConsentScope, selects: impl Fn(&Participant) -> bool) -> Vec<Id<ids::Participant>> {
        let people = self.participants.values();
        people.filter(|one| selects(one) && !one.grants(scope)).map(|one| one.id).collect()
    }
}
