//! Tests of pairs of requirements: what is claimed over the whole specification, and what settling, editing and undoing make of it.

use serde_json::{Value, json};

use super::exports::Analysed;
use super::runs;
use crate::support::World;
use crate::support::patience::Patience;

/// Two figures for one thing, and two words for and against it.
const BRIEF: &str = "# Boats\n\n\
    The search shall answer within 2 seconds.\n\n\
    The search shall answer within five seconds.\n\n\
    Guests shall register before they book a boat.\n\n\
    A pre-authorisation shall be released after two hours if no amount follows.\n\n\
    The system must print a receipt for each payment.\n";
/// The minutes of the next meeting: about the pre-authorisation, in other words than before.
const MINUTES: &str = "# Minutes\n\n\
    A pre-authorisation must be kept for 24 hours before it is released.\n";

impl Analysed {
    fn pairs_at(&self, query: &str) -> String {
        format!("/api/projects/{}/item-pairs{query}", self.project)
    }

    async fn pairs(&self, query: &str) -> Vec<Value> {
        let list = self.ada.client.get(self.pairs_at(query)).await.is(200).data().clone();
        list["items"].as_array().unwrap().clone()
    }

    /// Waits until the open pairs are these, by the statements of both.
    async fn until_open(&self, wanted: &[[&str; 2]]) -> Vec<Value> {
        let patience = Patience::of_seconds(60);
        loop {
            let pairs = self.pairs("?status=OPEN&strength=HIGH").await;
            let of = |pair: &Value| {
                let said = |at: usize| pair["items"][at]["statement"].as_str().unwrap().to_owned();
                [said(0), said(1)]
            };
            let mut open: Vec<[String; 2]> = pairs.iter().map(of).collect();
            open.sort();
            let mut expected = wanted.to_vec();
            expected.sort_unstable();
            if open == expected {
                return pairs;
            }
            patience.pause(|| format!("the open pairs are {open:#?}")).await;
        }
    }

    async fn settle(&self, body: Value) -> Vec<Value> {
        let path = self.pairs_at("/settlements");
        let settled = self.ada.client.post(path).json(body).await.is(200).data().clone();
        settled["pairs"].as_array().unwrap().clone()
    }

    async fn requirement(&self, words: &str) -> Value {
        let all = self.dashboard().await;
        let found = all["requirements"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["statement"].as_str().unwrap().contains(words));
        found.unwrap_or_else(|| panic!("{words}: {all:#}")).clone()
    }

    fn of_requirement(&self, requirement: &Value, path: &str) -> String {
        format!("/api/projects/{}/requirements/{}{path}", self.project, requirement["id"].as_str().unwrap())
    }
}

const TWO: &str = "The search shall answer within 2 seconds.";
const FIVE: &str = "The search shall answer within five seconds.";

fn issues(requirement: &Value) -> Vec<String> {
    let all = requirement["qualityIssues"].as_array().unwrap().iter();
    all.filter(|issue| issue["code"] == "CONFLICT").map(|issue| issue["message"].as_str().unwrap().to_owned()).collect()
}

