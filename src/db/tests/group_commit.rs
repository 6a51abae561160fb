//! Saves that wait on PostgreSQL share a transaction, and each of them ends as if it had been alone. On SQLite they end
//! the same way.

use std::future::Future;
use std::sync::Arc;

use actors::ids::Id;
use actors::live::{Batch, Decided, EventRecord, Journal, Live, Unsaved};
use actors::meeting::{Command, ConsentPolicy, EndReason, Meeting, MeetingDraft, MeetingEdit};
use actors::time::{SystemClock, Time};
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::{join_all, poll_immediate};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::schema::{events, meetings, projects};
use super::super::{Db, DbError, DbSettings, InstanceLease, RunQueryDsl};
use super::doubts::{Begun, begin};
use super::postgres::Cluster;
use super::{GROUND, Opened, make_things, postgres, rows_in, run, sqlite};
use crate::jobs::Jobs;
use crate::meetings::journal::{MeetingJournal, MeetingTables};
use crate::meetings::store::insert;

/// Databases that run one job at a time.
async fn one_by_one() -> (Vec<Db>, Opened) {
    let opened = sqlite(|settings| settings).await;
    let mut all = vec![opened.db.clone()];
    if let Some(url) = postgres::schema().unwrap() {
        let db = Db::open(DbSettings { connections: 1, ..DbSettings::at(url) }).await.unwrap();
        make_things(&db).await;
        all.push(db);
    }
    (all, opened)
}

fn now() -> Time {
    Time::from_millis(1_764_000_000_123).unwrap()
}

fn journal(db: &Db) -> MeetingJournal {
    let jobs = Jobs::by(Arc::new(SystemClock));
    MeetingJournal::new(db.clone(), MeetingTables { app_url: String::new(), jobs, has_rooms: false })
}

/// Stores new meetings.
async fn meetings(db: &Db, count: usize) -> Vec<Meeting> {
    run(db, GROUND).await;
    let stored = db.write(move |conn| {
        Box::pin(async move {
            let (project_id, owner_id): (Id<_>, Id<_>) =
                projects::table.select((projects::id, projects::owner_id)).first(conn).await?;
            let mut meetings = Vec::new();
            for _ in 0..count {
                let draft = MeetingDraft {
                    id: Id::generate(),
                    project_id,
                    title: "before".to_owned(),
                    description: String::new(),
                    scheduled_at: now().into(),
                    consent_policy: ConsentPolicy::All,
                    created_by: owner_id,
                    host: Id::generate(),
                    host_name: "A".to_owned(),
                    host_email: None,
                };
                let meeting = Meeting::schedule(draft, now());
                insert(conn, &meeting).await?;
                meetings.push(meeting);
            }
            Ok::<_, DbError>(meetings)
        })
    });
    stored.await.unwrap()
}

/// A change of a meeting's title.
fn renamed(before: &Meeting) -> Arc<Batch<Meeting>> {
    changed(
        before,
        Command::Update {
            edit: MeetingEdit { title: Some("after".to_owned()), ..MeetingEdit::default() },
            if_match: None,
        },
    )
}

fn changed(before: &Meeting, command: Command) -> Arc<Batch<Meeting>> {
    let change = before.decide(command, now()).unwrap();
    let decided = Decided { change, request: "test".into(), at: now() };
    Arc::new(Batch { before: before.clone(), changes: vec![decided] })
}

type Saved = Result<Vec<EventRecord>, Unsaved>;

/// Has all saves wait until the last of them does, then lets them go.
async fn together<S: Future<Output = Saved>>(db: &Db, first: &str, saves: impl IntoIterator<Item = S>) -> Vec<Saved> {
    let Begun { go, caller } = begin(db, first).await;
    let mut saves = Box::pin(join_all(saves));
    assert!(poll_immediate(&mut saves).await.is_none());
    go.send(()).unwrap();
    caller.await.unwrap().unwrap();
    saves.await
}

/// Whether the meeting has its new title, and its topic the event of that.
async fn is_renamed(db: &Db, id: Id<Meeting>) -> bool {
    let found = db.read(move |conn| {
        Box::pin(async move {
            let title: String = meetings::table.find(id).select(meetings::title).first(conn).await?;
            let of_meeting = events::table.filter(events::topic.eq(crate::meetings::store::topic(id).to_string()));
            let offsets: Vec<i64> = of_meeting.select(events::position).load(conn).await?;
            Ok::<_, DbError>((title, offsets))
        })
    });
    match found.await.unwrap() {
        (title, offsets) if title == "after" && offsets == [1] => true,
        (title, offsets) if title == "before" && offsets.is_empty() => false,
        torn => panic!("{torn:?}"),
    }
}

