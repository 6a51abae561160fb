//! A run's access to a language model: stored answers first, then as many questions as the run's budget allows, and a
//! clock of the time that is spent on them.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::parent::ConversationError;
use super::{ANSWERS_BYTES, CHATS, ToChild};
use crate::chat::{BudgetPart, Chat, ChatAnswer, Completion, NoCompletion};
use crate::ports::{CheckpointStore, Completions};

/// How long a child that asks for answers is kept waiting, if they are not there.
const PATIENCE: Duration = Duration::from_millis(200);
/// The longest answer that is handed on, in bytes.
const MAX_ANSWER_BYTES: usize = ANSWERS_BYTES / CHATS / 8;

/// The model that runs may ask, and how much each may.
#[derive(Clone)]
pub struct ModelAccess {
    pub completions: Arc<dyn Completions>,
    pub budget: ModelBudget,
}

impl std::fmt::Debug for ModelAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelAccess").field("budget", &self.budget).finish_non_exhaustive()
    }
}

/// What one attempt of a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelBudget {
    /// Tokens of questions and answers together. Stored answers cost nothing.
    pub tokens: u64,
    /// The time for which the run waits for answers.
    pub time: Duration,
    /// How many questions of one run are asked at once.
    pub at_once: usize,
}

/// The conversation of one child with a model.
pub(super) struct ModelSession<'a> {
    access: Option<&'a ModelAccess>,
    checkpoints: &'a dyn CheckpointStore,
    waiting: Waiting,
    purse: Arc<Mutex<Purse>>,
    /// The questions under way.
    batch: Option<BoxFuture<'a, Vec<ChatAnswer>>>,
    answers: Option<Vec<ChatAnswer>>,
}

impl<'a> ModelSession<'a> {
    pub(super) fn new(access: Option<&'a ModelAccess>, checkpoints: &'a dyn CheckpointStore) -> Self {
        let left = access.map_or(0, |access| access.budget.tokens);
        let purse = Arc::new(Mutex::new(Purse { left }));
        Self { access, checkpoints, waiting: Waiting::default(), purse, batch: None, answers: None }
    }

    pub(super) fn waiting(&self) -> Waiting {
        self.waiting.clone()
    }

    /// Waits for `other`; the questions under way go on meanwhile.
    pub(super) async fn meanwhile<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        while let Some(batch) = &mut self.batch {
            tokio::select! {
                biased;
                done = &mut other => return done,
                answers = batch => self.finish(answers),
            }
        }
        other.await
    }

    /// Begins with some questions. The child must have taken the answers to the former ones.
    pub(super) fn ask(&mut self, body: &[u8], model: &str) -> Result<(), ConversationError> {
        let invalid = |what: &str| ConversationError::InvalidMessage(what.to_owned());
        if self.batch.is_some() || self.answers.is_some() {
            return Err(invalid("more before it has the answers"));
        }
        let chats: Vec<Chat> = serde_json::from_slice(body).map_err(|_| invalid("questions that are none"))?;
        if chats.len() > CHATS || chats.iter().any(|chat| chat.model != model) {
            return Err(invalid("questions that are not the run's"));
        }
        let Some(access) = self.access else {
            self.answers = Some(vec![Err(NoCompletion::NotPermitted); chats.len()]);
            return Ok(());
        };
        let asking = Asking {
            access,
            checkpoints: self.checkpoints,
            waiting: self.waiting.clone(),
            purse: Arc::clone(&self.purse),
        };
        self.waiting.begin();
        let all = async move {
            let each = stream::iter(chats).map(|chat| {
                let asking = &asking;
                async move { asking.answer(&chat).await }
            });
            each.buffered(asking.access.budget.at_once.max(1)).collect().await
        };
        self.batch = Some(all.boxed());
        Ok(())
    }

    /// Returns the answers, or that there are none yet.
    pub(super) async fn answers(&mut self) -> Result<(ToChild, String), ConversationError> {
        if self.batch.is_none() && self.answers.is_none() {
            return Err(ConversationError::InvalidMessage("that it waits for nothing".to_owned()));
        }
        self.meanwhile_until_done().await;
        let Some(answers) = self.answers.take() else { return Ok((ToChild::Pending, String::new())) };
        let body =
            serde_json::to_string(&answers).map_err(|error| ConversationError::InvalidMessage(error.to_string()))?;
        Ok((ToChild::Answered, body))
    }

    async fn meanwhile_until_done(&mut self) {
        if let Some(batch) = &mut self.batch
            && let Ok(answers) = timeout(PATIENCE, batch).await
        {
            self.finish(answers);
        }
    }

    fn finish(&mut self, answers: Vec<ChatAnswer>) {
        self.batch = None;
        self.waiting.end();
        self.answers = Some(answers);
    }
}

