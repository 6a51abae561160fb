//! Tests of the sign-in.

use std::time::Duration;

use reqwest::header::HeaderMap;
use url::Url;

use super::{GitHubOAuth, GitHubOAuthSettings, tokens_in};
use crate::clients::trackers::http::{TrackerAnswer, TrackerHttp};
use crate::clients::trackers::{TrackerError, TrackerOAuth, TrackerSite, TrackerTokens};

fn answer(status: u16, body: &str) -> Result<TrackerTokens, TrackerError> {
    tokens_in(TrackerAnswer { status, headers: HeaderMap::new(), body: body.to_owned().into() })
}

fn oauth() -> GitHubOAuth {
    let settings = GitHubOAuthSettings {
        client_id: "Iv1.a b".to_owned(),
        client_secret: "hidden".to_owned(),
        redirect_url: "https://app.example.org/api/callback".to_owned(),
        web_url: "https://github.com".to_owned(),
    };
    let site =
        TrackerSite { id: "api.github.com".to_owned(), name: "GitHub".to_owned(), url: settings.web_url.clone() };
    GitHubOAuth::new(settings, "https://api.github.com".to_owned(), site, TrackerHttp::new(&[]).unwrap())
}

#[test]
fn the_sign_in_is_bound_to_its_state_and_secret() {
    // The verifier and challenge are those of RFC 7636, appendix B.
    let url = oauth().authorize_url("the&state", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    let url = Url::parse(&url).unwrap();
    assert_eq!((url.host_str(), url.path()), (Some("github.com"), "/login/oauth/authorize"));
    let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let expected = [
        ("client_id", "Iv1.a b"),
        ("redirect_uri", "https://app.example.org/api/callback"),
        ("scope", "repo"),
        ("state", "the&state"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
    ];
    assert_eq!(query, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn there_is_one_site() {
    let sites = oauth().sites("any").await.unwrap();
    assert_eq!(sites.iter().map(|site| site.id.as_str()).collect::<Vec<_>>(), ["api.github.com"]);
}

#[test]
fn tokens_of_oauth_apps_do_not_expire_and_those_of_github_apps_do() {
    let tokens = answer(200, r#"{"access_token":"gho_a","scope":"repo,gist","token_type":"bearer"}"#).unwrap();
    assert_eq!((tokens.access.as_str(), tokens.refresh, tokens.expires_in), ("gho_a", None, None));
    assert_eq!(tokens.scopes, ["repo", "gist"]);
    let body =
        r#"{"access_token":"ghu_a","expires_in":28800,"refresh_token":"ghr_b","scope":"","token_type":"bearer"}"#;
    let tokens = answer(200, body).unwrap();
    assert_eq!(tokens.refresh.as_deref(), Some("ghr_b"));
    assert_eq!(tokens.expires_in, Some(Duration::from_secs(28_800)));
    assert!(tokens.scopes.is_empty());
}

#[test]
fn what_is_wrong_with_a_code_is_told_apart_from_what_is_wrong_with_the_application() {
    for error in ["bad_verification_code", "bad_refresh_token", "unverified_user_email", "another"] {
        let refused = answer(200, &format!(r#"{{"error":"{error}","error_description":"Why."}}"#)).err();
        assert_eq!(refused, Some(TrackerError::Refused(format!("{error}: Why."))));
    }
    let body = r#"{"error":"incorrect_client_credentials","error_description":"Why."}"#;
    assert_eq!(answer(200, body).err(), Some(TrackerError::Forbidden("incorrect_client_credentials: Why.".to_owned())));
    assert!(matches!(answer(404, "").err(), Some(TrackerError::Forbidden(_))));
}

#[test]
fn an_answer_that_can_not_be_read_leaves_the_exchange_in_doubt_and_shows_no_token() {
    let bodies =
        ["", "access_token=gho_secret", r#"{"access_token":"gho_secret""#, r#"{"access_token":["gho_secret"]}"#, "{}"];
    for body in bodies {
        match answer(200, body).err() {
            Some(TrackerError::InDoubt(why)) => assert!(!why.contains("gho_secret"), "{why}"),
            other => panic!("{body}: {other:?}"),
        }
    }
    assert!(matches!(answer(502, "").err(), Some(TrackerError::InDoubt(_))));
}
