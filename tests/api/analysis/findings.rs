//! Tests of the specification: it has what all runs found, each run says what it did to it, and a run can be undone.

use std::collections::BTreeSet;

use actors::ids::Id;
use actors::run::Run;
use colloquy::db::schema::{item_numbers, items, run_findings, run_results, runs as runs_table, unadopted_projects};
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::exports::Analysed;
use super::runs;
use crate::support::{Role, Server, ServerSetup, World};

const BRIEF: &str = "# Harbour\n\n\
    The system must let a skipper book a berth until noon.\n\n\
    The system shall answer every search within two seconds.\n\n\
    As a harbour master, I want to see free berths, so that I can place late boats.\n\n\
    There is a risk that the old berth list can't be migrated in time.\n\n\
    Who signs the data processing agreement?\n";
/// What is said in the next meeting: something new, something with another figure, something known, and a decision.
const NEXT: &str = "# Second meeting\n\n\
    The system must print a receipt for each payment.\n\n\
    The system shall answer every search within five seconds.\n\n\
    The system must let a skipper book a berth until noon.\n\n\
    We decided that the receipt is printed in two languages.\n";
const KINDS: [&str; 6] = ["requirements", "userStories", "risks", "openQuestions", "actionItems", "decisions"];

impl Analysed {
    /// Analyses what no run has read, and returns the id of the run.
    async fn next(&self, name: &str, text: &str) -> String {
        self.ada.read(&self.project, name, text.as_bytes()).await;
        let (run, started) = self.ada.run(&self.project).await;
        assert_eq!(started["documentIds"].as_array().unwrap().len(), 1, "the one that no run has read");
        assert_eq!(self.ada.over(&run).await["status"], "COMPLETED");
        started["id"].as_str().unwrap().to_owned()
    }

    fn run_at(&self, run: &str, path: &str) -> String {
        format!("{}/{run}/{path}", runs(&self.project))
    }

    async fn findings(&self, run: &str) -> Value {
        self.ada.client.get(self.run_at(run, "findings")).await.is(200).data().clone()
    }

    async fn undo(&self, run: &str) -> Value {
        self.ada.client.post(self.run_at(run, "undo")).json(json!({})).await.is(200).data().clone()
    }

    async fn approve_all(&self) {
        let shown = self.dashboard().await;
        let of = |list: &str, kind: &str| -> Vec<Value> {
            let items = shown[list].as_array().unwrap().iter();
            items.map(|item| json!({"targetType": kind, "id": item["id"]})).collect()
        };
        let mut items = of("requirements", "REQUIREMENT");
        items.extend(of("userStories", "USER_STORY"));
        let body = json!({"workflowStatus": "APPROVED", "items": items});
        let path = format!("/api/projects/{}/items/status", self.project);
        self.ada.client.post(path).json(body).await.is(200);
    }
}

/// The codes of all items of a dashboard.
fn codes(dashboard: &Value) -> BTreeSet<String> {
    let items = KINDS.iter().flat_map(|kind| dashboard[*kind].as_array().unwrap());
    items.map(|item| item["code"].as_str().unwrap().to_owned()).collect()
}

/// The codes of some findings, each with its reason.
fn found(findings: &Value, effect: &str) -> Vec<(String, Value)> {
    let found = findings[effect].as_array().unwrap().iter();
    found.map(|one| (one["code"].as_str().unwrap().to_owned(), one["reason"].clone())).collect()
}

fn requirement<'a>(dashboard: &'a Value, statement: &str) -> &'a Value {
    let all = dashboard["requirements"].as_array().unwrap();
    all.iter().find(|one| one["statement"] == statement).unwrap_or_else(|| panic!("{statement}: {all:#?}"))
}

/// The result of a run as it is stored.
async fn stored_result(server: &Server, run: &str) -> Value {
    let run = run.parse::<Id<Run>>().unwrap();
    let db = server.db().await;
    let text = db.read(move |conn| {
        Box::pin(async move {
            let text: String = run_results::table.find(run).select(run_results::result).first(conn).await?;
            Ok::<_, DbError>(text)
        })
    });
    serde_json::from_str(&text.await.unwrap()).unwrap()
}