/// What is needed to answer one chat.
struct Asking<'a> {
    access: &'a ModelAccess,
    checkpoints: &'a dyn CheckpointStore,
    waiting: Waiting,
    purse: Arc<Mutex<Purse>>,
}

impl Asking<'_> {
    async fn answer(&self, chat: &Chat) -> ChatAnswer {
        let key = chat.key();
        if let Some(stored) = self.stored(&key).await {
            return Ok(stored);
        }
        let reserved = chat.estimated_tokens();
        if !self.purse().take(reserved) {
            return Err(NoCompletion::BudgetSpent(BudgetPart::Tokens));
        }
        let left = self.access.budget.time.saturating_sub(self.waiting.total());
        let answer =
            if left.is_zero() { None } else { timeout(left, self.access.completions.complete(chat)).await.ok() };
        let Some(answer) = answer else {
            self.purse().give_back(reserved);
            return Err(NoCompletion::BudgetSpent(BudgetPart::Time));
        };
        let used = answer.as_ref().map_or(0, |completion| completion.tokens);
        self.purse().charge(reserved, used);
        let completion = answer?;
        if completion.text.len() > MAX_ANSWER_BYTES {
            return Err(NoCompletion::Invalid("it is too long".to_owned()));
        }
        if is_worth_keeping(&completion) {
            self.store(&key, &completion).await;
        }
        Ok(completion)
    }

    fn purse(&self) -> MutexGuard<'_, Purse> {
        self.purse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn stored(&self, key: &str) -> Option<Completion> {
        match self.checkpoints.load_answer(key).await {
            Ok(stored) => {
                let completion: Completion = serde_json::from_str(&stored?).ok()?;
                Some(Completion { is_stored: true, ..completion })
            }
            Err(error) => {
                tracing::warn!(
                    why = error.0,
                    "a stored answer of the language model could not be loaded; asking again"
                );
                None
            }
        }
    }

    async fn store(&self, key: &str, completion: &Completion) {
        let Ok(written) = serde_json::to_string(completion) else { return };
        if let Err(error) = self.checkpoints.save_answer(key, &written).await {
            tracing::warn!(why = error.0, "an answer of the language model could not be stored");
        }
    }
}

/// An answer that is cut, or no JSON object, may be better the next time.
fn is_worth_keeping(completion: &Completion) -> bool {
    let start = completion.text.find('{').and_then(|start| completion.text.get(start..));
    let first = start.and_then(|text| serde_json::Deserializer::from_str(text).into_iter::<Value>().next());
    !completion.is_cut && matches!(first, Some(Ok(Value::Object(_))))
}

/// The tokens that a run may still use.
struct Purse {
    left: u64,
}

impl Purse {
    /// Takes out what a question may take at most, if there is as much.
    fn take(&mut self, tokens: u64) -> bool {
        let left = self.left.checked_sub(tokens);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn give_back(&mut self, tokens: u64) {
        self.left = self.left.saturating_add(tokens);
    }

    fn charge(&mut self, reserved: u64, used: u64) {
        self.give_back(reserved);
        self.left = self.left.saturating_sub(used);
    }
}

/// The time for which a child has waited for a model. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<WaitingTime>>);

#[derive(Debug, Default)]
struct WaitingTime {
    since: Option<Instant>,
    before: Duration,
}

impl Waiting {
    fn begin(&self) {
        self.time().since = Some(Instant::now());
    }

    fn end(&self) {
        let mut time = self.time();
        let waited = time.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        time.before += waited;
    }

    fn total(&self) -> Duration {
        let time = self.time();
        time.before + time.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn time(&self) -> MutexGuard<'_, WaitingTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns once `limit` has passed without waiting.
    pub(super) async fn time_limit(self, limit: Duration) {
        let started = Instant::now();
        loop {
            let left = (limit + self.total()).saturating_sub(started.elapsed());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}
