//! What could grow without end, or hold up others, and does not: rows, files, computations.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::sources::sources;

/// A hand-written deletion by age is unbounded: it grows with the rows that expired since the last one completed.
#[test]
fn rows_that_expired_are_deleted_page_by_page() {
    let by_hand = Regex::new(r"(?s)diesel::delete\([^;]*?\.(?:lt|le)\(\s*(?:Some\(\s*)?At\([^;]*;").unwrap();
    let in_text = Regex::new(r#""\s*DELETE FROM"#).unwrap();
    let mut found = Vec::new();
    for source in sources("src").iter().filter(|source| source.name != "db/sweep.rs") {
        let deletions = by_hand.find_iter(&source.code).map(|found| found.as_str());
        // A deletion of one row by its key is bounded.
        let unbounded = deletions.filter(|deletion| !deletion.contains("::table.find("));
        let texts = in_text.find_iter(&source.code).map(|found| found.as_str());
        found.extend(unbounded.chain(texts).map(|what| format!("{}: {what}", source.name)));
    }
    assert!(
        found.is_empty(),
        "declare what expires as a `db::sweep::Retention`, which wiring/sweeps/mod.rs lists: {found:#?}"
    );
    let declared = Regex::new(r"\bRetention \{ table|\bRetention \{\s+table").unwrap();
    let listed = sources("src").into_iter().find(|source| source.name == "wiring/sweeps/mod.rs").unwrap().code;
    let count = |text: &str| text.matches("RETENTION").count() + text.matches("::retention(").count();
    let declaring = sources("src").iter().filter(|source| declared.is_match(&source.code)).count();
    assert_eq!(count(&listed), declaring, "each is declared in one file, and listed in wiring/sweeps/mod.rs");
}

/// What keeps the rows of each table from growing without end. A setting of `[quotas]` or `[limits]` bounds what people make;
/// what belongs to a row goes with it; the rest is deleted once its time has come.
const BOUNDS: &[(&str, &str)] = &[
    ("users", "by confirmed addresses, at limits.code_mails_of_client"),
    ("registrations", "deleted when they expire"),
    ("codes", "deleted when they expire"),
    ("reset_tokens", "deleted when they expire"),
    ("attempts", "deleted when their window is over"),
    ("external_logins", "by accounts at the provider"),
    ("login_codes", "deleted when they expire"),
    ("sessions", "deleted when they expire; begun at limits.logins"),
    ("projects", "quotas.account_projects"),
    ("members", "quotas.project_members"),
    ("project_invitations", "quotas.project_invitations"),
    ("documents", "quotas.project_documents, and bytes of project, account and installation"),
    ("document_versions", "100 a document, and as documents"),
    ("document_texts", "one a document, and bytes of project, account and installation"),
    ("glossaries", "one a project"),
    ("meetings", "quotas.project_meetings"),
    ("participants", "meetings.people"),
    ("consents", "by participants, at limits.calls"),
    ("meeting_invitations", "quotas.meeting_invitations"),
    ("former_invitation_tokens", "an invitation is sent a few times"),
    ("recordings", "recordings.per_meeting, and bytes of project, account and installation"),
    ("recording_chunks", "by the bytes and the number of chunks of a recording"),
    ("transcripts", "ten versions a recording"),
    ("transcript_segments", "by what is said in a recording; 50,000 cues in a file"),
    ("runs", "quotas.project_runs"),
    ("run_nodes", "by runs"),
    ("model_answers", "by runs and llm.run_tokens"),
    ("run_drafts", "one a run"),
    ("run_items", "20,000 a run"),
    ("run_results", "one a run"),
    ("run_findings", "20,000 a run"),
    ("run_undos", "one a run"),
    ("unadopted_projects", "one a project, deleted when a server starts"),
    ("items", "by what runs and imports find"),
    ("item_numbers", "one a kind and project"),
    ("item_pairs", "four an item"),
    ("uncompared_projects", "one a project, until its requirements are compared"),
    ("proposals", "by what runs and imports find"),
    ("proposal_texts", "by proposals"),
    ("proposal_links", "by proposals"),
    ("run_supersedes", "by proposals"),
    ("dashboard_exports", "200 a project, and bytes of project, account and installation"),
    ("item_imports", "200 a project, and bytes of project, account and installation"),
    ("approval_trails", "one a project"),
    ("approval_events", "by decisions about items, at limits.calls: an audit trail is kept"),
    ("baselines", "200 a project"),
    ("baseline_items", "by baselines and items"),
    ("review_invitations", "quotas.project_invitations"),
    ("former_review_tokens", "an invitation is sent a few times"),
    ("feedback", "limits.feedback_per_author and quotas.project_feedback"),
    ("search_passages", "by what is searched"),
    ("search_retries", "by the sources that are searched, and deleted once they are indexed"),
    ("search_words", "by what is searched"),
    ("search_pending", "by what changed since the last look"),
    ("tracker_connections", "one a project"),
    ("pending_tracker_connections", "deleted when they expire"),
    ("tracker_destinations", "one a project"),
    ("tracker_exports", "by stories that are exported, at limits.calls"),
    ("tracker_export_items", "by stories that are exported"),
    ("tracker_issues", "one a story and site"),
    ("topics", "one a project, meeting and run"),
    ("events", "so many a topic"),
    ("idempotency_keys", "deleted after a day"),
    ("jobs", "by what makes them; those that failed are deleted in time"),
    ("server_lease", "one row"),
];

/// What people can make without end fills a disk: a new table fails here until it is said what bounds it.
#[test]
fn every_table_has_a_bound() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/db/schema");
    let heads = Regex::new(r"(?m)^    ([a-z_]+) \([a-z_, ]+\) \{$").unwrap();
    let mut tables = BTreeSet::new();
    for file in fs::read_dir(schema).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        tables.extend(heads.captures_iter(&text).map(|head| head[1].to_owned()));
    }
    let bounded: BTreeSet<String> = BOUNDS.iter().map(|(table, _)| (*table).to_owned()).collect();
    assert!(tables.len() > 50, "{tables:?}");
    assert_eq!(tables, bounded);
}

