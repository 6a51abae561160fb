//! Queries of findings. They are written in batches to draft tables that nothing else reads (`run_items`, `run_drafts`), and are
//! published to the project in the transaction that completes the run.

pub mod adoption;
pub mod undo;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::dsl::{exists, max};
use diesel::upsert::excluded;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, JoinOnDsl, NullableExpressionMethods, OptionalExtension,
    QueryDsl, TextExpressionMethods,
};
use uuid::Uuid;

use crate::analysis::effects::FindingEffect;
use crate::analysis::effects::store::published_attempt;
use crate::analysis::findings::drafted::DraftedFinding;
use crate::analysis::findings::finding::merged;
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::store::change::{find_to_change, follow};
use crate::analysis::items::store::{Facts, FoundKeys, item_of};
use crate::analysis::proposals::model::{FindingReason, Proposal};
use crate::db::schema::{item_numbers, items, run_drafts, run_findings, run_items, run_results, run_undos, runs};
use crate::db::{Conn, DbError, RunQueryDsl, many};
use crate::projects::item_kind::ItemKind;

/// How many items are named in one statement.
const AT_ONCE: usize = 500;

/// An item that a run found, before it is published.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_items)]
pub struct DraftItem {
    run_id: Id<Run>,
    id: Id<()>,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    number: i64,
    text_key: String,
    item_type: String,
    priority: String,
    workflow_status: WorkflowStatus,
    search_text: String,
    body: String,
    created_at: Time,
    updated_at: Time,
    content_key: String,
}

impl DraftItem {
    #[must_use]
    pub fn new(run: &Run, facts: Facts, keys: FoundKeys, number: i64, body: String, now: Time) -> Self {
        Self {
            run_id: run.id,
            id: Id::from_uuid(facts.id),
            project_id: run.project_id,
            kind: facts.kind,
            number,
            text_key: keys.text,
            item_type: facts.item_type.to_owned(),
            priority: facts.priority.to_owned(),
            workflow_status: WorkflowStatus::NeedsReview,
            search_text: facts.search_text,
            body,
            created_at: now,
            updated_at: now,
            content_key: keys.content,
        }
    }
}

/// Inserts a batch of draft items.
pub async fn insert_items(conn: &mut Conn, items: &[DraftItem]) -> Result<(), DbError> {
    many!(conn, items, |some| diesel::insert_into(run_items::table).values(some).on_conflict_do_nothing());
    Ok(())
}

/// What a run has to say about an item. Of a run without a result it counts for nobody.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_findings)]
pub struct FindingRow {
    run_id: Id<Run>,
    attempt: i64,
    item_id: Id<()>,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    number: i64,
    effect: FindingEffect,
    reason: Option<FindingReason>,
    proposal_id: Option<Id<Proposal>>,
    /// The item as it was, if the run changes it: at least for as long as the run can be undone.
    before_body: Option<String>,
}

impl FindingRow {
    #[must_use]
    pub fn new(
        (project_id, run_id, attempt): (Id<ids::Project>, Id<Run>, i64),
        kind: ItemKind,
        number: i64,
        found: &DraftedFinding,
        before: Option<String>,
    ) -> Self {
        Self {
            run_id,
            attempt,
            item_id: Id::from_uuid(found.item_id),
            project_id,
            kind,
            number,
            effect: found.effect,
            reason: found.reason,
            proposal_id: found.proposal_id,
            before_body: before,
        }
    }
}

/// Inserts a batch of findings.
pub async fn insert_findings(conn: &mut Conn, findings: &[FindingRow]) -> Result<(), DbError> {
    many!(conn, findings, |some| diesel::insert_into(run_findings::table).values(some).on_conflict_do_nothing());
    Ok(())
}

/// Deletes the findings of a run that are not of the attempt with the result.
pub async fn forget_findings(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    let published = published_attempt(conn, run_id).await?.unwrap_or(-1);
    let others = run_findings::table.filter(run_findings::run_id.eq(run_id));
    diesel::delete(others.filter(run_findings::attempt.ne(published))).execute(conn).await?;
    Ok(())
}

/// The complete result of a run, before it is published.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_drafts)]
pub struct ResultsDraft {
    pub run_id: Id<Run>,
    pub attempt: i64,
    pub result: String,
    pub generated_at: Time,
    pub summary: Option<String>,
    pub metrics: Option<String>,
}

/// Inserts the draft, after all of its items.
pub async fn insert_draft(conn: &mut Conn, draft: ResultsDraft) -> Result<(), DbError> {
    diesel::insert_into(run_drafts::table).values(&draft).execute(conn).await?;
    Ok(())
}

