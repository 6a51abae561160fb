//! Tests of creating and changing issues.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{IssueIdentity, current, marked, names, reference, request};
use crate::clients::trackers::github::body::IssueMarkdown;
use crate::clients::trackers::{IssueForm, IssueTarget, TrackerIssueState, TrackerSite};

fn site() -> TrackerSite {
    TrackerSite { id: "api.github.com".to_owned(), name: "GitHub".to_owned(), url: "https://github.com".to_owned() }
}

fn target(form: &str, name: &str, defaults: Value) -> IssueTarget {
    let defaults: BTreeMap<String, Value> = serde_json::from_value(defaults).unwrap();
    let form = IssueForm { id: form.to_owned(), name: name.to_owned(), icon_url: None, fields: Vec::new() };
    let labels = vec!["colloquy".to_owned()];
    IssueTarget { project_id: "7".to_owned(), project_key: "acme/clinic".to_owned(), form, defaults, labels }
}

fn issue(changes: &Value) -> super::GitHubIssue {
    let mut issue = json!({
        "number": 12, "html_url": "https://github.com/acme/clinic/issues/12", "title": "Title", "body": null, "state": "open",
        "created_at": "2026-11-25T12:00:00Z", "repository_url": "https://api.github.com/repos/acme/clinic",
    });
    for (name, value) in changes.as_object().unwrap() {
        issue[name] = value.clone();
    }
    serde_json::from_value(issue).unwrap()
}

#[test]
fn an_issue_is_sent_with_what_its_form_and_defaults_say() {
    let content = IssueMarkdown { title: "Title".to_owned(), body: "Body".to_owned() };
    let plain = request(&target("issue", "Issue", json!({})), &content);
    assert_eq!(plain, json!({ "title": "Title", "body": "Body", "labels": ["colloquy"] }));
    let defaults = json!({ "assignees": ["@ada", "bob"], "milestone": "3", "other": 1 });
    let typed = request(&target("41", "Story", defaults), &content);
    let expected = json!({
        "title": "Title", "body": "Body", "labels": ["colloquy"], "type": "Story", "assignees": ["ada", "bob"], "milestone": 3,
    });
    assert_eq!(typed, expected);
}

#[test]
fn an_identity_is_a_repository_and_a_number() {
    let identity = IssueIdentity::parse("7#12").unwrap();
    assert_eq!(identity.path(), ["repositories", "7", "issues", "12"]);
    for id in ["", "7", "#", "7#", "#12", "7#1/2", "7#12#3", "a#1", "7#..", "-7#1"] {
        assert!(IssueIdentity::parse(id).is_none(), "{id}");
    }
}

#[test]
fn a_repository_has_an_owner_and_a_name() {
    assert_eq!(names("acme/clinic"), Ok(("acme", "clinic")));
    assert!(names("acme").is_err() && names("acme/clinic/issues").is_err());
}

#[test]
fn only_addresses_of_the_web_or_of_the_site_are_shown() {
    let url = |given: &str| reference(&site(), "7", "acme/clinic", 12, given).url;
    assert_eq!(url("https://ghe.example.org/acme/clinic/issues/12"), "https://ghe.example.org/acme/clinic/issues/12");
    for given in ["http://example.org", "javascript:alert(1)", "", "https:/x"] {
        assert_eq!(url(given), "https://github.com/acme/clinic/issues/12", "{given}");
    }
    let local = TrackerSite { url: "http://127.0.0.1:4000".to_owned(), ..site() };
    let shown = |given: &str| reference(&local, "7", "a/b", 1, given).url;
    assert_eq!(shown("http://127.0.0.1:4000/a/b/issues/1"), "http://127.0.0.1:4000/a/b/issues/1");
    assert_eq!(shown("http://127.0.0.1:40001/a"), "http://127.0.0.1:4000/a/b/issues/1");
}

#[test]
fn an_issue_is_read_as_it_is() {
    let identity = IssueIdentity::parse("7#12").unwrap();
    let open = current(&site(), &identity, issue(&json!({})));
    assert_eq!((open.issue.id.as_str(), open.issue.key.as_str()), ("7#12", "acme/clinic#12"));
    assert_eq!((open.project_id.as_str(), open.state), ("7", TrackerIssueState::Open));
    assert_eq!(open.fingerprint, IssueMarkdown { title: "Title".to_owned(), body: String::new() }.fingerprint());
    let closed =
        issue(&json!({ "state": "closed", "repository_url": "https://ghe.example.org/api/v3/repos/acme/renamed" }));
    let closed = current(&site(), &identity, closed);
    assert_eq!((closed.issue.key.as_str(), closed.state), ("acme/renamed#12", TrackerIssueState::Done));
}

#[test]
fn an_issue_is_found_by_its_marker() {
    let id = Uuid::from_u128(5);
    let body = format!("Text\r\n\r\n<!-- colloquy:{id} -->");
    let found = |changes: &Value, since: &str| {
        let since = serde_json::from_value(json!(since)).unwrap();
        marked(&site(), &target("issue", "Issue", json!({})), &issue(changes), since)
            .map(|found| (found.marker, found.issue.id))
    };
    let (before, after) = ("2026-11-25T12:00:00Z", "2026-11-25T12:00:01Z");
    assert_eq!(found(&json!({ "body": body }), before), Some((id, "7#12".to_owned())));
    assert_eq!(found(&json!({ "body": body }), after), None);
    assert_eq!(found(&json!({}), before), None);
    assert_eq!(found(&json!({ "body": body, "pull_request": {} }), before), None);
}
