//! Participants' consent, as evidence: an append-only ledger in which each entry contains the hash of the one before.
//!
//! ```text
//!   (unknown) --> GRANTED <--> WITHDRAWN
//!        `------> REFUSED --> GRANTED
//! ```
//! The ledger itself is stored by the journal; the meeting holds only its head. Anyone who has a head can check whether
//! the entries up to it were edited, left out, or reordered.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::command::Refusal;
use super::event::Event;
use super::participant::Participant;
use super::state::{ConsentPolicy, Meeting, Status};
use crate::ids::{self, Id};
use crate::live::Change;
use crate::time::Time;
use crate::words::words;

words! {
    /// A participant's answer to the request for consent.
    Decision { Granted = "GRANTED", Refused = "REFUSED", Withdrawn = "WITHDRAWN", }
}
words! {
    /// What a participant's speech may be used for.
    Scope { Recording = "RECORDING", Transcript = "TRANSCRIPT", AiAnalysis = "AI_ANALYSIS", }
}

/// A participant's latest answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub decision: Decision,
    /// The granted scopes; empty unless [`Decision::Granted`].
    pub scopes: BTreeSet<Scope>,
    /// The text that was answered; for a withdrawal, the text that had been granted.
    pub wording: Wording,
    pub at: Time,
}

/// Identifies the consent text that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    pub version: String,
    pub language: String,
    pub text_hash: Digest,
}

/// A participant's answer to the consent text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsentAnswer {
    Grant(BTreeSet<Scope>),
    Decline,
}

/// One answer in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// From 1, without gaps.
    pub number: u64,
    pub meeting_id: Id<Meeting>,
    pub participant_id: Id<ids::Participant>,
    pub decision: Decision,
    pub scopes: BTreeSet<Scope>,
    pub wording: Wording,
    pub at: Time,
    /// Hash of the user agent that sent the answer. The user agent itself is stored separately, and may be erased
    /// without breaking the chain.
    pub user_agent_hash: Digest,
    /// The hash of the previous entry; for the first one, [`Digest::NONE`].
    pub previous: Digest,
}

/// The end of a meeting's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledger {
    pub entries: u64,
    /// The hash of the last entry.
    pub head: Digest,
}

/// A SHA-256 hash, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Ledger {
    pub const EMPTY: Self = Self { entries: 0, head: Digest::NONE };
}

impl Consent {
    #[must_use]
    pub fn grants(&self, scope: Scope) -> bool {
        self.decision == Decision::Granted && self.scopes.contains(&scope)
    }
}

impl Participant {
    #[must_use]
    pub fn grants(&self, scope: Scope) -> bool {
        self.consent.as_ref().is_some_and(|consent| consent.grants(scope))
    }
}

impl LedgerEntry {
    /// SHA-256 over the lines `colloquy-consent-1`, previous hash, meeting, number, participant, decision, scopes
    /// (separated by commas), wording version, language, text hash, time, hash of the user agent; each terminated by a
    /// line feed.
    #[must_use]
    pub fn hash(&self) -> Digest {
        let scopes: Vec<_> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        let Self { number, meeting_id, participant_id, decision, wording, at, user_agent_hash, previous, .. } = self;
        let Wording { version, language, text_hash } = wording;
        Digest::of(&format!(
            "colloquy-consent-1\n{previous}\n{meeting_id}\n{number}\n{participant_id}\n{decision}\n{scopes}\n{version}\n\
             {language}\n{text_hash}\n{at}\n{user_agent_hash}\n",
            scopes = scopes.join(","),
        ))
    }

    /// Returns whether the entries, in their order, are a complete ledger that ends at `head`.
    #[must_use]
    pub fn chain(entries: &[Self], head: Ledger) -> bool {
        let mut end = Ledger::EMPTY;
        for entry in entries {
            if entry.number != end.entries + 1 || entry.previous != end.head {
                return false;
            }
            end = Ledger { entries: entry.number, head: entry.hash() };
        }
        end == head
    }
}

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
        if !matches!(self.status(), Status::Live | Status::Ended) {
            return Err(self.invalid());
        }
        let former = participant.consent.as_ref();
        let at = former.map_or(now, |former| now.max(former.at));
        let consent = match answer {
            ConsentAnswer::Grant(scopes) => Consent { decision: Decision::Granted, scopes, wording, at },
            ConsentAnswer::Decline => match former {
                Some(former) if former.decision == Decision::Granted => Consent {
                    decision: Decision::Withdrawn,
                    scopes: BTreeSet::new(),
                    wording: former.wording.clone(),
                    at,
                },
                // A refusal or withdrawal need not be repeated, even if the text has changed since.
                Some(_) => return Ok(self.unchanged()),
                None => Consent { decision: Decision::Refused, scopes: BTreeSet::new(), wording, at },
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
        Ok(next.with_events(vec![Event::Consented { entry: Box::new(entry), user_agent: user_agent.to_owned() }]))
    }

    /// Checks whether a recording may run now. Under ALL, everyone who is in the meeting must have granted it; under
    /// NOTICE it always may.
    ///
    /// # Errors
    /// Returns the participants who have not granted it.
    pub fn may_record(&self) -> Result<(), Vec<Id<ids::Participant>>> {
        self.granted_by(Scope::Recording, Participant::is_joined)
    }

    /// Checks whether a recording that was made elsewhere may be stored: everyone who ever joined must have granted it,
    /// whatever the policy.
    ///
    /// # Errors
    /// Returns the participants who have not granted it.
    pub fn may_import(&self) -> Result<(), Vec<Id<ids::Participant>>> {
        let lacking = self.lacking(Scope::Recording, |one| one.first_joined_at.is_some());
        if lacking.is_empty() { Ok(()) } else { Err(lacking) }
    }

    fn granted_by(&self, scope: Scope, asked: impl Fn(&Participant) -> bool) -> Result<(), Vec<Id<ids::Participant>>> {
        match (self.consent_policy, self.lacking(scope, asked)) {
            (ConsentPolicy::Notice, _) => Ok(()),
            (ConsentPolicy::All, lacking) if lacking.is_empty() => Ok(()),
            (ConsentPolicy::All, lacking) => Err(lacking),
        }
    }

    /// Returns those participants selected by `asked` who have not granted the scope.
    pub fn lacking(&self, scope: Scope, asked: impl Fn(&Participant) -> bool) -> Vec<Id<ids::Participant>> {
        let people = self.participants.values();
        people.filter(|one| asked(one) && !one.grants(scope)).map(|one| one.id).collect()
    }
}

impl Digest {
    /// The hash before the first entry: 64 zeros.
    pub const NONE: Self = Self([0; 32]);

    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidDigest;

impl FromStr for Digest {
    type Err = InvalidDigest;
    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (nth, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * nth..2 * nth + 2).ok_or(InvalidDigest)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| InvalidDigest)?;
        }
        Ok(Self(bytes))
    }
}
