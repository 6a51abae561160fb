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

use super::Meeting;
use crate::ids::{self, Id};
use crate::time::Time;
use crate::wire_enum;

wire_enum! {
    /// The answer of a participant.
    pub enum ConsentDecision {
        Granted,
        Refused,
        Withdrawn,
        /// The host declared that everyone who can be heard in an imported recording has consented.
        Attested,
    }
}

wire_enum! {
    /// What a participant's speech may be used for.
    pub enum ConsentScope {
        Recording,
        Transcript,
        AiAnalysis,
    }
}

/// A participant's latest answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub decision: ConsentDecision,
    /// The granted scopes; empty unless [`ConsentDecision::Granted`].
    pub scopes: BTreeSet<ConsentScope>,
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
    Grant(BTreeSet<ConsentScope>),
    Decline,
}

/// One answer in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// From 1, without gaps.
    pub number: u64,
    pub meeting_id: Id<Meeting>,
    pub participant_id: Id<ids::Participant>,
    pub decision: ConsentDecision,
    pub scopes: BTreeSet<ConsentScope>,
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
    pub fn grants(&self, scope: ConsentScope) -> bool {
        self.decision == ConsentDecision::Granted && self.scopes.contains(&scope)
    }
}

impl LedgerEntry {
    /// SHA-256 over the lines `colloquy-consent-1`, previous hash, meeting, number, participant, decision, scopes
    /// (separated by commas), wording version, language, text hash, time, hash of the user agent; each terminated by a
    /// line feed.
    #[must_use]
    pub fn hash(&self) -> Digest {
        let scopes: Vec<_> = self.scopes.iter().map(|scope| scope.into_str()).collect();
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
