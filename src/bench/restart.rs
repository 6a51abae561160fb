//! `colloquy bench restart`: how soon a killed server enforces the timeouts of many live meetings again after its
//! restart (trust R16).
//!
//! The meetings are live and empty. The restarted server ends an empty meeting after one second, so it has to find,
//! wake and end each of them, which is more work than only knowing their deadlines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::memory::peak_kib;
use super::people;
use crate::api_client::account::ClientAccount;
use crate::api_client::answer::{MeetingAnswer, ProjectAnswer};
use crate::api_client::caller::ApiClient;
use crate::api_client::own_server::OwnServer;

/// The fixed issuer keeps tokens valid after the restart, on whatever port the server listens.
const SETTINGS: [(&str, &str); 3] =
    [("COLLOQUY__LIMITS__CALLS__MOST", "0"), ("COLLOQUY__LOG__FILTER", "warn"), people::ISSUER];
/// After the restart, a meeting ends when it has been empty for one second.
const EMPTY: (&str, &str) = ("COLLOQUY__MEETINGS__EMPTY_SECONDS", "1");
/// How many meetings are created concurrently.
const AT_ONCE: usize = 64;
/// The timeout of the measurement.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(20);

#[derive(clap::Args)]
pub struct Restart {
    /// Number of live meetings when the server is killed.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    meetings: u64,
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start or gives an unexpected answer.
pub async fn measure(arguments: &Restart) -> Result<(), String> {
    let mut server = OwnServer::start(&SETTINGS).await?;
    let mut host = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Hanna Host", "hanna@colloquy.example");
    account.open(&host, server.data()).await?;
    host.token = Some(account.log_in(&host).await?.access_token);
    let project: ProjectAnswer = host.post("/api/projects", &json!({ "name": "Restart" })).await?;
    let meetings = format!("/api/projects/{}/meetings", project.id);
    let last = live(&host, &meetings).await?;
    // Its host has joined, so it does not end.
    let _: Value = host.post(&format!("/api/meetings/{last}/join"), &json!({})).await?;
    many_live(&host, &meetings, arguments.meetings).await?;

    let [calls, log, issuer] = SETTINGS;
    let ready = server.crash_and_start(&[calls, log, issuer, EMPTY]).await?;
    let again = Instant::now();
    host.url.clone_from(&server.url);
    let path = format!("{}/api/meetings/{last}", server.url);
    let token = host.token.as_deref().unwrap_or_default();
    let answer = host.http.patch(&path).bearer_auth(token).json(&json!({ "title": "First" })).send().await;
    let status = answer.map_err(|error| error.to_string())?.status();
    if !status.is_success() {
        return Err(format!("The first command was refused with {}.", status.as_u16()));
    }
    let first = again.elapsed();
    while still_live(&host, &meetings).await? > 1 {
        if again.elapsed() > PATIENCE {
            return Err(format!("Some meetings are still live {} s after the restart.", PATIENCE.as_secs()));
        }
        tokio::time::sleep(LOOK).await;
    }
    let all = again.elapsed();
    let seconds = |time: Duration| time.as_secs_f64();
    println!(
        "{} live meetings, server killed and restarted: ready after {:.2} s; from then the first command was answered \
         after {:.2} s, and all meetings had ended after {:.2} s",
        arguments.meetings,
        seconds(ready),
        seconds(first),
        seconds(all),
    );
    println!("The server's memory: at most {} KiB", peak_kib(server.process_id())?);
    Ok(())
}

/// Creates and starts a meeting; returns its id.
async fn live(host: &ApiClient, meetings: &str) -> Result<String, String> {
    let body = json!({ "title": "Goes on", "scheduledAt": "2026-11-21T09:00:00.000Z" });
    let meeting: MeetingAnswer = host.post(meetings, &body).await?;
    let _: Value = host.post(&format!("/api/meetings/{}/start", meeting.id), &json!({})).await?;
    Ok(meeting.id)
}

async fn many_live(host: &ApiClient, meetings: &str, count: u64) -> Result<(), String> {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut making = JoinSet::new();
    for _ in 0..count {
        let (host, meetings, permits) = (host.clone(), meetings.to_owned(), Arc::clone(&permits));
        making.spawn(async move {
            let _permit = permits.acquire().await.map_err(|error| error.to_string())?;
            live(&host, &meetings).await
        });
    }
    while let Some(made) = making.join_next().await {
        made.map_err(|error| error.to_string())??;
    }
    Ok(())
}

async fn still_live(host: &ApiClient, meetings: &str) -> Result<u64, String> {
    let listed: Value = host.get(&format!("{meetings}?status=LIVE&limit=1")).await?;
    listed.get("totalCount").and_then(Value::as_u64).ok_or_else(|| "A list has no total.".to_owned())
}
