//! E-mails as jobs: enqueued in the transaction that causes them, sent afterwards.
//!
//! A waiting e-mail is sealed, since it may contain a code or a token: a dump of the database shows neither. An e-mail
//! that waits for a mail server is sent once that is back, unless it has expired by then. A repeated send has the same
//! Message-ID.

mod masking;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::{Clock, Time};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Serialize};

use super::model::EmailSummary;
use super::store::{self, KeyedJob};
use super::{Handler, Job, JobError, JobOutcome, JobPayload, RetryPolicy, Turns};

pub use crate::clients::mail::{Calendar, EmailBlock, EmailKind, Locale, OutgoingEmail, isolated};
use crate::clients::mail::{EmailInTransit, Mail, SendError};
use crate::db::{Conn, DbError};
use crate::keys::Secret;

pub use masking::{masked, without_addresses};

/// The purpose of the sealing key.
const PURPOSE: &str = "mail";
/// An e-mail that can't be sent for this long is given up; mail servers themselves wait for two to five days.
const MAX_RETRY_TIME: Duration = Duration::from_secs(3 * 24 * 3600);

/// An e-mail to be sent, with its expiry and the reference for its outcome.
#[derive(Debug, Clone)]
pub struct QueuedEmail {
    email: OutgoingEmail,
    until: Option<Time>,
    reference: Option<Reference>,
    /// The key of its turns; without one it is the recipient's.
    fair_key: Option<String>,
}

/// What an e-mail was written for, where its sender needs the outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reference {
    /// The kind of a [`Delivered`].
    kind: String,
    /// An id in the format of that kind.
    id: String,
}

impl From<OutgoingEmail> for QueuedEmail {
    fn from(email: OutgoingEmail) -> Self {
        Self { email, until: None, reference: None, fair_key: None }
    }
}

impl QueuedEmail {
    /// Sets the expiry: from then on the e-mail is useless, and given up.
    #[must_use]
    pub const fn until(mut self, until: Time) -> Self {
        self.until = Some(until);
        self
    }

    /// Sets the project whose e-mails it takes its turns with. Without one an e-mail is its recipient's own business.
    #[must_use]
    pub fn in_turn_of(mut self, project_id: Id<ids::Project>) -> Self {
        self.fair_key = Some(project_id.to_string());
        self
    }

    /// Sets the kind of the [`Delivered`] that records the outcome, and the id for it.
    #[must_use]
    pub fn reporting_to(mut self, kind: &'static str, id: impl ToString) -> Self {
        self.reference = Some(Reference { kind: kind.to_owned(), id: id.to_string() });
        self
    }
}

/// Enqueues e-mails.
#[derive(Clone)]
pub struct Outbox(Secret);

/// A queued e-mail in its stored form.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WaitingEmail {
    #[serde(rename = "letter")]
    email: OutgoingEmail,
    written_at: Time,
    until: Time,
    reference: Option<Reference>,
}

/// Sends an e-mail.
#[derive(Serialize, Deserialize)]
pub struct SendEmail {
    /// A [`WaitingEmail`] as JSON, sealed for this job's row; base64.
    sealed: String,
}

impl JobPayload for SendEmail {
    const KIND: &'static str = "mail";
    const TURNS: Turns = Turns::Fair;
}

impl Outbox {
    #[must_use]
    pub const fn sealing_with(secret: Secret) -> Self {
        Self(secret)
    }

    /// Enqueues an e-mail, which is sent once the transaction has committed. Call `Jobs::wake` after that.
    ///
    /// # Errors
    /// Returns the database error, or `Broken` when the e-mail can't be sealed (the system provides no randomness).
    pub async fn send(
        &self,
        conn: &mut Conn,
        email: impl Into<QueuedEmail>,
        now: Time,
        request: &RequestId,
    ) -> Result<(), DbError> {
        self.send_all(conn, [email.into()], now, request).await
    }

    /// [`Self::send`] for many e-mails.
    ///
    /// # Errors
    /// The same as [`Self::send`].
    pub async fn send_all(
        &self,
        conn: &mut Conn,
        emails: impl IntoIterator<Item = QueuedEmail>,
        now: Time,
        request: &RequestId,
    ) -> Result<(), DbError> {
        let jobs: Vec<KeyedJob<SendEmail>> =
            emails.into_iter().map(|email| self.job(email, now)).collect::<Result<_, _>>()?;
        store::enqueue_all(conn, &jobs, now, request).await
    }

