//! Random sequences of what people and later runs do to the items of a project, held against a model of the rules: each step is
//! compared with it, and so are the trail, which is verified after each step, and the baselines, at the end.

mod baselines;
mod decisions;
mod ending;
mod findings;
mod model;
mod proposals;
mod runs;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use actors::time::{Clock, SystemClock};
use serde_json::{Value, json};

use self::baselines::KeptBaseline;
use self::findings::{ExpectedFinding, FIRST_WORDINGS, NAMES, TopicWordings, text};
use self::model::{ExpectedItem, ProjectModel, id};
use super::Reviewed;
use crate::support::chance::Chance;
use crate::support::client::Request;
use crate::support::{Role, Server, User, World};

const STEPS: usize = 120;

#[derive(Debug, Clone, Copy)]
enum PlayedStep {
    Decide,
    DecideMany,
    Regenerate,
    Run,
    RunAndUndo,
    Accept,
    Dismiss,
    TakeBaseline,
}

/// Each as often as it is to come.
const STEPS_OF: [PlayedStep; 21] = [
    PlayedStep::Decide,
    PlayedStep::Decide,
    PlayedStep::Decide,
    PlayedStep::Decide,
    PlayedStep::Decide,
    PlayedStep::Decide,
    PlayedStep::Decide,
    PlayedStep::DecideMany,
    PlayedStep::DecideMany,
    PlayedStep::Regenerate,
    PlayedStep::Regenerate,
    PlayedStep::Run,
    PlayedStep::Run,
    PlayedStep::RunAndUndo,
    PlayedStep::Accept,
    PlayedStep::Accept,
    PlayedStep::Accept,
    PlayedStep::Accept,
    PlayedStep::Accept,
    PlayedStep::Dismiss,
    PlayedStep::TakeBaseline,
];

/// The version that somebody says to have seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Present,
    Another,
}

impl Seen {
    fn on(self, request: Request, version: i64) -> Request {
        match self {
            Self::Nothing => request,
            Self::Present => request.if_match(version),
            Self::Another => request.if_match(version + 3),
        }
    }
}

/// One sequence that is played.
struct Play<'w> {
    server: &'w Server,
    reviewed: Reviewed,
    /// An owner, an analyst and a manager.
    people: Vec<User>,
    /// The paths of the two documents, and what they say.
    documents: Vec<String>,
    wordings: TopicWordings,
    chance: Chance,
    number: usize,
    model: ProjectModel,
    baselines: Vec<KeptBaseline>,
    /// What was found in texts.
    findings: HashMap<String, Vec<ExpectedFinding>>,
    /// The words of all requirements and stories that were ever found.
    found_texts: BTreeSet<(bool, String)>,
    /// How often something happened, to see that the sequences are not about nothing.
    counts: BTreeMap<&'static str, usize>,
}

impl<'w> Play<'w> {
    async fn new(world: &World, server: &'w Server) -> Self {
        let ada = server.user().await;
        let project = ada.project().await;
        let people =
            vec![ada.clone(), world.member(&project, Role::Analyst).await, world.member(&project, Role::Manager).await];
        let wordings = FIRST_WORDINGS;
        let mut documents = Vec::new();
        for (document, name) in NAMES.iter().enumerate() {
            let (path, _) = ada.read(&project, name, text(&wordings, document).as_bytes()).await;
            documents.push(path);
        }
        Self {
            server,
            reviewed: Reviewed { ada, project },
            people,
            documents,
            wordings,
            chance: Chance::new(),
            number: 0,
            model: ProjectModel::default(),
            baselines: Vec::new(),
            findings: HashMap::new(),
            found_texts: BTreeSet::new(),
            counts: BTreeMap::new(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.chance.below(u64::try_from(bound).unwrap())).unwrap()
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn somebody(&mut self) -> User {
        let people = self.people.clone();
        self.one_of(&people)
    }

    /// Mostly the present version.
    fn seen(&mut self) -> Seen {
        match self.below(8) {
            0..4 => Seen::Present,
            4..7 => Seen::Nothing,
            _ => Seen::Another,
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// What stories lose when the requirements that they cover are not what they were.
    fn unsettle(&mut self, actor: &str, requirements: &[String]) {
        let shaken = self.model.unsettle(actor, requirements);
        *self.counts.entry("became suspect").or_default() += shaken;
    }

    fn path(&self, id: &str) -> String {
        let kind = if self.model.items[id].now.is_story { "user-stories" } else { "requirements" };
        self.reviewed.at(&format!("{kind}/{id}"))
    }

    /// All items of the project, by their ids.
    async fn items(&self) -> BTreeMap<String, Value> {
        let mut items = self.reviewed.items("requirements").await;
        items.extend(self.reviewed.items("user-stories").await);
        items.into_iter().map(|item| (id(&item), item)).collect()
    }

    async fn step(&mut self, step: PlayedStep) {
        match step {
            PlayedStep::Decide => self.decide().await,
            PlayedStep::DecideMany => self.decide_many().await,
            PlayedStep::Regenerate => self.regenerate().await,
            PlayedStep::Run => drop(self.run_again().await),
            PlayedStep::RunAndUndo => self.run_and_undo().await,
            PlayedStep::Accept => self.accept().await,
            PlayedStep::Dismiss => self.dismiss().await,
            PlayedStep::TakeBaseline => self.take_baseline().await,
        }
    }

    /// The project is as the rules have it, and the trail is whole.
    async fn must_agree(&self) {
        let now: BTreeMap<String, ExpectedItem> =
            self.items().await.iter().map(|(id, item)| (id.clone(), ExpectedItem::of(item))).collect();
        for (id, expected) in self.model.now() {
            assert_eq!(now.get(&id), Some(&expected), "the item {id} after {} steps", self.number);
            let is_there = |id: &String| now.get(id).is_some_and(|one| !one.is_story);
            assert!(expected.covers.iter().all(is_there), "{id} covers what is not there: {expected:?}");
        }
        assert_eq!(now.len(), self.model.items.len(), "after {} steps", self.number);
        let shown = self.reviewed.dashboard().await;
        let metrics = &shown["metrics"];
        let stories = now.values().filter(|item| item.is_story).count();
        assert_eq!(
            (&metrics["requirements"], &metrics["userStories"]),
            (&json!(now.len() - stories), &json!(stories)),
            "the specification has all of it after {} steps",
            self.number
        );
        let verification = self.reviewed.verification().await;
        let events = self.model.events.len();
        assert_eq!(
            (&verification["valid"], &verification["count"]),
            (&json!(true), &json!(events)),
            "after {} steps",
            self.number
        );
    }
}

/// A date in some days, as `YYYY-MM-DD`.
fn in_days(days: i64) -> String {
    (SystemClock.now().utc().date_naive() + chrono::Duration::days(days)).to_string()
}

on_both! {
    async fn whatever_people_and_runs_do_the_rules_hold_and_the_trail_has_all_of_it(world: World) {
        let mut play = Play::new(&world, world.server).await;
        play.run(&[0, 1]).await;
        play.must_agree().await;
        play.run_again().await;
        play.must_agree().await;
        for number in 1..=STEPS {
            play.number = number;
            let step = play.one_of(&STEPS_OF);
            play.step(step).await;
            play.must_agree().await;
        }
        play.must_have_replayable_trail().await;
        play.must_have_kept_baselines().await;
        println!("{:?}", play.counts);
    }
}
