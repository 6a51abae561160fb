//! The join page, by keyboard alone, with axe checking each view in both languages; the scenes are in
//! tests/fakes/scenes/join.mjs. There is no media server: the meeting goes on without it.

use serde_json::{Value, json};

use super::browser::{Browser, account};
use crate::meetings::invitations::mailed;
use crate::support::builders::fresh_email;
use crate::support::{Role, User, World};

fn bearer(user: &User) -> String {
    format!("Bearer {}", user.client.token())
}

impl World {
    pub fn join_page(&self, meeting: &Value) -> String {
        format!("{}/meetings/{}/join", self.nobody.base(), meeting["id"].as_str().unwrap())
    }
}

on_sqlite! {
    async fn waiting_participants_learn_when_the_meeting_is_cancelled(world: World) {
        let Some(browser) = Browser::start() else { return };
        let (host, outsider) = (world.user().await, world.user().await);
        let project = host.project().await;
        let meeting = host.meeting(&project).await;
        let cancel = format!("{}/api/meetings/{}/cancel", world.nobody.base(), meeting["id"].as_str().unwrap());
        let scene = json!({
            "scene": "waiting", "page": world.join_page(&meeting), "host": account(&host),
            "outsider": account(&outsider), "cancel": {"url": cancel, "authorization": bearer(&host)},
        });
        browser.plays(scene).await;
    }

    async fn two_people_meet_and_one_of_them_is_not_recorded(world: World) {
        let Some(browser) = Browser::start() else { return };
        let host = world.user().await;
        let project = host.project().await;
        let other = world.member(&project, Role::Stakeholder).await;
        let meeting = host.meeting(&project).await;
        let path = format!("/api/meetings/{}", meeting["id"].as_str().unwrap());
        let scene =
            json!({"scene": "meeting", "page": world.join_page(&meeting), "host": account(&host), "other": account(&other)});
        browser.plays(scene).await;

        let after = host.client.get(&path).await.is(200);
        assert_eq!((after.text_of("status"), after.text_of("endReason")), ("ENDED".into(), "HOST_ENDED".into()));
        let people = host.client.get(format!("{path}/participants")).await.is(200);
        for person in people.data()["items"].as_array().unwrap() {
            assert_eq!(person["status"], "LEFT", "{person}");
            assert_eq!(person["consent"]["recordingConsent"], false, "one refused, one withdrew: {person}");
        }
        // Granted and withdrawn, and refused: each decision is in the record, and no other.
        let record = host.client.get(format!("{path}/consents")).await.is(200);
        let mut decisions: Vec<_> =
            record.data()["items"].as_array().unwrap().iter().map(|item| item["decision"].clone()).collect();
        decisions.sort_by_key(ToString::to_string);
        assert_eq!(decisions, ["GRANTED", "REFUSED", "WITHDRAWN"]);
    }

    async fn a_guest_joins_by_a_link_and_is_removed(world: World) {
        let Some(browser) = Browser::start() else { return };
        let host = world.user().await;
        let project = host.project().await;
        let meeting = host.meeting(&project).await;
        let path = format!("/api/meetings/{}", meeting["id"].as_str().unwrap());
        host.client.post(format!("{path}/start")).await.is(200);
        let email = fresh_email();
        let invitees = json!({"invitees": [{"email": email}]});
        host.client.post(format!("{path}/invitations/guests")).json(invitees).await.is(201);
        let token = mailed(world.server, &email, 1).await;
        let people = format!("{}{path}/participants", world.nobody.base());
        let scene = json!({
            "scene": "guest", "link": format!("{}#invitation={token}", world.join_page(&meeting)), "name": "ليلى حسن",
            "remove": {"people": people, "authorization": bearer(&host)},
        });
        browser.plays(scene).await;
    }
}
