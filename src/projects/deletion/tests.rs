//! Tests that a project of any size is deleted page by page.

use std::sync::{Arc, Mutex};

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::Meeting;
use actors::run::Run;
use actors::time::Time;
use async_trait::async_trait;
use diesel::QueryDsl;
use store::deletion::{OF_MEETING, OF_PROJECT, OF_RUN};
use tokio_util::sync::CancellationToken;

use super::super::awake::{Awake, MeetingFiles};
use super::{Emptying, store};
use crate::db::schema::projects;
use crate::db::tests::{GROUND, assert_is_by_index, on_both, plan, rows_in, run};
use crate::db::{Conn, Db, DbError, RunQueryDsl};

/// Deleted by the cascade from the row they belong to: there is one of each per owner, or their number is bounded
/// otherwise.
const FEW: [&str; 17] = [
    "run_results",
    "run_undos",
    "unadopted_projects",
    "uncompared_projects",
    "run_drafts",
    "item_numbers",
    "recordings",
    "transcripts",
    "glossaries",
    "approval_trails",
    "baselines",
    "dashboard_exports",
    "item_imports",
    "pending_tracker_connections",
    "tracker_connections",
    "tracker_destinations",
    "tracker_exports",
];
/// Deleted when a project is buried, since it has no members from then on.
const AT_ONCE: [&str; 2] = ["members", "project_invitations"];
/// Deleted in pages of their own by the project's deletion.
const BY_THEMSELVES: [&str; 3] = ["meetings", "runs", "documents"];

