//! Connecting a project to a tracker: by OAuth, bound to the account and the browser that began it, or with a token.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Tracked, TrackerWorld, begin};
use crate::support::dump::dump;
use crate::support::jira::FakeJira;
use crate::support::{Role, ServerSetup, Socket, World};

/// The error in the fragment of an address in the application.
fn error_of(location: &str) -> String {
    let (_, fragment) = location.split_once('#').unwrap();
    let pairs = url::form_urlencoded::parse(fragment.as_bytes());
    pairs.into_owned().find(|(name, _)| name == "trackerError").unwrap_or_else(|| panic!("no error in {location}")).1
}

on_both! {
    async fn a_manager_connects_a_project_and_everybody_in_it_sees_that(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({"name": "Acme"})).await).await;
        let never = tracked.get("tracker").await.is(200);
        assert_eq!(never.data()["connection"]["status"], "DISCONNECTED");
        assert_eq!((&never.data()["connection"]["provider"], &never.data()["destination"]), (&Value::Null, &Value::Null));
        tracked.get("tracker/projects").await.refused(409, "TrackerNotConnected");

        let mut socket = Socket::open(&tracked.ada.client).await;
        socket.subscribe(&format!("project:{}", tracked.project)).await;
        let (begun, cookie) = tracked.begin().await;
        assert_eq!(begun.data()["expiresIn"], 600);
        assert_eq!(begun.data()["connection"]["status"], "PENDING");
        let set = begun.header("set-cookie").unwrap();
        assert!(set.ends_with("; HttpOnly; SameSite=Lax; Path=/api/tracker/callback; Max-Age=600"), "{set}");
        let location = tracked.come_back(&tracked.permit(&begun).await, &cookie).await;
        let wanted = format!("http://app.colloquy.test/projects/1?tab=tracker#trackerConnection=ACTIVE&projectId={}", tracked.project);
        assert_eq!(location, wanted);

        let event = socket.next().await;
        assert_eq!((&event["event"], &event["data"]["status"]), (&json!("tracker.changed"), &json!("ACTIVE")));
        let member = world.server.member(&tracked.project, Role::Stakeholder).await;
        let seen = member.client.get(tracked.at("tracker")).await.is(200).data()["connection"].clone();
        assert_eq!(seen, event["data"]);
        assert_eq!((&seen["provider"], &seen["site"]["name"]), (&json!("JIRA"), &json!("Acme")));
        assert_eq!(seen["accountName"], tracked.site.account["name"]);
        assert_eq!(seen["connectedById"], tracked.ada.id.as_str());
        assert!(seen["scopes"].as_array().unwrap().contains(&json!("write:jira-work")), "{seen}");
        tracked.site.must_be_sound().await;
    }

    async fn a_state_is_of_use_once_in_the_browser_that_began_it(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        let invalid = "TrackerStateInvalid";
        let (begun, cookie) = tracked.begin().await;
        let callback = tracked.permit(&begun).await;
        assert_eq!(error_of(&tracked.come_back(&callback, "x=y").await), invalid, "no cookie");
        assert!(tracked.come_back(&callback, &cookie).await.contains("ACTIVE"), "what has no cookie uses nothing up");
        assert_eq!(error_of(&tracked.come_back(&callback, &cookie).await), invalid, "repeated");

        let (begun, cookie) = tracked.begin().await;
        let callback = tracked.permit(&begun).await;
        let other = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        let (_, foreign) = other.begin().await;
        assert_eq!(error_of(&tracked.come_back(&callback, &foreign).await), invalid, "another browser");
        assert_eq!(error_of(&tracked.come_back(&callback, &cookie).await), invalid, "used up by that");

        // A state that this server did not make.
        let (begun, cookie) = tracked.begin().await;
        let callback = tracked.permit(&begun).await;
        let (head, state) = callback.split_once("state=").unwrap();
        let forged: String = state.chars().rev().collect();
        assert_eq!(error_of(&tracked.come_back(&format!("{head}state={forged}"), &cookie).await), invalid, "forged");
        assert_eq!(error_of(&tracked.come_back("/api/tracker/callback", &cookie).await), invalid, "nothing");
        // A second one of the same account makes the first void.
        let (again, later) = tracked.begin().await;
        assert_eq!(error_of(&tracked.come_back(&callback, &cookie).await), invalid, "void");
        assert!(tracked.come_back(&tracked.permit(&again).await, &later).await.contains("ACTIVE"));
    }

    async fn a_state_expires_after_ten_minutes(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        let (begun, cookie) = tracked.begin().await;
        let callback = tracked.permit(&begun).await;
        world.server.age_tracker_sign_ins(&tracked.project, Duration::from_secs(600)).await;
        assert_eq!(tracked.connection().await["status"], "DISCONNECTED");
        assert_eq!(error_of(&tracked.come_back(&callback, &cookie).await), "TrackerStateInvalid");
    }

    async fn what_was_not_permitted_is_not_connected(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        let (begun, cookie) = tracked.begin().await;
        let denied = world.jira.permit(begun.data()["authorizeUrl"].as_str().unwrap(), "denied").await;
        let location = tracked.come_back(&denied, &cookie).await;
        assert_eq!(error_of(&location), "TrackerDenied");
        assert!(!location.contains("access_denied"), "what the query says is not passed on: {location}");
        // Somebody who is no manager any more by then.
        let bob = world.server.member(&tracked.project, Role::Manager).await;
        let theirs = Tracked { ada: bob, project: tracked.project.clone(), site: world.jira.site(json!({})).await };
        let (begun, cookie) = theirs.begin().await;
        let callback = theirs.permit(&begun).await;
        let members = tracked.get("members?limit=100").await.is(200).data()["items"].clone();
        let member = members.as_array().unwrap().iter().find(|one| one["userId"] == theirs.ada.id.as_str()).unwrap();
        tracked.ada.client.delete(tracked.at(&format!("members/{}", member["id"].as_str().unwrap()))).await.is(200);
        assert_eq!(error_of(&theirs.come_back(&callback, &cookie).await), "Forbidden");
        // An account without any site, and a code that the tracker does not know.
        let nowhere = world.jira.control(reqwest::Method::POST, "accounts", json!({"name": "No One", "sites": []})).await;
        let (begun, cookie) = tracked.begin().await;
        let callback = world.jira.permit(begun.data()["authorizeUrl"].as_str().unwrap(), nowhere["id"].as_str().unwrap()).await;
        assert_eq!(error_of(&tracked.come_back(&callback, &cookie).await), "TrackerWithoutSite");
        let (begun, cookie) = tracked.begin().await;
        let callback = tracked.permit(&begun).await.replace("code=", "code=x");
        assert_eq!(error_of(&tracked.come_back(&callback, &cookie).await), "TrackerDenied");
        assert_eq!(tracked.connection().await["status"], "DISCONNECTED");
    }

    async fn several_sites_are_offered_and_none_is_guessed(world: TrackerWorld) {
        let first = world.jira.site(json!({"name": "First"})).await;
        let second = world.jira.site(json!({"name": "Second", "accounts": [first.account_id()]})).await;
        let tracked = Tracked::empty(world.server, first).await;
        tracked.connect().await;
        let connection = tracked.connection().await;
        assert_eq!((&connection["site"], connection["availableSites"].as_array().unwrap().len()), (&Value::Null, 2));
        tracked.get("tracker/projects").await.refused(422, "TrackerSiteRequired");
        tracked.get("tracker/projects?siteId=nowhere").await.refused(422, "TrackerSiteRequired");
        let listed = tracked.get(&format!("tracker/projects?siteId={}", second.id)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 1);
        let body = json!({"siteId": second.id, "trackerProjectId": "10000", "issueTypeId": "10001"});
        tracked.ada.client.put(tracked.at("tracker/destination")).json(body).await.is(200);
        assert_eq!(tracked.connection().await["site"]["name"], "Second");
        tracked.get("tracker/projects").await.is(200);
    }

    async fn a_token_connects_at_once_and_a_wrong_one_is_refused(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        let base = world.jira.settings().into_iter().find(|(name, _)| name.ends_with("API_URL")).unwrap().1;
        let base = format!("{base}/site/{}", tracked.site.id);
        let (email, token) = (&tracked.site.account["email"], &tracked.site.account["apiToken"]);
        let start = async |body: Value| tracked.ada.client.post(tracked.at("tracker/connection")).json(body).await;
        let body = json!({"provider": "JIRA", "baseUrl": base, "email": email, "apiToken": "not-the-token"});
        start(body).await.refused(422, "TrackerCredentialsRejected");
        for inside in ["http://127.0.0.1:1/", "https://169.254.169.254", "https://localhost", "https://10.0.0.1", "ftp://a.example"] {
            let body = json!({"provider": "JIRA", "baseUrl": inside, "email": email, "apiToken": token});
            let refused = start(body).await.is(422);
            assert_eq!(refused.faults()[0].0, "baseUrl", "{inside}");
        }
        start(json!({"provider": "JIRA", "baseUrl": base})).await.is(422);
        start(json!({"provider": "ASANA"})).await.is(422);
        assert_eq!(tracked.connection().await["status"], "DISCONNECTED");
        let connected = start(json!({"provider": "JIRA", "baseUrl": base, "email": email, "apiToken": token})).await.is(201);
        assert_eq!((&connected.data()["authorizeUrl"], connected.header("set-cookie")), (&Value::Null, None));
        assert_eq!(connected.data()["connection"]["status"], "ACTIVE");
        assert_eq!(tracked.get("tracker/projects").await.is(200).data()["totalCount"], 1);
        tracked.choose("10000", "10001", json!({})).await.is(200);
        tracked.site.must_be_sound().await;
    }

    async fn disconnecting_erases_the_tokens_and_cancels_the_export(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 3).await;
        let limit = json!({
            "operation": "createIssues", "kind": "rateLimit", "reason": "jira-burst-based", "retryAfter": 600, "count": 1,
        });
        tracked.site.post("faults", limit).await;
        let id = tracked.export(json!({})).await.is(202).text_of("id");
        tracked.until(&id, Duration::from_secs(20), |export| !export["waitingUntil"].is_null()).await;
        // While it is under way, nothing else is connected.
        let body = json!({"provider": "JIRA"});
        tracked.ada.client.post(tracked.at("tracker/connection")).json(body).await.refused(409, "InvalidState");
        let ended = tracked.ada.client.delete(tracked.at("tracker/connection")).await.is(200);
        assert_eq!(ended.data()["status"], "DISCONNECTED");
        assert_eq!((&ended.data()["site"], &ended.data()["availableSites"]), (&Value::Null, &json!([])));
        assert_eq!(tracked.ended(&id).await["status"], "CANCELLED");
        tracked.export(json!({})).await.refused(409, "TrackerNotConnected");
        tracked.ada.client.delete(tracked.at("tracker/connection")).await.is(200);
        // The destination is kept for the next connection.
        assert_eq!(tracked.get("tracker").await.is(200).data()["destination"]["projectKey"], "EX");
        tracked.connect().await;
        assert_eq!(tracked.exported(json!({})).await["status"], "COMPLETED");
        tracked.site.must_be_sound().await;
    }
}

