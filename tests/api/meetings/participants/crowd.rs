//! Tests 500 participants in one meeting, and a restart with 10,000 live meetings; prints durations and memory.

use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::time::{Clock, SystemClock};
use colloquy::access::token::Tokens;
use colloquy::db::schema::{meetings, members, participants, users};
use colloquy::db::{Db, DbError, RunQueryDsl};
use colloquy::keys;
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use serde_json::json;

use super::TestMeeting;
use crate::support::server::APP_URL;
use crate::support::{Client, Server, ServerSetup};

/// Adds `count` stakeholders to a project, directly in the database. Returns a client with an access token for each.
async fn crowd(server: &Server, project: &str, count: usize) -> Vec<Client> {
    let project: Id<ids::Project> = project.parse().unwrap();
    let people: Vec<Id<ids::User>> = (0..count).map(|_| Id::generate()).collect();
    let now = SystemClock.now();
    let db = server.db().await;
    for some in people.chunks(50).map(<[_]>::to_vec) {
        let written = db.write(move |conn| {
            Box::pin(async move {
                for user in some {
                    let account = (
                        users::id.eq(user),
                        users::email.eq(format!("{user}@example.org")),
                        users::full_name.eq("One Of Many"),
                        users::language.eq("EN"),
                        users::created_at.eq(now),
                        users::updated_at.eq(now),
                    );
                    diesel::insert_into(users::table).values(account).execute(conn).await?;
                    let membership = (
                        members::id.eq(Id::<ids::Member>::generate()),
                        members::project_id.eq(project),
                        members::user_id.eq(user),
                        members::role.eq("STAKEHOLDER"),
                        members::joined_at.eq(now),
                    );
                    diesel::insert_into(members::table).values(membership).execute(conn).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        written.await.unwrap();
    }
    let ring = keys::ring(&server.data.join("keys")).unwrap();
    let tokens = Tokens::new(&ring, APP_URL, Duration::from_secs(900));
    people.into_iter().map(|user| server.client().bearing(&tokens.issue(user, Id::generate(), now).unwrap())).collect()
}

/// Returns the resident memory of a process, in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

on_both! {
    async fn five_hundred_participants_join_at_once_and_leave_when_the_meeting_ends(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let people = crowd(&server, &room.project, 499).await;
        let before = resident_kib(server.pid());
        let (path, asked) = (format!("{}/join", room.path), Instant::now());
        // No request is rejected: all of them fit into the meeting actor's mailbox.
        for answer in join_all(people.iter().map(async |who| who.post(&path).await)).await {
            assert_eq!(answer.is(200).data()["status"], "JOINED");
        }
        let joined = asked.elapsed();
        let grown = resident_kib(server.pid()).saturating_sub(before);
        println!("{:?}: 499 joined in {joined:?}; {grown} KiB more, the connections included", server.kind);
        let one_more = crowd(&server, &room.project, 1).await;
        one_more[0].post(&path).await.refused(409, "MeetingFull");
        let listed = room.ada.client.get(format!("{}/participants?status=JOINED", room.path)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 499);
        let asked = Instant::now();
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        println!("{:?}: and left with its end in {:?}", server.kind, asked.elapsed());
        let listed = room.ada.client.get(format!("{}/participants?status=LEFT", room.path)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 499);
        let positions = server.positions_of_meeting(room.path.rsplit('/').next().unwrap()).await;
        assert_eq!(positions, (1..=1000).collect::<Vec<_>>(), "a start, the joins, the leavings and the end");
    }

    async fn time_limits_apply_to_ten_thousand_live_meetings_after_a_restart(setup: ServerSetup) {
        const MANY: usize = 10_000;
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        room.join(&room.ada).await.is(200);
        // The rows are written while no server runs: a running one would end half of the meetings at once, and on
        // SQLite two processes that write all the time lock each other out.
        let db = server.db().await;
        server.kill();
        many_live(&db, &room, MANY).await;
        drop(db);
        let started = Instant::now();
        let server = setup.start(&[]);
        let ready = started.elapsed();
        let ada = room.ada.at(&server);
        ada.client.patch(&room.path).json(json!({"title": "First command"})).await.is(200);
        let first = started.elapsed();
        let db = server.db().await;
        let left = async || {
            let counted = db.read(|conn| {
                Box::pin(async move {
                    let linked = participants::table.filter(participants::link.eq("SOCKET")).count();
                    let linked: i64 = linked.get_result(conn).await?;
                    let live = meetings::table.filter(meetings::status.eq("LIVE")).count();
                    let live: i64 = live.get_result(conn).await?;
                    Ok::<_, DbError>((linked, live))
                })
            });
            counted.await.unwrap()
        };
        // Half of the meetings had a connected host, whose connection is recorded as lost by now. The other half have
        // been empty for too long and end.
        let half = i64::try_from(MANY / 2).unwrap();
        let done = loop {
            let (linked, live) = left().await;
            if (linked, live) == (0, half + 1) {
                break started.elapsed();
            }
            // This limit detects a server that is stuck. `cargo run --release -p bench -- restart` measures how long it takes.
            assert!(started.elapsed() < Duration::from_secs(300), "{linked} connected, {live} live");
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        println!("{:?}: ready after {ready:?}, first command {first:?}, all 10,000 {done:?}", server.kind);
    }
}

/// Writes `many` meetings, a multiple of 50, that have been live for an hour. Half of them have a connected host, and
/// half have been empty since their start.
async fn many_live(db: &Db, room: &TestMeeting, many: usize) {
    let project: Id<ids::Project> = room.project.parse().unwrap();
    let user: Id<ids::User> = room.ada.id.parse().unwrap();
    let then = SystemClock.now() - Duration::from_secs(3600);
    for chunk in 0..many / 50 {
        let written = db.write(move |conn| {
            Box::pin(async move {
                for nth in 0..50 {
                    let (id, host) = (Id::<actors::meeting::Meeting>::generate(), Id::<ids::Participant>::generate());
                    let is_empty = nth % 2 == 0;
                    let meeting = (
                        meetings::id.eq(id),
                        meetings::project_id.eq(project),
                        meetings::title.eq(format!("Meeting {chunk}/{nth}")),
                        meetings::description.eq(""),
                        meetings::status.eq("LIVE"),
                        meetings::consent_policy.eq("ALL"),
                        meetings::created_by_id.eq(user),
                        meetings::host_participant_id.eq(host),
                        meetings::scheduled_at.eq(then),
                        meetings::started_at.eq(then),
                        meetings::empty_since.eq(is_empty.then_some(then)),
                        meetings::version.eq(2),
                        meetings::revision.eq(1),
                        meetings::created_at.eq(then),
                        meetings::updated_at.eq(then),
                    );
                    diesel::insert_into(meetings::table).values(meeting).execute(conn).await?;
                    let present = (!is_empty).then_some(then);
                    let participant = (
                        participants::id.eq(host),
                        participants::meeting_id.eq(id),
                        participants::user_id.eq(user),
                        participants::display_name.eq("Ada Lovelace"),
                        participants::role.eq("HOST"),
                        participants::status.eq(if is_empty { "INVITED" } else { "JOINED" }),
                        participants::joined_at.eq(present),
                        participants::first_joined_at.eq(present),
                        participants::link.eq((!is_empty).then_some("SOCKET")),
                    );
                    diesel::insert_into(participants::table).values(participant).execute(conn).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        written.await.unwrap();
    }
}
