//! Tests of searches.

use actors::time::Time;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::super::{Tracker, TrackerError, TrackerIssueState};
use super::super::tests::{always, server, target};
use super::{READ_FIELDS, created_since};

fn at(seconds: i64) -> Time {
    Time::from_millis(seconds * 1000).unwrap()
}

fn found(id: u64, more: &Value) -> Value {
    let mut issue = json!({ "id": id.to_string(), "key": format!("A-{id}") });
    issue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    issue
}

fn marked(id: u64) -> Value {
    found(id, &json!({ "fields": {}, "properties": { "colloquy": { "story": Uuid::from_u128(id.into()) } } }))
}

#[test]
fn the_time_since_is_told_in_whole_minutes_and_two_more() {
    let jql = |seconds: i64| created_since("10000", at(1000), at(1000 + seconds));
    let expected = "project = \"10000\" AND creator = currentUser() AND created >= \"-2m\" ORDER BY created DESC";
    assert_eq!(jql(0), expected);
    assert!(jql(1).contains("\"-3m\""), "{}", jql(1));
    assert!(jql(60).contains("\"-3m\""), "{}", jql(60));
    assert!(jql(61).contains("\"-4m\""), "{}", jql(61));
    assert!(jql(-100).contains("\"-2m\""), "{}", jql(-100));
}

#[tokio::test]
async fn marked_issues_of_all_pages_are_found() {
    let server = server(|call| {
        let body = call.json();
        let foreign = found(3, &json!({ "properties": { "colloquy": { "story": "no id" } } }));
        let page = if body.get("nextPageToken") == Some(&json!("more")) {
            json!({ "issues": [marked(2), foreign, found(4, &json!({}))], "isLast": true, "nextPageToken": "more" })
        } else {
            json!({ "issues": [marked(1)], "isLast": false, "nextPageToken": "more" })
        };
        (200, "", page.to_string())
    });
    let issues = server.jira().find_marked(&server.cloud(), &target(Vec::new()), at(0), at(60)).await.unwrap();
    let seen: Vec<(u128, &str, &str)> = issues
        .iter()
        .map(|found| (found.marker.as_u128(), found.issue.id.as_str(), found.issue.url.as_str()))
        .collect();
    assert_eq!(seen, [(1, "1", "https://acme.example/browse/A-1"), (2, "2", "https://acme.example/browse/A-2")]);
    let calls = server.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].line, "POST /ex/jira/site-1/rest/api/3/search/jql HTTP/1.1");
    let jql = created_since("10000", at(0), at(60));
    let body = json!({ "jql": jql, "fields": ["id"], "maxResults": 50, "properties": ["colloquy"] });
    assert_eq!(calls[0].json(), body);
}

#[tokio::test]
async fn a_data_center_is_asked_for_the_marker_of_each_issue() {
    let server = server(|call| {
        let answer = match call.line.as_str() {
            "POST /rest/api/2/search HTTP/1.1" => {
                let start = call.json()["startAt"].as_u64().unwrap();
                let issues = if start == 0 { json!([found(1, &json!({}))]) } else { json!([found(2, &json!({}))]) };
                json!({ "issues": issues, "total": 2, "startAt": start, "maxResults": 1 })
            }
            "GET /rest/api/2/issue/1/properties/colloquy HTTP/1.1" => {
                json!({ "key": "colloquy", "value": { "story": Uuid::from_u128(5) } })
            }
            _ => return (404, "", String::new()),
        };
        (200, "", answer.to_string())
    });
    let issues = server.jira().find_marked(&server.data_center(), &target(Vec::new()), at(0), at(60)).await.unwrap();
    assert_eq!(issues.len(), 1);
    assert_eq!((issues[0].marker, issues[0].issue.key.as_str()), (Uuid::from_u128(5), "A-1"));
    assert_eq!(server.calls().len(), 4);
}

#[tokio::test]
async fn a_search_without_an_end_is_given_up() {
    let full: Vec<Value> = (0..50).map(marked).collect();
    let endless = json!({ "issues": full, "isLast": false, "nextPageToken": "again", "total": 1_000_000 });
    for (answer, most) in [(endless, 100), (json!({ "issues": [], "nextPageToken": "again" }), super::PAGES)] {
        let server = always(200, &answer);
        let outcome = server.jira().find_marked(&server.cloud(), &target(Vec::new()), at(0), at(60)).await;
        assert!(matches!(outcome, Err(TrackerError::Invalid(_))));
        assert_eq!(server.calls().len(), most);
    }
}

fn current(id: u64, state: &str) -> Value {
    let fields = json!({
        "summary": "A title",
        "description": null,
        "status": { "name": "x", "statusCategory": { "key": state } },
        "project": { "id": "20000", "key": "MOVED" },
    });
    found(id, &json!({ "fields": fields }))
}

#[tokio::test]
async fn issues_are_read_in_pages_with_their_states() {
    let server = server(|call| {
        let ids = call.json()["reconcileIssues"].as_array().unwrap().clone();
        let states = ["new", "indeterminate", "done", "undefined"];
        let issues: Vec<Value> = ids
            .iter()
            .filter_map(Value::as_u64)
            .filter(|id| *id != 7)
            .map(|id| current(id, states[usize::try_from(id % 4).unwrap()]))
            .collect();
        (200, "", json!({ "issues": issues, "isLast": true }).to_string())
    });
    let mut ids: Vec<String> = (0..60).map(|id: u64| id.to_string()).collect();
    ids.push("not an id".to_owned());
    let issues = server.jira().read(&server.cloud(), &ids).await.unwrap();
    assert_eq!(issues.len(), 59, "one is gone");
    for issue in &issues {
        let expected = match issue.issue.id.parse::<u64>().unwrap() % 4 {
            1 => TrackerIssueState::InProgress,
            2 => TrackerIssueState::Done,
            _ => TrackerIssueState::Open,
        };
        assert_eq!((issue.state, issue.project_id.as_str()), (expected, "20000"));
    }
    let calls = server.calls();
    assert_eq!(calls.len(), 2);
    let last: Vec<u64> = (50..60).collect();
    let list = "50, 51, 52, 53, 54, 55, 56, 57, 58, 59";
    let jql = format!("id in ({list}) ORDER BY id ASC");
    let body = json!({ "jql": jql, "fields": READ_FIELDS, "maxResults": 50, "reconcileIssues": last });
    assert_eq!(calls[1].json(), body);
}

#[tokio::test]
async fn where_a_deleted_issue_spoils_the_search_issues_are_read_one_by_one() {
    let server = server(|call| {
        let gone = json!({ "errorMessages": ["An issue with key '2' does not exist for field 'id'."] }).to_string();
        match call.line.as_str() {
            line if line.starts_with("POST") => (400, "", gone),
            line if line.contains("/issue/2?") => (404, "", gone),
            _ => (200, "", current(1, "done").to_string()),
        }
    });
    let ids = ["1".to_owned(), "2".to_owned()];
    let issues = server.jira().read(&server.cloud(), &ids).await.unwrap();
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0].state, TrackerIssueState::Done);
    let line = "GET /ex/jira/site-1/rest/api/3/issue/1?fields=summary%2Cdescription%2Cstatus%2Cproject HTTP/1.1";
    assert_eq!(server.calls()[1].line, line);
}

#[tokio::test]
async fn an_unreadable_issue_is_not_taken_for_a_missing_one() {
    let server = always(200, &json!({ "issues": [{ "id": 1 }], "isLast": true }));
    let outcome = server.jira().read(&server.cloud(), &["1".to_owned()]).await;
    assert!(matches!(outcome, Err(TrackerError::Invalid(_))));
}
