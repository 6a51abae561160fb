//! Tests of the client as a whole.

use super::api::address;
use super::{GitHub, GitHubOAuthSettings, GitHubSettings};
use crate::clients::trackers::http::TrackerHttp;
use crate::clients::trackers::{Tracker, TrackerAccess, TrackerError, TrackerLogin};

fn github() -> GitHub {
    let settings = GitHubSettings { oauth: None, api_url: "https://api.github.com/".to_owned() };
    GitHub::new(settings, TrackerHttp::new(&[]).unwrap())
}

fn token(base_url: &str, token: &str) -> TrackerLogin {
    TrackerLogin::Token { base_url: base_url.to_owned(), email: None, token: token.to_owned() }
}

#[test]
fn addresses_lead_to_their_api() {
    let github = github();
    let cases = [
        ("https://github.com", "https://github.com", "https://api.github.com"),
        ("https://GitHub.com/", "https://github.com", "https://api.github.com"),
        ("https://www.github.com", "https://github.com", "https://api.github.com"),
        ("https://api.github.com", "https://github.com", "https://api.github.com"),
        ("https://acme.ghe.com", "https://acme.ghe.com", "https://api.acme.ghe.com"),
        ("https://git.acme.org/", "https://git.acme.org", "https://git.acme.org/api/v3"),
        ("https://git.acme.org/api/v3/", "https://git.acme.org", "https://git.acme.org/api/v3"),
        ("https://acme.org/github", "https://acme.org/github", "https://acme.org/github/api/v3"),
    ];
    for (given, base_url, api_url) in cases {
        assert_eq!(github.base_url(given).as_deref(), Ok(base_url), "{given}");
        assert_eq!(github.api_url(base_url), api_url, "{given}");
    }
    assert!(github.base_url("http://github.com").is_err() && github.base_url("https://10.0.0.1").is_err());
}

#[test]
fn addresses_of_the_settings_lead_to_theirs() {
    let own = "http://127.0.0.1:4000".to_owned();
    let oauth = GitHubOAuthSettings {
        client_id: "id".to_owned(),
        client_secret: "secret".to_owned(),
        redirect_url: "https://app.example.org".to_owned(),
        web_url: format!("{own}/"),
    };
    let settings = GitHubSettings { oauth: Some(oauth), api_url: own.clone() };
    let github = GitHub::new(settings, TrackerHttp::new(std::slice::from_ref(&own)).unwrap());
    assert_eq!(github.base_url(&own), Ok(own.clone()));
    assert_eq!(github.api_url(&own), own);
    // A token of the real one goes to the real one.
    assert_eq!(github.base_url("https://api.github.com").as_deref(), Ok("https://github.com"));
    assert_eq!(github.api_url("https://github.com"), "https://api.github.com");
}

#[tokio::test]
async fn a_site_is_an_api() {
    let github = github();
    let site = github.site_of(&token("https://git.acme.org:8443", "t")).await.unwrap();
    assert_eq!((site.id.as_str(), site.url.as_str()), ("git.acme.org:8443", "https://git.acme.org:8443"));
    let site = github.site_of(&TrackerLogin::OAuth { access: "t".to_owned() }).await.unwrap();
    assert_eq!((site.id.as_str(), site.url.as_str()), ("api.github.com", "https://github.com"));
    assert!(github.oauth().is_none());
}

#[tokio::test]
async fn what_can_be_no_token_is_not_sent() {
    let github = github();
    for given in ["", "ghp a", "ghp\r\nx-other: 1", "ghp_é"] {
        let login = token("https://github.com", given);
        let site = github.site_of(&login).await.unwrap();
        let failed = github.account(&TrackerAccess { login, site }).await;
        assert!(matches!(failed, Err(TrackerError::Unauthorized(_))), "{given}");
    }
}

#[test]
fn a_path_leads_nowhere_else() {
    let at = |path: &[&str]| address("https://git.acme.org/api/v3", path, &[("page", "2")]);
    assert_eq!(at(&["repos", "a", "b"]).as_deref(), Ok("https://git.acme.org/api/v3/repos/a/b?page=2"));
    assert_eq!(
        at(&["repos", "a?b#c", "d/e"]).as_deref(),
        Ok("https://git.acme.org/api/v3/repos/a%3Fb%23c/d%2Fe?page=2")
    );
    for part in ["", ".", ".."] {
        assert!(matches!(at(&["repos", part]), Err(TrackerError::Missing(_))), "{part}");
    }
}

#[test]
fn content_is_paced() {
    let pace: Vec<(u32, u64)> = github().pace().iter().map(|(count, span)| (*count, span.as_secs())).collect();
    assert_eq!(pace, [(20, 60), (150, 3600)]);
}
