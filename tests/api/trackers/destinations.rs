//! Where stories go: projects and issue types of the tracker, and what those require.

use serde_json::{Value, json};

use super::{Tracked, TrackerWorld};

on_both! {
    async fn projects_are_searched_and_paged(world: TrackerWorld) {
        let projects: Vec<Value> = (0..57)
            .map(|number| json!({"id": (20_000 + number).to_string(), "key": format!("P{number}"), "name": format!("Project {number:02}")}))
            .collect();
        let tracked = Tracked::empty(world.server, world.jira.site(json!({"projects": projects})).await).await;
        tracked.connect().await;
        let (mut names, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = tracked.get(&format!("tracker/projects?limit=20{cursor}")).await.is(200);
            assert_eq!(page.data()["totalCount"], 57);
            let items = page.data()["items"].as_array().unwrap().clone();
            names.extend(items.iter().map(|one| one["name"].as_str().unwrap().to_owned()));
            let Some(next) = page.data()["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        let wanted: Vec<String> = (0..57).map(|number| format!("Project {number:02}")).collect();
        assert_eq!(names, wanted);
        let found = tracked.get("tracker/projects?search=project%2033").await.is(200);
        assert_eq!(found.data()["items"][0]["key"], "P33");
        assert_eq!(found.data()["totalCount"], 1);
        tracked.get("tracker/projects?limit=0").await.is(422);
        tracked.get("tracker/projects/99999/issue-types").await.is(404);
        tracked.site.must_be_sound().await;
    }

    async fn an_issue_type_names_what_it_requires_and_takes_defaults_for_it(world: TrackerWorld) {
        let fields = json!([
            {"fieldId": "customfield_10050", "name": "Team", "required": true, "kind": "select", "options": ["Red", "Blue"]},
            {"fieldId": "customfield_10051", "name": "Place", "required": true, "kind": "cascade",
                "options": [{"value": "Europe", "children": ["Bern", "Wien"]}, {"value": "Asia", "children": ["Seoul"]}]},
            {"fieldId": "customfield_10052", "name": "Reason", "required": true, "kind": "textarea"},
            {"fieldId": "customfield_10053", "name": "Points", "required": true, "kind": "number"},
            {"fieldId": "customfield_10054", "name": "Due", "required": true, "kind": "date"},
            {"fieldId": "customfield_10011", "name": "Epic Name", "required": true, "kind": "epicName"},
        ]);
        let types = json!([
            {"id": "10001", "name": "Story", "fields": []},
            {"id": "10009", "name": "Change", "fields": fields},
            {"id": "10010", "name": "Silent", "off": ["description"], "fields": []},
            {"id": "10011", "name": "Plain", "off": ["labels"], "fields": []},
            {"id": "10003", "name": "Sub-task", "subtask": true, "fields": []},
        ]);
        let site = world.jira.site(json!({"issueTypes": types})).await;
        let tracked = Tracked::with_stories(world.server, site, 2).await;
        let listed = tracked.get("tracker/projects/10000/issue-types").await.is(200).data()["items"].clone();
        let names: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["Story", "Change", "Silent", "Plain"], "issues that stand alone");
        let of = |name: &str| listed.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
        assert_eq!((&of("Story")["compatible"], &of("Plain")["compatible"]), (&json!(true), &json!(true)));
        assert_eq!(of("Silent")["compatible"], false, "the description would be lost");
        let missing = of("Change")["missingRequiredFields"].as_array().unwrap();
        let missing_names: Vec<&str> = missing.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(missing_names, ["Team", "Place", "Reason", "Points", "Due"], "the Epic Name is the story's title");
        assert_eq!(missing[1]["allowedValues"][0]["children"][1]["name"], "Wien");

        // They are named before any export.
        let refused = tracked.choose("10000", "10009", json!({})).await.is(422);
        let at: Vec<String> = refused.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(at, [50, 51, 52, 53, 54].map(|number| format!("fieldDefaults.customfield_100{number}")));
        let wrong = json!({"customfield_10050": "Green", "customfield_10051": ["Europe", "Seoul"], "customfield_10052": "",
            "customfield_10053": "many", "customfield_10054": "soon", "customfield_99999": 1});
        assert_eq!(tracked.choose("10000", "10009", wrong).await.is(422).faults().len(), 6);
        tracked.choose("10000", "10003", json!({})).await.is(422);
        tracked.choose("99999", "10001", json!({})).await.is(404);
        let right = json!({"customfield_10050": "Blue", "customfield_10051": ["Europe", "Wien"],
            "customfield_10052": "Two\nlines", "customfield_10053": 5, "customfield_10054": "2026-12-24"});
        let saved = tracked.choose("10000", "10009", right).await.is(200);
        assert_eq!((&saved.data()["projectKey"], &saved.data()["issueTypeName"]), (&json!("EX"), &json!("Change")));
        let listed = tracked.get("tracker/projects/10000/issue-types").await.is(200).data()["items"].clone();
        assert_eq!(listed[1]["compatible"], true, "with its defaults");

        let export = tracked.exported(json!({})).await;
        assert_eq!((&export["status"], &export["created"]), (&json!("COMPLETED"), &json!(2)), "{export}");
        let issue = &tracked.site.issues().await[0]["fields"];
        assert_eq!(issue["customfield_10050"]["value"], "Blue", "{issue}");
        assert_eq!(issue["customfield_10051"]["child"]["value"], "Wien", "{issue}");
        assert_eq!((&issue["customfield_10053"], &issue["customfield_10054"]), (&json!(5), &json!("2026-12-24")));
        assert_eq!(issue["customfield_10011"], issue["summary"]);
        assert_eq!(issue["customfield_10052"]["type"], "doc", "{issue}");
        // What is not on the screen is left out where that loses nothing of the story.
        tracked.choose("10000", "10011", json!({})).await.is(200);
        let again = tracked.exported(json!({})).await;
        assert_eq!(again["skipped"], 2, "{again}");
        tracked.site.must_be_sound().await;
    }
}
