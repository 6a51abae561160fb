//! `bench restart`: how soon a killed server enforces the timeouts of many live meetings again after its
//! restart (trust R16).
//!
//! The meetings are live and empty. The restarted server ends an empty meeting after one second, so it has to find,
//! wake and end each of them, which is more work than only knowing their deadlines.

use std::time::{Duration, Instant};

use api_client::account::ClientAccount;
use api_client::answer::ProjectAnswer;
use api_client::caller::ApiClient;
use serde_json::{Value, json};

use super::live_meetings::{live, many};
use super::memory::peak_kib;
use super::{people, server};

/// The fixed issuer keeps tokens valid after the restart, on whatever port the server listens.
const SETTINGS: [(&str, &str); 4] = [
    ("COLLOQUY__LIMITS__CALLS__MOST", "0"),
    ("COLLOQUY__LOG__FILTER", "warn"),
    // The one who has joined stays without a connection.
    ("COLLOQUY__MEETINGS__CONNECT_SECONDS", "3600"),
    people::ISSUER,
];
/// After the restart, a meeting ends when it has been empty for one second.
const EMPTY: (&str, &str) = ("COLLOQUY__MEETINGS__EMPTY_SECONDS", "1");
/// The timeout of the measurement.
const PATIENCE: Duration = Duration::from_secs(300);
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

#[derive(clap::Args)]
pub struct Restart {
    /// Number of live meetings when the server is killed.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    meetings: u64,
    /// URL of an empty database to measure with. Default: an SQLite file in a temporary folder.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start or gives an unexpected answer.
pub async fn measure(arguments: &Restart) -> Result<(), String> {
    let mut settings = SETTINGS.to_vec();
    settings.extend(arguments.database.as_deref().map(|url| ("COLLOQUY__DATABASE__URL", url)));
    let mut server = server::start(&settings).await?;
    let mut host = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Hanna Host", "hanna@colloquy.example");
    account.open(&host, server.data()).await?;
    host.token = Some(account.log_in(&host).await?.access_token);
    let project: ProjectAnswer = host.post("/api/projects", &json!({ "name": "Restart" })).await?;
    let meetings = format!("/api/projects/{}/meetings", project.id);
    let last = live(&host, &meetings, &[]).await?;
    // Its host has joined, so it does not end.
    let _: Value = host.post(&format!("/api/meetings/{last}/join"), &json!({})).await?;
    let count = usize::try_from(arguments.meetings).map_err(|error| error.to_string())?;
    let make = || {
        let (host, meetings) = (host.clone(), meetings.clone());
        async move { live(&host, &meetings, &[]).await }
    };
    many(count, make).await?;

    settings.push(EMPTY);
    let ready = server.crash_and_start(&settings).await?;
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
        tokio::time::sleep(CHECK_INTERVAL).await;
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

async fn still_live(host: &ApiClient, meetings: &str) -> Result<u64, String> {
    let listed: Value = host.get(&format!("{meetings}?status=LIVE&limit=1")).await?;
    listed.get("totalCount").and_then(Value::as_u64).ok_or_else(|| "A list has no total.".to_owned())
}
