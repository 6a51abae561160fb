//! Refused calls count like served ones (S27), per account or per client address, and before anything is loaded.

use serde_json::json;

use crate::support::client::Request;
use crate::support::{Client, Server, ServerSetup};

const MAX_CALLS: usize = 150;
const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";
const PROXY: (&str, &str) = ("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.0.1");
/// A period so long that no call is available again during the test.
const SETTINGS: [(&str, &str); 3] =
    [("COLLOQUY__LIMITS__CALLS__MOST", "150"), ("COLLOQUY__LIMITS__CALLS__SECONDS", "86400"), PROXY];

/// Calls until the limit is reached. Panics unless each of the first [`MAX_CALLS`] responses has `status` and the next
/// three are 429.
async fn exhausted(what: &str, status: u16, call: impl Fn() -> Request) {
    for number in 0..MAX_CALLS {
        let answer = call().await;
        assert_eq!(answer.status, status, "{what}, {number}: {}", answer.text());
    }
    for _ in 0..3 {
        call().await.refused(429, "TooManyRequests");
    }
}

/// Returns the number of database reads so far, from the metrics.
async fn reads(server: &Server) -> u64 {
    let figures = server.operator().get("/metrics").await.is(200).text();
    let line = figures.lines().find_map(|line| line.strip_prefix("colloquy_database_reads_total "));
    line.unwrap_or_else(|| panic!("no figure of reads in {figures}")).parse().unwrap()
}

fn from(client: &Client, address: &str, path: &str) -> Request {
    client.get(path).header("x-forwarded-for", address)
}

on_sqlite! {
    async fn each_kind_of_refusal_counts_and_past_the_limit_it_is_429(setup: ServerSetup) {
        let server = setup.start(&SETTINGS);
        let ada = server.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let nobody = server.client();
        let projects = "/api/projects";
        // Unauthenticated calls count per client address.
        exhausted("no token", 401, || from(&nobody, "203.0.113.1", projects)).await;
        exhausted("a forged token", 401, || from(&nobody.bearing("x.y.z"), "203.0.113.2", projects)).await;
        exhausted("a wrong ticket", 401, || from(&nobody, "203.0.113.3", "/api/ws?ticket=x")).await;
        exhausted("no such address", 404, || from(&nobody, "203.0.113.4", "/api/nothing")).await;
        exhausted("no such page", 404, || from(&nobody, "203.0.113.5", "/join/x/y")).await;
        let other_method = || nobody.delete(projects).header("x-forwarded-for", "203.0.113.6");
        exhausted("no such method", 405, other_method).await;
        let unsigned = || nobody.post("/api/webhooks/livekit").header("x-forwarded-for", "203.0.113.7").json(json!({}));
        exhausted("an unsigned webhook", 401, unsigned).await;
        // Authenticated calls count per account.
        let own = format!("/api/projects/{project}");
        for (what, status, path) in [
            ("another's project", 403, own.clone()), ("another's meeting", 403, meeting.clone()),
            ("no such project", 404, format!("/api/projects/{NOWHERE}")),
            ("no such meeting", 404, format!("/api/meetings/{NOWHERE}")),
        ] {
            let stranger = server.user().await;
            exhausted(what, status, || stranger.client.get(&path)).await;
            // A malformed id costs nothing, and is refused before the limit is checked.
            stranger.client.get("/api/projects/no-uuid").await.refused(400, "BadRequest");
        }
        let missing = server.user().await;
        let own = missing.project().await;
        for _ in 0..MAX_CALLS - 1 {
            missing.client.get(format!("/api/projects/{own}/documents/{NOWHERE}")).await.refused(404, "NotFound");
        }
        missing.client.get(format!("/api/projects/{own}")).await.refused(429, "TooManyRequests");
        // Other callers are not limited by it.
        ada.client.get(&meeting).await.is(200);
        from(&nobody, "203.0.113.200", projects).await.refused(401, "Unauthorized");
    }
}

on_both! {
    async fn past_the_limit_nothing_is_loaded(setup: ServerSetup) {
        let server = setup.start(&SETTINGS);
        let (ada, stranger) = (server.user().await, server.user().await);
        let meeting = ada.meeting_path(&ada.project().await).await;
        let missing = format!("/api/meetings/{NOWHERE}");
        let before = reads(&server).await;
        exhausted("no such meeting", 404, || stranger.client.get(&missing)).await;
        let loaded = reads(&server).await - before;
        assert!(loaded >= MAX_CALLS as u64, "within the limit each one is looked for: {loaded}");
        let before = reads(&server).await;
        for _ in 0..300 {
            stranger.client.get(&missing).await.refused(429, "TooManyRequests");
            stranger.client.get(&meeting).await.refused(429, "TooManyRequests");
        }
        let loaded = reads(&server).await - before;
        // The server's own maintenance reads now and then.
        assert!(loaded < 60, "{loaded} reads for 600 calls that were refused");
    }
}
