//! Tests of issue types and their fields.

use serde_json::{Value, json};

use super::super::super::{IssueFieldKind, Tracker, TrackerError};
use super::super::tests::{always, server};

fn field(id: &str, schema: Value, more: &Value) -> Value {
    let mut field =
        json!({ "fieldId": id, "key": id, "name": id, "required": false, "operations": ["set"], "schema": schema });
    field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    field
}

fn plain(id: &str, schema: Value) -> Value {
    field(id, schema, &json!({}))
}

fn fields() -> Vec<Value> {
    let custom = |kind: &str, custom: &str| json!({ "type": kind, "custom": custom, "customId": 1 });
    let values = json!({ "allowedValues": [{ "id": "1", "value": "One" }, { "id": "2", "name": "Two" }, { "x": 1 }] });
    let users = json!({ "allowedValues": [{ "accountId": "u1", "displayName": "Ada" }] });
    let cascade = json!({ "allowedValues": [{ "id": "1", "value": "A", "children": [{ "id": "3", "value": "B" }] }] });
    let many: Vec<Value> = (0..2001).map(|id| json!({ "id": id.to_string(), "name": "x" })).collect();
    vec![
        field("summary", json!({ "type": "string", "system": "summary" }), &json!({ "required": true })),
        plain("description", json!({ "type": "string", "system": "description" })),
        plain("labels", json!({ "type": "array", "items": "string", "system": "labels" })),
        field("reporter", json!({ "type": "user", "system": "reporter" }), &json!({ "required": true })),
        field("customfield_1", custom("string", super::EPIC_NAME), &json!({ "required": true })),
        plain("environment", json!({ "type": "string", "system": "environment" })),
        plain("area", custom("string", "com.atlassian.jira.plugin.system.customfieldtypes:textarea")),
        plain("line", custom("string", "com.atlassian.jira.plugin.system.customfieldtypes:textfield")),
        plain("number", json!({ "type": "number" })),
        plain("date", json!({ "type": "date" })),
        plain("datetime", json!({ "type": "datetime" })),
        field("option", json!({ "type": "option" }), &values),
        field("priority", json!({ "type": "priority" }), &json!({ "required": true, "hasDefaultValue": true })),
        field("boxes", json!({ "type": "array", "items": "option" }), &values),
        field("cascade", json!({ "type": "option-with-child" }), &cascade),
        plain("words", json!({ "type": "array", "items": "string" })),
        field("user", json!({ "type": "user" }), &users),
        plain("anyone", json!({ "type": "user" })),
        plain("sprint", json!({ "type": "array", "items": "json" })),
        field("long", json!({ "type": "option" }), &json!({ "required": true, "allowedValues": many })),
    ]
}

#[tokio::test]
async fn fields_have_the_kind_of_their_schema() {
    let server = server(|call| {
        let page = if call.line.contains("/issuetypes?") {
            json!({ "issueTypes": [
                { "id": "1", "name": "Story", "iconUrl": "https://x.example/i.svg" },
                { "id": "2", "name": "Sub-task", "subtask": true },
            ], "total": 2 })
        } else {
            json!({ "fields": fields(), "total": 20 })
        };
        (200, "", page.to_string())
    });
    let forms = server.jira().issue_forms(&server.cloud(), "10000").await.unwrap();
    assert_eq!(forms.len(), 1, "an issue of a sub-task can't stand alone");
    let form = &forms[0];
    assert_eq!((form.name.as_str(), form.icon_url.as_deref()), ("Story", Some("https://x.example/i.svg")));
    let seen: Vec<String> =
        form.fields.iter().map(|field| format!("{} {:?} {}", field.id, field.kind, field.allowed.len())).collect();
    insta::assert_snapshot!(seen.join("\n"), @r"
    summary FromStory 0
    description FromStory 0
    labels FromStory 0
    reporter FromStory 0
    customfield_1 FromStory 0
    environment LongText 0
    area LongText 0
    line Text 0
    number Number 0
    date Date 0
    datetime Other 0
    option Choice 2
    priority Other 0
    boxes Choices 2
    cascade Cascade 1
    words Words 0
    user Choice 1
    anyone Other 0
    sprint Other 0
    long Other 0
    ");
    let missing: Vec<&str> = form.missing(&[].into()).into_iter().map(|field| field.id.as_str()).collect();
    assert_eq!(missing, ["long"]);
    assert_eq!(form.fields[14].allowed[0].children[0].name, "B");
    let lines: Vec<String> = server.calls().iter().map(|call| call.line.clone()).collect();
    let path = "GET /ex/jira/site-1/rest/api/3/issue/createmeta/10000/issuetypes";
    let query = "?startAt=0&maxResults=100 HTTP/1.1";
    assert_eq!(lines, [format!("{path}{query}"), format!("{path}/1{query}")]);
}

#[tokio::test]
async fn an_issue_type_without_a_description_is_incompatible() {
    let server = server(|call| {
        let page = if call.line.contains("/issuetypes?") {
            json!({ "values": [{ "id": "1", "name": "Bug", "subtask": false }], "isLast": true })
        } else {
            json!({ "values": [plain("summary", json!({ "type": "string", "system": "summary" }))], "isLast": true })
        };
        (200, "", page.to_string())
    });
    let forms = server.jira().issue_forms(&server.data_center(), "10000").await.unwrap();
    let missing = forms[0].missing(&[].into());
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].name, "Description (not on the create screen)");
    assert_eq!(missing[0].kind, IssueFieldKind::OffScreen);
    assert!(server.calls()[0].line.starts_with("GET /rest/api/2/issue/createmeta/10000/issuetypes?"));
}

#[tokio::test]
async fn a_list_of_issue_types_is_read_to_its_end() {
    let server = server(|call| {
        let page = match call.line.as_str() {
            line if line.contains("/issuetypes?startAt=0&") => {
                json!({ "issueTypes": [{ "id": "1", "name": "A", "subtask": true }], "total": 2 })
            }
            line if line.contains("/issuetypes?startAt=1&") => {
                json!({ "issueTypes": [{ "id": "2", "name": "B", "subtask": true }], "total": 2 })
            }
            _ => json!({}),
        };
        (200, "", page.to_string())
    });
    assert_eq!(server.jira().issue_forms(&server.cloud(), "1").await, Ok(Vec::new()));
    assert_eq!(server.calls().len(), 2);
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    let server =
        always(200, &json!({ "issueTypes": [{ "id": "1", "name": "A", "subtask": true }], "total": 1_000_000 }));
    let outcome = server.jira().issue_forms(&server.cloud(), "10000").await;
    assert!(matches!(outcome, Err(TrackerError::Invalid(_))));
    assert_eq!(server.calls().len(), super::PAGES);
}
