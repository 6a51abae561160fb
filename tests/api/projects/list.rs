//! Tests of getUserProjects.

use serde_json::json;

use crate::support::{Role, World, shape};

on_both! {
    async fn a_user_sees_their_own_projects_and_those_they_are_a_member_of(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let hers = ada.project().await;
        let shared = ben.project().await;
        ben.project().await;
        world.server.join(&shared, &ada, Role::Analyst).await;
        let list = ada.client.get("/api/projects").await.is(200);
        let seen: Vec<_> = list.data()["items"].as_array().unwrap().iter().map(|item| (&item["id"], &item["myRole"])).collect();
        assert_eq!(seen, [(&json!(shared), &json!("ANALYST")), (&json!(hers), &json!("OWNER"))]);
        assert_eq!((&list.data()["totalCount"], &list.data()["nextCursor"]), (&json!(2), &json!(null)));
        assert_eq!(shape::keys(&list.data()["items"][0]).len(), 14);
    }

    async fn a_list_in_pages_shows_everything_once_newest_first(world: World) {
        let ada = world.user().await;
        let mut made = Vec::new();
        for _ in 0..7 {
            made.push(ada.project().await);
        }
        made.reverse();
        for limit in [1, 2, 3, 7, 100] {
            let mut seen = Vec::new();
            let mut cursor = String::new();
            loop {
                let page = ada.client.get(format!("/api/projects?limit={limit}{cursor}")).await.is(200);
                let items = page.data()["items"].as_array().unwrap();
                assert!(items.len() <= limit && page.data()["totalCount"] == 7);
                seen.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
                let Some(next) = page.data()["nextCursor"].as_str() else { break };
                assert_eq!(items.len(), limit, "a page before the last is full");
                cursor = format!("&cursor={next}");
            }
            assert_eq!(seen, made, "limit {limit}");
        }
    }

    async fn a_bad_limit_cursor_status_or_search_is_422_and_named(world: World) {
        let ada = world.user().await;
        for (query, field) in [
            ("limit=0", "limit"), ("limit=101", "limit"), ("limit=-1", "limit"), ("limit=abc", "limit"), ("limit=", "limit"),
            ("limit=1.5", "limit"), ("limit=99999999999999999999", "limit"),
            ("cursor=x", "cursor"), ("cursor=", "cursor"), ("cursor=%00", "cursor"), ("status=OPEN", "status"),
            ("status=", "status"),
        ] {
            let answer = ada.client.get(format!("/api/projects?{query}")).await.refused(422, "InvalidValue");
            assert_eq!(answer.faults(), [(field.to_owned(), "InvalidValue".to_owned())], "{query}");
        }
        let long = format!("search={}", "x".repeat(201));
        for (query, field, reason) in [
            ("limit=1&limit=2", "limit", "Repeated"), ("search=", "search", "TooShort"), (&long, "search", "TooLong"),
            ("search=%07", "search", "InvalidValue"),
        ] {
            let answer = ada.client.get(format!("/api/projects?{query}")).await.is(422);
            assert_eq!(answer.faults(), [(field.to_owned(), reason.to_owned())], "{query}");
        }
        let answer = ada.client.get("/api/projects?limit=0&cursor=x&status=OPEN").await.is(422);
        assert_eq!(answer.faults().len(), 3);
    }

    async fn projects_are_found_by_words_and_status(world: World) {
        let ada = world.user().await;
        for (name, description) in [("Alpha_one", "Ärzte"), ("Beta 50%", "wards"), ("Gamma", "Alphabet")] {
            ada.client.post("/api/projects").json(json!({"name": name, "description": description})).await.is(201);
        }
        let archived = ada.project().await;
        ada.client.patch(format!("/api/projects/{archived}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        for (query, count) in [
            ("search=alpha", 2), ("search=ALPHA_", 1), ("search=%25", 1), ("search=a_o", 1), ("search=t_%205", 0), ("search=zzz", 0),
            ("status=archived", 1), ("status=ACTIVE", 3), ("status=ACTIVE&search=clinic", 0), ("search=clinic", 1),
            ("search=%5C", 0), ("search=%27%3B--", 0), ("search=%C3%A4rzte", 1),
        ] {
            let found = ada.client.get(format!("/api/projects?{query}")).await.is(200);
            assert_eq!(found.data()["totalCount"], count, "{query}");
        }
    }

    async fn a_cursor_goes_on_where_it_was_though_projects_were_added(world: World) {
        let ada = world.user().await;
        let first = ada.project().await;
        let second = ada.project().await;
        let page = ada.client.get("/api/projects?limit=1").await.is(200);
        assert_eq!(page.data()["items"][0]["id"], second);
        let cursor = page.data()["nextCursor"].as_str().unwrap().to_owned();
        ada.project().await;
        let rest = ada.client.get(format!("/api/projects?cursor={cursor}")).await.is(200);
        assert_eq!(rest.data()["items"].as_array().unwrap().len(), 1);
        assert_eq!(rest.data()["items"][0]["id"], first);
    }
}