/// Inserts 1,200 rows into each table that can hold many rows of a project.
async fn plant(db: &Db) -> Id<ids::Project> {
    run(db, GROUND).await;
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO ";
    let rows = [
        "consents (meeting_id, number, participant_id, decision, scopes, wording_version, language, text_hash, at, user_agent_hash, \
           previous_hash, hash) SELECT meetings.id, i, {id}, 'GRANTED', '[]', '1', 'en', 'h', {old}, 'h', 'h', 'h' FROM n, meetings",
        "recordings (id, meeting_id, upload_mode, mime_type, basis, status, repairable, next_chunk, chunk_count, received_bytes, \
           upload, pauses, lacking, started_by_id, started_at) SELECT {id}, meetings.id, 'CHUNKED', 'audio/wav', 'LIVE', \
           'ACTIVE', {no}, 0, 0, 0, 0, '[]', '', created_by_id, {old} FROM n, meetings WHERE i = 1",
        "recording_chunks (recording_id, number, meeting_id, file_id, bytes, sha256, stored_at) \
         SELECT recordings.id, i, meeting_id, {id}, 1, 's', {old} FROM n, recordings",
        "transcripts (id, recording_id, number, status, engine, model, done_ms, segment_count, crashes, created_at) \
         SELECT {id}, recordings.id, 1, 'READY', 'e', 'm', 0, 1200, 0, {old} FROM n, recordings WHERE i = 1",
        "transcript_segments (transcript_id, position, meeting_id, start_ms, end_ms, text, confidence) \
         SELECT transcripts.id, i, meeting_id, 0, 1, 't', 1 FROM n, transcripts, recordings",
        "glossaries (project_id, version, entries) SELECT projects.id, 1, '[]' FROM n, projects WHERE i = 1",
        "participants (id, meeting_id, display_name, role, status) SELECT {id}, meetings.id, 'G', 'GUEST', 'LEFT' FROM n, meetings",
        "meeting_invitations (id, meeting_id, invitee_type, email, role, participant_id, token_hash, delivery, invited_by_id, \
           send_count, last_sent_at, ics_sequence, expires_at, is_expiry_chosen, created_at) \
         SELECT {id}, meetings.id, 'GUEST', 'b', 'GUEST', {id}, 't' || i, 'SENT', created_by_id, 1, {old}, 1, {old}, {no}, {old} \
         FROM n, meetings",
        "events (topic, position, kind, data, at, request_id) SELECT topic, i, 'k', '', {old}, 'r' FROM n, topics",
        "items (id, project_id, run_id, kind, number, text_key, item_type, priority, workflow_status, search_text, body, created_at, \
           updated_at) SELECT {id}, project_id, runs.id, 'REQUIREMENT', i, 't', 'T', 'P', 'W', '', '', {old}, {old} FROM n, runs",
        "run_items (run_id, id, project_id, kind, number, text_key, item_type, priority, workflow_status, search_text, body, \
           created_at, updated_at) SELECT runs.id, {id}, project_id, 'REQUIREMENT', i, 't', 'T', 'P', 'W', '', '', {old}, {old} \
         FROM n, runs",
        "proposals (id, project_id, run_id, item_id, target_type, kind, status, text_key, content_key, created_at) \
         SELECT {id}, project_id, runs.id, {id}, 'REQUIREMENT', 'NEW', 'OPEN', 't', 'c', {old} FROM n, runs",
        "approval_trails (project_id, last, head) SELECT projects.id, 1, 'h' FROM n, projects WHERE i = 1",
        "approval_events (id, project_id, number, target_type, target_id, action, actor_id, actor_salt, sealed, hash) \
         SELECT {id}, projects.id, i, 'REQUIREMENT', {id}, 'APPROVE', {id}, 's', '{}', 'h' FROM n, projects",
        "search_passages (id, project_id, kind, source_id, position, title, text) \
         SELECT i, projects.id, 'DOCUMENT', {id}, i, 't', 't' FROM n, projects",
        "search_words (project_id, word, passages) SELECT projects.id, 'word' || i, 1 FROM n, projects",
        "baselines (id, project_id, number, name, requirements, user_stories, acceptance_criteria, created_by_id, created_at) \
         SELECT {id}, projects.id, i, 'n', 0, 0, 0, owner_id, {old} FROM n, projects WHERE i = 1",
        "baseline_items (project_id, baseline_id, item_id, kind, number, body) \
         SELECT project_id, id, {id}, 'REQUIREMENT', i, '' FROM n, baselines",
        "review_invitations (id, project_id, email, permission, token_hash, invited_by_id, send_count, last_sent_at, expires_at, \
         created_at) SELECT {id}, projects.id, 'e' || i, 'VIEWER', 't' || i, owner_id, 1, {old}, {old}, {old} FROM n, projects",
        "former_review_tokens (token_hash, invitation_id, replaced_at) SELECT 'f' || email, id, {old} FROM review_invitations",
        "feedback (id, project_id, author_name, target_type, comment, status, is_read, created_at) \
         SELECT {id}, projects.id, 'N', 'SUMMARY', 'c', 'OPEN', {no}, {old} FROM n, projects",
        "tracker_exports (id, project_id, status, provider, destination, options, dry_run, total, created, updated, skipped, failed, \
           started_by_id, created_at) SELECT {id}, projects.id, 'COMPLETED', 'JIRA', '{}', '{}', {no}, 0, 0, 0, 0, 0, owner_id, {old} \
         FROM n, projects WHERE i = 1",
        "tracker_export_items (export_id, user_story_id, project_id, position, code, version, status, attempts) \
         SELECT tracker_exports.id, {id}, project_id, i, 'c', 1, 'CREATED', 1 FROM n, tracker_exports",
        "tracker_issues (user_story_id, provider, site_id, project_id, tracker_project_id, intended_at, fingerprint, is_gone) \
         SELECT {id}, 'JIRA', 's', projects.id, 'p', {old}, 'f', {no} FROM n, projects",
        "tracker_connections (project_id, provider, status, generation, sites, scopes, connected_by_id, connected_at, polled_at) \
         SELECT projects.id, 'JIRA', 'ACTIVE', 1, '[]', '[]', owner_id, {old}, {old} FROM n, projects WHERE i = 1",
        "tracker_destinations (project_id, destination) SELECT projects.id, '{}' FROM n, projects WHERE i = 1",
        "pending_tracker_connections (state_hash, project_id, user_id, provider, browser_hash, verifier, expires_at) \
         SELECT 's' || i, projects.id, owner_id, 'JIRA', 'b', 'v', {old} FROM n, projects WHERE i = 1",
        "proposal_texts (proposal_id, after_body) SELECT proposals.id, '{}' FROM n, proposals WHERE i = 1",
        "proposal_links (proposal_id, from_id, reference) SELECT proposals.id, {id}, 'REQUIREMENT' FROM n, proposals WHERE i = 1",
        "run_supersedes (run_id, proposal_id) SELECT runs.id, {id} FROM n, runs",
        "run_findings (run_id, attempt, item_id, project_id, kind, number, effect) \
         SELECT runs.id, 1, {id}, project_id, 'REQUIREMENT', i, 'ADDED' FROM n, runs",
        "run_undos (run_id, undone_at, undone_by_id) SELECT runs.id, {old}, {id} FROM n, runs WHERE i = 1",
        "unadopted_projects (project_id) SELECT projects.id FROM n, projects WHERE i = 1",
        "uncompared_projects (project_id) SELECT projects.id FROM n, projects WHERE i = 1",
        "item_pairs (id, project_id, kind, first_id, second_id, first_key, second_key, strength, confidence, reason, spans, status, \
         run_id, created_at) SELECT {id}, project_id, 'CONFLICT', items.id, items.id, 'a', 'b', 'LOW', 1, '', '[]', 'OPEN', run_id, \
         {old} FROM n, items WHERE i = 1",
        "run_nodes (run_id, attempt, node, input_hash, engine_version, output) SELECT runs.id, i, 'n', 'h', '1', '' FROM n, runs",
        "model_answers (run_id, question, answer, kept_at) SELECT runs.id, 'q' || i, '', {old} FROM n, runs",
        "documents (id, project_id, file_name, mime_type, size_bytes, sha256, status, language, uploaded_by_id, created_at) \
         SELECT {id}, projects.id, 'f', 'm', 1, 's' || i, 'READY', 'en', owner_id, {old} FROM n, projects",
        "document_texts (document_id, source_text, reader_version) SELECT id, '', '1' FROM documents, n WHERE i = 1",
        "document_versions (document_id, version, project_id, file_name, mime_type, size_bytes, sha256, status, language, \
         uploaded_by_id, created_at) SELECT documents.id, i, project_id, 'x', 'x', 1, 'x', 'READY', 'EN', uploaded_by_id, created_at \
         FROM documents, n WHERE sha256 = 's1'",
        "run_results (run_id, result, generated_at) SELECT runs.id, '', {old} FROM n, runs WHERE i = 1",
        "item_numbers (project_id, kind, last) SELECT projects.id, 'REQUIREMENT', 1 FROM n, projects WHERE i = 1",
    ];
    let found = db.read(|conn| {
        Box::pin(async move {
            let id: Id<ids::Project> = projects::table.select(projects::id).first(conn).await?;
            let meetings = store::deletion::meetings(conn, id, 9).await?;
            let runs = store::deletion::runs(conn, id, 9).await?;
            Ok::<_, DbError>((id, meetings[0], runs[0]))
        })
    });
    let (id, meeting, of_run) = found.await.unwrap();
    for topic in [format!("project:{id}"), format!("meeting:{meeting}"), format!("run:{of_run}")] {
        run(db, &format!("INSERT INTO topics (topic, epoch, last) VALUES ('{topic}', {{id}}, 1200)")).await;
    }
    for row in rows {
        run(db, &format!("{numbers}{row}")).await;
    }
    id
}