    fn job(&self, email: QueuedEmail, now: Time) -> Result<KeyedJob<SendEmail>, DbError> {
        let id: Id<Job> = Id::generate();
        let QueuedEmail { email, until, reference, fair_key } = email;
        let fair_key = fair_key.unwrap_or_else(|| self.turn_of(&email.to));
        let waiting = WaitingEmail { email, written_at: now, until: until.unwrap_or(now + MAX_RETRY_TIME), reference };
        let plain = serde_json::to_vec(&waiting).map_err(|error| DbError::Broken(error.to_string()))?;
        let sealed = self.0.seal(PURPOSE, id.uuid().as_bytes(), &plain);
        let sealed = sealed.map_err(|error| DbError::Broken(error.to_string()))?;
        Ok(KeyedJob { id, fair_key, payload: SendEmail { sealed: STANDARD_NO_PAD.encode(sealed) } })
    }

    /// The key of an e-mail that is its recipient's own business: one of 256, since a poll visits key by key, and by a keyed
    /// hash, which tells nothing of the address.
    fn turn_of(&self, address: &str) -> String {
        self.0.hex("turn of a recipient", &[address.as_bytes()]).chars().take(2).collect()
    }

    /// Summarizes the e-mail of a job. Returns `None` for a job of another kind, and when the e-mail was sealed with another
    /// key.
    #[must_use]
    pub fn summary(&self, id: Id<Job>, kind: &str, payload: &str) -> Option<EmailSummary> {
        let payload = serde_json::from_str(payload).ok().filter(|_| kind == SendEmail::KIND)?;
        let email = self.open(id, &payload)?.email;
        Some(EmailSummary { kind: email.kind, recipient: masked(&email.to) })
    }

    /// Returns `None` when it was sealed with another key, or changed.
    fn open(&self, id: Id<Job>, payload: &SendEmail) -> Option<WaitingEmail> {
        let sealed = STANDARD_NO_PAD.decode(&payload.sealed).ok()?;
        let plain = self.0.open(PURPOSE, id.uuid().as_bytes(), &sealed)?;
        serde_json::from_slice(&plain).ok()
    }
}

/// Records the outcome of the e-mails whose reference is of its kind; features implement it, wiring registers it.
#[async_trait]
pub trait Delivered: Send + Sync + 'static {
    fn kind(&self) -> &'static str;
    /// Runs in the transaction that ends the job; the returned events are published after the commit.
    ///
    /// # Errors
    /// Returns the database error.
    async fn record(
        &self,
        conn: &mut Conn,
        id: &str,
        outcome: JobOutcome<'_>,
        now: Time,
        request: &RequestId,
    ) -> Result<Vec<EventRecord>, DbError>;
}

/// The handler that sends e-mails.
pub struct SendEmailHandler {
    mail: Arc<dyn Mail>,
    outbox: Outbox,
    clock: Arc<dyn Clock>,
    delivered: HashMap<&'static str, Arc<dyn Delivered>>,
}

impl SendEmailHandler {
    #[must_use]
    pub fn new(mail: Arc<dyn Mail>, outbox: Outbox, clock: Arc<dyn Clock>) -> Self {
        Self { mail, outbox, clock, delivered: HashMap::new() }
    }

    /// Adds what records the outcome of the e-mails of one kind of reference.
    #[must_use]
    pub fn recording(mut self, delivered: impl Delivered) -> Self {
        self.delivered.insert(delivered.kind(), Arc::new(delivered));
        self
    }
}

#[async_trait]
impl Handler for SendEmailHandler {
    type Payload = SendEmail;

    /// Its own expiry limits an e-mail.
    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    fn concurrency(&self) -> usize {
        2
    }

    /// The steps of a conversation with a mail server have limits of their own.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }

    async fn run(&self, job: &Job, payload: SendEmail) -> Result<(), JobError> {
        let waiting = self.outbox.open(job.id, &payload);
        let waiting =
            waiting.ok_or_else(|| JobError::Lapsed("the e-mail was encrypted with another key".to_owned()))?;
        if self.clock.now() >= waiting.until {
            return Err(JobError::Lapsed("the e-mail has expired".to_owned()));
        }
        let id = job.id.to_string();
        let sending =
            EmailInTransit { email: &waiting.email, id: &id, written_at: waiting.written_at, request: &job.request };
        self.mail.send(&sending).await.map_err(|unsent| match unsent {
            SendError::Later(why) => JobError::Again(why),
            SendError::Unavailable(why) => JobError::Unavailable(why),
            SendError::Refused(why) => JobError::Never(why),
        })
    }

    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<SendEmail>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let waiting = payload.and_then(|payload| self.outbox.open(job.id, &payload));
        let Some(reference) = waiting.and_then(|waiting| waiting.reference) else {
            return Ok(Vec::new());
        };
        match self.delivered.get(reference.kind.as_str()) {
            Some(delivered) => delivered.record(conn, &reference.id, outcome, now, &job.request).await,
            None => {
                Err(DbError::Broken(format!("nothing records the outcome of e-mails of the kind {}", reference.kind)))
            }
        }
    }
}