/// Publishes an attempt's draft to the project, in a fixed number of statements regardless of its size. An item that somebody
/// changed since the draft was written is not overwritten: it gets the places that the run found, see [`merge_changed`]. Returns
/// `false` if there is no draft.
///
/// # Errors
/// Fails if a concurrent writer assigned the same numbers, or with another database error.
pub async fn publish(conn: &mut Conn, run: &Run, now: Time) -> Result<bool, DbError> {
    let (run_id, attempt) = (run.id, i64::from(run.attempt));
    let draft = run_drafts::table.find(run_id).filter(run_drafts::attempt.eq(attempt));
    if draft.count().get_result::<i64>(conn).await? == 0 {
        return Ok(false);
    }
    merge_changed(conn, run, now).await?;
    carry_over(conn, run).await?;
    let found = run_items::table.filter(run_items::run_id.eq(run_id)).select((
        run_items::id,
        run_items::project_id,
        run_items::run_id,
        run_items::kind,
        run_items::number,
        run_items::text_key,
        run_items::item_type,
        run_items::priority,
        run_items::workflow_status,
        run_items::search_text,
        run_items::body,
        run_items::created_at,
        run_items::updated_at,
        run_items::content_key,
    ));
    let upsert = diesel::insert_into(items::table)
        .values(found)
        .into_columns((
            items::id,
            items::project_id,
            items::run_id,
            items::kind,
            items::number,
            items::text_key,
            items::item_type,
            items::priority,
            items::workflow_status,
            items::search_text,
            items::body,
            items::created_at,
            items::updated_at,
            items::content_key,
        ))
        .on_conflict(items::id)
        .do_update()
        .set((
            items::item_type.eq(excluded(items::item_type)),
            items::priority.eq(excluded(items::priority)),
            items::search_text.eq(excluded(items::search_text)),
            items::body.eq(excluded(items::body)),
            items::updated_at.eq(excluded(items::updated_at)),
            items::content_key.eq(excluded(items::content_key)),
        ));
    let as_drafted = exists(
        run_findings::table
            .filter(run_findings::run_id.eq(run_id))
            .filter(run_findings::attempt.eq(attempt))
            .filter(run_findings::item_id.eq(items::id))
            .filter(run_findings::before_body.eq(items::body.nullable())),
    );
    // The `filter` of an insert statement; `QueryDsl` has the one for selects.
    diesel::query_dsl::methods::FilterDsl::filter(upsert, as_drafted).execute(conn).await?;
    number_items(conn, run).await?;

    diesel::delete(run_undos::table.find(run_id)).execute(conn).await?;
    diesel::delete(run_results::table.find(run_id)).execute(conn).await?;
    let result = run_drafts::table.filter(run_drafts::run_id.eq(run_id));
    let generated_at = run_drafts::generated_at;
    let result = result.select((
        run_drafts::run_id,
        run_drafts::result,
        generated_at,
        generated_at.nullable(),
        run_drafts::summary,
        run_drafts::metrics,
        run_drafts::attempt.nullable(),
    ));
    diesel::insert_into(run_results::table)
        .values(result)
        .into_columns((
            run_results::run_id,
            run_results::result,
            run_results::generated_at,
            run_results::composed_at,
            run_results::summary,
            run_results::metrics,
            run_results::attempt,
        ))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Adds the places that a run found to items that were changed since its draft was written, and leaves out those that were
/// deleted. They are few: as many as people changed in that time.
async fn merge_changed(conn: &mut Conn, run: &Run, now: Time) -> Result<(), DbError> {
    type Row = (Id<()>, ItemKind, String, Option<String>, Option<String>);
    let drafted = run_items::table
        .inner_join(
            run_findings::table
                .on(run_findings::item_id.eq(run_items::id).and(run_findings::run_id.eq(run_items::run_id))),
        )
        .left_join(items::table.on(items::id.eq(run_items::id)))
        .filter(run_items::run_id.eq(run.id))
        .filter(run_findings::attempt.eq(i64::from(run.attempt)))
        .filter(run_findings::before_body.is_not_null());
    let columns = (run_items::id, run_items::kind, run_items::body, run_findings::before_body, items::body.nullable());
    let is_changed = items::body.is_null().or(items::body.nullable().ne(run_findings::before_body));
    let changed: Vec<Row> = drafted.filter(is_changed.assume_not_null()).select(columns).load(conn).await?;
    for (id, kind, body, before, present) in changed {
        diesel::delete(run_items::table.find((run.id, id))).execute(conn).await?;
        let (Some(before), Some(_)) = (before, present) else { continue };
        let (drafted, before) = (item_of(kind, &body)?, item_of(kind, &before)?);
        let Some(mut item) = find_to_change(conn, run.project_id, id).await? else { continue };
        // What it rested on before may have been withdrawn in the meantime.
        let found: Vec<_> =
            drafted.sources().iter().filter(|source| !before.sources().contains(source)).cloned().collect();
        let sources = merged(&found, item.sources());
        if sources != item.sources() {
            item.set_sources(sources);
            item.changed_at(now);
            follow(conn, &item, now).await?;
        }
    }
    Ok(())
}

/// What an earlier attempt of a run added, the run has added, though this attempt finds it in the project.
async fn carry_over(conn: &mut Conn, run: &Run) -> Result<(), DbError> {
    let own = || run_findings::table.filter(run_findings::run_id.eq(run.id));
    let this = i64::from(run.attempt);
    let former = own().filter(run_findings::attempt.ne(this)).filter(run_findings::effect.eq(FindingEffect::Added));
    let former: Vec<Id<()>> = former.select(run_findings::item_id).load(conn).await?;
    for some in former.chunks(AT_ONCE) {
        let again = own()
            .filter(run_findings::attempt.eq(this))
            .filter(run_findings::effect.eq(FindingEffect::Confirmed))
            .filter(run_findings::item_id.eq_any(some.to_vec()));
        let added = (run_findings::effect.eq(FindingEffect::Added), run_findings::reason.eq(None::<FindingReason>));
        diesel::update(again).set(added).execute(conn).await?;
    }
    diesel::delete(own().filter(run_findings::attempt.ne(this))).execute(conn).await?;
    Ok(())
}

/// Notes the numbers of the items that a run adds as assigned.
async fn number_items(conn: &mut Conn, run: &Run) -> Result<(), DbError> {
    let last: Vec<(ItemKind, Option<i64>)> = run_items::table
        .filter(run_items::run_id.eq(run.id))
        .group_by(run_items::kind)
        .select((run_items::kind, max(run_items::number)))
        .load(conn)
        .await?;
    for (kind, last) in last {
        if let Some(last) = last {
            note_number(conn, run.project_id, kind, last).await?;
        }
    }
    Ok(())
}

/// Notes a number as assigned, with all before it.
async fn note_number(conn: &mut Conn, project_id: Id<ids::Project>, kind: ItemKind, last: i64) -> Result<(), DbError> {
    let taken = (item_numbers::project_id.eq(project_id), item_numbers::kind.eq(kind), item_numbers::last.eq(last));
    let upsert = diesel::insert_into(item_numbers::table)
        .values(taken)
        .on_conflict((item_numbers::project_id, item_numbers::kind))
        .do_update()
        .set(item_numbers::last.eq(last));
    diesel::query_dsl::methods::FilterDsl::filter(upsert, item_numbers::last.lt(last)).execute(conn).await?;
    Ok(())
}

/// Some of the items that a run changed, though nobody decided it: at most `most`.
pub async fn changed_items(conn: &mut Conn, run_id: Id<Run>, most: i64) -> Result<Vec<(ItemKind, Uuid)>, DbError> {
    let changed = run_findings::table
        .filter(run_findings::run_id.eq(run_id))
        .filter(run_findings::before_body.is_not_null())
        .filter(run_findings::effect.ne(FindingEffect::Added))
        .order((run_findings::kind.asc(), run_findings::number.asc()));
    let changed: Vec<(ItemKind, Id<()>)> =
        changed.select((run_findings::kind, run_findings::item_id)).limit(most).load(conn).await?;
    Ok(changed.into_iter().map(|(kind, id)| (kind, id.uuid())).collect())
}

/// Deletes the draft of a run.
pub async fn forget_draft(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    diesel::delete(run_items::table.filter(run_items::run_id.eq(run_id))).execute(conn).await?;
    diesel::delete(run_drafts::table.find(run_id)).execute(conn).await?;
    Ok(())
}

/// Returns the next result of a project's runs that quotes a recording: of a run with an id after `after`.
pub async fn result_quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<Run>,
) -> Result<Option<(Id<Run>, String)>, DbError> {
    let found = runs::table.inner_join(run_results::table.on(run_results::run_id.eq(runs::id)));
    let found = found.filter(runs::project_id.eq(project_id)).filter(runs::id.gt(after));
    let found = found.filter(run_results::result.like(format!("%{recording_id}%"))).order(runs::id.asc());
    Ok(found.select((runs::id, run_results::result)).first(conn).await.optional()?)
}

/// Forgets what items of a project were before runs changed them, where that quotes a recording.
pub async fn forget_former(conn: &mut Conn, project_id: Id<ids::Project>, recording_id: Uuid) -> Result<(), DbError> {
    let quoting = run_findings::table
        .filter(run_findings::project_id.eq(project_id))
        .filter(run_findings::before_body.like(format!("%{recording_id}%")));
    diesel::update(quoting).set(run_findings::before_body.eq(None::<String>)).execute(conn).await?;
    Ok(())
}

/// Stores a new result of a run, and its summary. Returns false if somebody else changed it.
pub async fn change_result(
    conn: &mut Conn,
    run_id: Id<Run>,
    was: String,
    (result, summary): (String, String),
    now: Time,
) -> Result<bool, DbError> {
    let unchanged = run_results::table.find(run_id).filter(run_results::result.eq(was));
    let changed = diesel::update(unchanged).set((
        run_results::result.eq(result),
        run_results::summary.eq(summary),
        run_results::generated_at.eq(now),
    ));
    Ok(changed.execute(conn).await? == 1)
}