/// All foreign keys that cascade from what is deleted with a project, as (table, column, referenced table).
async fn belongings(db: &Db) -> Vec<(String, String, String)> {
    #[derive(diesel::QueryableByName)]
    struct Line {
        #[diesel(sql_type = diesel::sql_types::Text)]
        child: String,
        #[diesel(sql_type = diesel::sql_types::Text)]
        named_by: String,
        #[diesel(sql_type = diesel::sql_types::Text)]
        parent: String,
    }
    let sql = "SELECT m.name AS child, f.\"from\" AS named_by, f.\"table\" AS parent \
               FROM sqlite_master m, pragma_foreign_key_list(m.name) f \
               WHERE m.type = 'table' AND f.on_delete = 'CASCADE' \
               AND f.\"table\" IN ('projects', 'meetings', 'recordings', 'transcripts', 'runs')";
    let found = db.read(move |conn| {
        Box::pin(async move {
            let Conn::Sqlite(lite) = conn else { return Ok(Vec::new()) };
            Ok::<Vec<Line>, DbError>(lite.run(|conn| diesel::RunQueryDsl::load(diesel::sql_query(sql), conn)).await?)
        })
    });
    found.await.unwrap().into_iter().map(|line| (line.child, line.named_by, line.parent)).collect()
}

async fn hide(db: &Db, id: Id<ids::Project>) {
    db.write(move |conn| Box::pin(store::deletion::hide(conn, id))).await.unwrap();
}

/// Records what it is asked to forget.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<&'static str>>>);

/// Meetings without any files.
struct NoFiles;

#[async_trait]
impl MeetingFiles for NoFiles {
    async fn enqueue_deletion(&self, _: &mut Conn, _: Id<Meeting>, _: Time, _: &RequestId) -> Result<(), DbError> {
        Ok(())
    }
}

#[async_trait]
impl Awake for Memory {
    async fn forget_meeting(&self, _: Id<Meeting>) {
        self.0.lock().unwrap().push("meeting");
    }

    async fn forget_run(&self, _: Id<Run>) {
        self.0.lock().unwrap().push("run");
    }
}

