//! Tests of a child's questions to a language model: who may ask, how often, and what it costs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Semaphore;

use super::model::{ModelAccess, ModelBudget, ModelSession};
use super::parent::ConversationError;
use super::*;
use crate::chat::{BudgetPart, Chat, ChatAnswer, Completion, NoCompletion};
use crate::ports::{CheckpointStore, Completions, NoCheckpoints, PortUnavailable};

/// Answers as soon as it may, and counts.
struct Gate {
    may_answer: Semaphore,
    asked: AtomicUsize,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

impl Gate {
    fn new(answers: usize) -> Arc<Self> {
        let (asked, under_way, most_under_way) = Default::default();
        Arc::new(Self { may_answer: Semaphore::new(answers), asked, under_way, most_under_way })
    }
}

#[async_trait]
impl Completions for Gate {
    async fn complete(&self, chat: &Chat) -> ChatAnswer {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_under_way.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.may_answer.acquire().await.unwrap().forget();
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        let is_cut = chat.user == "cut";
        Ok(Completion { text: format!("{{\"to\": \"{}\"}}", chat.user), is_cut, tokens: 300, is_stored: false })
    }
}

/// Keeps answers in memory.
#[derive(Default)]
struct Answers(Mutex<HashMap<String, String>>);

#[async_trait]
impl CheckpointStore for Answers {
    async fn load(&self, _: Node, _: &str, _: &str) -> Result<Option<String>, PortUnavailable> {
        Ok(None)
    }
    async fn save(&self, _: Node, _: &str, _: &str, _: &str) -> Result<(), PortUnavailable> {
        Ok(())
    }
    async fn load_answer(&self, key: &str) -> Result<Option<String>, PortUnavailable> {
        Ok(self.0.lock().unwrap().get(key).cloned())
    }
    async fn save_answer(&self, key: &str, answer: &str) -> Result<(), PortUnavailable> {
        self.0.lock().unwrap().insert(key.to_owned(), answer.to_owned());
        Ok(())
    }
}

fn access(gate: &Arc<Gate>, tokens: u64, time: Duration) -> ModelAccess {
    ModelAccess { completions: Arc::clone(gate) as _, budget: ModelBudget { tokens, time, at_once: 2 } }
}

fn chat(user: &str) -> Chat {
    let (model, system, schema_name) = ("m".to_owned(), String::new(), "s".to_owned());
    Chat { model, system, user: user.to_owned(), schema_name, schema: json!({}), answer_tokens: 500 }
}

fn body(users: &[&str]) -> Vec<u8> {
    serde_json::to_vec(&users.iter().map(|user| chat(user)).collect::<Vec<_>>()).unwrap()
}

/// Asks, and awaits the answers as a child does.
async fn asked(session: &mut ModelSession<'_>, users: &[&str]) -> Vec<ChatAnswer> {
    session.ask(&body(users), "m").unwrap();
    loop {
        match session.answers().await.unwrap() {
            (ToChild::Answered, answers) => return serde_json::from_str(&answers).unwrap(),
            (ToChild::Pending, _) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn texts(answers: &[ChatAnswer]) -> Vec<String> {
    answers.iter().map(|answer| answer.as_ref().unwrap().text.clone()).collect()
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn answers_come_in_the_order_of_the_questions_two_at_once() {
    let gate = Gate::new(100);
    let access = access(&gate, 100_000, LONG);
    let mut session = ModelSession::new(Some(&access), &NoCheckpoints);
    let answers = asked(&mut session, &["a", "b", "c", "d", "e"]).await;
    assert_eq!(texts(&answers), ["a", "b", "c", "d", "e"].map(|user| format!("{{\"to\": \"{user}\"}}")));
    assert_eq!(gate.most_under_way.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn while_a_model_thinks_the_child_hears_that_it_does() {
    let gate = Gate::new(0);
    let access = access(&gate, 100_000, LONG);
    let mut session = ModelSession::new(Some(&access), &NoCheckpoints);
    session.ask(&body(&["a"]), "m").unwrap();
    let began = Instant::now();
    assert!(matches!(session.answers().await.unwrap(), (ToChild::Pending, _)));
    assert!(began.elapsed() < Duration::from_secs(1), "so that progress and cancellation get in between");
    gate.may_answer.add_permits(1);
    // Questions go on while the child says something else.
    session.meanwhile(tokio::time::sleep(Duration::from_millis(20))).await;
    assert!(matches!(session.answers().await.unwrap(), (ToChild::Answered, _)));
}

#[tokio::test]
async fn what_a_child_may_not_ask_ends_the_conversation() {
    let gate = Gate::new(100);
    let access = access(&gate, 100_000, LONG);
    let is_refused = |result: Result<(), ConversationError>| {
        assert!(matches!(result, Err(ConversationError::InvalidMessage(_))), "{result:?}");
    };
    let mut session = ModelSession::new(Some(&access), &NoCheckpoints);
    is_refused(session.ask(b"[7]", "m"));
    is_refused(session.ask(&body(&["a"]), "another model"));
    is_refused(session.ask(&body(&["a"; CHATS + 1]), "m"));
    is_refused(session.answers().await.map(|_| ()));
    session.ask(&body(&["a"]), "m").unwrap();
    is_refused(session.ask(&body(&["b"]), "m"));
    // Nobody was set up to be asked: each question is answered with that.
    let mut session = ModelSession::new(None, &NoCheckpoints);
    assert_eq!(asked(&mut session, &["a", "b"]).await, vec![Err(NoCompletion::NotPermitted); 2]);
}

#[tokio::test]
async fn tokens_are_reserved_before_a_question_and_settled_after_it() {
    let gate = Gate::new(100);
    // A question may take 500 and takes 300: of two at once the second finds 600 of 1,100.
    let access = access(&gate, 1_100, LONG);
    let mut session = ModelSession::new(Some(&access), &NoCheckpoints);
    let answers = asked(&mut session, &["a", "b", "c", "d"]).await;
    let spent = Err(NoCompletion::BudgetSpent(BudgetPart::Tokens));
    assert_eq!(answers.iter().filter(|answer| **answer == spent).count(), 2, "{answers:?}");
    assert_eq!(gate.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_stored_answer_costs_nothing_and_what_is_cut_is_not_stored() {
    let (gate, answers) = (Gate::new(100), Answers::default());
    let access = access(&gate, 1_200, LONG);
    let first = asked(&mut ModelSession::new(Some(&access), &answers), &["a", "cut"]).await;
    let mut session = ModelSession::new(Some(&access), &answers);
    let second = asked(&mut session, &["a", "a", "a", "a"]).await;
    assert_eq!(gate.asked.load(Ordering::SeqCst), 2, "nobody was asked again");
    assert!(second.iter().all(|answer| answer.as_ref().unwrap().is_stored));
    assert_eq!(texts(&second)[0], texts(&first)[0]);
    asked(&mut session, &["cut"]).await;
    assert_eq!(gate.asked.load(Ordering::SeqCst), 3, "it may be whole the next time");
}

#[tokio::test]
async fn time_for_the_model_ends_and_does_not_count_as_the_childs() {
    let gate = Gate::new(0);
    let access = access(&gate, 100_000, Duration::from_millis(400));
    let mut session = ModelSession::new(Some(&access), &NoCheckpoints);
    let limit = session.waiting().time_limit(Duration::from_millis(300));
    let asking = async {
        let answers = asked(&mut session, &["a", "b", "c"]).await;
        assert_eq!(answers, vec![Err(NoCompletion::BudgetSpent(BudgetPart::Time)); 3]);
    };
    tokio::select! {
        biased;
        () = asking => {}
        () = limit => panic!("the child's time ran while it waited"),
    }
    let began = Instant::now();
    let waiting = session.waiting();
    waiting.time_limit(Duration::from_millis(100)).await;
    assert!(began.elapsed() >= Duration::from_millis(100));
}
