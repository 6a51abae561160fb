//! The content security policy of the pages: scripts and styles come only from this server and none is inline, and a
//! page connects only to this server and, where a meeting is held, to the media server.

use url::Url;

const MEDIA: &str = "media-src 'self' blob:; ";

/// The policy of a page that connects to this server alone.
pub fn own_policy(app: Option<&Url>) -> String {
    policy(&connections(app, None), "")
}

/// The policy of a page that connects to this server alone, and plays recordings from it.
pub fn playing_policy(app: Option<&Url>) -> String {
    policy(&connections(app, None), MEDIA)
}

/// The policy of the page that also connects to the media server, and plays what comes from it.
pub fn media_policy(app: Option<&Url>, livekit_url: Option<&str>) -> String {
    policy(&connections(app, livekit_url), MEDIA)
}

fn policy(connections: &str, media: &str) -> String {
    // Svelte sets elements from its own templates: through this one policy of trusted types, and no other can be made.
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; {media}connect-src \
         {connections}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for \
         'script'; trusted-types svelte-trusted-html"
    )
}

fn connections(app: Option<&Url>, livekit_url: Option<&str>) -> String {
    // Not every browser counts WebSocket connections to the same host as 'self'.
    let mut connect = vec!["'self'".to_owned()];
    connect.extend(app.and_then(socket));
    if let Some(media) = livekit_url.and_then(|url| Url::parse(url).ok()) {
        // The page asks the media server over HTTP for the reason when a WebSocket connection is refused.
        connect.extend(socket(&media));
        connect.extend(origin(&media, &[("ws", "http"), ("wss", "https"), ("http", "http"), ("https", "https")]));
    }
    connect.join(" ")
}

fn socket(url: &Url) -> Option<String> {
    origin(url, &[("ws", "ws"), ("wss", "wss"), ("http", "ws"), ("https", "wss")])
}

/// Returns the origin of a URL, with the scheme that `schemes` lists for the URL's own.
fn origin(url: &Url, schemes: &[(&str, &str)]) -> Option<String> {
    let (_, scheme) = schemes.iter().find(|(own, _)| *own == url.scheme())?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{}{port}", url.host_str()?))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::media_policy;

    #[test]
    fn a_page_connects_to_this_server_and_the_media_server_alone() {
        let connections = |app: &str, livekit: Option<&str>| {
            let policy = media_policy(Url::parse(app).ok().as_ref(), livekit);
            let connect = policy.split("; ").find(|part| part.starts_with("connect-src ")).unwrap();
            connect.to_owned()
        };
        assert_eq!(connections("https://meet.example/app", None), "connect-src 'self' wss://meet.example");
        let media = "wss://media.example:7443/path?x=1";
        assert_eq!(
            connections("http://127.0.0.1:8080", Some(media)),
            "connect-src 'self' ws://127.0.0.1:8080 wss://media.example:7443 https://media.example:7443"
        );
        assert_eq!(connections("none", Some("; script-src *")), "connect-src 'self'");
    }
}
