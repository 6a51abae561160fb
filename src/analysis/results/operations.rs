//! Results: keeping what a run found, and listing a project's items.

use std::collections::{BTreeSet, HashMap};

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::model::{
    AcceptanceCriterion, ActionItem, Decision, OpenQuestion, Priority, Requirement, RequirementType, RevisionSource,
    Risk, SourceReference, UserStory, WorkflowStatus, category,
};
use super::store::{self, Facts, Filter, Item, Kind};
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::app::App;
use crate::db::Failed;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::pipeline::PipelineResult;
use crate::pipeline::result as found;

/// Items written in one transaction: what a database does in far less than its limit.
const AT_ONCE: usize = 200;

/// Keeps what a run found: its requirements and stories under their codes, then the result as a whole, which makes
/// them count. Safe to repeat: what stands there already is found by its text and keeps id and code.
///
/// # Errors
/// The database's own; then nothing counts yet.
pub async fn keep(app: &App, run: &Run, result: PipelineResult) -> Result<(), Failure> {
    let _one_at_a_time = app.runner.keeping().await;
    let now = app.now();
    let project_id = run.project_id;
    let known = app.db.read(move |conn| {
        Box::pin(async move {
            let requirements = store::all(conn, project_id, Kind::Requirement).await?;
            Ok::<_, Failed>((requirements, store::all(conn, project_id, Kind::UserStory).await?))
        })
    });
    let (requirements, stories) = known.await?;
    let requirements = Known::of(requirements, result.requirements.iter().map(|found| found.key.as_str()));
    let stories = Known::of(stories, result.user_stories.iter().map(|found| found.key.as_str()));

    let made: Vec<Requirement> =
        result.requirements.into_iter().map(|found| requirement(found, &requirements, run, now)).collect();
    let made = write(app, run, Kind::Requirement, made, &requirements, now).await?;
    let told: Vec<UserStory> =
        result.user_stories.into_iter().map(|found| story(found, &stories, &requirements, run, now)).collect();
    let told = write(app, run, Kind::UserStory, told, &stories, now).await?;

    let dashboard = ResultsDashboard {
        project_id,
        run_id: Some(run.id),
        generated_at: now,
        summary: result.summary.into(),
        requirements: made,
        user_stories: told,
        risks: numbered(result.risks, risk),
        open_questions: numbered(result.open_questions, open_question),
        action_items: numbered(result.action_items, action_item),
        metrics: result.metrics.into(),
        quality: result.quality.into(),
        artifacts: Vec::new(),
        exports: Vec::new(),
        decisions: numbered(result.decisions, decision),
    };
    let text = serde_json::to_string(&dashboard).map_err(Failure::internal)?;
    let run_id = run.id;
    let kept = app.db.write(move |conn| Box::pin(store::keep_result(conn, run_id, text, now))).await;
    kept.map_err(Failure::from)
}

/// The items of a kind that a project has, by their text, and the ids of those that are new.
struct Known {
    items: HashMap<String, Item>,
    ids: HashMap<String, Uuid>,
}

impl Known {
    fn of<'a>(items: Vec<Item>, found: impl Iterator<Item = &'a str>) -> Self {
        let items: HashMap<String, Item> = items.into_iter().map(|item| (item.text_key.clone(), item)).collect();
        let id = |key: &str| items.get(key).map_or_else(|| Id::<()>::draw().uuid(), |item| item.id.0.uuid());
        let ids = found.map(|key| (key.to_owned(), id(key))).collect();
        Self { items, ids }
    }

    /// `None`: the run found no such item.
    fn id(&self, key: &str) -> Option<Uuid> {
        self.ids.get(key).copied()
    }

    /// The id of an item that was found: each has one since [`Known::of`].
    fn own_id(&self, key: &str) -> Uuid {
        self.id(key).unwrap_or_else(|| Id::<()>::draw().uuid())
    }

    /// The item as it stands, if it does and can be read.
    fn standing<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.items.get(key).and_then(|item| serde_json::from_str(&item.body).ok())
    }
}

/// What both kinds of items have.
trait Coded: serde::Serialize + Clone + Send + 'static {
    fn facts(&self) -> Facts;
    fn set_code(&mut self, code: String);
}

