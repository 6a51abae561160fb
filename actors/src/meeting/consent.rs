//! What people agreed to, as evidence: a ledger that is only appended to, in which each entry is bound to the one before.
//!
//! ```text
//!   (unknown) --> GRANTED <--> WITHDRAWN
//!        `------> REFUSED --> GRANTED
//! ```
//! The ledger itself is kept by the journal; the meeting holds its head alone. Whoever holds a head can tell whether the
//! entries up to it were edited, left out, or put in another order.

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
    /// What somebody answered when asked for consent.
    Decision { Granted = "GRANTED", Refused = "REFUSED", Withdrawn = "WITHDRAWN", }
}
words! {
    /// What may be made of somebody's speech.
    Scope { Recording = "RECORDING", Transcript = "TRANSCRIPT", AiAnalysis = "AI_ANALYSIS", }
}

/// What somebody last answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub decision: Decision,
    /// What is granted; nothing unless [`Decision::Granted`].
    pub scopes: BTreeSet<Scope>,
    /// The words that were answered; of a withdrawal those that had been granted.
    pub wording: Wording,
    pub at: Time,
}

/// Which words were shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    pub version: String,
    pub language: String,
    pub text_hash: Digest,
}

/// What somebody says to the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Grant(BTreeSet<Scope>),
    Decline,
}

/// One answer in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// From 1, without a gap.
    pub number: u64,
    pub meeting_id: Id<Meeting>,
    pub participant_id: Id<ids::Participant>,
    pub decision: Decision,
    pub scopes: BTreeSet<Scope>,
    pub wording: Wording,
    pub at: Time,
    /// Of the program they answered with. Its own text is kept beside, and may be erased without breaking the chain.
    pub user_agent_hash: Digest,
    /// The hash of the entry before; of the first, [`Digest::NONE`].
    pub previous: Digest,
}

/// Where a meeting's ledger ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledger {
    pub entries: u64,
    /// The hash of the last entry.
    pub head: Digest,
}

/// A SHA-256, written as 64 hexadecimal digits.
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

impl Entry {
    /// SHA-256 over the lines `colloquy-consent-1`, previous hash, meeting, number, participant, decision, scopes (with
    /// commas), wording version, language, text hash, time, hash of the user agent; each ended by a line feed.
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

    /// Whether entries, in their order, are a whole ledger that ends at `head`.
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
    /// Writes down what somebody answered. The same again is nothing new. That it is they who answer, and that they were
    /// shown the words of today, was checked before.
    pub(super) fn consent(
        &self,
        who: Id<ids::Participant>,
        answer: Answer,
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
            Answer::Grant(scopes) => Consent { decision: Decision::Granted, scopes, wording, at },
            Answer::Decline => match former {
                Some(former) if former.decision == Decision::Granted => Consent {
                    decision: Decision::Withdrawn,
                    scopes: BTreeSet::new(),
                    wording: former.wording.clone(),
                    at,
                },
                // Whoever has said no needn't say it again, whatever the words are by now.
                Some(_) => return Ok(self.unchanged()),
                None => Consent { decision: Decision::Refused, scopes: BTreeSet::new(), wording, at },
            },
        };
        if former.is_some_and(|former| (Consent { at, ..former.clone() }) == consent) {
            return Ok(self.unchanged());
        }
        let entry = Entry {
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
        Ok(next.told(vec![Event::Consented { entry: Box::new(entry), user_agent: user_agent.to_owned() }]))
    }

    /// Whether a recording may go on now: under ALL once everyone who is in the meeting granted it.
    ///
    /// # Errors
    /// Those who have not.
    pub fn may_record(&self) -> Result<(), Vec<Id<ids::Participant>>> {
        self.granted_by(Scope::Recording, Participant::is_joined)
    }

    /// Whether what was said may be kept that was recorded otherwise: once everyone who ever joined granted it.
    ///
    /// # Errors
    /// Those who have not.
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

    /// Who of those asked has not granted it.
    pub fn lacking(&self, scope: Scope, asked: impl Fn(&Participant) -> bool) -> Vec<Id<ids::Participant>> {
        let people = self.participants.values();
        people.filter(|one| asked(one) && !one.grants(scope)).map(|one| one.id).collect()
    }
}

impl Digest {
    /// Before the first entry: 64 zeros.
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

/// The text is no SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoDigest;

impl FromStr for Digest {
    type Err = NoDigest;
    fn from_str(text: &str) -> Result<Self, NoDigest> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NoDigest);
        }
        let mut bytes = [0; 32];
        for (nth, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * nth..2 * nth + 2).ok_or(NoDigest)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NoDigest)?;
        }
        Ok(Self(bytes))
    }
}
