//! Tests of creating and changing issues.

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::super::{IssueBlock, IssueDraft, IssueFieldKind, IssueRefusal, IssueTarget, Tracker, TrackerError};
use super::super::dialect::JiraDialect;
use super::super::tests::{SECRET, TestServer, always, field, server, target};
use super::{CreateOutcome, fields};

fn draft(number: u128) -> IssueDraft {
    IssueDraft {
        marker: Uuid::from_u128(number),
        title: format!("Story {number}"),
        blocks: vec![IssueBlock::Paragraph("As a user".to_owned())],
    }
}

fn too_long() -> IssueDraft {
    IssueDraft { blocks: vec![IssueBlock::Paragraph("x".repeat(32_767))], ..draft(9) }
}

fn plain() -> IssueTarget {
    target(vec![field("customfield_7", "Team", IssueFieldKind::Text)])
}

async fn created(server: &TestServer, drafts: &[IssueDraft]) -> Result<Vec<CreateOutcome>, TrackerError> {
    server.jira().create(&server.cloud(), &plain(), drafts).await
}

/// `ID KEY URL` or `CODE: MESSAGE` of each.
fn lines(outcomes: Vec<CreateOutcome>) -> Vec<String> {
    let line = |outcome: CreateOutcome| match outcome {
        Ok(issue) => format!("{} {} {}", issue.id, issue.key, issue.url),
        Err(refusal) => format!("{}: {}", refusal.code, refusal.message),
    };
    outcomes.into_iter().map(line).collect()
}

#[tokio::test]
async fn issues_are_created_in_one_call_with_their_markers() {
    let answer = json!({ "issues": [{ "id": "1", "key": "A-1" }, { "id": "2", "key": "A-2" }], "errors": [] });
    let server = always(201, &answer);
    let outcomes = created(&server, &[draft(1), draft(2)]).await.unwrap();
    assert_eq!(lines(outcomes), ["1 A-1 https://acme.example/browse/A-1", "2 A-2 https://acme.example/browse/A-2"]);
    let calls = server.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].line, "POST /ex/jira/site-1/rest/api/3/issue/bulk HTTP/1.1");
    let update = |number: u128| {
        let text = json!([{ "type": "text", "text": "As a user" }]);
        json!({
            "fields": {
                "project": { "id": "10000" },
                "issuetype": { "id": "10001" },
                "summary": format!("Story {number}"),
                "description":
                    { "version": 1, "type": "doc", "content": [{ "type": "paragraph", "content": text }] },
            },
            "properties": [{ "key": "colloquy", "value": { "story": Uuid::from_u128(number) } }],
        })
    };
    assert_eq!(calls[0].json(), json!({ "issueUpdates": [update(1), update(2)] }));
}

