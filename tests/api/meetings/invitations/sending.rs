//! Tests resendInvitation, revokeInvitation, and when invitations expire.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::time::Time;
use colloquy::db::schema::meeting_invitations;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::{Guest, accept, ask_members, invite_guest, link, listed, mailed};
use crate::meetings::participants::TestMeeting;
use crate::support::{Role, Server, World, shape};

/// Moves the times of an invitation, of its last sending and its expiry, into the past by `seconds`.
async fn age(server: &Server, id: &str, seconds: u64) {
    let id: Id<ids::Invitation> = id.parse().unwrap();
    let db = server.db().await;
    let aged = db.write(move |conn| {
        Box::pin(async move {
            let row = meeting_invitations::table.find(id);
            let times = (meeting_invitations::last_sent_at, meeting_invitations::expires_at);
            let (sent_at, expires_at): (Time, Time) = row.select(times).first(conn).await?;
            let earlier = |at: Time| at - Duration::from_secs(seconds);
            let set = (
                meeting_invitations::last_sent_at.eq(earlier(sent_at)),
                meeting_invitations::expires_at.eq(earlier(expires_at)),
            );
            diesel::update(row).set(set).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    aged.await.unwrap();
}

const DAY: u64 = 24 * 3600;

/// Returns the number of whole days between two time fields of an invitation.
fn days_between(one: &Value, from: &str, to: &str) -> i64 {
    (shape::time(&one[to]) - shape::time(&one[from])).num_days()
}

on_both! {
    async fn resending_an_invitation_makes_a_new_link_and_invalidates_the_former(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (id, email, first) = invite_guest(world.server, &room).await;
        let path = format!("{}/invitations/{id}/resend", room.path);
        let early = room.ada.client.post(&path).await.refused(429, "TooManyRequests");
        let wait: u64 = early.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        age(world.server, &id, 61).await;
        let sent = room.ada.client.post(&path).await.is(200);
        assert_eq!((&sent.data()["sendCount"], sent.text_of("status")), (&json!(2), "PENDING".to_owned()));
        let second = mailed(world.server, &email, 2).await;
        assert_ne!(first, second);
        for call in [world.nobody.get(link(&first)), world.nobody.post(format!("{}/accept", link(&first)))] {
            call.await.refused(410, "Gone");
        }
        accept(&world.nobody, &second).await.is(200);
        room.ada.client.post(&path).await.is(429);
        age(world.server, &id, 61).await;
        room.ada.client.post(&path).await.refused(409, "InvalidState");
    }

    async fn an_invitation_is_resent_five_times_at_most(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (id, _, _) = invite_guest(world.server, &room).await;
        let path = format!("{}/invitations/{id}/resend", room.path);
        for count in 2..=6 {
            age(world.server, &id, 61).await;
            assert_eq!(room.ada.client.post(&path).await.is(200).data()["sendCount"], count);
        }
        age(world.server, &id, 61).await;
        room.ada.client.post(&path).await.refused(409, "InvalidState");
    }

    async fn an_expired_invitation_is_gone_until_it_is_resent(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (id, email, token) = invite_guest(world.server, &room).await;
        // An hour after it expired.
        age(world.server, &id, 7 * DAY + 3600).await;
        world.nobody.get(link(&token)).await.refused(410, "Gone");
        accept(&world.nobody, &token).await.refused(410, "Gone");
        assert_eq!(listed(&room, &id).await["status"], "EXPIRED");
        let expired = room.ada.client.get(format!("{}/invitations?status=EXPIRED", room.path)).await.is(200);
        assert_eq!(expired.data()["totalCount"], 1);
        room.ada.client.delete(format!("{}/invitations/{id}", room.path)).await.refused(409, "InvalidState");
        room.ada.client.post(format!("{}/invitations/{id}/resend", room.path)).await.is(200);
        let token = mailed(world.server, &email, 2).await;
        accept(&world.nobody, &token).await.is(200);
    }

    async fn an_invitation_expires_after_a_week_or_the_day_after_the_meeting_and_moves_with_it(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (id, _, _) = invite_guest(world.server, &room).await;
        assert_eq!(days_between(&listed(&room, &id).await, "createdAt", "expiresAt"), 7);
        let now = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now());
        for (in_days, lives) in [(30, 30..=31), (400, 90..=90), (1, 7..=7)] {
            let at = (now + chrono::Duration::days(in_days)).to_rfc3339();
            room.ada.client.patch(&room.path).json(json!({"scheduledAt": at})).await.is(200);
            let days = days_between(&listed(&room, &id).await, "createdAt", "expiresAt");
            assert!(lives.contains(&days), "{in_days}: {days}");
        }
    }

    async fn an_invitation_revoked_before_it_was_accepted_is_gone(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (id, _, token) = invite_guest(world.server, &room).await;
        let path = format!("{}/invitations/{id}", room.path);
        room.ada.client.delete(&path).await.is(200);
        world.nobody.get(link(&token)).await.refused(410, "Gone");
        accept(&world.nobody, &token).await.refused(410, "Gone");
        room.ada.client.delete(&path).await.is(200);
        age(world.server, &id, 61).await;
        room.ada.client.post(format!("{path}/resend")).await.refused(409, "InvalidState");
        let other = TestMeeting::open(world.server).await;
        other.ada.client.delete(format!("{}/invitations/{id}", other.path)).await.refused(404, "NotFound");
    }

    async fn accepting_and_revoking_at_once_leaves_no_participant(world: World) {
        for _ in 0..10 {
            let room = TestMeeting::open(world.server).await;
            let (id, _, token) = invite_guest(world.server, &room).await;
            let path = format!("{}/invitations/{id}", room.path);
            let (accepted, revoked) = tokio::join!(accept(&world.nobody, &token), async {
                room.ada.client.delete(&path).await
            });
            revoked.is(200);
            assert!([200, 410].contains(&accepted.status), "{}", accepted.text());
            assert_eq!(listed(&room, &id).await["status"], "REVOKED");
            let places = room.people().await;
            assert!(places.iter().all(|one| one["role"] == "HOST" || one["status"] == "REMOVED"), "{places:?}");
        }
    }

    async fn a_member_whose_invitation_is_revoked_can_not_join(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let made = ask_members(&room, json!([{"userId": eve.id}])).await.is(201);
        let token = mailed(world.server, &eve.email, 1).await;
        accept(&eve.client, &token).await.is(200);
        room.join(&eve).await.is(200);
        let id = made.data()["items"][0]["id"].as_str().unwrap().to_owned();
        room.ada.client.delete(format!("{}/invitations/{id}", room.path)).await.is(200);
        room.join(&eve).await.refused(403, "Forbidden");
    }

    async fn invitations_can_be_revoked_after_the_meeting_ended(world: World) {
        let room = TestMeeting::open(world.server).await;
        let guest = Guest::of(world.server, &room).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        room.ada.client.delete(format!("{}/invitations/{}", room.path, guest.invitation)).await.is(200);
        guest.client.get(&room.path).await.refused(403, "Forbidden");
    }
}