/// How many transactions have written the meetings that match, on PostgreSQL.
async fn transactions(db: &Db, matching: &str) -> i64 {
    rows_in(db, &format!("(SELECT DISTINCT xmin::text FROM meetings WHERE {matching}) AS transactions")).await
}

fn is_postgres(db: &Db) -> bool {
    matches!(*db.open.backend, super::super::Backend::Postgres(_))
}

#[tokio::test]
async fn saves_that_wait_share_a_transaction() {
    let (all, _opened) = one_by_one().await;
    for db in all {
        let (meetings, journal) = (meetings(&db, 100).await, journal(&db));
        let saved = together(&db, "first", meetings.iter().map(|meeting| journal.save(renamed(meeting)))).await;
        for (meeting, saved) in meetings.iter().zip(saved) {
            let records = saved.unwrap();
            assert_eq!(
                records.iter().map(|record| (record.topic.id, record.offset)).collect::<Vec<_>>(),
                [(meeting.id.uuid(), 1)]
            );
            assert!(is_renamed(&db, meeting.id).await);
        }
        if is_postgres(&db) {
            // Two began at once, with one save each; 64 of those that waited, and the other 34.
            assert_eq!(transactions(&db, "title = 'after'").await, 4);
        }
    }
}

#[tokio::test]
async fn meetings_that_start_or_end_at_the_same_time_share_transactions() {
    let (all, _opened) = one_by_one().await;
    for db in all {
        let (mut meetings, journal) = (meetings(&db, 20).await, journal(&db));
        for (number, status) in ["LIVE", "ENDED"].into_iter().enumerate() {
            let step = |meeting: &Meeting| match status {
                "LIVE" => Command::Start { by: meeting.created_by },
                _ => Command::End { by: Some(meeting.created_by), reason: EndReason::HostEnded, note: None },
            };
            let saves = meetings.iter().map(|meeting| journal.save(changed(meeting, step(meeting))));
            for saved in together(&db, &format!("before {status}"), saves).await {
                assert_eq!(saved.unwrap().last().map(|record| record.offset), Some(number as u64 + 1));
            }
            let matching = format!("status = '{status}'");
            assert_eq!(rows_in(&db, &format!("meetings WHERE {matching}")).await, 20);
            if is_postgres(&db) {
                assert_eq!(transactions(&db, &matching).await, 3);
            }
            meetings = journal.load_all(meetings.iter().map(|meeting| meeting.id).collect()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_save_that_comes_too_late_fails_alone() {
    let (all, _opened) = one_by_one().await;
    for db in all {
        let (meetings, journal) = (meetings(&db, 10).await, journal(&db));
        let late = &meetings[7];
        journal.save(renamed(late)).await.unwrap();
        let saved = together(&db, "first", meetings.iter().map(|meeting| journal.save(renamed(meeting)))).await;
        for (meeting, saved) in meetings.iter().zip(saved) {
            match saved {
                Ok(_) => assert_ne!(meeting.id, late.id),
                Err(unsaved) => assert_eq!((meeting.id, unsaved), (late.id, Unsaved::Conflict)),
            }
            assert!(is_renamed(&db, meeting.id).await);
        }
    }
}

#[tokio::test]
async fn a_save_whose_caller_is_gone_before_it_begins_is_not_written() {
    let (all, _opened) = one_by_one().await;
    for db in all {
        let (meetings, journal) = (meetings(&db, 10).await, journal(&db));
        let Begun { go, caller } = begin(&db, "first").await;
        let mut saves: Vec<_> = meetings.iter().map(|meeting| Some(journal.save(renamed(meeting)))).collect();
        for save in saves.iter_mut().flatten() {
            assert!(poll_immediate(save).await.is_none());
        }
        let gone = [0, 4, 5];
        for index in gone {
            saves[index] = None;
        }
        go.send(()).unwrap();
        caller.await.unwrap().unwrap();
        for saved in join_all(saves.into_iter().flatten()).await {
            saved.unwrap();
        }
        db.wait_for_outcomes().await;
        for (index, meeting) in meetings.iter().enumerate() {
            assert_eq!(is_renamed(&db, meeting.id).await, !gone.contains(&index), "{index}");
        }
    }
}

#[tokio::test]
async fn who_was_invited_is_told_by_a_job_of_the_same_transaction() {
    let (all, _opened) = one_by_one().await;
    for db in all {
        let (meetings, journal) = (meetings(&db, 10).await, journal(&db));
        // GROUND has one meeting with an invitation.
        run(
            &db,
            "UPDATE meeting_invitations SET meeting_id = (SELECT id FROM meetings WHERE title = 'before' LIMIT 1)",
        )
        .await;
        for saved in together(&db, "first", meetings.iter().map(|meeting| journal.save(renamed(meeting)))).await {
            saved.unwrap();
        }
        assert_eq!(rows_in(&db, "jobs").await, 1);
    }
}

#[tokio::test]
async fn a_row_that_is_locked_for_long_costs_its_own_save_alone() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let db = Db::open(DbSettings::at(&url)).await.unwrap();
    let other = Db::open(DbSettings { limit: 5 * DbSettings::at(&url).limit, ..DbSettings::at(&url) }).await.unwrap();
    make_things(&db).await;
    let (meetings, journal) = (meetings(&db, 20).await, journal(&db));
    let locked = meetings[10].id;
    let ((go, gone), (tell, told)) = (oneshot::channel::<()>(), oneshot::channel());
    let locking = Handle::current().spawn(async move {
        let locks = other.write(move |conn| {
            Box::pin(async move {
                crate::meetings::store::locked(conn, locked).await?;
                tell.send(()).unwrap();
                gone.await.map_err(|_| DbError::Busy)
            })
        });
        locks.await
    });
    told.await.unwrap();
    let saved = join_all(meetings.iter().map(|meeting| journal.save(renamed(meeting)))).await;
    for (meeting, saved) in meetings.iter().zip(saved) {
        assert_eq!(saved.is_ok(), meeting.id != locked, "{saved:?}");
    }
    drop(go);
    assert_eq!(locking.await.unwrap(), Err(DbError::Busy));
    assert_eq!(rows_in(&db, "meetings WHERE title = 'after'").await, 19);
}

#[tokio::test]
async fn a_server_that_lost_its_lease_saves_nothing() {
    let Some(url) = postgres::schema().unwrap() else { return };
    let db = Db::open(DbSettings::at(url)).await.unwrap();
    make_things(&db).await;
    let (meetings, journal) = (meetings(&db, 10).await, journal(&db));
    let lease = InstanceLease::take(&db).await.unwrap();
    journal.save(renamed(&meetings[0])).await.unwrap();
    run(&db, "UPDATE server_lease SET holder = {id}, lease_until = lease_until + interval '1 hour'").await;
    for unsaved in join_all(meetings[1..].iter().map(|meeting| journal.save(renamed(meeting)))).await {
        assert!(matches!(&unsaved, Err(Unsaved::Failed(why)) if why.contains("another server")), "{unsaved:?}");
    }
    assert!(*lease.lost().borrow());
    assert_eq!(rows_in(&db, "meetings WHERE title = 'after'").await, 1);
}

#[tokio::test]
async fn saves_whose_commit_is_not_answered_are_unknown_and_not_read_past() {
    let Some(cluster) = Cluster::start_with_slow_commits().unwrap() else { return };
    let url = cluster.schema().unwrap();
    let quick = Db::open(DbSettings::at(url.clone())).await.unwrap();
    make_things(&quick).await;
    let meetings = meetings(&quick, 10).await;
    let settings = DbSettings::at(format!("{url}%20-c%20synchronous_commit%3Don"));
    let db = Db::open(DbSettings { connections: 1, ..settings }).await.unwrap();
    let journal = journal(&db);
    for unsaved in join_all(meetings.iter().map(|meeting| journal.save(renamed(meeting)))).await {
        // Those that waited behind it for the one connection were not begun.
        assert!(matches!(unsaved, Err(Unsaved::Unknown(_) | Unsaved::Failed(_))), "{unsaved:?}");
    }
    let read: Result<i64, DbError> =
        db.read(|conn| Box::pin(async move { Ok(meetings::table.count().get_result(conn).await?) })).await;
    assert!(matches!(read, Err(DbError::Unavailable(_))), "{read:?}");
    cluster.let_commits_go().unwrap();
    db.wait_for_outcomes().await;
    for meeting in &meetings {
        // None is torn.
        is_renamed(&db, meeting.id).await;
    }
    let written = rows_in(&db, "meetings WHERE title = 'after'").await;
    assert!(written > 0);
    // Reloaded, they can be saved again.
    let reloaded = journal.load_all(meetings.iter().map(|meeting| meeting.id).collect()).await.unwrap();
    for saved in join_all(reloaded.iter().filter(|one| one.revision == 0).map(|one| journal.save(renamed(one)))).await {
        saved.unwrap();
    }
    assert_eq!(rows_in(&db, "meetings WHERE title = 'after'").await, 10);
}
