//! Tests of accepting and dismissing proposals.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::*;
use crate::support::{Role, World};

on_both! {
    async fn an_accepted_change_replaces_the_content_and_keeps_the_former_one_in_the_proposal(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let before = analysed.requirement(SEARCH).await;
        let changed = analysed.open("CHANGED").await;
        let answer = analysed.decide(&changed, "accept").await.is(200);
        let item = analysed.requirement(SLOWER_SEARCH).await;
        assert_eq!((&answer.data()["before"], &answer.data()["after"]), (&before, &item));
        assert_eq!(
            content(&item),
            json!({
                "id": before["id"], "code": before["code"], "statement": SLOWER_SEARCH, "workflowStatus": "NEEDS_REVIEW",
                "version": before["version"].as_i64().unwrap() + 1, "revisionSource": "AI_REGENERATED",
            })
        );
        let quotes = item["sources"].as_array().unwrap().iter().map(|source| source["quote"].as_str().unwrap());
        assert_eq!(quotes.collect::<Vec<_>>(), [SLOWER_SEARCH], "nothing quotes the former words any more");
        let found = format!("/api/projects/{}/requirements?search=five%20seconds&status=NEEDS_REVIEW", analysed.project);
        assert_eq!(analysed.ada.client.get(found).await.is(200).data()["totalCount"], 1);
        analysed.run().await;
        assert_eq!(analysed.proposals("status=OPEN&kind=CHANGED&targetType=REQUIREMENT").await, Vec::<Value>::new());
    }

    async fn an_item_that_is_gone_is_rejected_and_not_gone_again(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let before = analysed.requirement(CANCEL).await;
        let answer = analysed.decide(&analysed.open("GONE").await, "accept").await.is(200);
        assert_eq!((&answer.data()["before"], &answer.data()["after"]), (&before, &none()));
        let item = analysed.requirement(CANCEL).await;
        assert_eq!((&item["workflowStatus"], &item["version"]), (&json!("REJECTED"), &json!(3)));
        analysed.run().await;
        assert_eq!(analysed.proposals("status=OPEN&kind=GONE&targetType=REQUIREMENT").await, Vec::<Value>::new());
    }

    async fn what_is_dismissed_changes_nothing(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let before = analysed.items("requirements").await;
        for kind in ["CHANGED", "GONE"] {
            let open = analysed.open(kind).await;
            let answer = analysed.decide(&open, "dismiss").await.is(200);
            assert_eq!(answer.data()["status"], "DISMISSED");
            assert_eq!(named(answer.data(), &["before", "after", "targetId"]), named(&open, &["before", "after", "targetId"]));
        }
        assert_eq!(analysed.items("requirements").await, before);
    }

    async fn a_proposal_is_decided_once(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let (changed, gone) = (analysed.open("CHANGED").await, analysed.open("GONE").await);
        analysed.decide(&changed, "accept").await.is(200);
        analysed.decide(&gone, "dismiss").await.is(200);
        let before = analysed.items("requirements").await;
        for decided in [&changed, &gone] {
            analysed.decide(decided, "accept").await.refused(409, "InvalidState");
            analysed.decide(decided, "dismiss").await.refused(409, "InvalidState");
        }
        assert_eq!(analysed.items("requirements").await, before);
    }

    async fn of_many_who_accept_one_proposal_at_once_one_has_an_effect(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        for kind in ["CHANGED", "GONE"] {
            let open = analysed.open(kind).await;
            let answers = join_all((0..6).map(|_| analysed.decide(&open, "accept"))).await;
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409, 409, 409, 409, 409], "{kind}");
        }
        let versions = analysed.items("requirements").await;
        let versions: Vec<i64> = versions.iter().map(|item| item["version"].as_i64().unwrap()).collect();
        assert_eq!(versions, [3, 3, 1, 1], "each was changed once");
    }

    async fn an_item_that_changed_since_needs_its_present_version(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let changed = analysed.open("CHANGED").await;
        analysed.approve(world.server, SEARCH).await;
        let edited = analysed.requirement(SEARCH).await;
        let version = edited["version"].as_i64().unwrap();
        let path = format!("{}/{}/accept", analysed.path(), changed["id"].as_str().unwrap());
        let accept = || analysed.ada.client.post(&path);
        accept().if_match(version - 1).await.refused(412, "PreconditionFailed");
        accept().header("if-match", "nonsense").await.refused(400, "BadRequest");
        accept().await.refused(409, "InvalidState");
        assert_eq!(analysed.requirement(SEARCH).await, edited);
        let answer = accept().if_match(version).await.is(200);
        assert_eq!(answer.data()["before"], edited, "what was replaced, not what it was proposed for");
        assert_eq!(analysed.requirement(SLOWER_SEARCH).await["version"], version + 1);
    }

    async fn a_proposal_of_another_project_is_not_found(world: World) {
        let (analysed, other) = (Analysed::proposed(world.server).await, Analysed::reviewed(world.server).await);
        let open = analysed.open("CHANGED").await;
        let id = open["id"].as_str().unwrap();
        for decision in ["accept", "dismiss"] {
            other.ada.client.post(format!("{}/{id}/{decision}", other.path())).await.refused(404, "NotFound");
            other.ada.client.post(format!("{}/{id}/{decision}", analysed.path())).await.refused(403, "Forbidden");
        }
        assert_eq!(analysed.open("CHANGED").await, open);
    }

    async fn stakeholders_read_proposals_and_analysts_decide_them(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let open = analysed.open("CHANGED").await;
        let path = format!("{}/{}/accept", analysed.path(), open["id"].as_str().unwrap());
        let stakeholder = world.member(&analysed.project, Role::Stakeholder).await;
        stakeholder.client.get(analysed.path()).await.is(200);
        stakeholder.client.post(&path).await.refused(403, "Forbidden");
        stakeholder.client.post(path.replace("accept", "dismiss")).await.refused(403, "Forbidden");
        world.member(&analysed.project, Role::Analyst).await.client.post(&path).await.is(200);
    }

    async fn in_an_archived_project_nothing_is_decided(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let (changed, gone) = (analysed.open("CHANGED").await, analysed.open("GONE").await);
        let path = format!("/api/projects/{}", analysed.project);
        analysed.ada.client.patch(&path).json(json!({"status": "ARCHIVED"})).await.is(200);
        analysed.decide(&changed, "accept").await.refused(409, "ProjectArchived");
        analysed.decide(&gone, "dismiss").await.refused(409, "ProjectArchived");
        assert_eq!(analysed.proposals("status=OPEN&kind=CHANGED&targetType=REQUIREMENT").await, [changed]);
    }

    async fn a_deleted_project_leaves_no_proposals(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        analysed.decide(&analysed.open("CHANGED").await, "accept").await.is(200);
        assert!(world.server.tables_containing(&analysed.project).await.contains(&"proposals".to_owned()));
        analysed.ada.client.delete(format!("/api/projects/{}", analysed.project)).await.is(200);
        let left = world.server.tables_containing(&analysed.project).await;
        assert!(!left.iter().any(|table| table.starts_with("proposal")), "{left:?}");
    }
}
