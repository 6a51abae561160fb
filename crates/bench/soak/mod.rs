//! `bench soak`: whether the server stays stable under sustained load, and whether attackers slow down
//! ordinary users (trust R22).
//!
//! At first only the ordinary users (50 by default) run, for a fifth of the time; this gives their usual latency. Then
//! they run for the whole time beside the attackers. The bench fails if an ordinary user gets a 5xx, if their 99th
//! percentile is more than five times the usual one, or if memory at the end is more than a tenth above its level after
//! five minutes. At last nobody asks for anything, which shows how much of the memory comes back. The memory is the
//! server's own, without the pages of the database file that the operating system caches, which grow with the database.
//! Nothing of the server's log can be written all the while, as on a full disk.

mod attack;
mod connections;
mod documents;
mod person;
mod strangers;
mod tally;
mod workbooks;

use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::ids::Id;
use api_client::account::ClientAccount;
use api_client::answer::ProjectAnswer;
use api_client::caller::{ApiClient, http};
use api_client::own_server::{OwnServer, ServerLog};
use attack::Attack;
use person::SimulatedPerson;
use serde_json::json;
use tally::Tally;
use tokio::task::JoinSet;

use super::memory::{own_kib, peak_kib};
use super::processor::time_used;
use super::{people, server};

/// The defaults, except that idle actors leave memory soon enough to be seen in a short run.
const SETTINGS: [(&str, &str); 2] = [("COLLOQUY__ANALYSIS__IDLE_SECONDS", "60"), people::ISSUER];
const MINUTE: Duration = Duration::from_secs(60);
/// When the reference level of memory is taken; in a short run, after a quarter of the time.
const SETTLED: Duration = Duration::from_secs(5 * 60);
/// Memory rises and falls with each document, so means over this long are compared.
const MEAN: Duration = MINUTE;
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long nobody asks for anything at the end: longer than idle actors stay in memory.
const REST: Duration = Duration::from_secs(2 * 60);
/// The largest accepted ratios: memory at the end to the reference level, and p99 beside attackers to p99 alone.
const MAX_MEMORY_RATIO: f64 = 1.10;
const MAX_P99_RATIO: f64 = 5.0;

#[derive(clap::Args)]
pub struct Soak {
    /// Minutes with attackers; a fifth as long without them runs first.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    minutes: u64,
    /// Number of ordinary users.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=500))]
    people: u64,
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start, exits, or fails one of the criteria.
pub async fn measure(arguments: &Soak) -> Result<(), String> {
    let server = server::start_with_log(&SETTINGS, ServerLog::OnFullDisk).await?;
    let count = usize::try_from(arguments.people).map_err(|error| error.to_string())?;
    let mut callers = gather(&server, count + Attack::ACCOUNTS).await?;
    let attackers = callers.split_off(count);
    let time = MINUTE * u32::try_from(arguments.minutes).map_err(|error| error.to_string())?;

    println!(
        "{count} ordinary users alone, for {} s; the server's own memory in KiB, mean (minimum–maximum):",
        (time / 5).as_secs()
    );
    let alone = Arc::new(Tally::new());
    let going = begin(&callers, &alone);
    let used = time_used(server.process_id())?;
    watch(&server, &alone, time / 5).await?;
    let used = time_used(server.process_id())?.saturating_sub(used);
    drop(going);
    println!(
        "alone: {}; {:.0} µs of the server's processor time for each\n\nThe same users beside attackers, for {} s:",
        alone.line(),
        used.as_secs_f64() * 1e6 / alone.calls().max(1) as f64,
        time.as_secs()
    );

    let beside = Arc::new(Tally::new());
    let attack = Attack { server: super::address(&server)?, callers: attackers }.begin().await?;
    let going = begin(&callers, &beside);
    let memory = watch(&server, &beside, time).await?;
    drop((going, attack));
    println!("beside attackers: {}", beside.line());
    tokio::time::sleep(REST).await;
    println!("after {} s without load: {} KiB", REST.as_secs(), own_kib(server.process_id())?);
    alone.messages().iter().chain(&beside.messages()).for_each(|message| println!("  {message}"));
    judge(&alone, &beside, &memory, peak_kib(server.process_id())?)
}

/// Creates accounts and returns a caller for each.
async fn gather(server: &OwnServer, count: usize) -> Result<Vec<ApiClient>, String> {
    let mut owner = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Olga Owner", "olga@colloquy.example");
    account.open(&owner, server.data()).await?;
    owner.token = Some(account.log_in(&owner).await?.access_token);
    let project: ProjectAnswer = owner.post("/api/projects", &json!({ "name": "Everybody" })).await?;
    let project_id: Id<actors::ids::Project> = project.id.parse().map_err(|_| "The project's id is invalid.")?;
    let tokens = people::gather(server, None, project_id, count).await?;
    let http = http()?;
    let caller = |token| ApiClient { http: http.clone(), url: server.url.clone(), token: Some(token) };
    Ok(tokens.into_iter().map(caller).collect())
}

fn begin(callers: &[ApiClient], tally: &Arc<Tally>) -> JoinSet<()> {
    let mut going = JoinSet::new();
    for (number, caller) in callers.iter().enumerate() {
        going.spawn(SimulatedPerson { caller: caller.clone(), tally: Arc::clone(tally), number }.live());
    }
    going
}

/// The server's memory in KiB, sampled every second.
struct Held(Vec<(Duration, u64)>);

impl Held {
    /// Formats the minimum and maximum over the time `within` before `end`.
    fn range(&self, end: Duration, within: Duration) -> String {
        let begin = end.saturating_sub(within);
        let held = || self.0.iter().filter(|(at, _)| (begin..=end).contains(at)).map(|(_, kib)| *kib);
        format!("{}–{}", held().min().unwrap_or_default(), held().max().unwrap_or_default())
    }

