//! Tests of repositories as projects.

use serde_json::{Value, json};

use super::{GitHubMilestone, GitHubRepository, fields};
use crate::clients::trackers::IssueFieldKind;

fn repository(changes: &Value) -> GitHubRepository {
    let mut repository = json!({
        "id": 7, "name": "clinic", "full_name": "acme/clinic", "has_issues": true, "archived": false,
        "owner": { "login": "acme", "type": "Organization", "avatar_url": "https://avatars.example.org/u/1" },
        "permissions": { "admin": false, "push": true, "pull": true },
    });
    for (name, value) in changes.as_object().unwrap() {
        repository[name] = value.clone();
    }
    serde_json::from_value(repository).unwrap()
}

#[test]
fn a_repository_takes_issues_of_those_who_may_label_them() {
    assert!(repository(&json!({})).takes_issues());
    assert!(repository(&json!({ "permissions": { "triage": true } })).takes_issues());
    let others = [
        json!({ "has_issues": false }),
        json!({ "archived": true }),
        json!({ "disabled": true }),
        json!({ "permissions": { "pull": true } }),
        json!({ "permissions": {} }),
    ];
    for changes in others {
        assert!(!repository(&changes).takes_issues(), "{changes}");
    }
}

#[test]
fn only_pictures_that_come_encrypted_are_shown() {
    let shown = repository(&json!({})).into_option();
    assert_eq!((shown.id.as_str(), shown.key.as_str(), shown.name.as_str()), ("7", "acme/clinic", "clinic"));
    assert_eq!(shown.avatar_url.as_deref(), Some("https://avatars.example.org/u/1"));
    for url in [json!("http://avatars.example.org/u/1"), json!("data:image/png,x"), json!(null)] {
        let owner = json!({ "login": "acme", "avatar_url": url });
        assert_eq!(repository(&json!({ "owner": owner })).into_option().avatar_url, None, "{url}");
    }
}

#[test]
fn nothing_but_the_title_is_required() {
    let fields = fields(&[GitHubMilestone { number: 3, title: "Beta".to_owned() }]);
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.id.as_str()).collect();
    assert_eq!(required, ["title"]);
    let milestone = fields.iter().find(|field| field.id == "milestone").unwrap();
    assert_eq!(milestone.kind, IssueFieldKind::Choice);
    assert_eq!((milestone.allowed[0].id.as_str(), milestone.allowed[0].name.as_str()), ("3", "Beta"));
}