on_both! {
    async fn a_server_without_an_application_says_so(world: World) {
        let ada = world.server.user().await;
        let path = format!("/api/projects/{}/tracker/connection", ada.project().await);
        for provider in ["JIRA", "GITHUB"] {
            let refused = ada.client.post(&path).json(json!({"provider": provider})).await;
            assert!(refused.refused(503, "TrackerNotConfigured").header("retry-after").is_some());
        }
    }

    async fn a_dump_of_the_database_holds_no_token(setup: ServerSetup) {
        let Some(jira) = FakeJira::shared() else { return };
        let server = begin(&setup, jira);
        let tracked = Tracked::empty(&server, jira.site(json!({})).await).await;
        let (begun, cookie) = tracked.begin().await;
        let held = cookie.split_once('=').unwrap().1.to_owned();
        let authorize = url::Url::parse(begun.data()["authorizeUrl"].as_str().unwrap()).unwrap();
        let state = authorize.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        let callback = tracked.permit(&begun).await;
        assert!(tracked.come_back(&callback, &cookie).await.contains("ACTIVE"));
        let second = Tracked::empty(&server, jira.site(json!({})).await).await;
        let base = jira.settings().into_iter().find(|(name, _)| name.ends_with("API_URL")).unwrap().1;
        let body = json!({"provider": "JIRA", "baseUrl": format!("{base}/site/{}", second.site.id),
            "email": second.site.account["email"], "apiToken": second.site.account["apiToken"]});
        second.ada.client.post(second.at("tracker/connection")).json(body).await.is(201);
        let issued = tracked.site.account("", Value::Null).await;
        let refresh = issued["liveRefreshTokens"][0].as_str().unwrap_or_else(|| panic!("{issued}"));
        let dumped = dump(&server).await;
        assert!(dumped.contains(&tracked.site.id), "the dump has the connection");
        let token = second.site.account["apiToken"].as_str().unwrap();
        for secret in [refresh, token, &held, &state] {
            assert!(!dumped.contains(secret), "the dump holds {secret}");
            assert!(!server.read_log().contains(secret), "the log holds {secret}");
        }
    }
}
