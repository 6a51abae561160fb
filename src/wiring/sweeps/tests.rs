//! Tests that no sweep's transaction grows with the backlog, that no sweep reads more than is due, and that a sweep
//! that fails stops no other.

use actors::time::Time;
use tokio_util::sync::CancellationToken;

use super::retentions;
use crate::db::sweep::{self, PAGE, Retention};
use crate::db::tests::{GROUND, assert_is_by_index, on_both, plan, rows_in, run};
use crate::db::{Conn, Db, DbError};

/// Expired rows of each class.
const DUE: i64 = 2_000;
const YOUNG: i64 = 3;

fn now() -> Time {
    Time::from_millis(1_764_000_000_000).unwrap()
}

/// Returns the SQL for a row of a class, with `{at}` for its time and `{i}` for a distinguishing number. Panics for an
/// unknown class, so that a new one gets its row here.
fn row_of(over: Retention) -> &'static str {
    match (over.table, over.at) {
        ("idempotency_keys", _) => {
            "(scope, body_hash, resource_id, lease_until, created_at) SELECT 's' || {i}, 'h', {id}, {at}, {at}"
        }
        ("attempts", _) => "(id, class, key_hash, at) SELECT {id}, 'c', 'k', {at}",
        ("codes", _) => {
            "(email, purpose, code_hash, tries_left, expires_at) SELECT 'e' || ({i} / 2), 'P' || ({i} % 2), 'h', 5, {at}"
        }
        ("login_codes", _) => "(code_hash, user_id, code_challenge, expires_at) SELECT 'h' || {i}, {user}, 'c', {at}",
        ("reset_tokens", _) => "(user_id, token_hash, expires_at) SELECT id, 't' || {i}, {at}",
        ("registrations", _) => {
            "(id, email, full_name, language, password_hash, created_at) SELECT {id}, 'e' || {i}, 'N', 'en', 'h', {at}"
        }
        ("sessions", "expires_at") => {
            "(id, user_id, salt, counter, graced_counter, device, created_at, last_used_at, expires_at) \
             SELECT {id}, {user}, 's', 1, 0, 'd', {old}, {old}, {at}"
        }
        ("sessions", "revoked_at") => {
            "(id, user_id, salt, counter, graced_counter, device, created_at, last_used_at, expires_at, revoked_at) \
             SELECT {id}, {user}, 's', 1, 0, 'd', {old}, {old}, {young}, {at}"
        }
        ("jobs", _) => {
            "(id, kind, payload, request_id, run_at, attempts, failed_at, created_at) SELECT {id}, 'k', '{}', 'r', {old}, 5, {at}, {old}"
        }
        ("project_invitations", _) => {
            "(id, project_id, email, role, token_hash, invited_by_id, created_at, expires_at) \
             SELECT {id}, (SELECT id FROM projects), 'e' || {i}, 'ANALYST', 't' || {i}, {user}, {old}, {at}"
        }
        ("former_invitation_tokens", _) => {
            "(token_hash, invitation_id, replaced_at) SELECT 'f' || {i}, (SELECT id FROM meeting_invitations), {at}"
        }
        ("review_invitations", _) => {
            "(id, project_id, email, permission, token_hash, invited_by_id, send_count, last_sent_at, expires_at, lapses_at, \
             created_at) SELECT {id}, (SELECT id FROM projects), 'e' || {i}, 'VIEWER', 't' || {i}, {user}, 1, {old}, {at}, {at}, {old}"
        }
        ("item_imports", _) => {
            "(id, project_id, run_id, status, format, file_name, created_at) \
             SELECT {id}, (SELECT id FROM projects), {id}, 'READY', 'XLSX', 'n', {at}"
        }
        ("dashboard_exports", _) => {
            "(id, project_id, status, format, filters, file_name, created_at, expires_at) \
             SELECT {id}, (SELECT id FROM projects), 'READY', 'CSV', '{}', 'n', {old}, {at}"
        }
        ("pending_tracker_connections", _) => {
            "(state_hash, project_id, user_id, provider, browser_hash, verifier, expires_at) \
             SELECT 's' || {i} || {id}, (SELECT id FROM projects), {user}, 'JIRA', 'b', 'v', {at}"
        }
        ("former_review_tokens", _) => {
            "(token_hash, invitation_id, replaced_at) SELECT 'f' || {i}, (SELECT id FROM review_invitations ORDER BY \
                lapses_at DESC LIMIT 1), {at}"
        }
        ("run_nodes", _) => {
            "(run_id, attempt, node, input_hash, engine_version, output, kept_at) SELECT (SELECT id FROM runs), {i}, \
                'n', 'h', '1', '{}', {at}"
        }
        ("model_answers", _) => {
            "(run_id, question, answer, kept_at) SELECT (SELECT id FROM runs), 'q' || {i}, '{}', {at}"
        }
        (table, at) => panic!("say how a row of {table} with {at} is made, so that its sweep is tried"),
    }
}

