//! Every response is an envelope, including those of the framework. The test client checks what holds for all of them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{World, shape};

on_both! {
    async fn an_address_that_is_not_there_is_404(world: World) {
        for path in ["/api", "/api/nothing", "/API/NOTHING/", "/api/projects/x/y/z", "/internal/health", "/metrics",
            "/api/%2e%2e/metrics", "/api/openapi.jsonx", "//api//projects", "/%00", "/api/projects%2f"] {
            for method in ["GET", "POST", "DELETE"] {
                let answer = world.nobody.request(method.parse().unwrap(), path).await;
                answer.refused(404, "NotFound");
            }
        }
    }

    async fn a_method_that_an_address_does_not_take_is_405_and_names_those_it_takes(world: World) {
        let id = "0189a0f0-0000-7000-8000-000000000000";
        let table = [
            ("PUT", "/api/projects".to_owned(), vec!["GET", "POST"]),
            ("POST", format!("/api/meetings/{id}"), vec!["GET", "PATCH"]),
            ("GET", "/api/auth/login".to_owned(), vec!["POST"]),
            ("PURGE", "/api/projects".to_owned(), vec!["GET", "POST"]),
            ("POST", "/health/live".to_owned(), vec!["GET"]),
            ("DELETE", "/api/openapi.json".to_owned(), vec!["GET"]),
        ];
        for (method, path, allowed) in table {
            let answer = world.nobody.request(method.parse().unwrap(), &path).await.refused(405, "MethodNotAllowed");
            let allow: BTreeSet<&str> = answer.header("allow").unwrap().split(", ").collect();
            assert_eq!(allow, allowed.into_iter().collect(), "{method} {path}");
        }
    }

    async fn a_body_over_a_mebibyte_is_413(world: World) {
        let ada = world.user().await;
        let body = |bytes: usize| {
            let frame = json!({"name": "x", "description": ""}).to_string();
            let padding = " ".repeat(bytes - frame.len());
            frame.replace(',', &format!(",{padding}"))
        };
        let post = |body: String| ada.client.apart().post("/api/projects").body("application/json", body);
        post(body(1024 * 1024)).await.is(201);
        post(body(1024 * 1024 + 1)).await.refused(413, "PayloadTooLarge");
        post(body(3 * 1024 * 1024)).await.refused(413, "PayloadTooLarge");
        post(body(1024 * 1024 + 1)).key("large").await.refused(413, "PayloadTooLarge");
        ada.client.get("/api/projects").await.is(200);
    }

    async fn nesting_past_thirty_two_levels_is_422(world: World) {
        let ada = world.user().await;
        let post = |lists: usize| {
            let body = format!("{{\"name\":{}{}}}", "[".repeat(lists), "]".repeat(lists));
            ada.client.post("/api/projects").body("application/json", body)
        };
        let at_fault = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
        assert_eq!(post(31).await.is(422).faults(), at_fault("name", "InvalidValue"));
        for lists in [32, 33, 1000, 100_000] {
            assert_eq!(post(lists).await.is(422).faults(), at_fault("-", "TooDeep"), "{lists}");
        }
    }

    async fn a_repeated_json_key_is_422(world: World) {
        let ada = world.user().await;
        for body in [r#"{"name":"a","name":"b"}"#, r#"{"name":"a","\u006eame":"a"}"#, r#"{"name":{"x":1,"x":2}}"#] {
            let answer = ada.client.post("/api/projects").body("application/json", body).await;
            assert!(answer.refused(422, "Repeated").text().contains("twice"), "{body}");
        }
    }

    async fn the_case_of_fixed_segments_and_a_slash_at_the_end_do_not_count(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let id = ada.meeting(&project).await["id"].as_str().unwrap().to_owned();
        for path in [
            format!("/API/MEETINGS/{id}"), format!("/api/Meetings/{id}/"), format!("/Api/meetings/{}", id.to_uppercase()),
            format!("/api/projects/{project}/Meetings?limit=1"), format!("/api/PROJECTS/{project}/meetings/?limit=1"),
            "/Api/Projects".to_owned(), "/api/projects/".to_owned(), "/API/OpenApi.json".to_owned(), "/health/live/".to_owned(),
        ] {
            ada.client.get(path).await.is(200);
        }
        let body = json!({"title": "In capitals"});
        ada.client.patch(format!("/API/Meetings/{id}/")).json(body).await.is(200);
        world.nobody.get("/HEALTH/LIVE").await.refused(404, "NotFound");
    }

    async fn a_request_id_is_echoed_where_it_is_one_and_made_where_not(world: World) {
        let ask = |id: &[u8]| world.nobody.get("/health/live").header("x-request-id", id);
        for id in ["x", "a b", "~!@#$%^&*()", &"i".repeat(128)] {
            let answer = ask(id.as_bytes()).await;
            let echoed = answer.header("x-request-id").unwrap();
            assert_eq!(echoed == id, !id.contains(' '), "{id}");
        }
        for id in [&b"i".repeat(129)[..], "größe".as_bytes(), b"\xff\xfe", b"", b"tab\there", b"two words"] {
            let answer = ask(id).await;
            shape::id(&Value::from(answer.header("x-request-id").unwrap()));
        }
        let made = world.nobody.get("/health/live").without("x-request-id").await;
        shape::id(&Value::from(made.header("x-request-id").unwrap()));
        for path in ["/api/projects", "/nothing"] {
            let refused = world.nobody.get(path).header("x-request-id", "mine").await;
            assert_eq!(refused.header("x-request-id"), Some("mine"));
        }
    }

    async fn a_request_id_is_on_the_events_that_the_request_causes(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let id = format!("trace-{project}");
        ada.client.patch(&meeting).header("x-request-id", &id).json(json!({"title": "Traced"})).await.is(200);
        assert_eq!(world.server.events_of_request(&id).await, ["meeting.updated"]);
    }
}
