//! Tests the calendar entries in e-mails: on invitation, and when the meeting changes or is cancelled.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Guest, ask_guests, invite_guest, link, listed};
use crate::meetings::participants::TestMeeting;
use crate::support::builders::fresh_email;
use crate::support::{Server, World, outbox};

/// Waits until `count` e-mails to an address exist and returns the newest calendar entry. Panics after 20 s.
async fn entry(server: &Server, email: &str, count: usize) -> String {
    outbox::wait_for(&server.data, email, count).await;
    outbox::calendars(&server.data, email).pop().unwrap()
}

/// Returns what follows the name of a property, with its parameters. Panics when there is no such property.
fn line<'a>(entry: &'a str, name: &str) -> &'a str {
    let found = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix([':', ';']));
    found.unwrap_or_else(|| panic!("no {name} in {entry}"))
}

fn sequence(entry: &str) -> u64 {
    line(entry, "SEQUENCE").parse().unwrap()
}

on_both! {
    async fn an_invitee_gets_a_calendar_entry_and_updates_when_title_or_time_change(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (id, email, token) = invite_guest(world.server, &room).await;
        let first = entry(world.server, &email, 1).await;
        assert_eq!(
            (line(&first, "METHOD"), line(&first, "DTSTART"), line(&first, "DTEND")),
            ("REQUEST", "20260302T090000Z", "20260302T100000Z")
        );
        assert_eq!((line(&first, "SUMMARY"), line(&first, "STATUS")), ("Discovery", "CONFIRMED"));
        assert_eq!(line(&first, "URL"), format!("http://app.colloquy.test{}/join", &room.path[4..]));
        assert!(line(&first, "ATTENDEE").ends_with(&format!(":mailto:{email}")) && first.contains("RSVP=TRUE"), "{first}");
        assert!(line(&first, "ORGANIZER").contains("CN=Ada Lovelace"), "{first}");
        assert!(!first.contains(&token), "calendars are shared");

        // Entries don't contain the description, so its change sends none.
        room.ada.client.patch(&room.path).json(json!({"description": "More."})).await.is(200);
        room.ada.client.patch(&room.path).json(json!({"title": "Discovery, again", "scheduledAt": "2026-03-03T09:30:00Z"})).await.is(200);
        let second = entry(world.server, &email, 2).await;
        assert_eq!((line(&second, "METHOD"), line(&second, "UID")), ("REQUEST", line(&first, "UID")));
        assert!(sequence(&second) > sequence(&first));
        assert_eq!((line(&second, "DTSTART"), line(&second, "SUMMARY")), ("20260303T093000Z", "Discovery\\, again"));

        room.ada.client.post(format!("{}/cancel", room.path)).json(json!({"reason": "The clinic is closed."})).await.is(200);
        let third = entry(world.server, &email, 3).await;
        assert_eq!((line(&third, "METHOD"), line(&third, "UID"), line(&third, "STATUS")), ("CANCEL", line(&first, "UID"), "CANCELLED"));
        assert!(sequence(&third) > sequence(&second));
        let mail = outbox::wait_for(&world.server.data, &email, 3).await;
        assert!(mail.contains("The clinic is closed"), "{mail}");
        assert_eq!(listed(&room, &id).await["status"], "REVOKED");
        world.nobody.get(link(&token)).await.refused(410, "Gone");
    }

    async fn calendar_updates_are_not_sent_after_declining_revocation_or_removal(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let (_, declined, token) = invite_guest(world.server, &room).await;
        world.nobody.post(format!("{}/decline", link(&token))).await.is(200);
        let (id, revoked, _) = invite_guest(world.server, &room).await;
        room.ada.client.delete(format!("{}/invitations/{id}", room.path)).await.is(200);
        let removed = Guest::of(world.server, &room).await;
        room.ada.client.delete(format!("{}/participants/{}", room.path, removed.participant)).await.is(200);
        let stays = Guest::of(world.server, &room).await;
        room.ada.client.patch(&room.path).json(json!({"title": "Another"})).await.is(200);
        let newest = entry(world.server, &stays.email, 2).await;
        assert!(newest.contains("PARTSTAT=ACCEPTED"), "{newest}");
        room.ada.client.post(format!("{}/cancel", room.path)).await.is(200);
        entry(world.server, &stays.email, 3).await;
        for email in [declined, revoked, removed.email] {
            assert_eq!(outbox::mails(&world.server.data, &email).len(), 1);
        }
    }

    async fn each_of_a_hundred_guests_gets_one_email_about_a_change(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
        let emails: Vec<String> = (0..100).map(|_| fresh_email()).collect();
        let invitees: Vec<_> = emails.iter().map(|email| json!({"email": email})).collect();
        assert_eq!(ask_guests(&room, json!(invitees)).await.is(201).data()["items"].as_array().unwrap().len(), 100);
        room.ada.client.patch(&room.path).json(json!({"title": "Another"})).await.is(200);
        let deadline = Instant::now() + Duration::from_secs(60);
        for email in &emails {
            while outbox::mails(&world.server.data, email).len() < 2 {
                assert!(Instant::now() < deadline, "{email}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        for email in &emails {
            assert_eq!(outbox::mails(&world.server.data, email).len(), 2);
        }
    }
}