/// Inserts `DUE` expired rows of a class, and `YOUNG` that have not expired.
async fn plant(db: &Db, over: Retention) {
    for (at, from, to) in [("{old}", 1, DUE), ("{young}", DUE + 1, DUE + YOUNG)] {
        let numbers = format!("WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {to})");
        let row =
            row_of(over).replace("{at}", at).replace("{i}", "i").replace("{user}", "(SELECT owner_id FROM projects)");
        // An account has at most one reset token, so each row needs an account of its own.
        let from_each = if over.table == "reset_tokens" {
            let user = format!(
                "{numbers} INSERT INTO users (id, email, full_name, language, created_at, updated_at) \
                 SELECT {{id}}, 'u' || i, 'U', 'en', {{old}}, {{old}} FROM n;"
            );
            run(db, &user).await;
            "n JOIN users ON users.email = 'u' || i"
        } else {
            "n"
        };
        let sql = format!("{numbers} INSERT INTO {} {row} FROM {from_each};", over.table);
        run(db, &sql).await;
    }
}

async fn all_due(db: &Db) -> Vec<Retention> {
    run(db, GROUND).await;
    for over in retentions() {
        plant(db, over).await;
    }
    retentions()
}

#[tokio::test]
async fn no_sweeps_transaction_changes_more_rows_than_a_page_however_many_are_due() {
    on_both(async |db| {
        for over in all_due(&db).await {
            let (mut before, mut pages) = (rows_in(&db, over.table).await, 0);
            let first = before;
            loop {
                let changed =
                    db.write(move |conn| Box::pin(async move { over.page(conn, now(), PAGE).await })).await.unwrap();
                let after = rows_in(&db, over.table).await;
                assert_eq!(before - after, i64::try_from(changed).unwrap(), "{over:?}");
                assert!(before - after <= PAGE, "{over:?}: {} in one transaction", before - after);
                if before == after {
                    break;
                }
                (before, pages) = (after, pages + 1);
            }
            assert_eq!((first - before, pages), (DUE, DUE / PAGE), "{over:?}: all that was due, and nothing else");
        }
    })
    .await;
}

#[tokio::test]
async fn every_sweep_finds_what_is_due_by_an_index_and_looks_at_nothing_else() {
    on_both(async |db| {
        for over in all_due(&db).await {
            let is_sqlite = db
                .read(|conn| Box::pin(async move { Ok::<_, DbError>(matches!(conn, Conn::Sqlite(_))) }))
                .await
                .unwrap();
            let sql = if is_sqlite {
                over.in_sqlite().replace("$1", "1")
            } else {
                over.in_postgres().replace("$1", "to_timestamp(1)")
            };
            assert_is_by_index(&plan(&db, &sql.replace("$2", "500")).await);
        }
    })
    .await;
}

#[tokio::test]
async fn a_class_that_fails_stops_no_other_and_other_writes_get_in_between() {
    on_both(async |db| {
        let mut classes = all_due(&db).await;
        classes.insert(0, Retention { table: "no_such_table", ..classes[0] });
        let stopping = CancellationToken::new();
        let writing = async {
            // A write that arrives after the first page has been deleted is done before the last page is.
            while rows_in(&db, classes[1].table).await == DUE + YOUNG {
                tokio::task::yield_now().await;
            }
            run(&db, "UPDATE projects SET version = 2").await;
            assert!(rows_in(&db, "run_nodes").await > YOUNG, "the sweep has not come to its end");
        };
        tokio::join!(sweep::all(&db, &classes, now(), &stopping), writing);
        for over in classes.iter().skip(1) {
            let kept = if over.table == "sessions" { 2 * YOUNG } else { YOUNG };
            assert_eq!(rows_in(&db, over.table).await, kept, "{over:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_stops_waits_for_one_page_at_most() {
    on_both(async |db| {
        let classes = all_due(&db).await;
        let stopping = CancellationToken::new();
        stopping.cancel();
        let swept = sweep::in_pages(&db, &stopping, {
            let over = classes[0];
            move |conn| Box::pin(over.page(conn, now(), PAGE))
        });
        assert_eq!(swept.await.unwrap(), 500);
        sweep::all(&db, &classes, now(), &stopping).await;
        assert_eq!(rows_in(&db, classes[0].table).await, DUE + YOUNG - PAGE);
    })
    .await;
}
