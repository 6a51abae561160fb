//! Mail as jobs: written with the transaction that causes it, sent afterwards.
//!
//! A letter waits sealed, since it may hold a code or a token: a dump of the database has none. One that waits for a mail
//! server is sent once that is back, unless its time is over by then. A repeated send has the same Message-ID.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::live::{RequestId, Told};
use actors::time::{Clock, Time};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use super::{Fault, Handler, Job, Outcome, Patience, store};
use crate::db::{Conn, Failed};
use crate::keys::Secret;
pub use crate::outside::mail::{Block, Calendar, Letter, Tongue, isolated};
use crate::outside::mail::{Mail, Sending, Unsent};

const KIND: &str = "mail";
/// What the key for sealing is for.
const PURPOSE: &str = "mail";
/// A letter that can't be sent for so long is given up; mail servers themselves wait for two to five days.
const LONGEST: Duration = Duration::from_secs(3 * 24 * 3600);

/// A letter to be sent, and what is to be known of it.
#[derive(Debug, Clone)]
pub struct Mailing {
    letter: Letter,
    until: Option<Time>,
    reference: Option<Reference>,
}

/// What a letter was written for, where its sender wants to hear what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reference {
    /// A [`Delivered`]'s.
    kind: String,
    /// Of the kind's own.
    id: String,
}

impl From<Letter> for Mailing {
    fn from(letter: Letter) -> Self {
        Self { letter, until: None, reference: None }
    }
}

impl Mailing {
    /// From then on it is for nothing, and is given up.
    #[must_use]
    pub const fn until(mut self, until: Time) -> Self {
        self.until = Some(until);
        self
    }

    /// Has the [`Delivered`] of this kind told what becomes of it.
    #[must_use]
    pub fn told_to(mut self, kind: &'static str, id: impl ToString) -> Self {
        self.reference = Some(Reference { kind: kind.to_owned(), id: id.to_string() });
        self
    }
}

/// Takes letters.
#[derive(Clone)]
pub struct Post(Secret);

/// A mailing as it waits.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    letter: Letter,
    written_at: Time,
    until: Time,
    reference: Option<Reference>,
}

/// What a job's row has.
#[derive(Serialize, Deserialize)]
struct Payload {
    /// [`Waiting`] as JSON, sealed for this job's row; base64.
    sealed: String,
}

impl Post {
    #[must_use]
    pub const fn sealing_with(secret: Secret) -> Self {
        Self(secret)
    }

    /// Sends a letter once the transaction stands. Call `Jobs::wake` after it.
    ///
    /// # Errors
    /// The database's own; or the system has no chance to give.
    pub async fn send(
        &self,
        conn: &mut Conn,
        mailing: impl Into<Mailing>,
        now: Time,
        request: &RequestId,
    ) -> Result<(), Failed> {
        let id: Id<Job> = Id::draw();
        let payload = self.sealed(id, mailing.into(), now)?;
        store::enqueue_as(conn, id, KIND, &payload, now, request).await
    }

    /// As [`Self::send`], for many at once.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn send_all(
        &self,
        conn: &mut Conn,
        mailings: impl IntoIterator<Item = Mailing>,
        now: Time,
        request: &RequestId,
    ) -> Result<(), Failed> {
        let mut payloads = Vec::new();
        for mailing in mailings {
            let id: Id<Job> = Id::draw();
            payloads.push((id, self.sealed(id, mailing, now)?));
        }
        store::enqueue_all(conn, KIND, &payloads, now, request).await
    }

    fn sealed(&self, id: Id<Job>, mailing: Mailing, now: Time) -> Result<Payload, Failed> {
        let Mailing { letter, until, reference } = mailing;
        let waiting = Waiting { letter, written_at: now, until: until.unwrap_or(now + LONGEST), reference };
        let plain = serde_json::to_vec(&waiting).map_err(|error| Failed::Broken(error.to_string()))?;
        let sealed = self.0.seal(PURPOSE, id.uuid().as_bytes(), &plain);
        let sealed = sealed.map_err(|error| Failed::Broken(error.to_string()))?;
        Ok(Payload { sealed: STANDARD_NO_PAD.encode(sealed) })
    }

    /// `None`: it was sealed with another key, or changed.
    fn open(&self, job: &Job) -> Option<Waiting> {
        let payload: Payload = serde_json::from_str(&job.payload).ok()?;
        let sealed = STANDARD_NO_PAD.decode(payload.sealed).ok()?;
        let plain = self.0.open(PURPOSE, job.id.uuid().as_bytes(), &sealed)?;
        serde_json::from_slice(&plain).ok()
    }
}

/// Keeps what became of the letters that its kind of reference is on; features implement it, wiring registers it.
#[async_trait]
pub trait Delivered: Send + Sync + 'static {
    fn kind(&self) -> &'static str;
    /// In the transaction that ends the job; what it answers is told after.
    ///
    /// # Errors
    /// The database's own.
    async fn keep(
        &self,
        conn: &mut Conn,
        id: &str,
        outcome: Outcome<'_>,
        now: Time,
        request: &RequestId,
    ) -> Result<Vec<Told>, Failed>;
}

/// Sends letters.
pub struct Postman {
    mail: Arc<dyn Mail>,
    post: Post,
    clock: Arc<dyn Clock>,
    delivered: HashMap<&'static str, Arc<dyn Delivered>>,
}

impl Postman {
    #[must_use]
    pub fn new(mail: Arc<dyn Mail>, post: Post, clock: Arc<dyn Clock>) -> Self {
        Self { mail, post, clock, delivered: HashMap::new() }
    }

    #[must_use]
    pub fn telling(mut self, delivered: impl Delivered) -> Self {
        self.delivered.insert(delivered.kind(), Arc::new(delivered));
        self
    }
}

#[async_trait]
impl Handler for Postman {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// A letter's own time is its bound.
    fn patience(&self) -> Patience {
        Patience::UNTIL_DONE
    }

    fn at_once(&self) -> usize {
        2
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let waiting = self.post.open(job);
        let waiting = waiting.ok_or_else(|| Fault::Lapsed("the letter was sealed with another key".to_owned()))?;
        if self.clock.now() >= waiting.until {
            return Err(Fault::Lapsed("it is too late for this letter".to_owned()));
        }
        let id = job.id.to_string();
        let sending =
            Sending { letter: &waiting.letter, id: &id, written_at: waiting.written_at, request: &job.request };
        self.mail.send(&sending).await.map_err(|unsent| match unsent {
            Unsent::Later(why) => Fault::Again(why),
            Unsent::Away(why) => Fault::Away(why),
            Unsent::Refused(why) => Fault::Never(why),
        })
    }

    async fn ended(&self, conn: &mut Conn, job: &Job, outcome: Outcome<'_>, now: Time) -> Result<Vec<Told>, Failed> {
        let Some(reference) = self.post.open(job).and_then(|waiting| waiting.reference) else {
            return Ok(Vec::new());
        };
        match self.delivered.get(reference.kind.as_str()) {
            Some(delivered) => delivered.keep(conn, &reference.id, outcome, now, &job.request).await,
            None => Err(Failed::Broken(format!("nobody asked for mails of {}", reference.kind))),
        }
    }
}
