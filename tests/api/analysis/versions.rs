//! Tests of the analysis of a new version of a document: what moved is found again, what changed is proposed, and what went is too.

use serde_json::{Value, json};

use super::exports::Analysed;
use super::runs;
use crate::support::World;
use crate::support::documents::documents;

const FIRST: &str = "# Harbour\n\n\
    The system must let a skipper book a berth until noon.\n\n\
    The system shall answer every search within two seconds.\n\n\
    Each berth must have a number that is painted on the quay.\n\n\
    The harbour master must be able to close the harbour in a storm.\n";
/// The first one with a new beginning and in another order: a sentence is changed, one is gone, one is new.
const SECOND: &str = "# Harbour\n\n\
    This brief has been agreed upon with the harbour board in its spring session, and replaces the one of the winter.\n\n\
    The harbour master must be able to close the harbour in a storm.\n\n\
    The system must let a skipper book a berth until noon.\n\n\
    The system shall answer every search within five seconds.\n\n\
    The system must print a receipt for each payment.\n";

impl Analysed {
    async fn document(&self) -> String {
        let list = self.ada.client.get(documents(&self.project)).await.is(200).data().clone();
        format!("{}/{}", documents(&self.project), list["items"][0]["id"].as_str().unwrap())
    }

    async fn analyse(&self, body: Value) -> Value {
        let started = self.ada.client.post(runs(&self.project)).json(body).await.is(202).data().clone();
        let path = format!("{}/{}", runs(&self.project), started["id"].as_str().unwrap());
        assert_eq!(self.ada.over(&path).await["status"], "COMPLETED");
        started
    }

    async fn proposals(&self) -> Vec<(String, Value)> {
        let path = format!("/api/projects/{}/proposals?status=OPEN", self.project);
        let list = self.ada.client.get(path).await.is(200).data().clone();
        let mut all: Vec<(String, Value)> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                (
                    format!("{} {}", one["kind"].as_str().unwrap(), one["before"]["code"].as_str().unwrap()),
                    one["reason"].clone(),
                )
            })
            .collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }
}

fn code(dashboard: &Value, words: &str) -> String {
    let all = dashboard["requirements"].as_array().unwrap();
    let found = all.iter().find(|one| one["statement"].as_str().unwrap().contains(words));
    found.unwrap_or_else(|| panic!("{words}: {all:#?}"))["code"].as_str().unwrap().to_owned()
}

on_both! {
    async fn a_new_version_confirms_what_moved_and_proposes_what_changed_and_went(world: World) {
        let analysed = Analysed::of(world.user().await, FIRST).await;
        let before = analysed.dashboard().await;
        let path = analysed.document().await;
        let one = analysed.ada.client.get(format!("{path}/text")).await.is(200).data()["text"].as_str().unwrap().to_owned();
        analysed.ada.read_version(&path, "brief-2.md", SECOND.as_bytes()).await;
        // The version that no run has read is what a run reads by default.
        let run = analysed.analyse(json!({})).await;
        assert_eq!(run["documentVersions"], json!([2]));
        let after = analysed.dashboard().await;
        let (changed, gone) = (code(&before, "every search"), code(&before, "painted on the quay"));
        assert_eq!(analysed.proposals().await, [
            (format!("CHANGED {changed}"), json!("OTHER_FIGURE")), (format!("GONE {gone}"), json!("NOT_FOUND")),
        ]);
        assert_eq!(after["requirements"].as_array().unwrap().len(), before["requirements"].as_array().unwrap().len() + 1);

        // Each quote stands where its version says.
        let two = analysed.ada.client.get(format!("{path}/text?version=2")).await.is(200).data()["text"].as_str().unwrap().to_owned();
        let mut versions = Vec::new();
        for item in after["requirements"].as_array().unwrap() {
            for source in item["sources"].as_array().unwrap() {
                let text = if source["version"] == 1 { &one } else { &two };
                let (start, end) = (source["startOffset"].as_u64().unwrap() as usize, source["endOffset"].as_u64().unwrap() as usize);
                let quote: String = text.chars().skip(start).take(end - start).collect();
                assert_eq!(quote, source["quote"].as_str().unwrap(), "{item:#}");
                versions.push((item["code"].as_str().unwrap().to_owned(), source["version"].as_i64().unwrap()));
            }
        }
        let of = |words: &str| -> Vec<i64> {
            let own = code(&after, words);
            versions.iter().filter(|(other, _)| *other == own).map(|(_, version)| *version).collect()
        };
        assert_eq!((of("book a berth"), of("in a storm"), of("a receipt")), (vec![2], vec![2], vec![2]));
        assert_eq!((of("every search"), of("painted on the quay")), (vec![1], vec![1]), "what is proposed changes nothing");
        let own = analysed.ada.client.get(analysed.at(&format!("?runId={}", run["id"].as_str().unwrap()))).await.is(200).data().clone();
        assert!(own["requirements"].as_array().unwrap().iter().any(|one| one["statement"].as_str().unwrap().contains("a receipt")));

        // There is nothing more to read: all of it is read again, in its present version, and nothing is proposed twice.
        let again = analysed.analyse(json!({})).await;
        assert_eq!(again["documentVersions"], json!([2]));
        assert_eq!(analysed.proposals().await.len(), 2);
        assert_eq!(analysed.dashboard().await["requirements"].as_array().unwrap().len(), after["requirements"].as_array().unwrap().len());
    }

    async fn a_version_that_was_saved_anew_proposes_nothing(world: World) {
        let analysed = Analysed::of(world.user().await, FIRST).await;
        let before = analysed.dashboard().await;
        let path = analysed.document().await;
        let saved = format!("{}\n", FIRST.replace("# Harbour\n\n", "# Harbour\n\n\n\n"));
        analysed.ada.read_version(&path, "brief.md", saved.as_bytes()).await;
        analysed.analyse(json!({})).await;
        assert!(analysed.proposals().await.is_empty());
        let after = analysed.dashboard().await;
        let statements = |dashboard: &Value| -> Vec<Value> {
            dashboard["requirements"].as_array().unwrap().iter().map(|one| json!([one["code"], one["statement"]])).collect()
        };
        assert_eq!(statements(&before), statements(&after));
    }

    async fn a_run_that_goes_on_reads_the_versions_that_it_was_started_for(world: World) {
        let analysed = Analysed::of(world.user().await, FIRST).await;
        let path = analysed.document().await;
        let document = path.rsplit('/').next().unwrap();
        analysed.ada.read_version(&path, "brief-2.md", SECOND.as_bytes()).await;
        let started = analysed.ada.client.post(runs(&analysed.project)).json(json!({"documentIds": [document]})).await;
        let started = started.is(202).data().clone();
        // A third version while it runs.
        analysed.ada.read_version(&path, "brief-3.md", b"# Harbour\n\nNothing of it is left.\n").await;
        let run = format!("{}/{}", runs(&analysed.project), started["id"].as_str().unwrap());
        assert_eq!(analysed.ada.over(&run).await["status"], "COMPLETED");
        let shown = analysed.dashboard().await;
        let all = shown["requirements"].as_array().unwrap();
        let printed = all.iter().find(|one| one["statement"].as_str().unwrap().contains("a receipt")).unwrap();
        assert_eq!((&printed["sources"][0]["version"], &started["documentVersions"]), (&json!(2), &json!([2])));
    }
}
