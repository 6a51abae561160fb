//! A server that answers as it is told, and the operations of `Jira` against it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::super::http::TrackerHttp;
use super::super::{
    IssueField, IssueFieldKind, IssueForm, IssueTarget, Tracker, TrackerAccess, TrackerError, TrackerLogin, TrackerSite,
};
use super::{Jira, JiraOAuthSettings, JiraSettings, site_id};

pub(super) const SECRET: &str = "s3cr3t-token";

/// A request as the server received it.
#[derive(Clone)]
pub(super) struct ReceivedCall {
    pub line: String,
    pub headers: Vec<String>,
    pub body: String,
}

impl ReceivedCall {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn authorization(&self) -> &str {
        let found = self.headers.iter().find(|line| line.starts_with("authorization: ")).unwrap();
        found.trim_start_matches("authorization: ")
    }
}

/// A server on this machine; it ends with the process.
pub(super) struct TestServer {
    pub url: String,
    calls: Arc<Mutex<Vec<ReceivedCall>>>,
}

impl TestServer {
    pub(super) fn calls(&self) -> Vec<ReceivedCall> {
        self.calls.lock().unwrap().clone()
    }

    pub(super) fn jira(&self) -> Jira {
        let oauth = JiraOAuthSettings {
            client_id: "client".to_owned(),
            client_secret: "client-secret".to_owned(),
            redirect_url: "https://colloquy.example/back".to_owned(),
            auth_url: self.url.clone(),
            api_url: self.url.clone(),
        };
        let http = TrackerHttp::new(std::slice::from_ref(&self.url)).unwrap();
        Jira::new(JiraSettings { oauth: Some(oauth) }, http)
    }

    pub(super) fn cloud(&self) -> TrackerAccess {
        access(TrackerLogin::OAuth { access: SECRET.to_owned() })
    }

    pub(super) fn data_center(&self) -> TrackerAccess {
        access(TrackerLogin::Token { base_url: self.url.clone(), email: None, token: SECRET.to_owned() })
    }
}

fn access(login: TrackerLogin) -> TrackerAccess {
    let site = TrackerSite { id: "site-1".to_owned(), name: "Acme".to_owned(), url: "https://acme.example".to_owned() };
    TrackerAccess { login, site }
}

/// Starts a server that answers with the status, further header lines and the body that `answer` returns.
pub(super) fn server<A>(answer: A) -> TestServer
where
    A: Fn(&ReceivedCall) -> (u16, &'static str, String) + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let call = receive(&stream);
            let (status, headers, body) = answer(&call);
            seen.lock().unwrap().push(call);
            let head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    TestServer { url, calls }
}

/// Answers every call alike.
pub(super) fn always(status: u16, body: &Value) -> TestServer {
    let body = body.to_string();
    server(move |_| (status, "", body.clone()))
}

fn receive(stream: &TcpStream) -> ReceivedCall {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let length = lines.iter().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    ReceivedCall { line: lines.remove(0), headers: lines, body: String::from_utf8(body).unwrap() }
}

pub(super) fn field(id: &str, name: &str, kind: IssueFieldKind) -> IssueField {
    IssueField { id: id.to_owned(), name: name.to_owned(), kind, required: false, allowed: Vec::new() }
}

pub(super) fn target(fields: Vec<IssueField>) -> IssueTarget {
    let form = IssueForm { id: "10001".to_owned(), name: "Story".to_owned(), icon_url: None, fields };
    IssueTarget {
        project_id: "10000".to_owned(),
        project_key: "ACME".to_owned(),
        form,
        defaults: [].into(),
        labels: Vec::new(),
    }
}

#[tokio::test]
async fn each_kind_of_login_has_its_address_and_its_header() {
    let server = always(200, &json!({ "accountId": "a1", "key": "k1", "displayName": "Ada" }));
    let jira = server.jira();
    let basic = TrackerLogin::Token {
        base_url: format!("{}/acme", server.url),
        email: Some("ada@acme.example".to_owned()),
        token: SECRET.to_owned(),
    };
    assert_eq!(jira.account(&server.cloud()).await.unwrap().id, "a1");
    assert_eq!(jira.account(&access(basic)).await.unwrap().id, "a1");
    assert_eq!(jira.account(&server.data_center()).await.unwrap().id, "k1");
    let seen: Vec<(String, String)> =
        server.calls().iter().map(|call| (call.line.clone(), call.authorization().to_owned())).collect();
    let expected = [
        ("GET /ex/jira/site-1/rest/api/3/myself HTTP/1.1", "Bearer s3cr3t-token"),
        ("GET /acme/rest/api/3/myself HTTP/1.1", "Basic YWRhQGFjbWUuZXhhbXBsZTpzM2NyM3QtdG9rZW4="),
        ("GET /rest/api/2/myself HTTP/1.1", "Bearer s3cr3t-token"),
    ];
    assert_eq!(seen, expected.map(|(line, header)| (line.to_owned(), header.to_owned())));
}