/// Writes items in portions; new ones get the next numbers in their order.
async fn write<T: Coded>(
    app: &App,
    run: &Run,
    kind: Kind,
    mut made: Vec<T>,
    known: &Known,
    now: Time,
) -> Result<Vec<T>, Failure> {
    let keys: HashMap<Uuid, &str> = known.ids.iter().map(|(key, id)| (*id, key.as_str())).collect();
    for portion in made.chunks_mut(AT_ONCE) {
        let mut rows = Vec::with_capacity(portion.len());
        for item in portion.iter() {
            let mut facts = item.facts();
            facts.text_key = keys.get(&facts.id).map(|key| (*key).to_owned()).unwrap_or_default();
            let number = known.items.get(&facts.text_key).map(|item| item.number);
            rows.push((facts, number, item.clone()));
        }
        let run = run.clone();
        let written = app.db.write(move |conn| {
            Box::pin(async move {
                let new = rows.iter().filter(|(_, number, _)| number.is_none()).count();
                let new = i64::try_from(new).unwrap_or(i64::MAX);
                let mut next = if new > 0 { store::take_numbers(conn, run.project_id, kind, new).await? } else { 0 };
                let mut codes = Vec::with_capacity(rows.len());
                for (facts, number, mut item) in rows {
                    let code = kind.code(number.unwrap_or(next));
                    item.set_code(code.clone());
                    let body = serde_json::to_string(&item).map_err(|error| Failed::Broken(error.to_string()))?;
                    if number.is_some() {
                        store::refresh(conn, &facts, body, now).await?;
                    } else {
                        store::insert(conn, &run, &facts, next, body, now).await?;
                        next += 1;
                    }
                    codes.push(code);
                }
                Ok::<_, Failed>(codes)
            })
        });
        for (item, code) in portion.iter_mut().zip(written.await?) {
            item.set_code(code);
        }
    }
    Ok(made)
}

impl Coded for Requirement {
    fn facts(&self) -> Facts {
        Facts {
            id: self.id,
            kind: Kind::Requirement,
            text_key: String::new(),
            item_type: self.kind.as_str(),
            priority: self.priority.as_str(),
            search_text: format!("{} {}", self.title, self.statement).to_lowercase(),
        }
    }
    fn set_code(&mut self, code: String) {
        self.code = code;
    }
}

impl Coded for UserStory {
    fn facts(&self) -> Facts {
        Facts {
            id: self.id,
            kind: Kind::UserStory,
            text_key: String::new(),
            item_type: "",
            priority: self.priority.as_str(),
            search_text: format!("{} {}", self.title, self.description).to_lowercase(),
        }
    }
    fn set_code(&mut self, code: String) {
        self.code = code;
    }
}

/// Sources found now, and those of other documents that were found before.
fn merged(now: Vec<found::SourceReference>, before: Vec<SourceReference>) -> Vec<SourceReference> {
    let mut sources: Vec<SourceReference> = now.into_iter().map(SourceReference::from).collect();
    let of = |source: &SourceReference| source.document_id.or(source.recording_id);
    let seen: BTreeSet<_> = sources.iter().map(of).collect();
    sources.extend(before.into_iter().filter(|source| !seen.contains(&of(source))));
    sources
}

fn requirement(found: found::Requirement, known: &Known, run: &Run, now: Time) -> Requirement {
    let standing: Option<Requirement> = known.standing(&found.key);
    let (created_at, run_id, before) =
        standing.map_or((now, run.id, Vec::new()), |standing| (standing.created_at, standing.run_id, standing.sources));
    Requirement {
        id: known.own_id(&found.key),
        code: String::new(),
        kind: RequirementType::from(found.kind),
        category: category(found.category),
        title: found.title,
        statement: found.statement,
        priority: Priority::from(found.priority),
        confidence: found.confidence,
        workflow_status: WorkflowStatus::NeedsReview,
        quality_issues: found.quality_issues.into_iter().map(Into::into).collect(),
        sources: merged(found.sources, before),
        duplicate_of: found.duplicate_of.and_then(|key| known.id(&key)),
        conflicts_with: found.conflicts_with.iter().filter_map(|key| known.id(key)).collect(),
        version: 1,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        run_id,
        created_at,
        updated_at: now,
    }
}