/// Where a file is received without a permit, and why that is right.
const WITHOUT_PERMIT: &[(&str, &str)] = &[
    ("clients/files/mod.rs", "a copy of a bucket's object, while it is read"),
    ("clients/files/folders.rs", "a copy of a bucket's object, while it is read"),
    ("clients/files/collection.rs", "a copy of a bucket's object, while it is read"),
    ("backup/restoring.rs", "what was stored before, by the operator"),
    ("pipeline_jobs/intake.rs", "pipeline.store_bytes bounds what the pipeline service keeps"),
    ("pipeline_jobs/operations.rs", "pipeline.store_bytes bounds what the pipeline service keeps"),
];

/// Whoever writes a file that stays asks first whether there is room for it.
#[test]
fn no_file_is_received_without_a_permit() {
    let received = Regex::new(r"\.receive\(\)").unwrap();
    let permit = Regex::new(r"\b(?:QuotaPermit|StoragePermit|quotas\s*\.begin)\b").unwrap();
    let mut without = BTreeSet::new();
    for source in sources("src") {
        if received.is_match(&source.code) && !permit.is_match(&source.code) {
            without.insert(source.name);
        }
    }
    assert_eq!(without, WITHOUT_PERMIT.iter().map(|(file, _)| (*file).to_owned()).collect());
}

/// Returns the text from an opening bracket to the closing one that belongs to it.
fn bracketed(text: &str, open: char, close: char) -> &str {
    let mut depth = 0;
    for (at, sign) in text.char_indices() {
        depth += i32::from(sign == open) - i32::from(sign == close);
        if depth == 0 {
            return &text[..=at];
        }
    }
    text
}

#[test]
fn what_search_does_with_a_connection_is_look_up_and_not_compute() {
    // A computation in a read holds one of few connections meanwhile: one account's searches took them from all others.
    let computing = Regex::new(
        r"\b(passages::of_|folding::|excerpt\(|marks\(|NearWords|IndexChange::between|serde_json::|strsim::)",
    )
    .unwrap();
    let with_connection = Regex::new(r"\bfn \w+(?:<[^>]*>)?\([^{;]*conn: &mut Conn[^{;]*\{").unwrap();
    let (mut reads, mut functions) = (0, 0);
    for source in sources("src").iter().filter(|source| source.name.starts_with("reviews/search")) {
        for (at, _) in source.code.match_indices(".read(") {
            reads += 1;
            let read = bracketed(&source.code[at + ".read".len()..], '(', ')');
            assert!(!computing.is_match(read), "{} computes in a read: {read}", source.name);
        }
        for found in with_connection.find_iter(&source.code) {
            functions += 1;
            let body = bracketed(&source.code[found.end() - 1..], '{', '}');
            assert!(!computing.is_match(body), "{} computes with a connection: {}{body}", source.name, found.as_str());
        }
    }
    assert!(reads >= 9 && functions >= 15, "{reads} reads, {functions} functions: they are written in another way now");
}
