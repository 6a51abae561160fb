//! Tests the dashboard of AI runs: its items have sources, and what is asked for is filtered and counted.

use serde_json::{Value, json};

use super::NOTE;
use crate::support::World;
use crate::support::documents::sample;

/// Checks that every item of a dashboard has sources, and that each quote is the text of its document at the source's
/// offsets, which count characters. Returns the number of quotes. Panics when a check fails.
async fn verified(ada: &crate::support::User, project: &str, dashboard: &Value) -> usize {
    let mut texts = std::collections::HashMap::new();
    let mut quotes = 0;
    for kind in ["requirements", "userStories", "risks", "openQuestions", "actionItems", "decisions"] {
        for item in dashboard[kind].as_array().unwrap() {
            let sources = item["sources"].as_array().unwrap();
            assert!(!sources.is_empty(), "untraced: {item}");
            for source in sources {
                let id = source["documentId"].as_str().unwrap().to_owned();
                if !texts.contains_key(&id) {
                    let answer = ada.client.get(format!("/api/projects/{project}/documents/{id}/text")).await.is(200);
                    let text: Vec<char> = answer.text_of("text").chars().collect();
                    texts.insert(id.clone(), text);
                }
                let [start, end] = ["startOffset", "endOffset"].map(|name| source[name].as_u64().unwrap() as usize);
                let found: String = texts[&id][start..end].iter().collect();
                assert_eq!(Some(found.as_str()), source["quote"].as_str(), "{item}");
                quotes += 1;
            }
        }
    }
    quotes
}

on_both! {
    async fn before_any_run_the_dashboard_is_empty(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}/ai/results-dashboard");
        let answer = ada.client.get(&path).await.is(200);
        assert_eq!((&answer.data()["runId"], &answer.data()["requirements"]), (&json!(null), &json!([])));
        let nowhere = "0189a0f0-0000-7000-8000-000000000000";
        ada.client.get(format!("{path}?runId={nowhere}")).await.refused(404, "NotFound");
        ada.client.get(format!("{path}?runId=x")).await.is(422);
    }

    async fn every_item_of_real_documents_quotes_text_that_is_at_its_offsets(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for name in ["call-for-tenders.pdf", "annex-operations.pdf", "discovery-meeting.vtt", "product-note.md"] {
            ada.read(&project, name, &sample(name)).await;
        }
        let (run, _) = ada.run(&project).await;
        assert_eq!(ada.over(&run).await["status"], "COMPLETED");
        let path = format!("/api/projects/{project}/ai/results-dashboard");
        let answer = ada.client.get(&path).await.is(200);
        let dashboard = answer.data();
        let quotes = verified(&ada, &project, dashboard).await;
        println!("{quotes} quotes verified");
        assert!(quotes > 150);
        assert_eq!(dashboard["requirements"][0]["code"], "REQ-001");
        assert_eq!(dashboard["userStories"][0]["code"], "US-001");
        let ids: Vec<_> = dashboard["requirements"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        for story in dashboard["userStories"].as_array().unwrap() {
            assert!(story["requirementIds"].as_array().unwrap().iter().all(|id| ids.contains(&id)), "{story}");
        }
        ada.client.get(&path).header("if-none-match", answer.etag()).await.is(304);
        let counts = ada.client.get(format!("/api/projects/{project}")).await.is(200).data()["counts"].clone();
        assert_eq!(counts["requirements"], json!(ids.len()));
    }

    async fn items_of_slides_sheets_texts_and_mails_are_verbatim_and_say_where_they_are(world: World) {
        let ada = world.user().await;
        for (name, statement, page, section) in [
            ("pptx/python-pptx-bullets.pptx", "The system shall lock the return box when it is full.", json!(2), "Library returns"),
            ("xlsx/openpyxl-dates.xlsx", "The singer must see the next rehearsal on the first page.", json!(null), "Dates"),
            ("odt/odfdo-sections.odt", "The system shall reject a reading below the last one.", json!(null), "Water meters"),
            ("eml/python-forwarded.eml", "The system shall play the next piece by its number.", json!(null), "The first mail"),
        ] {
            let project = ada.project().await;
            ada.read(&project, name.rsplit('/').next().unwrap(), &sample(name)).await;
            let (run, _) = ada.run(&project).await;
            assert_eq!(ada.over(&run).await["status"], "COMPLETED", "{name}");
            let answer = ada.client.get(format!("/api/projects/{project}/ai/results-dashboard")).await.is(200);
            assert!(verified(&ada, &project, answer.data()).await > 0, "{name}");
            let found = answer.data()["requirements"].as_array().unwrap().iter().find(|one| one["statement"] == statement);
            let source = &found.unwrap_or_else(|| panic!("{name}: {}", answer.text()))["sources"][0];
            assert_eq!(source["page"], page, "{name}: {source}");
            let within = source["section"].as_str().unwrap();
            assert!(within.contains(section), "{name}: {source}");
        }
    }

    async fn a_filtered_dashboard_has_what_was_asked_for_and_counts_it(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (document, _) = ada.read(&project, "booking.md", NOTE.as_bytes()).await;
        let (run, _) = ada.run(&project).await;
        ada.over(&run).await;
        let path = format!("/api/projects/{project}/ai/results-dashboard");
        let whole = ada.client.get(&path).await.is(200);
        let filtered = async |query: &str| ada.client.get(format!("{path}?{query}")).await.is(200);
        let counts = |dashboard: &Value| {
            let of = |name: &str| dashboard[name].as_array().unwrap().len();
            [of("requirements"), of("userStories"), of("risks"), of("openQuestions")]
        };
        let [requirements, stories, risks, questions] = counts(whole.data());
        let quality = filtered("type=NON_FUNCTIONAL").await;
        let found = quality.data()["requirements"].as_array().unwrap();
        assert!(!found.is_empty() && found.len() < requirements);
        assert!(found.iter().all(|one| one["type"] == "NON_FUNCTIONAL"));
        assert_eq!(quality.data()["metrics"]["requirements"], found.len());
        let searched = filtered("search=WAITING%20list").await;
        let [few, one, none, nothing] = counts(searched.data());
        assert!(few < requirements && one == 1 && one <= stories && none == 0 && nothing == 0, "{:?}", searched.data());
        assert_eq!((&searched.data()["metrics"]["risks"], &searched.data()["metrics"]["openQuestions"]), (&json!(0), &json!(0)));
        let id = document.rsplit('/').next().unwrap();
        assert_eq!(counts(filtered(&format!("source={id}")).await.data()), [requirements, stories, risks, questions]);
        let elsewhere = filtered("source=0189a0f0-0000-7000-8000-000000000000").await;
        assert_eq!(counts(elsewhere.data()), [0, 0, 0, 0]);
        assert_eq!(counts(filtered("speaker=Grace").await.data()), [0, 0, 0, 0]);
        assert_eq!(counts(filtered("status=APPROVED&priority=HIGH").await.data())[..2], [0, 0]);
        let etags: Vec<String> = vec![whole.etag(), quality.etag(), searched.etag()];
        assert!(etags[0] != etags[1] && etags[1] != etags[2]);
        ada.client.get(format!("{path}?type=NON_FUNCTIONAL")).header("if-none-match", &etags[1]).await.is(304);
        let wrong = ada.client.get(format!("{path}?type=BIG&source=x&speaker=")).await.is(422);
        let fields: Vec<String> = wrong.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["source", "speaker", "type"]);
    }
}