fn story(found: found::UserStory, known: &Known, requirements: &Known, run: &Run, now: Time) -> UserStory {
    let standing: Option<UserStory> = known.standing(&found.key);
    let (created_at, run_id, before, criteria) = standing.map_or((now, run.id, Vec::new(), Vec::new()), |standing| {
        (standing.created_at, standing.run_id, standing.sources, standing.acceptance_criteria)
    });
    let criterion = |(position, found): (usize, found::AcceptanceCriterion)| AcceptanceCriterion {
        id: criteria.iter().find(|one| one.text == found.text).map_or_else(|| Id::<()>::draw().uuid(), |one| one.id),
        code: format!("AC-{:03}", position + 1),
        text: found.text,
        given: found.given,
        when: found.when,
        then: found.then,
    };
    UserStory {
        id: known.own_id(&found.key),
        code: String::new(),
        requirement_ids: found.requirement_keys.iter().filter_map(|key| requirements.id(key)).collect(),
        title: found.title,
        role: found.role,
        goal: found.goal,
        benefit: found.benefit,
        description: found.description,
        priority: Priority::from(found.priority),
        acceptance_criteria: found.acceptance_criteria.into_iter().enumerate().map(criterion).collect(),
        workflow_status: WorkflowStatus::NeedsReview,
        quality_score: found.quality_score,
        quality_issues: found.quality_issues.into_iter().map(Into::into).collect(),
        sources: merged(found.sources, before),
        version: 1,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        tracker_issue: None,
        run_id,
        created_at,
        updated_at: now,
    }
}

/// What has codes of its run alone: from 1, in order.
fn numbered<F, T>(found: Vec<F>, make: impl Fn(F, Uuid, usize) -> T) -> Vec<T> {
    found.into_iter().enumerate().map(|(position, found)| make(found, Id::<()>::draw().uuid(), position + 1)).collect()
}

fn references(sources: Vec<found::SourceReference>) -> Vec<SourceReference> {
    sources.into_iter().map(Into::into).collect()
}

fn risk(found: found::Risk, id: Uuid, number: usize) -> Risk {
    Risk {
        id,
        code: format!("RISK-{number:03}"),
        title: found.title,
        description: found.description,
        severity: found.severity.into(),
        likelihood: found.likelihood.into(),
        mitigation: found.mitigation,
        sources: references(found.sources),
    }
}

fn open_question(found: found::OpenQuestion, id: Uuid, number: usize) -> OpenQuestion {
    OpenQuestion {
        id,
        code: format!("Q-{number:03}"),
        question: found.question,
        why: found.why,
        raised_by: found.raised_by,
        sources: references(found.sources),
    }
}

fn action_item(found: found::ActionItem, id: Uuid, number: usize) -> ActionItem {
    ActionItem {
        id,
        code: format!("ACT-{number:03}"),
        text: found.text,
        assignee: found.assignee,
        due_date: found.due_date,
        sources: references(found.sources),
    }
}

fn decision(found: found::Decision, id: Uuid, number: usize) -> Decision {
    Decision { id, code: format!("DEC-{number:03}"), text: found.text, sources: references(found.sources) }
}

/// A project's items of a kind, newest first.
///
/// # Errors
/// The database's own.
pub async fn list<T: DeserializeOwned>(
    app: &App,
    project_id: Id<ids::Project>,
    kind: Kind,
    filter: Filter,
    page: Page,
) -> Result<List<T>, Failure> {
    let found =
        app.db.read(move |conn| Box::pin(async move { store::list(conn, project_id, kind, &filter, &page).await }));
    let (found, total_count) = found.await.map_err(|failed: Failed| Failure::from(failed))?;
    let (found, next_cursor) = page.cut(found, |(id, _)| *id);
    let items = found.iter().map(|(_, body)| serde_json::from_str(body));
    Ok(List { items: items.collect::<Result<_, _>>().map_err(Failure::internal)?, next_cursor, total_count })
}
