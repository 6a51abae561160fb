//! Tests of what answers mean.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName};

use super::{GitHubEffect, of_issue, success, unanswered};
use crate::clients::trackers::TrackerError;
use crate::clients::trackers::http::{CallFailure, TrackerAnswer};

/// A status, headers and a body.
type Case<'a> = (u16, &'a [(&'static str, &'a str)], &'a str);

fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> TrackerAnswer {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
    TrackerAnswer { status, headers, body: body.to_owned().into() }
}

fn error(status: u16, headers: &[(&'static str, &str)], body: &str, effect: GitHubEffect) -> TrackerError {
    success(answer(status, headers, body), effect).unwrap_err()
}

#[test]
fn each_status_has_its_meaning() {
    use GitHubEffect::{Reads, Writes};
    use TrackerError::{Away, Forbidden, InDoubt, Missing, Refused, Unauthorized};
    let said = || "Why".to_owned();
    let moved = || Missing("It was moved or renamed: Why".to_owned());
    let table = [
        (400, Refused(said()), Refused(said())),
        (401, Unauthorized(said()), Unauthorized(said())),
        (403, Forbidden(said()), Forbidden(said())),
        (404, Missing(said()), Missing(said())),
        (408, Away(said()), InDoubt(said())),
        (410, Missing(said()), Refused(said())),
        (422, Refused(said()), Refused(said())),
        (301, moved(), moved()),
        (307, moved(), moved()),
        (500, Away(said()), InDoubt(said())),
        (502, Away(said()), InDoubt(said())),
        (503, Away(said()), InDoubt(said())),
        (100, Away(said()), InDoubt(said())),
    ];
    for (status, reads, writes) in table {
        assert_eq!(error(status, &[], r#"{"message":"Why"}"#, Reads), reads, "{status}");
        assert_eq!(error(status, &[], r#"{"message":"Why"}"#, Writes), writes, "{status}");
    }
    assert!(success(answer(201, &[], ""), Writes).is_ok());
}

#[test]
fn only_a_call_that_was_sent_may_have_had_an_effect() {
    let (not_sent, no_answer) = (CallFailure::NotSent("a".to_owned()), CallFailure::NoAnswer("b".to_owned()));
    let (away, doubt) = (TrackerError::Away, TrackerError::InDoubt);
    assert_eq!(unanswered(not_sent.clone(), GitHubEffect::Writes), away("a".to_owned()));
    assert_eq!(unanswered(not_sent, GitHubEffect::Reads), away("a".to_owned()));
    assert_eq!(unanswered(no_answer.clone(), GitHubEffect::Reads), away("b".to_owned()));
    assert_eq!(unanswered(no_answer, GitHubEffect::Writes), doubt("b".to_owned()));
}

#[test]
fn limits_say_how_long_to_wait() {
    let secondary = r#"{"message":"You have exceeded a secondary rate limit."}"#;
    let date = ("date", "Wed, 25 Nov 2026 12:00:00 GMT");
    let cases: [(Case<'_>, u64); 8] = [
        ((403, &[("retry-after", "17")], "{}"), 17),
        ((429, &[("retry-after", "17"), ("x-ratelimit-remaining", "0")], secondary), 17),
        ((403, &[("retry-after", "86400")], "{}"), 3600),
        ((403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795608090"), date], "{}"), 91),
        ((403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1795700000"), date], "{}"), 3600),
        ((403, &[("x-ratelimit-remaining", "0")], "{}"), 60),
        ((403, &[("x-ratelimit-remaining", "4000"), ("x-ratelimit-reset", "1795608090"), date], secondary), 60),
        ((429, &[], ""), 60),
    ];
    for ((status, headers, body), seconds) in cases {
        match error(status, headers, body, GitHubEffect::Writes) {
            TrackerError::Limited { pause, is_of_issue, .. } => {
                assert_eq!((pause, is_of_issue), (Duration::from_secs(seconds), false), "{status} {headers:?}");
            }
            other => panic!("{status} {headers:?}: {other:?}"),
        }
    }
    let quick =
        r#"{"message":"Validation Failed","errors":[{"resource":"Issue","message":"was submitted too quickly"}]}"#;
    match of_issue(answer(422, &[], quick)) {
        Err(TrackerError::Limited { pause, .. }) => assert_eq!(pause, Duration::from_secs(60)),
        other => panic!("{other:?}"),
    }
    let forbidden = error(403, &[("x-ratelimit-remaining", "3")], r#"{"message":"No."}"#, GitHubEffect::Writes);
    assert_eq!(forbidden, TrackerError::Forbidden("No.".to_owned()));
}

#[test]
fn a_refused_issue_is_told_in_the_words_of_github() {
    let body = r#"{"message":"Validation Failed","errors":[
        {"resource":"Issue","code":"custom","field":"body","message":"body is too long (maximum is 65536 characters)"},
        {"resource":"Issue","code":"missing_field","field":"title"},
        {"resource":"Issue","code":"invalid","field":"type","value":"Epic"},
        "Plain words", {"code":"custom","message":"Bare words"}, {}, 7]}"#;
    let refusal = of_issue(answer(422, &[], body)).unwrap().unwrap_err();
    assert_eq!(refusal.code, "FieldRejected");
    assert_eq!(
        refusal.message,
        "Validation Failed: body is too long (maximum is 65536 characters); title: missing field; type: invalid; \
         Plain words; Bare words"
    );
    assert_eq!(of_issue(answer(422, &[], "<html>")).unwrap().unwrap_err().message, "GitHub answered 422");
    assert!(of_issue(answer(201, &[], "{}")).unwrap().is_ok());
    assert_eq!(of_issue(answer(410, &[], "")).unwrap_err(), TrackerError::Refused("GitHub answered 410".to_owned()));
}
