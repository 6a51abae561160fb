//! Tests of `/docs`, the interactive documentation of the API.

use crate::support::World;

on_sqlite! {
    async fn the_documentation_loads_completely_under_a_policy_without_foreign_code(world: World) {
        let to_page = world.nobody.get("/docs").await.is(302);
        assert_eq!(to_page.header("location"), Some("/docs/"));
        let page = world.nobody.get("/docs/").await.is(200);
        assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{page:?}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("script-src 'self';") && policy.contains("connect-src 'self';"), "{policy}");

        let html = page.text();
        let scripts = html.matches("<script").count();
        assert_eq!(scripts, html.matches("<script src=\"./").count(), "a script that is inline or foreign: {html}");
        let named = |attribute: &'static str| html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
        let files: Vec<_> = named("src=\"").chain(named("href=\"")).collect();
        assert!(files.len() >= 6, "{html}");
        for file in files {
            let file = world.nobody.get(format!("/docs/{}", file.trim_start_matches("./"))).await.is(200);
            assert!(!file.bytes.is_empty() && file.header("content-security-policy") == Some(policy), "{}", file.call);
        }
        let start = world.nobody.get("/docs/swagger-initializer.js").await.is(200).text();
        assert!(start.contains("/api/openapi.json") && !start.contains("://"), "{start}");
        world.nobody.get("/api/openapi.json").await.is(200);
    }

    async fn the_documentation_serves_only_its_own_files_and_only_on_the_public_address(world: World) {
        world.nobody.get("/docs/../../etc/passwd").await.refused(404, "NotFound");
        world.nobody.get("/docs/none.js").await.refused(404, "NotFound");
        world.nobody.post("/docs/index.html").await.refused(405, "MethodNotAllowed");
        world.server.operator().get("/docs").await.refused(404, "NotFound");
    }
}