    /// Returns the mean over the time `mean` before `end`.
    fn until(&self, end: Duration, mean: Duration) -> f64 {
        let begin = end.saturating_sub(mean);
        let within = self.0.iter().filter(|(at, _)| (begin..=end).contains(at));
        let (count, sum) = within.fold((0_u64, 0), |(count, sum), (_, kib)| (count + 1, sum + kib));
        sum as f64 / count.max(1) as f64
    }
}

/// Samples the server's memory until the time has passed, and prints it every minute.
async fn watch(server: &OwnServer, tally: &Tally, time: Duration) -> Result<Held, String> {
    let (began, mut printed_minutes, mut held) = (Instant::now(), 0, Held(Vec::new()));
    while began.elapsed() < time {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let at = began.elapsed();
        held.0.push((at, own_kib(server.process_id())?));
        if at.as_secs() / 60 > printed_minutes {
            printed_minutes = at.as_secs() / 60;
            println!(
                "{printed_minutes:>4} min {:>9.0} ({})  {}",
                held.until(at, MEAN),
                held.range(at, MEAN),
                tally.line()
            );
        }
    }
    Ok(held)
}

fn judge(alone: &Tally, beside: &Tally, memory: &Held, peak: u64) -> Result<(), String> {
    let end = memory.0.last().map(|(at, _)| *at).unwrap_or_default();
    let (settled, mean) = (SETTLED.min(end / 4), MEAN.min(end / 8));
    let (then, now) = (memory.until(settled, mean), memory.until(end, mean));
    let grown = now / then.max(1.0);
    let slower = beside.percentile(99) / alone.percentile(99).max(0.001);
    println!(
        "\nmemory after {} s: {then:.0} KiB; at the end: {now:.0} KiB ({grown:.3}); \
         peak, including cached file pages: {peak} KiB",
        settled.as_secs()
    );
    println!(
        "p99 alone: {:.1} ms; beside attackers: {:.1} ms ({slower:.2})",
        alone.percentile(99),
        beside.percentile(99)
    );
    let mut faults = Vec::new();
    if grown > MAX_MEMORY_RATIO {
        faults.push("The server's memory grows.");
    }
    if slower > MAX_P99_RATIO {
        faults.push("The attackers slow down ordinary users.");
    }
    if alone.failed() + beside.failed() > 0 {
        faults.push("An ordinary user got a 5xx.");
    }
    if alone.calls() == 0 || beside.calls() == 0 {
        faults.push("Nothing was measured.");
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join(" ")) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::tally::Outcome;
    use super::{Held, Tally, judge};

    fn tally(millis: u64, outcome: Outcome) -> Tally {
        let tally = Tally::new();
        (0..100).for_each(|_| tally.note(Duration::from_millis(millis), outcome));
        tally
    }

    fn held(kib: impl Fn(u64) -> u64) -> Held {
        Held((1..=1200).map(|second| (Duration::from_secs(second), kib(second))).collect())
    }

    #[test]
    fn what_grows_is_felt_or_fails_is_told() {
        let good = || tally(10, Outcome::Good);
        let flat = || held(|_| 100_000);
        assert_eq!(judge(&good(), &tally(45, Outcome::Good), &flat(), 1), Ok(()));
        assert!(judge(&good(), &tally(60, Outcome::Good), &flat(), 1).is_err());
        assert!(judge(&good(), &tally(10, Outcome::Failed), &flat(), 1).is_err());
        assert!(judge(&good(), &good(), &held(|second| 100_000 + 20 * second), 1).is_err());
        let until_settled = held(|second| 100_000 + 20 * second.min(300) + 5 * second.max(300));
        assert_eq!(judge(&good(), &good(), &until_settled, 1), Ok(()));
        assert!(judge(&Tally::new(), &good(), &flat(), 1).is_err());
    }
}
