//! Tests listProjectMembers.

use serde_json::{Value, json};

use super::{members, seen_by};
use crate::support::builders::fresh_email;
use crate::support::{Role, World, shape};

on_both! {
    async fn members_are_seen_by_all_and_their_addresses_by_themselves_and_by_analysts(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let stakeholder = world.member(&project, Role::Stakeholder).await;
        let analyst = world.member(&project, Role::Analyst).await;
        let manager = world.member(&project, Role::Manager).await;
        let all = [&manager, &analyst, &stakeholder, &ada];
        for user in [&ada, &manager, &analyst] {
            let seen = seen_by(user, &project).await;
            let emails: Vec<&str> = seen.iter().map(|member| member["email"].as_str().unwrap()).collect();
            assert_eq!(emails, all.map(|user| user.email.as_str()), "who joined last is first");
        }
        let seen = seen_by(&stakeholder, &project).await;
        let emails: Vec<&Value> = seen.iter().map(|member| &member["email"]).collect();
        assert_eq!(emails, [&json!(null), &json!(null), &json!(stakeholder.email), &json!(null)]);
        let roles: Vec<&str> = seen.iter().map(|member| member["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["MANAGER", "ANALYST", "STAKEHOLDER", "OWNER"]);
        let keys = ["avatarUrl", "email", "fullName", "id", "joinedAt", "role", "userId"];
        let mut own = shape::keys(&seen[2]);
        own.sort_unstable();
        assert_eq!((own, &seen[2]["userId"], &seen[2]["avatarUrl"]), (keys.to_vec(), &json!(stakeholder.id), &json!(null)));
        let project = ada.client.get(format!("/api/projects/{project}")).await.is(200);
        assert_eq!(project.data()["counts"]["members"], 4);
    }

    async fn a_list_of_members_is_filtered_and_searched_by_what_is_shown(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (grace, alan) = (fresh_email(), fresh_email());
        let grace = world.server.user_as(&grace, "Grace 100% Hopper", "EN").await;
        let alan = world.server.user_as(&alan, "Alan Turing", "EN").await;
        world.server.join(&project, &grace, Role::Analyst).await;
        world.server.join(&project, &alan, Role::Stakeholder).await;
        let found = async |user: &crate::support::User, query: &str| {
            let list = user.client.get(format!("{}?{query}", members(&project))).await.is(200);
            let items = list.data()["items"].as_array().unwrap().clone();
            assert_eq!(list.data()["totalCount"], items.len());
            items.iter().map(|item| item["fullName"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found(&grace, "role=owner").await, ["Ada Lovelace"]);
        assert_eq!(found(&grace, "role=STAKEHOLDER&search=hopper").await, Vec::<String>::new());
        assert_eq!(found(&grace, "search=hOPPer").await, ["Grace 100% Hopper"]);
        assert_eq!(found(&grace, "search=100%25").await, ["Grace 100% Hopper"]);
        assert_eq!(found(&grace, "search=%25").await, ["Grace 100% Hopper"]);
        let address = format!("search={}", alan.email.to_uppercase());
        assert_eq!(found(&grace, &address).await, ["Alan Turing"]);
        assert_eq!(found(&alan, &address).await, Vec::<String>::new(), "an address that is not shown is not found either");
        let address = format!("search={}", grace.email);
        assert_eq!(found(&alan, &address).await, Vec::<String>::new());
        let bad = grace.client.get(format!("{}?role=KING&limit=0&cursor=x&search=", members(&project))).await.is(422);
        let fields: Vec<_> = bad.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["cursor", "limit", "role", "search"]);
    }

    async fn members_in_pages_are_shown_once_each(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for _ in 0..4 {
            world.member(&project, Role::Stakeholder).await;
        }
        let all: Vec<Value> = seen_by(&ada, &project).await;
        let mut seen = Vec::new();
        let mut path = format!("{}?limit=2", members(&project));
        loop {
            let page = ada.client.get(&path).await.is(200);
            assert_eq!(page.data()["totalCount"], 5);
            seen.extend(page.data()["items"].as_array().unwrap().clone());
            match page.data()["nextCursor"].as_str() {
                Some(cursor) => path = format!("{}?limit=2&cursor={cursor}", members(&project)),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }
}