#[tokio::test]
async fn each_refused_issue_has_its_own_words_and_the_others_their_keys() {
    let team = json!({ "errorMessages": ["Look here."], "errors": { "customfield_7": "Team is required." } });
    let answer = json!({
        "issues": [{ "id": "1", "key": "A-1" }, { "id": "2", "key": "A-2" }],
        "errors": [
            { "status": 403, "elementErrors": { "errorMessages": ["No."] }, "failedElementNumber": 3 },
            { "status": 400, "elementErrors": team, "failedElementNumber": 0 },
        ],
    });
    let server = always(201, &answer);
    // The third one is not sent.
    let drafts = [draft(1), draft(2), too_long(), draft(3), draft(4)];
    let outcomes = lines(created(&server, &drafts).await.unwrap());
    let expected = [
        "FieldRejected: Look here. Team: Team is required.",
        "1 A-1 https://acme.example/browse/A-1",
        "TooLong: The description is longer than the 32767 characters that Jira takes.",
        "2 A-2 https://acme.example/browse/A-2",
        "Forbidden: No.",
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(server.calls()[0].json()["issueUpdates"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn where_all_are_refused_each_has_an_error() {
    let said = json!({ "errors": { "summary": format!("Bad {SECRET}") } });
    let answer =
        json!({ "issues": [], "errors": [{ "status": 400, "elementErrors": said, "failedElementNumber": 1 }] });
    let outcomes = lines(created(&always(400, &answer), &[draft(1), draft(2)]).await.unwrap());
    let unsaid = "Rejected: Jira created no issue of this call, and does not say why.";
    assert_eq!(outcomes, [unsaid, "FieldRejected: summary: Bad …"]);
}

#[tokio::test]
async fn a_call_that_is_refused_as_a_whole_created_nothing() {
    let said = json!({ "errorMessages": ["Unexpected character"], "errors": {} });
    for (status, expected) in [
        (400, TrackerError::Refused("Unexpected character".to_owned())),
        (413, TrackerError::Refused("Unexpected character".to_owned())),
        (401, TrackerError::Unauthorized("Unexpected character".to_owned())),
        (403, TrackerError::Forbidden("Unexpected character".to_owned())),
        (404, TrackerError::Missing("Unexpected character".to_owned())),
    ] {
        assert_eq!(created(&always(status, &said), &[draft(1)]).await, Err(expected));
    }
    for body in [json!({}), json!({ "issues": [], "errors": [] }), json!([1])] {
        let outcome = created(&always(400, &body), &[draft(1)]).await;
        assert_eq!(outcome, Err(TrackerError::Refused("Jira answered 400.".to_owned())));
    }
    assert!(matches!(created(&always(429, &said), &[draft(1)]).await, Err(TrackerError::Limited { .. })));
}

#[tokio::test]
async fn an_answer_that_does_not_tell_of_each_issue_leaves_all_in_doubt() {
    let one = json!({ "id": "1", "key": "A-1" });
    let error = |number: i64| json!({ "status": 400, "failedElementNumber": number });
    let bodies = [
        json!({}),
        json!([]),
        json!({ "issues": [one] }),
        json!({ "issues": [one, one] }),
        json!({ "issues": [one, { "id": "2" }] }),
        json!({ "issues": [one, { "id": "../2", "key": "A-2" }] }),
        json!({ "issues": [one], "errors": [error(2)] }),
        json!({ "issues": [one], "errors": [error(-1)] }),
        json!({ "issues": [], "errors": [error(0), error(0)] }),
        json!({ "issues": [one, { "id": "2", "key": "A-2" }], "errors": [error(0)] }),
        json!({ "issues": [one, { "id": "2", "key": "A-2" }], "errors": [error(7)] }),
    ];
    for body in bodies {
        let outcome = created(&always(201, &body), &[draft(1), draft(2)]).await;
        assert!(matches!(outcome, Err(TrackerError::InDoubt(_))), "{body}");
    }
    let cut = server(|_| (201, "", "{\"issues\":[{\"id\":\"1\",\"ke".to_owned()));
    assert!(matches!(created(&cut, &[draft(1)]).await, Err(TrackerError::InDoubt(_))));
    let both = json!({ "issues": [one], "errors": [error(1)] });
    assert!(matches!(created(&always(400, &both), &[draft(1), draft(2)]).await, Err(TrackerError::InDoubt(_))));
    for status in [302, 408, 500, 502, 503, 504] {
        let outcome = created(&always(status, &json!({})), &[draft(1)]).await;
        assert_eq!(outcome, Err(TrackerError::InDoubt(format!("Jira answered {status}."))));
    }
    // The server closes the connection within its answer.
    let closed = server(|_| (201, "content-length: 999\r\n", String::new()));
    assert!(matches!(created(&closed, &[draft(1)]).await, Err(TrackerError::InDoubt(_))));
}

#[tokio::test]
async fn a_call_that_was_not_sent_is_not_in_doubt() {
    let server = always(201, &json!({}));
    let jira = server.jira();
    let mut access = server.data_center();
    if let super::super::super::TrackerLogin::Token { base_url, .. } = &mut access.login {
        // Nothing is trusted but the server's own address.
        *base_url = "http://127.0.0.1:1".to_owned();
    }
    assert!(matches!(jira.create(&access, &plain(), &[draft(1)]).await, Err(TrackerError::Away(_))));
}

#[tokio::test]
async fn nothing_is_sent_for_drafts_that_are_refused_here() {
    let server = always(201, &json!({}));
    assert_eq!(created(&server, &[]).await, Ok(Vec::new()));
    assert_eq!(lines(created(&server, &[too_long()]).await.unwrap()).len(), 1);
    let many: Vec<IssueDraft> = (0..51).map(draft).collect();
    assert!(matches!(created(&server, &many).await, Err(TrackerError::Refused(_))));
    assert!(server.calls().is_empty());
}

#[test]
fn defaults_are_sent_in_the_form_of_their_field() {
    let kinds = [
        ("choice", IssueFieldKind::Choice, json!("1"), json!({ "id": "1" })),
        ("choices", IssueFieldKind::Choices, json!(["1", "2"]), json!([{ "id": "1" }, { "id": "2" }])),
        ("cascade", IssueFieldKind::Cascade, json!(["1", "2"]), json!({ "id": "1", "child": { "id": "2" } })),
        ("parent", IssueFieldKind::Cascade, json!(["1"]), json!({ "id": "1" })),
        ("text", IssueFieldKind::Text, json!("x"), json!("x")),
        ("date", IssueFieldKind::Date, json!("2026-11-25"), json!("2026-11-25")),
        ("number", IssueFieldKind::Number, json!(3), json!(3)),
        ("words", IssueFieldKind::Words, json!(["a"]), json!(["a"])),
        ("other", IssueFieldKind::Other, json!({ "x": [1] }), json!({ "x": [1] })),
    ];
    let mut target = target(kinds.iter().map(|(id, kind, ..)| field(id, id, *kind)).collect());
    target.form.fields.push(field("long", "long", IssueFieldKind::LongText));
    target.defaults = kinds.iter().map(|(id, _, value, _)| ((*id).to_owned(), value.clone())).collect();
    target.defaults.insert("long".to_owned(), json!("a\nb"));
    // Neither these nor the marker can be replaced.
    target.defaults.insert("summary".to_owned(), json!("another"));
    target.defaults.insert("project".to_owned(), json!({ "id": "666" }));
    let cloud = fields(JiraDialect::Cloud, &target, &draft(1)).unwrap();
    for (id, _, _, expected) in &kinds {
        assert_eq!(cloud[*id], *expected, "{id}");
    }
    let nodes = json!([{ "type": "text", "text": "a" }, { "type": "hardBreak" }, { "type": "text", "text": "b" }]);
    assert_eq!(cloud["long"].pointer("/content/0/content"), Some(&nodes));
    assert_eq!((&cloud["summary"], &cloud["project"]), (&json!("Story 1"), &json!({ "id": "10000" })));
    let center = fields(JiraDialect::DataCenter, &target, &draft(1)).unwrap();
    assert_eq!((&center["long"], &center["description"]), (&json!("a\nb"), &json!("As a user")));
}

#[test]
fn labels_are_sent_where_they_are_on_the_screen() {
    let mut target = target(vec![field("labels", "Labels", IssueFieldKind::FromStory)]);
    target.labels = vec!["from colloquy".to_owned(), " ".to_owned(), "b".to_owned()];
    let sent = fields(JiraDialect::Cloud, &target, &draft(1)).unwrap();
    assert_eq!(sent["labels"], json!(["from_colloquy", "b"]));
    target.form.fields[0].required = true;
    target.labels.clear();
    let refusal = fields(JiraDialect::Cloud, &target, &draft(1)).unwrap_err();
    assert_eq!(refusal.message, "Labels: The destination has no label.");
    target.form.fields.clear();
    target.labels = vec!["b".to_owned()];
    assert_eq!(fields(JiraDialect::Cloud, &target, &draft(1)).unwrap().get("labels"), None);
}

#[test]
fn the_name_of_an_epic_is_the_summary_whatever_its_default() {
    let mut target = target(vec![field("customfield_3", "Epic Name", IssueFieldKind::FromStory)]);
    target.defaults.insert("customfield_3".to_owned(), json!("another"));
    assert_eq!(fields(JiraDialect::DataCenter, &target, &draft(1)).unwrap()["customfield_3"], json!("Story 1"));
}

async fn updated(status: u16, body: &Value) -> (TestServer, Result<Result<(), IssueRefusal>, TrackerError>) {
    let server = always(status, body);
    let outcome = server.jira().update(&server.data_center(), &plain(), "77", &draft(1)).await;
    (server, outcome)
}

#[tokio::test]
async fn an_update_replaces_summary_and_description_only() {
    let (server, outcome) = updated(204, &Value::Null).await;
    assert_eq!(outcome, Ok(Ok(())));
    assert_eq!(server.calls()[0].line, "PUT /rest/api/2/issue/77 HTTP/1.1");
    let fields = json!({ "summary": "Story 1", "description": "As a user" });
    assert_eq!(server.calls()[0].json(), json!({ "fields": fields }));
}

#[tokio::test]
async fn a_refused_update_is_about_its_issue() {
    let said = json!({ "errorMessages": [], "errors": { "customfield_7": "no" } });
    for (status, code) in [
        (400, "FieldRejected"),
        (403, "Forbidden"),
        (404, "Missing"),
        (409, "Rejected"),
        (413, "TooLong"),
        (422, "Rejected"),
    ] {
        let (_, outcome) = updated(status, &said).await;
        assert_eq!(outcome, Ok(Err(IssueRefusal { code, message: "Team: no".to_owned() })));
    }
    assert!(matches!(updated(401, &said).await.1, Err(TrackerError::Unauthorized(_))));
    assert!(matches!(updated(500, &said).await.1, Err(TrackerError::InDoubt(_))));
}
