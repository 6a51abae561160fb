//! Tests of the sign-in.

use std::time::Duration;

use serde_json::json;

use super::super::super::{Tracker, TrackerError};
use super::super::tests::{SECRET, TestServer, always, server};
use super::{AccessibleResource, usable};

#[test]
fn the_user_is_sent_with_state_and_a_hashed_verifier() {
    let server = always(200, &json!({}));
    let jira = server.jira();
    // The verifier and its challenge are the example of RFC 7636, appendix B.
    let url = jira.oauth().unwrap().authorize_url("a b&c", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    let expected = "/authorize?audience=api.atlassian.com&client_id=client\
        &scope=read%3Ajira-work+write%3Ajira-work+read%3Ajira-user+offline_access\
        &redirect_uri=https%3A%2F%2Fcolloquy.example%2Fback&state=a+b%26c&response_type=code&prompt=consent\
        &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    assert_eq!(url, format!("{}{expected}", server.url));
}

#[tokio::test]
async fn a_code_and_a_refresh_token_are_exchanged_as_json() {
    let answer = json!({ "access_token": "at", "refresh_token": "rt", "expires_in": 3600, "scope": "a b" });
    let server = always(200, &answer);
    let jira = server.jira();
    let tokens = jira.oauth().unwrap().exchange("the-code", "the-verifier").await.unwrap();
    assert_eq!((tokens.access.as_str(), tokens.refresh.as_deref()), ("at", Some("rt")));
    assert_eq!((tokens.expires_in, tokens.scopes.join(",")), (Some(Duration::from_secs(3600)), "a,b".to_owned()));
    jira.oauth().unwrap().refresh("old").await.unwrap();
    let sent: Vec<_> = server.calls().iter().map(|call| (call.line.clone(), call.json())).collect();
    let line = "POST /oauth/token HTTP/1.1".to_owned();
    let client = json!({ "client_id": "client", "client_secret": "client-secret" });
    let with = |more: serde_json::Value| {
        let mut all = client.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let code = json!({ "grant_type": "authorization_code", "code": "the-code", "code_verifier": "the-verifier",
        "redirect_uri": "https://colloquy.example/back" });
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": "old" });
    assert_eq!(sent, [(line.clone(), with(code)), (line, with(refresh))]);
}

async fn refreshed(server: &TestServer) -> TrackerError {
    let jira = server.jira();
    jira.oauth().unwrap().refresh(SECRET).await.err().unwrap()
}

#[tokio::test]
async fn only_an_invalid_grant_is_refused() {
    let said = format!("Unknown or invalid refresh token {SECRET}.");
    let invalid = json!({ "error": "invalid_grant", "error_description": said });
    let text = "Unknown or invalid refresh token ….".to_owned();
    for status in [400, 403] {
        assert_eq!(refreshed(&always(status, &invalid)).await, TrackerError::Refused(text.clone()));
    }
    let denied = json!({ "error": "access_denied", "error_description": "Unauthorized" });
    assert_eq!(refreshed(&always(401, &denied)).await, TrackerError::Unauthorized("Unauthorized".to_owned()));
    let other = json!({ "error": "invalid_request", "error_description": "no" });
    assert_eq!(refreshed(&always(400, &other)).await, TrackerError::Forbidden("no".to_owned()));
    assert_eq!(refreshed(&always(503, &json!({}))).await, TrackerError::InDoubt("Jira answered 503.".to_owned()));
}

#[tokio::test]
async fn an_unreadable_token_is_in_doubt_and_not_shown() {
    let answer = json!({ "access_token": SECRET, "expires_in": SECRET });
    let error = refreshed(&always(200, &answer)).await;
    assert_eq!(error, TrackerError::InDoubt("its tokens can't be read".to_owned()));
}

#[tokio::test]
async fn sites_are_asked_for_with_the_access_token() {
    let server = server(|_| (401, "", json!({ "code": 401, "message": format!("bad {SECRET}") }).to_string()));
    let jira = server.jira();
    let error = jira.oauth().unwrap().sites(SECRET).await.unwrap_err();
    assert_eq!(error, TrackerError::Unauthorized("bad …".to_owned()));
    assert_eq!(server.calls()[0].line, "GET /oauth/token/accessible-resources HTTP/1.1");
    assert!(server.calls()[0].headers.contains(&format!("authorization: Bearer {SECRET}")));
}

#[test]
fn sites_without_the_scope_or_with_a_strange_id_or_address_are_left_out() {
    let found = |id: &str, url: &str, scope: &str| AccessibleResource {
        id: id.to_owned(),
        name: id.to_owned(),
        url: url.to_owned(),
        scopes: vec!["read:me".to_owned(), scope.to_owned()],
    };
    let write = "write:jira-work";
    let sites = usable(vec![
        found("a-1", "https://a.example/", write),
        found("a-1", "https://a.example", write),
        found("b", "https://b.example", "read:confluence"),
        found("c", "http://c.example", write),
        found("d", "javascript:alert(1)", write),
        found("../e", "https://e.example", write),
        found("", "https://f.example", write),
        found(&"g".repeat(65), "https://g.example", write),
    ]);
    let seen: Vec<(&str, &str)> = sites.iter().map(|site| (site.id.as_str(), site.url.as_str())).collect();
    assert_eq!(seen, [("a-1", "https://a.example")]);
}