on_both! {
    async fn a_pair_names_the_words_that_clash_and_is_settled_without_an_approval(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let pairs = analysed.until_open(&[[TWO, FIVE]]).await;
        let pair = &pairs[0];
        assert_eq!((&pair["kind"], &pair["strength"], &pair["settlement"]), (&json!("CONFLICT"), &json!("HIGH"), &json!(null)));
        assert_eq!(pair["reason"], "One says 2 seconds, the other 5 seconds.");
        let span = |start: usize, end: usize| json!([{"startOffset": start, "endOffset": end}]);
        assert_eq!(pair["spans"], json!([span(31, 32), span(31, 35)]));
        let (two, five) = (analysed.requirement("2 seconds").await, analysed.requirement("five").await);
        assert_eq!((&two["conflictsWith"], &five["conflictsWith"]), (&json!([five["id"]]), &json!([two["id"]])));
        assert_eq!(issues(&two).len(), 1);

        // Approving both settles nothing.
        let items = json!([{"targetType": "REQUIREMENT", "id": two["id"]}, {"targetType": "REQUIREMENT", "id": five["id"]}]);
        let approved = format!("/api/projects/{}/items/status", analysed.project);
        analysed.ada.client.post(approved).json(json!({"items": items, "workflowStatus": "APPROVED"})).await.is(200);
        analysed.until_open(&[[TWO, FIVE]]).await;

        let body = json!({"pairs": [{"id": pair["id"]}], "settlement": "NOT_ONE"});
        assert_eq!(analysed.settle(body.clone()).await, [json!({"id": pair["id"], "ok": true, "errorCode": null})]);
        let again = analysed.settle(body).await;
        assert_eq!(again, [json!({"id": pair["id"], "ok": false, "errorCode": "InvalidState"})]);
        analysed.until_open(&[]).await;
        let settled = analysed.pairs("?status=SETTLED").await;
        assert_eq!(settled[0]["settlement"], "NOT_ONE");
        assert_eq!(settled[0]["settledById"], analysed.ada.id);
        let (two, five) = (analysed.requirement("2 seconds").await, analysed.requirement("five").await);
        assert_eq!((&two["conflictsWith"], issues(&two), issues(&five)), (&json!([]), vec![], vec![]));
        assert_eq!((&two["version"], &two["workflowStatus"]), (&json!(2), &json!("APPROVED")), "settling is no edit");

        // Taken back, it waits again, and the requirements say so at once.
        analysed.settle(json!({"pairs": [{"id": pair["id"]}], "settlement": null})).await;
        analysed.until_open(&[[TWO, FIVE]]).await;
        assert_eq!(issues(&analysed.requirement("five").await).len(), 1);
    }

    async fn a_later_run_is_compared_with_all_that_is_there_and_its_undoing_takes_the_pair_along(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        analysed.until_open(&[[TWO, FIVE]]).await;
        let hold = analysed.requirement("if no amount follows").await;
        let approve = json!({"workflowStatus": "APPROVED"});
        analysed.ada.client.patch(analysed.of_requirement(&hold, "/status")).json(approve).await.is(200);
        analysed.ada.read(&analysed.project, "minutes.md", MINUTES.as_bytes()).await;
        let started = analysed.ada.client.post(runs(&analysed.project)).json(json!({})).await.is(202).data().clone();
        let run = format!("{}/{}", runs(&analysed.project), started["id"].as_str().unwrap());
        assert_eq!(analysed.ada.over(&run).await["status"], "COMPLETED");
        let said = analysed.requirement("24 hours").await;
        let both = [hold["statement"].as_str().unwrap(), said["statement"].as_str().unwrap()];
        analysed.until_open(&[[TWO, FIVE], both]).await;
        let of_run = analysed.pairs(&format!("?runId={}", started["id"].as_str().unwrap())).await;
        assert_eq!(of_run.len(), 1);
        assert_eq!(of_run[0]["items"][0]["workflowStatus"], "APPROVED");
        let found = analysed.ada.client.get(format!("{run}/findings")).await.is(200).data().clone();
        let summary = found["summary"].as_str().unwrap();
        assert!(summary.contains(&format!("May contradict {}.", hold["code"].as_str().unwrap())), "{summary}");

        // The approved requirement keeps the other one from going no more.
        let undone = analysed.ada.client.post(format!("{run}/undo")).await.is(200).data().clone();
        assert_eq!(undone["kept"], json!([]), "{undone:#}");
        analysed.until_open(&[[TWO, FIVE]]).await;
        assert_eq!(analysed.requirement("if no amount follows").await["conflictsWith"], json!([]));
    }

    async fn a_merge_moves_places_and_stories_and_is_taken_back(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let pair = analysed.until_open(&[[TWO, FIVE]]).await.remove(0);
        let (two, five) = (analysed.requirement("2 seconds").await, analysed.requirement("five").await);
        let covering = async |id: &Value| -> Vec<String> {
            let all = analysed.dashboard().await;
            let stories = all["userStories"].as_array().unwrap().iter();
            let own = stories.filter(|story| story["requirementIds"].as_array().unwrap().contains(id));
            own.map(|story| story["code"].as_str().unwrap().to_owned()).collect()
        };
        let (before_two, before_five) = (covering(&two["id"]).await, covering(&five["id"]).await);
        let merged = json!({"pairs": [{"id": pair["id"], "keptId": two["id"]}], "settlement": "MERGED"});
        assert_eq!(analysed.settle(merged).await[0]["ok"], true);
        let (kept, gone) = (analysed.requirement("2 seconds").await, analysed.requirement("five").await);
        assert_eq!((&kept["version"], &gone["workflowStatus"]), (&two["version"], &json!("REJECTED")));
        let mut places = two["sources"].as_array().unwrap().clone();
        places.extend(five["sources"].as_array().unwrap().iter().cloned());
        assert_eq!(kept["sources"], Value::Array(places));
        assert_eq!(covering(&five["id"]).await, Vec::<String>::new());
        assert_eq!(covering(&two["id"]).await.len(), before_two.len() + before_five.len());
        let events = format!("/api/projects/{}/approval-events", analysed.project);
        let newest = analysed.ada.client.get(events).await.is(200).data()["items"][0].clone();
        let comment = json!(format!("Merged into {}.", two["code"].as_str().unwrap()));
        assert_eq!((&newest["action"], &newest["comment"]), (&json!("REJECT"), &comment));

        analysed.settle(json!({"pairs": [{"id": pair["id"]}], "settlement": null})).await;
        analysed.until_open(&[[TWO, FIVE]]).await;
        let (two_again, five_again) = (analysed.requirement("2 seconds").await, analysed.requirement("five").await);
        assert_eq!((&two_again["sources"], &five_again["workflowStatus"]), (&two["sources"], &json!("NEEDS_REVIEW")));
        assert_eq!((covering(&two["id"]).await, covering(&five["id"]).await), (before_two, before_five));
    }

    async fn other_words_settle_a_pair_and_open_what_was_settled(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let pair = analysed.until_open(&[[TWO, FIVE]]).await.remove(0);
        let five = analysed.requirement("five").await;
        let say = async |words: &str| {
            analysed.ada.client.patch(analysed.of_requirement(&five, "")).json(json!({"statement": words})).await.is(200);
        };
        // In words that clash no more, it is settled by the edit.
        say("The print of a receipt shall carry the day of its payment.").await;
        analysed.until_open(&[]).await;
        let settled = analysed.pairs("?status=SETTLED").await;
        assert_eq!((&settled[0]["id"], &settled[0]["settlement"]), (&pair["id"], &json!("EDITED")));
        assert_eq!(settled[0]["settledById"], json!(null));
        assert_eq!(settled[0]["spans"][1], json!([]), "they stand in words that are gone");
        // What is settled about other words does not count.
        let nine = "The search shall answer within 9 seconds.";
        say(nine).await;
        let open = analysed.until_open(&[[TWO, nine]]).await;
        assert_eq!(open[0]["id"], pair["id"]);
        // A rejected one waits for nobody; when it stands again, the pair does too.
        let judge = async |requirement: &Value, verdict: Value| {
            analysed.ada.client.patch(analysed.of_requirement(requirement, "/status")).json(verdict).await.is(200);
        };
        judge(&five, json!({"workflowStatus": "REJECTED", "comment": "No."})).await;
        analysed.until_open(&[]).await;
        let patience = Patience::of_seconds(60);
        while analysed.requirement("2 seconds").await["conflictsWith"] != json!([]) {
            patience.pause(|| "it still says that they clash".to_owned()).await;
        }
        judge(&five, json!({"workflowStatus": "NEEDS_REVIEW"})).await;
        let open = analysed.until_open(&[[TWO, nine]]).await;
        let pairs = json!([{"id": open[0]["id"], "keptId": five["id"]}]);
        let rejecting = json!({"pairs": pairs, "settlement": "REJECTED_ONE", "comment": "Nine it is."});
        assert_eq!(analysed.settle(rejecting).await[0]["ok"], true);
        assert_eq!(analysed.requirement("2 seconds").await["workflowStatus"], "REJECTED");
        // Whoever has it stand again elsewhere opens the pair.
        let two = analysed.requirement("2 seconds").await;
        judge(&two, json!({"workflowStatus": "NEEDS_REVIEW"})).await;
        analysed.until_open(&[[TWO, nine]]).await;
    }
}