#[tokio::test]
async fn a_site_id_that_leads_elsewhere_is_not_called() {
    let server = always(200, &json!({}));
    let mut access = server.cloud();
    for id in ["", "..", "a/b", "a%2fb", "a?b", &"a".repeat(65)] {
        access.site.id = id.to_owned();
        assert!(matches!(server.jira().account(&access).await, Err(TrackerError::Missing(_))), "{id}");
    }
    assert!(server.calls().is_empty());
}

#[tokio::test]
async fn statuses_of_questions_have_their_meaning_and_no_answer_shows_a_token() {
    let said = json!({ "errorMessages": [format!("no: {SECRET}.")], "errors": {} });
    for status in [301_u16, 400, 401, 403, 404, 408, 413, 429, 500, 503] {
        let server = always(status, &said);
        let error = server.jira().account(&server.cloud()).await.unwrap_err();
        let text = || "no: ….".to_owned();
        let expected = match status {
            301 => TrackerError::Invalid("Jira answered 301, which is not followed.".to_owned()),
            401 => TrackerError::Unauthorized(text()),
            403 => TrackerError::Forbidden(text()),
            404 => TrackerError::Missing(text()),
            429 => {
                let pause = std::time::Duration::from_secs(30);
                TrackerError::Limited { pause, reason: text(), is_of_issue: false }
            }
            408 | 500 | 503 => TrackerError::Away(text()),
            _ => TrackerError::Refused(text()),
        };
        assert_eq!(error, expected);
        assert_eq!(server.calls().len(), 1, "a call is never repeated");
    }
}

#[tokio::test]
async fn a_pause_is_told_with_its_reason() {
    let headers = "retry-after: 7\r\nratelimit-reason: jira-per-issue-on-write\r\n";
    let server = server(move |_| (429, headers, String::new()));
    let error = server.jira().account(&server.cloud()).await.unwrap_err();
    let pause = std::time::Duration::from_secs(7);
    let reason = "jira-per-issue-on-write".to_owned();
    assert_eq!(error, TrackerError::Limited { pause, reason, is_of_issue: true });
}

#[tokio::test]
async fn an_answer_to_nobody_is_not_taken_for_one_to_the_account() {
    for (status, reason, is_refused) in [
        (200, "x-seraph-loginreason: AUTHENTICATED_FAILED\r\n", true),
        (403, "x-seraph-loginreason: AUTHENTICATION_DENIED\r\n", true),
        (200, "x-seraph-loginreason: OK\r\n", false),
        (200, "", false),
    ] {
        let server = server(move |_| (status, reason, json!({ "issues": [], "isLast": true }).to_string()));
        let outcome = server.jira().read(&server.cloud(), &["1".to_owned()]).await;
        let expected = TrackerError::Unauthorized("Jira does not accept the login.".to_owned());
        assert_eq!(outcome, if is_refused { Err(expected) } else { Ok(Vec::new()) }, "{status} {reason}");
    }
}

#[tokio::test]
async fn the_site_of_a_token_is_its_address() {
    let server = always(200, &json!({ "serverTitle": "Acme's Jira" }));
    let login = TrackerLogin::Token { base_url: format!("{}/jira", server.url), email: None, token: SECRET.to_owned() };
    let site = server.jira().site_of(&login).await.unwrap();
    let host = server.url.trim_start_matches("http://");
    assert_eq!((site.id, site.name), (format!("{host}/jira"), "Acme's Jira".to_owned()));
    assert_eq!(site.url, format!("{}/jira", server.url));
    assert_eq!(site_id("https://acme.example"), Ok("acme.example".to_owned()));
}

#[tokio::test]
async fn projects_of_the_cloud_are_searched_there_and_those_of_a_data_center_here() {
    let avatar = |url: &str| json!({ "48x48": url });
    let ada = json!({ "id": "1", "key": "ADA", "name": "Ada", "avatarUrls": avatar("https://x.example/a.png") });
    let bea = json!({ "id": "2", "key": "BEA", "name": "bea", "avatarUrls": avatar("javascript:alert(1)") });
    let cloud = always(200, &json!({ "values": [ada, bea], "total": 12 }));
    let page = cloud.jira().projects(&cloud.cloud(), Some(" a&b "), 3, 2).await.unwrap();
    assert_eq!(page.total, 12);
    let avatars: Vec<Option<&str>> = page.items.iter().map(|item| item.avatar_url.as_deref()).collect();
    assert_eq!(avatars, [Some("https://x.example/a.png"), None]);
    let query = "/project/search?startAt=4&maxResults=2&orderBy=name&query=a%26b HTTP/1.1";
    assert!(cloud.calls()[0].line.ends_with(query), "{}", cloud.calls()[0].line);
    let center = always(200, &json!([bea, ada, { "id": "3", "key": "C", "name": "Zea" }]));
    let page = center.jira().projects(&center.data_center(), Some("EA"), 2, 1).await.unwrap();
    assert_eq!((page.total, page.items.len(), page.items[0].name.as_str()), (2, 1, "Zea"));
}

#[tokio::test]
async fn no_matching_project_is_an_empty_page() {
    let server = always(404, &json!({ "errorMessages": ["none"] }));
    assert_eq!(server.jira().projects(&server.cloud(), Some("x"), 1, 50).await.unwrap().total, 0);
}