on_both! {
    async fn the_next_meeting_adds_to_the_specification_and_empties_nothing(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        analysed.approve_all().await;
        let before = analysed.dashboard().await;
        let run = analysed.next("week-2.md", NEXT).await;
        let after = analysed.dashboard().await;
        assert_eq!(after["runId"], run);
        assert!(codes(&after).is_superset(&codes(&before)), "{after:#}");
        for kind in ["risks", "openQuestions"] {
            assert!(!before[kind].as_array().unwrap().is_empty(), "{kind}");
            assert_eq!(after[kind], before[kind]);
        }
        assert_eq!(requirement(&after, "The system must print a receipt for each payment.")["workflowStatus"], "NEEDS_REVIEW");
        assert!(!after["decisions"].as_array().unwrap().is_empty(), "{after:#}");
        assert_eq!(after["metrics"]["requirements"], after["requirements"].as_array().unwrap().len());
        assert_eq!(after["metrics"]["risks"], after["risks"].as_array().unwrap().len());
        assert_eq!(after["metrics"]["sources"], 2);
        let text = after["summary"]["text"].as_str().unwrap();
        assert!(text.contains("(REQ-001)") && text.contains("(DEC-001)") && text.contains("(Q-001)"), "{text}");
        let told = analysed.findings(&run).await["summary"].as_str().unwrap().to_owned();
        assert!(text.ends_with(&format!("Latest analysis: {told}")), "{text}");
        assert!(!before["summary"]["text"].as_str().unwrap().contains("Latest analysis"), "there was one");

        // What is said again rests on both, approved as it was.
        let booked = requirement(&after, "The system must let a skipper book a berth until noon.");
        let sources: BTreeSet<&str> =
            booked["sources"].as_array().unwrap().iter().map(|source| source["documentId"].as_str().unwrap()).collect();
        assert_eq!((sources.len(), &booked["workflowStatus"], &booked["version"]), (2, &json!("APPROVED"), &json!(2)));

        // Lists, exports and reviewers have the same.
        let list = |kind: &str| analysed.ada.client.get(format!("/api/projects/{}/{kind}?limit=100", analysed.project));
        assert_eq!(list("requirements").await.is(200).data()["totalCount"], after["metrics"]["requirements"]);
        let export = analysed.export(json!({"format": "JSON"})).await;
        let file: Value = serde_json::from_slice(&analysed.content(&export).await.is(200).bytes).unwrap();
        assert_eq!(codes(&file), codes(&after));
        let own = analysed.ada.client.get(analysed.at(&format!("?runId={run}"))).await.is(200).data().clone();
        assert!(own["risks"].as_array().unwrap().is_empty(), "the second run found none");
        assert!(codes(&own).len() < codes(&after).len());
        let export = analysed.export(json!({"format": "JSON", "filters": {"runId": run}})).await;
        let file: Value = serde_json::from_slice(&analysed.content(&export).await.is(200).bytes).unwrap();
        assert_eq!(codes(&file), codes(&own));
    }

    async fn a_run_says_what_it_added_confirmed_and_would_change(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let first = analysed.dashboard().await;
        let code = |statement: &str| requirement(&first, statement)["code"].as_str().unwrap().to_owned();
        let of_first = analysed.findings(first["runId"].as_str().unwrap()).await;
        let added: BTreeSet<String> = found(&of_first, "added").into_iter().map(|(code, _)| code).collect();
        assert_eq!(added, codes(&first));

        let run = analysed.next("week-2.md", NEXT).await;
        let findings = analysed.findings(&run).await;
        assert!(found(&findings, "added").contains(&("DEC-001".to_owned(), json!(null))), "{findings:#}");
        let same = (code("The system must let a skipper book a berth until noon."), json!("SAME_WORDS"));
        assert!(found(&findings, "confirmed").contains(&same), "{findings:#}");
        let searched = code("The system shall answer every search within two seconds.");
        assert!(found(&findings, "changed").contains(&(searched, json!("OTHER_FIGURE"))), "{findings:#}");
        assert_eq!(findings["gone"], json!([]));
        let changed = findings["changed"].as_array().unwrap();
        let open = format!("/api/projects/{}/proposals?status=OPEN&limit=100", analysed.project);
        let open = analysed.ada.client.get(open).await.is(200).data().clone();
        let open: Vec<&Value> = open["items"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        assert!(!changed.is_empty() && changed.iter().all(|one| open.contains(&&one["proposalId"])), "{findings:#}");
        let summary = findings["summary"].as_str().unwrap();
        assert!(summary.contains("1 decision") && summary.contains("Proposes changes of"), "{summary}");
        assert!(findings["undoableUntil"].is_string() && findings["undoneAt"].is_null());

        let stakeholder = world.member(&analysed.project, Role::Stakeholder).await;
        stakeholder.client.get(analysed.run_at(&run, "findings")).await.is(200);
        stakeholder.client.post(analysed.run_at(&run, "undo")).json(json!({})).await.refused(403, "Forbidden");
        let nowhere = "0189a0f0-0000-7000-8000-000000000000";
        analysed.ada.client.get(analysed.run_at(nowhere, "findings")).await.refused(404, "NotFound");
        let stranger = world.user().await;
        stranger.client.post(analysed.run_at(&run, "undo")).json(json!({})).await.refused(403, "Forbidden");
    }

    async fn the_same_words_in_another_order_are_the_same_item(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let before = analysed.dashboard().await;
        let run = analysed.next("again.md", "# Again\n\nWithin two seconds the system shall answer every search.\n").await;
        let after = analysed.dashboard().await;
        assert_eq!(codes(&after), codes(&before));
        let findings = analysed.findings(&run).await;
        let confirmed = found(&findings, "confirmed");
        assert!(confirmed.iter().any(|(_, reason)| *reason == "OTHER_ORDER"), "{findings:#}");
        let searched = requirement(&after, "The system shall answer every search within two seconds.");
        assert_eq!((searched["sources"].as_array().unwrap().len(), &searched["version"]), (2, &json!(1)));
    }

    async fn an_undone_run_leaves_nothing_but_what_somebody_has_touched(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let before = analysed.dashboard().await;
        let run = analysed.next("week-2.md", NEXT).await;
        let undone = analysed.undo(&run).await;
        assert_eq!(undone["kept"], json!([]));
        let after = analysed.dashboard().await;
        assert_eq!((codes(&after), &after["runId"]), (codes(&before), &before["runId"]));
        let booked = |dashboard: &Value| {
            requirement(dashboard, "The system must let a skipper book a berth until noon.")["sources"].clone()
        };
        assert_eq!(booked(&after), booked(&before));
        let open = format!("/api/projects/{}/proposals?status=OPEN", analysed.project);
        assert_eq!(analysed.ada.client.get(&open).await.is(200).data()["totalCount"], 0);
        analysed.ada.client.post(analysed.run_at(&run, "undo")).json(json!({})).await.refused(409, "InvalidState");
        assert!(analysed.findings(&run).await["undoneAt"].is_string());

        // It counts as unread: the next run reads it again, under codes that were never used.
        let (again, started) = analysed.ada.run(&analysed.project).await;
        assert_eq!(started["documentIds"].as_array().unwrap().len(), 1);
        analysed.ada.over(&again).await;
        let again = started["id"].as_str().unwrap();
        let shown = analysed.dashboard().await;
        let receipt = requirement(&shown, "The system must print a receipt for each payment.").clone();
        assert!(!undone["takenBack"].as_array().unwrap().iter().any(|one| one["code"] == receipt["code"]), "{receipt}");
        let path = format!("/api/projects/{}/requirements/{}/status", analysed.project, receipt["id"].as_str().unwrap());
        analysed.ada.client.patch(path).json(json!({"workflowStatus": "APPROVED"})).await.is(200);
        let undone = analysed.undo(again).await;
        let kept: Vec<&Value> = undone["kept"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
        assert_eq!(kept, [&receipt["code"]]);
        let left = analysed.dashboard().await;
        assert_eq!(requirement(&left, "The system must print a receipt for each payment.")["workflowStatus"], "APPROVED");
        assert_eq!(codes(&left).len(), codes(&before).len() + 1);
    }

    async fn an_item_that_a_run_confirms_and_would_change_is_as_before_once_it_is_undone(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        analysed.next("week-2.md", NEXT).await;
        let before = analysed.dashboard().await;
        // Both figures: one is said again, the other one is proposed already.
        let (two, five) = ("within two seconds", "within five seconds");
        let both = format!("The system shall answer every search {two}.\n\nThe system shall answer every search {five}.\n");
        let run = analysed.next("both.md", &format!("# Both\n\n{both}")).await;
        let sources = |dashboard: &Value| {
            requirement(dashboard, "The system shall answer every search within two seconds.")["sources"].clone()
        };
        let after = analysed.dashboard().await;
        assert_eq!(codes(&after), codes(&before), "what is proposed as a change is no new item");
        assert_eq!((sources(&before).as_array().unwrap().len(), sources(&after).as_array().unwrap().len()), (1, 2));
        let open = format!("/api/projects/{}/proposals?status=OPEN&targetType=REQUIREMENT", analysed.project);
        let proposed = async || analysed.ada.client.get(&open).await.is(200).data()["items"].clone();
        assert_eq!(proposed().await[0]["runId"], run, "it is the later one's");
        analysed.undo(&run).await;
        assert_eq!(sources(&analysed.dashboard().await), sources(&before));
        let again = proposed().await;
        assert_eq!((again.as_array().unwrap().len(), &again[0]["runId"]), (1, &before["runId"]), "as before");
    }

    async fn what_a_later_run_found_again_stays_when_the_first_one_is_undone(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let first = analysed.next("week-2.md", NEXT).await;
        let added = codes(&analysed.dashboard().await);
        let (again, started) = analysed.ada.run(&analysed.project).await;
        assert_eq!(started["documentIds"].as_array().unwrap().len(), 2, "nothing is unread: all are read");
        assert_eq!(analysed.ada.over(&again).await["status"], "COMPLETED");
        assert_eq!(analysed.undo(&first).await["takenBack"], json!([]));
        let shown = analysed.dashboard().await;
        assert_eq!(codes(&shown), added);
        let booked = requirement(&shown, "The system must let a skipper book a berth until noon.");
        assert_eq!(booked["sources"].as_array().unwrap().len(), 2);
    }

    async fn a_run_is_undone_while_the_project_is_active_and_only_once_it_has_a_result(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let run = analysed.dashboard().await["runId"].as_str().unwrap().to_owned();
        let project = format!("/api/projects/{}", analysed.project);
        analysed.ada.client.patch(&project).json(json!({"status": "ARCHIVED"})).await.is(200);
        analysed.ada.client.post(analysed.run_at(&run, "undo")).json(json!({})).await.refused(409, "ProjectArchived");
        analysed.ada.client.patch(&project).json(json!({"status": "ACTIVE"})).await.is(200);
        let broken = analysed.ada.uploaded(&analysed.project, "broken.pdf", b"%PDF-1.4 no more").await;
        assert_eq!(analysed.ada.settled(&broken).await["status"], "FAILED");
        let body = json!({"documentIds": [broken.rsplit('/').next().unwrap()]});
        let started = analysed.ada.client.post(runs(&analysed.project)).json(body).await.is(202);
        let path = format!("{}/{}", runs(&analysed.project), started.text_of("id"));
        let over = analysed.ada.over(&path).await;
        assert_eq!(over["status"], "REJECTED", "{over}");
        for of in ["findings", "undo"] {
            let path = format!("{path}/{of}");
            let client = &analysed.ada.client;
            let asked = if of == "undo" { client.post(path).json(json!({})) } else { client.get(path) };
            asked.await.refused(409, "InvalidState");
        }
    }

    async fn the_hundred_and_first_document_is_in_the_specification(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for number in 1..=101 {
            let text = format!("# Berth {number}\n\nThe lamp of pier{number} must blink{number} at dusk{number}.\n");
            ada.read(&project, &format!("berth-{number}.md"), text.as_bytes()).await;
        }
        let analysed = Analysed { ada, project };
        for (documents, requirements) in [(100, 100), (1, 101)] {
            let (run, started) = analysed.ada.run(&analysed.project).await;
            assert_eq!(started["documentIds"].as_array().unwrap().len(), documents);
            let over = analysed.ada.over(&run).await;
            assert_eq!(over["status"], "COMPLETED", "{over}");
            assert_eq!(analysed.dashboard().await["metrics"]["requirements"], requirements);
        }
        assert_eq!(analysed.dashboard().await["metrics"]["sources"], 101);
        // Nothing is unread: all are read again, as many as one run may.
        let (run, started) = analysed.ada.run(&analysed.project).await;
        assert_eq!(started["documentIds"].as_array().unwrap().len(), 100);
        analysed.ada.over(&run).await;
        assert_eq!(analysed.dashboard().await["metrics"]["requirements"], 101);
        let export = analysed.export(json!({"format": "MARKDOWN"})).await;
        assert!(analysed.content(&export).await.is(200).text().contains("pier101"));
    }

    /// What a database of the release before has: risks and the like in the results of runs alone, under codes of each run.
    async fn what_runs_of_a_former_release_found_is_in_the_specification(setup: ServerSetup) {
        let server = setup.start(&[]);
        let analysed = Analysed::of(server.user().await, BRIEF).await;
        let risks = "There is a risk that the old berth list can't be migrated in time.\n\nThere is a risk that nobody prints.";
        analysed.next("week-2.md", &format!("{NEXT}\n\n{risks}\n")).await;
        let wanted = analysed.dashboard().await;
        as_in_a_former_release(&server, &analysed).await;
        assert_eq!(analysed.dashboard().await["risks"], json!([]), "they are not items any more");
        server.kill();

        let server = setup.start(&[]);
        let analysed = Analysed { ada: analysed.ada.at(&server), project: analysed.project };
        let adopted = analysed.dashboard().await;
        for (kind, text) in [("risks", "description"), ("openQuestions", "question"), ("actionItems", "text"), ("decisions", "text")] {
            let texts = |dashboard: &Value| -> BTreeSet<String> {
                dashboard[kind].as_array().unwrap().iter().map(|one| one[text].as_str().unwrap().to_owned()).collect()
            };
            assert_eq!(texts(&adopted), texts(&wanted), "{kind}");
            for one in adopted[kind].as_array().unwrap() {
                assert_eq!((&one["version"], &one["workflowStatus"]), (&json!(1), &json!("NEEDS_REVIEW")), "{one}");
            }
        }
        // The newest run's codes are as they were shown.
        let newest = adopted["runId"].as_str().unwrap();
        let shown = stored_result(&server, newest).await;
        assert_eq!(shown["risks"][0]["code"], "RISK-001");
        assert!(codes(&adopted).is_superset(&codes(&shown)));
        for name in ["words", "risks", "sources"] {
            assert_eq!(adopted["metrics"][name], wanted["metrics"][name], "{name}");
        }
        let (run, _) = analysed.ada.run(&analysed.project).await;
        analysed.ada.over(&run).await;
        assert_eq!(codes(&analysed.dashboard().await), codes(&adopted), "found again, they are known");
        server.kill();
        let server = setup.start(&[]);
        let analysed = Analysed { ada: analysed.ada.at(&server), project: analysed.project };
        assert_eq!(codes(&analysed.dashboard().await), codes(&adopted));
    }
}

/// Puts a project's rows as a former release left them.
async fn as_in_a_former_release(server: &Server, analysed: &Analysed) {
    let project = analysed.project.parse::<Id<actors::ids::Project>>().unwrap();
    let db = server.db().await;
    let changed = db.write(move |conn| {
        Box::pin(async move {
            let former = ["REQUIREMENT", "USER_STORY"];
            diesel::delete(items::table.filter(items::project_id.eq(project)).filter(items::kind.ne_all(former)))
                .execute(conn)
                .await?;
            diesel::delete(
                item_numbers::table
                    .filter(item_numbers::project_id.eq(project))
                    .filter(item_numbers::kind.ne_all(former)),
            )
            .execute(conn)
            .await?;
            diesel::delete(run_findings::table.filter(run_findings::project_id.eq(project))).execute(conn).await?;
            let ids: Vec<Id<Run>> =
                runs_table::table.filter(runs_table::project_id.eq(project)).select(runs_table::id).load(conn).await?;
            for id in ids {
                let text: String = run_results::table.find(id).select(run_results::result).first(conn).await?;
                let mut result: Value = serde_json::from_str(&text).unwrap();
                for (kind, prefix) in
                    [("risks", "RISK"), ("openQuestions", "Q"), ("actionItems", "ACT"), ("decisions", "DEC")]
                {
                    for (at, one) in result[kind].as_array_mut().unwrap().iter_mut().enumerate() {
                        let one = one.as_object_mut().unwrap();
                        for name in [
                            "workflowStatus",
                            "version",
                            "revisionSource",
                            "suspect",
                            "runId",
                            "createdAt",
                            "updatedAt",
                            "deferredUntil",
                        ] {
                            assert!(one.remove(name).is_some(), "{name}");
                        }
                        one.insert("id".to_owned(), json!(uuid::Uuid::now_v7()));
                        one.insert("code".to_owned(), json!(format!("{prefix}-{:03}", at + 1)));
                    }
                }
                let parts = (
                    run_results::result.eq(result.to_string()),
                    run_results::summary.eq(None::<String>),
                    run_results::metrics.eq(None::<String>),
                );
                diesel::update(run_results::table.find(id)).set(parts).execute(conn).await?;
            }
            diesel::insert_into(unadopted_projects::table)
                .values(unadopted_projects::project_id.eq(project))
                .execute(conn)
                .await?;
            Ok::<_, DbError>(())
        })
    });
    changed.await.unwrap();
}