async fn empty(db: &Db, id: Id<ids::Project>, stopping: CancellationToken) -> Result<(), DbError> {
    empty_in(db, Memory::default(), id, stopping).await
}

async fn empty_in(db: &Db, awake: Memory, id: Id<ids::Project>, stopping: CancellationToken) -> Result<(), DbError> {
    let emptying = Emptying { db: db.clone(), awake: Arc::new(awake), meeting_files: Arc::new(NoFiles), stopping, id };
    emptying.all(Time::from_millis(1_764_000_000_000).unwrap(), &"r".into()).await
}

#[tokio::test]
async fn nothing_that_there_may_be_many_of_goes_in_one_transaction_with_what_it_belongs_to() {
    on_both(async |db| {
        let id = plant(&db).await;
        for (child, named_by, parent) in belongings(&db).await {
            if AT_ONCE.contains(&child.as_str()) || FEW.contains(&child.as_str()) {
                continue;
            }
            let is_tried = BY_THEMSELVES.contains(&child.as_str()) || rows_in(&db, &child).await >= 1_200;
            assert!(is_tried, "plant rows of {child}, which go with a row of {parent}");
            let trigger = format!(
                "CREATE TRIGGER {child}_of_{parent} BEFORE DELETE ON {parent} \
                 WHEN EXISTS (SELECT 1 FROM {child} WHERE {named_by} = OLD.id) \
                 BEGIN SELECT RAISE(ABORT, '{child} go with {parent} in one transaction'); END"
            );
            run(&db, &trigger).await;
        }
        hide(&db, id).await;
        let memory = Memory::default();
        assert_eq!(empty_in(&db, memory.clone(), id, CancellationToken::new()).await, Ok(()));
        assert_eq!(*memory.0.lock().unwrap(), ["meeting", "run"], "what was awake hears of it");
        for table in [
            "projects",
            "meetings",
            "participants",
            "consents",
            "meeting_invitations",
            "documents",
            "document_versions",
            "document_texts",
            "items",
            "item_numbers",
            "runs",
            "run_nodes",
            "model_answers",
            "run_items",
            "run_findings",
            "run_undos",
            "run_results",
            "unadopted_projects",
            "uncompared_projects",
            "item_pairs",
            "approval_trails",
            "approval_events",
            "baselines",
            "baseline_items",
            "dashboard_exports",
            "item_imports",
            "review_invitations",
            "former_review_tokens",
            "feedback",
            "proposals",
            "proposal_texts",
            "proposal_links",
            "run_supersedes",
            "recording_chunks",
            "transcripts",
            "transcript_segments",
            "glossaries",
            "events",
            "topics",
        ] {
            assert_eq!(rows_in(&db, table).await, 0, "{table}");
        }
        assert_eq!(
            rows_in(&db, "jobs").await,
            60 + 60,
            "the contents of each page of documents and versions are forgotten"
        );
        assert_eq!(empty(&db, id, CancellationToken::new()).await, Ok(()), "once more does no harm");
    })
    .await;
}

#[tokio::test]
async fn what_a_server_that_stops_has_left_goes_when_it_is_begun_again() {
    on_both(async |db| {
        let id = plant(&db).await;
        assert_eq!(empty(&db, id, CancellationToken::new()).await, Ok(()));
        assert_eq!(rows_in(&db, "participants").await, 1_200, "what is not buried is not touched");
        hide(&db, id).await;
        let found = db.read(move |conn| Box::pin(store::find(conn, id))).await.unwrap();
        assert!(found.is_none(), "it is in nobody's sight from the first moment");
        let stopping = CancellationToken::new();
        stopping.cancel();
        assert!(empty(&db, id, stopping).await.is_err());
        assert_eq!((rows_in(&db, "recording_chunks").await, rows_in(&db, "meetings").await), (700, 1), "one page");
        assert_eq!(empty(&db, id, CancellationToken::new()).await, Ok(()));
        assert_eq!(rows_in(&db, "projects").await, 0);
    })
    .await;
}

#[tokio::test]
async fn what_belongs_to_something_is_found_by_an_index() {
    on_both(async |db| {
        let is_sqlite = !belongings(&db).await.is_empty();
        for part in OF_MEETING.into_iter().chain(OF_PROJECT).chain(OF_RUN) {
            let (sql, nobody) = if is_sqlite {
                (part.in_sqlite(), "x'00'")
            } else {
                (part.in_postgres(), "'00000000-0000-0000-0000-000000000000'")
            };
            assert_is_by_index(&plan(&db, &sql.replace("$1", nobody).replace("$2", "500")).await);
        }
    })
    .await;
}
