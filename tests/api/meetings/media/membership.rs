//! A member who loses a project loses its meetings at once: participation, credentials, sockets, media room (S29).

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use colloquy::db::schema::{members, participants};
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use super::{Stage, credentials, invited_as};
use crate::meetings::invitations::{accept, ask_members, link, mailed};
use crate::meetings::participants::TestMeeting;
use crate::projects::people::membership;
use crate::support::{Role, Server, ServerSetup, Socket, User, World};

/// Returns whether the user is a member of any project, and the statuses of their participant rows in the database.
async fn membership_and_statuses(server: &Server, who: &User) -> (bool, Vec<String>) {
    let user: Id<ids::User> = who.id.parse().unwrap();
    let db = server.db().await;
    let read = db.read(move |conn| {
        Box::pin(async move {
            let memberships: i64 = members::table.filter(members::user_id.eq(user)).count().get_result(conn).await?;
            let own = participants::table.filter(participants::user_id.eq(Some(user)));
            let statuses: Vec<String> = own.select(participants::status).load(conn).await?;
            Ok::<_, DbError>((memberships > 0, statuses))
        })
    });
    read.await.unwrap()
}

/// Inserts a participant row into the database for a user who has not joined yet.
async fn insert_participant(server: &Server, meeting: &str, who: &User) {
    let (meeting, user): (Id<Meeting>, Id<ids::User>) = (meeting.parse().unwrap(), who.id.parse().unwrap());
    let db = server.db().await;
    let written = db.write(move |conn| {
        Box::pin(async move {
            let row = (
                participants::id.eq(Id::<ids::Participant>::generate()),
                participants::meeting_id.eq(meeting),
                participants::user_id.eq(Some(user)),
                participants::display_name.eq("Eve"),
                participants::role.eq("PARTICIPANT"),
                participants::status.eq("INVITED"),
            );
            diesel::insert_into(participants::table).values(row).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    written.await.unwrap();
}

on_both! {
    async fn who_is_removed_from_the_project_is_removed_from_its_live_meeting_at_once(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (server, room) = (&stage.server, &stage.room);
        let (eve, bob) = (room.member(server, Role::Analyst).await, room.member(server, Role::Stakeholder).await);
        for (calls, gone, by) in [(1, &eve, &room.ada), (2, &bob, &bob)] {
            let own = stage.entered(gone).await;
            stage.media.comes(stage.name(), &own);
            let mut others = Socket::open(&room.ada.client).await;
            others.subscribe(&room.topic()).await;
            let mut listens = Socket::open(&gone.client).await;
            listens.subscribe(&room.topic()).await;
            by.client.delete(membership(&room.ada, &room.project, gone).await).await.is(200);
            assert_eq!(room.person(&own).await["status"], "REMOVED");
            assert_eq!(membership_and_statuses(server, gone).await, (false, vec!["REMOVED".to_owned()]));
            stage.credentials(gone).await.refused(403, "Forbidden");
            room.join(gone).await.refused(403, "Forbidden");
            gone.client.get(&room.path).await.refused(403, "Forbidden");
            loop {
                let heard = others.next().await;
                if heard["event"] == "participant.removed" {
                    assert_eq!(heard["data"]["id"], json!(own));
                    break;
                }
            }
            while listens.next().await["code"] != "Forbidden" {}
            let call = stage.media.wait_for("RemoveParticipant", calls).await;
            assert!(call.iter().any(|call| call.body["identity"] == json!(own)), "{call:?}");
            while stage.media.room(stage.name()).unwrap().people.iter().any(|(identity, ..)| *identity == own) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    async fn a_removed_members_invitations_are_void_until_they_are_invited_again(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (server, room) = (&stage.server, &stage.room);
        let (eve, bob) = (room.member(server, Role::Analyst).await, room.member(server, Role::Analyst).await);
        invited_as(server, room, &eve, "CO_HOST", 0).await;
        ask_members(room, json!([{"userId": bob.id}])).await.is(201);
        let pending = mailed(server, &bob.email, 1).await;
        for gone in [&eve, &bob] {
            room.ada.client.delete(membership(&room.ada, &room.project, gone).await).await.is(200);
            room.join(gone).await.refused(403, "Forbidden");
        }
        accept(&bob.client, &pending).await.refused(410, "Gone");
        server.client().get(link(&pending)).await.refused(410, "Gone");
        // Work that an ended membership leaves for later must not touch the new one.
        server.join(&room.project, &eve, Role::Analyst).await;
        invited_as(server, room, &eve, "PARTICIPANT", 1).await;
        stage.entered(&eve).await;
    }

    async fn a_host_who_leaves_the_project_hosts_no_longer(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (server, room) = (&stage.server, &stage.room);
        let ben = room.member(server, Role::Owner).await;
        let host = stage.entered(&room.ada).await;
        room.ada.client.delete(membership(&ben, &room.project, &room.ada).await).await.is(200);
        credentials(room, &room.ada).await.refused(403, "Forbidden");
        room.ada.client.post(format!("{}/end", room.path)).await.refused(403, "Forbidden");
        let details = ben.client.get(&room.path).await.is(200);
        assert_eq!((&details.data()["hostParticipantId"], &details.data()["status"]), (&json!(host), &json!("LIVE")));
        let people = ben.client.get(format!("{}/participants", room.path)).await.is(200);
        assert_eq!(people.data()["items"][0]["status"], "LEFT");
        ben.client.post(format!("{}/end", room.path)).await.is(200);
    }

    async fn a_kill_at_any_moment_leaves_membership_and_participation_or_neither(setup: ServerSetup) {
        for round in 0..6 {
            let server = setup.start(&[]);
            let room = TestMeeting::open(&server).await;
            let eve = room.member(&server, Role::Analyst).await;
            room.joined(&eve).await;
            let path = membership(&room.ada, &room.project, &eve).await;
            let removal = room.ada.client.delete(path).into_future();
            // The kill comes before, during or after the transaction: both changes are stored, or neither.
            let _ = tokio::time::timeout(Duration::from_micros(1 + 700 * round), removal).await;
            server.kill();
            let server = setup.start(&[]);
            let (is_member, statuses) = membership_and_statuses(&server, &eve).await;
            let expected = if is_member { "JOINED" } else { "REMOVED" };
            assert_eq!(statuses, [expected], "round {round}");
        }
    }

    async fn a_removed_member_is_removed_from_all_meetings_however_many(world: World) {
        const MEETINGS: usize = 45;
        let ada = world.user().await;
        let project = ada.project().await;
        let eve = world.member(&project, Role::Stakeholder).await;
        for _ in 0..MEETINGS {
            let meeting = ada.meeting(&project).await;
            insert_participant(world.server, meeting["id"].as_str().unwrap(), &eve).await;
        }
        ada.client.delete(membership(&ada, &project, &eve).await).await.is(200);
        loop {
            let (_, statuses) = membership_and_statuses(world.server, &eve).await;
            assert_eq!(statuses.len(), MEETINGS);
            if statuses.iter().all(|status| status == "REMOVED") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn who_joins_while_being_removed_does_not_stay_joined(world: World) {
        let room = TestMeeting::open(world.server).await;
        for round in 0..20 {
            let eve = room.member(world.server, Role::Stakeholder).await;
            let path = membership(&room.ada, &room.project, &eve).await;
            let joining = eve.client.post(format!("{}/join", room.path)).into_future();
            let (joined, removed) = tokio::join!(joining, room.ada.client.apart().delete(path).into_future());
            removed.is(200);
            assert!(matches!(joined.status, 200 | 403), "{round}: {}", joined.text());
            let deadline = Instant::now() + Duration::from_secs(20);
            loop {
                let (is_member, statuses) = membership_and_statuses(world.server, &eve).await;
                assert!(!is_member);
                assert!(Instant::now() < deadline, "{round}: {statuses:?}");
                if statuses.iter().all(|status| status == "REMOVED") {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}
