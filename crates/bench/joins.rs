//! `bench joins`: how long it takes when many participants join one live meeting at the same moment, and what
//! it costs.
//!
//! Each participant has an open connection and sends one joinMeeting at the same time as all others. The commands of a
//! meeting are handled one after the other; those that are queued are saved in one batch, which is what this measures.

use actors::ids::Id;
use api_client::account::ClientAccount;
use api_client::answer::{MeetingAnswer, ProjectAnswer};
use api_client::caller::ApiClient;
use serde_json::{Value, json};

use super::load;
use super::memory::{peak_kib, resident_kib};
use super::people;
use super::server;
use super::wire::request;

#[derive(clap::Args)]
pub struct Joins {
    /// Number of participants who join, besides the host.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=5_000))]
    people: u64,
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start or gives an unexpected answer.
pub async fn measure(arguments: &Joins) -> Result<(), String> {
    let places = (arguments.people + 1).to_string();
    let settings = [
        ("COLLOQUY__LIMITS__CALLS__MOST", "0"),
        ("COLLOQUY__MEETINGS__PEOPLE", places.as_str()),
        people::ISSUER,
        super::MANY,
        super::OF_ONE,
    ];
    let server = server::start(&settings).await?;
    let mut host = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Hanna Host", "hanna@colloquy.example");
    account.open(&host, server.data()).await?;
    host.token = Some(account.log_in(&host).await?.access_token);
    let project: ProjectAnswer = host.post("/api/projects", &json!({ "name": "Joins" })).await?;
    let project_id: Id<actors::ids::Project> = project.id.parse().map_err(|_| "The project's id is invalid.")?;
    let body = json!({ "title": "Everybody", "scheduledAt": "2026-11-21T09:00:00.000Z" });
    let meeting: MeetingAnswer = host.post(&format!("/api/projects/{}/meetings", project.id), &body).await?;
    let path = format!("/api/meetings/{}", meeting.id);
    let _: Value = host.post(&format!("{path}/start"), &json!({})).await?;
    let count = usize::try_from(arguments.people).map_err(|error| error.to_string())?;
    let tokens = people::gather(&server, None, project_id, count).await?;

    let before = resident_kib(server.process_id())?;
    let join = format!("{path}/join");
    let requests = tokens.iter().map(|token| request("POST", &join, token, "", "{}")).collect();
    let joined = load::at_once(super::address(&server)?, 200, requests).await?;
    let (after, peak) = (resident_kib(server.process_id())?, peak_kib(server.process_id())?);
    let listed: Value = host.get(&format!("{path}/participants?status=JOINED&limit=1")).await?;
    if listed.get("totalCount").and_then(Value::as_u64) != Some(arguments.people) {
        return Err("Not every participant whose join was answered is in the meeting.".to_owned());
    }
    println!(
        "{count} participants joined one meeting at once: {:.2} s from the first request to the last response; p50 \
         {:.0} ms, p99 {:.0} ms",
        joined.elapsed.as_secs_f64(),
        joined.percentile(50),
        joined.percentile(99),
    );
    println!("The server's memory, {count} connections included: {before} → {after} KiB, at most {peak} KiB");
    Ok(())
}