on_sqlite! {
    async fn what_is_wrong_with_a_settlement_is_said_pair_by_pair(world: World) {
        let analysed = Analysed::of(world.user().await, BRIEF).await;
        let pair = analysed.until_open(&[[TWO, FIVE]]).await.remove(0);
        let other = Analysed::of(world.user().await, BRIEF).await;
        let foreign = other.until_open(&[[TWO, FIVE]]).await.remove(0);
        let path = analysed.pairs_at("/settlements");
        let refused = |body: Value| analysed.ada.client.post(path.clone()).json(body);
        let fault = |field: &str, why: &str| [(field.to_owned(), why.to_owned())];
        let unsaid = refused(json!({"pairs": [{"id": pair["id"]}], "settlement": "MERGED"})).await.is(422);
        assert_eq!(unsaid.faults(), fault("pairs[0].keptId", "Required"));
        refused(json!({"pairs": [{"id": pair["id"]}]})).await.is(422);
        refused(json!({"pairs": [{"id": pair["id"], "keptId": pair["items"][0]["id"]}], "settlement": "NOT_ONE"})).await.is(422);
        refused(json!({"pairs": [{"id": pair["id"]}], "settlement": "NOT_ONE", "comment": "why"})).await.is(422);
        refused(json!({"pairs": [], "settlement": "NOT_ONE"})).await.is(422);
        let receipt = analysed.requirement("receipt").await;
        let mixed = json!({
            "settlement": "REJECTED_ONE",
            "pairs": [
                {"id": foreign["id"], "keptId": foreign["items"][0]["id"]},
                {"id": pair["id"], "keptId": receipt["id"]},
                {"id": pair["id"], "keptId": pair["items"][0]["id"]},
                {"id": pair["id"], "keptId": pair["items"][0]["id"]},
            ],
        });
        let codes: Vec<Value> = analysed.settle(mixed).await.iter().map(|one| one["errorCode"].clone()).collect();
        assert_eq!(codes, [json!("NotFound"), json!("NotFound"), json!(null), json!("InvalidState")]);
        other.until_open(&[[TWO, FIVE]]).await;
        let stranger = world.user().await;
        stranger.client.get(analysed.pairs_at("")).await.is(403);
        stranger.client.post(path.clone()).json(json!({"pairs": [{"id": pair["id"]}], "settlement": null})).await.is(403);
        let open = analysed.settle(json!({"pairs": [{"id": pair["id"]}], "settlement": null})).await;
        assert_eq!(open[0]["ok"], true);
        let archived = format!("/api/projects/{}", analysed.project);
        analysed.ada.client.patch(archived).json(json!({"status": "ARCHIVED"})).await.is(200);
        refused(json!({"pairs": [{"id": pair["id"]}], "settlement": "NOT_ONE"})).await.is(409);
    }
}
