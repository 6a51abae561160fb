//! The pages and their files: the same for everybody, under a policy that runs nothing foreign.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::Method;

use crate::support::World;

const CONSOLE: [&str; 7] = [
    "/",
    "/projects/x",
    "/projects/x/requirements/y",
    "/profile",
    "/operator",
    "/invitations/project",
    "/login/callback",
];
const NOBODYS: &str = "/meetings/01900000-0000-7000-8000-000000000000/join";

on_sqlite! {
    async fn the_page_is_the_same_for_every_meeting_and_runs_nothing_foreign(world: World) {
        let owner = world.user().await;
        let project = owner.project().await;
        let meeting = owner.meeting(&project).await;
        let join_url = meeting["joinUrl"].as_str().unwrap();
        let path = join_url.strip_prefix(crate::support::server::APP_URL).unwrap();

        let page = world.nobody.get(path).await.is(200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
        let permissions = page.header("permissions-policy").unwrap_or_default();
        assert!(permissions.contains("microphone=(self)") && permissions.contains("camera=(self)"), "{permissions}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        for part in ["script-src 'self';", "style-src 'self';", "connect-src 'self' ", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");

        assert_eq!(world.nobody.get(NOBODYS).await.is(200).bytes, page.bytes);
        assert_eq!(owner.client.get(format!("{path}/")).await.is(200).bytes, page.bytes, "signed in, with a slash");
        let html = page.text();
        assert_eq!(html.matches("<script").count(), html.matches("<script type=\"module\" crossorigin src=\"/assets/").count(), "{html}");
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains("://"), "{html}");
        assert!(!html.contains("onclick"), "{html}");
    }

    async fn each_page_is_served_under_a_policy_of_its_own(world: World) {
        for path in CONSOLE.into_iter().chain(["/review", "/review?project=x", NOBODYS]) {
            let page = world.nobody.get(path).await.is(200);
            assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
            assert_eq!(page.header("cache-control"), Some("no-store"), "{path}");
            let policy = page.header("content-security-policy").unwrap_or_default();
            assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
            let permissions = page.header("permissions-policy").unwrap_or_default();
            assert_eq!(permissions.contains("microphone=(self)"), path == NOBODYS, "{path}: {permissions}");
            assert_eq!(policy.contains("media-src"), !path.starts_with("/review"), "{path}: {policy}");
        }
    }

    async fn their_files_are_cached_for_good_under_their_digests(world: World) {
        let mut files = BTreeSet::new();
        for page in ["/", "/review", NOBODYS] {
            let html = world.nobody.get(page).await.is(200).text();
            let named = |attribute: &'static str| html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
            let own: Vec<String> =
                named("src=\"").chain(named("href=\"")).filter(|file| !file.starts_with('#')).map(str::to_owned).collect();
            assert!(own.len() >= 3 && own.iter().all(|file| file.starts_with("/assets/")), "{html}");
            // What a script loads later is named in it.
            for script in own.iter().filter(|file| file.ends_with(".js")) {
                let text = world.nobody.get(script).await.is(200).text();
                let loaded = text.split("import(`./").skip(1).filter_map(|rest| rest.split('`').next());
                files.extend(loaded.map(|file| format!("/assets/{file}")));
            }
            files.extend(own);
        }
        assert!(files.iter().any(|file| file.contains(".ar-")), "the Arabic words are loaded by a script: {files:?}");

        for path in &files {
            let plain = world.nobody.get(path).await.is(200);
            let kind = match path.rsplit('.').next().unwrap() {
                "js" => "text/javascript; charset=utf-8",
                "css" => "text/css; charset=utf-8",
                _ => "image/svg+xml",
            };
            assert_eq!(plain.header("content-type"), Some(kind), "{path}");
            assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
            assert_eq!(plain.header("content-encoding"), None, "{path}");

            let known = world.nobody.get(path).header("if-none-match", plain.etag()).await.is(304);
            assert!(known.bytes.is_empty() && known.etag() == plain.etag(), "{path}");
            let packed = world.nobody.get(path).header("accept-encoding", "br, gzip;q=0.5").await.is(200);
            assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
            let mut unpacked = Vec::new();
            GzDecoder::new(packed.bytes.as_slice()).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked == plain.bytes, "{path}: packed, it is another file");
            let refusing = world.nobody.get(path).header("accept-encoding", "gzip;q=0").await.is(200);
            assert_eq!(refusing.header("content-encoding"), None, "{path}");
            let head = world.nobody.request(Method::HEAD, path).await.is(200);
            assert_eq!(head.header("content-length"), Some(plain.bytes.len().to_string().as_str()), "{path}");
        }
        let licences = world.nobody.get("/assets/licences.txt").await.is(200);
        assert_eq!(licences.header("cache-control"), Some("public, no-cache"));
        assert!(licences.text().contains("livekit-client"));
    }

    async fn unknown_pages_and_files_are_not_found(world: World) {
        let head = world.nobody.request(Method::HEAD, NOBODYS).await.is(200);
        assert!(head.bytes.is_empty() && head.header("content-type") == Some("text/html; charset=utf-8"));
        world.nobody.get("/meetings/none/join").await.refused(404, "NotFound");
        world.nobody.get("/meetings/../join").await.refused(404, "NotFound");
        world.nobody.get("/assets/none.js").await.refused(404, "NotFound");
        world.nobody.get("/assets/..%2f..%2fCargo.toml").await.refused(404, "NotFound");
        let refused = world.nobody.post(NOBODYS).await.refused(405, "MethodNotAllowed");
        assert_eq!(refused.header("allow"), Some("GET, HEAD"));
        world.server.operator().get(NOBODYS).await.refused(404, "NotFound");
    }
}
