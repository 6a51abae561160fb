//! `bench awake`: whether a poll, a PATCH and a push cost the same however many meetings are awake and sockets
//! open, how much memory an awake meeting takes, and what happens when many meetings start in one second.
//!
//! Everything is measured twice, first with a hundred meetings and sockets, then with all of them. What is measured is
//! the same both times: polls of one run, changes of one meeting for each client, and pushes to the same sockets.

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use api_client::account::ClientAccount;
use api_client::answer::ProjectAnswer;
use api_client::caller::ApiClient;
use serde_json::json;

use super::live_meetings::{live, many, scheduled};
use super::load::{self, Load, LoadedServer, always, changes};
use super::memory::own_kib;
use super::server;
use super::sockets::{self, Crowd, Pushes};
use super::wire::request;
use super::{SETTLING, journey, people};

/// Number of meetings and sockets in the first measurement.
const FEW: usize = 100;
/// Number of clients that poll, and that change meetings.
const CLIENTS: usize = 16;
/// Number of participants of a meeting, the host included.
const PEOPLE: usize = 4;
/// Number of meetings that start within a second, as usual and in the surge; the usual rate is held for three seconds.
const USUAL: usize = 100;
const SURGE: usize = 1000;
const USUAL_SECONDS: usize = 3;

/// Participants who are in no room stay. The limits are off because all clients have the same address.
const SETTINGS: [(&str, &str); 7] = [
    ("COLLOQUY__LIMITS__CALLS__MOST", "0"),
    ("COLLOQUY__SOCKETS__PER_ACCOUNT", "20000"),
    ("COLLOQUY__MEETINGS__CONNECT_SECONDS", "3600"),
    ("COLLOQUY__MEETINGS__GRACE_SECONDS", "3600"),
    people::ISSUER,
    super::MANY,
    super::OF_ONE,
];

#[derive(clap::Args)]
pub struct AwakeMeetings {
    /// Number of live meetings, with four participants each.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(200..=100_000))]
    meetings: u64,
    /// Number of sockets, each subscribed to one of the meetings.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(200..=50_000))]
    sockets: u64,
    /// Duration of each measurement in seconds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// URL of an empty database to measure with. Default: an SQLite file in a temporary folder.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// The figures of one of the two measurements.
struct Costs {
    poll: Load,
    change: Load,
    pushes: Pushes,
}

impl Costs {
    fn micros(&self) -> [f64; 3] {
        let [poll, change] = [&self.poll, &self.change].map(|load| load.processor_micros().unwrap_or_default());
        [poll, change, self.pushes.processor_micros]
    }
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start or gives an unexpected answer.
pub async fn measure(arguments: &AwakeMeetings) -> Result<(), String> {
    let mut settings = SETTINGS.to_vec();
    settings.extend(arguments.database.as_deref().map(|url| ("COLLOQUY__DATABASE__URL", url)));
    let server = server::start(&settings).await?;
    let mut host = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Hanna Host", "hanna@colloquy.example");
    account.open(&host, server.data()).await?;
    host.token = Some(account.log_in(&host).await?.access_token);
    let project: ProjectAnswer = host.post("/api/projects", &json!({ "name": "Awake" })).await?;
    let project_id: Id<actors::ids::Project> = project.id.parse().map_err(|_| "The project's id is invalid.")?;
    let tokens = people::gather(&server, arguments.database.as_deref(), project_id, PEOPLE - 1).await?;
    let others = tokens.into_iter().map(|token| ApiClient { token: Some(token), ..host.clone() });
    let everybody = Arc::new(std::iter::once(host.clone()).chain(others).collect::<Vec<_>>());
    let journey = journey::travel(&host).await?;
    let bench = AwakeBench {
        target: super::target(&server)?,
        run: format!("/api/projects/{}/ai/runs/{}", journey.project_id, journey.run_id),
        meetings: format!("/api/projects/{}/meetings", project.id),
        time: Duration::from_secs(arguments.seconds),
        host,
        everybody,
    };
    bench.measure(arguments).await
}

struct AwakeBench {
    target: LoadedServer,
    /// The path of the run that is polled.
    run: String,
    /// The path of the meetings.
    meetings: String,
    time: Duration,
    host: ApiClient,
    everybody: Arc<Vec<ApiClient>>,
}

impl AwakeBench {
    async fn measure(&self, arguments: &AwakeMeetings) -> Result<(), String> {
        let [meetings, sockets] = [arguments.meetings, arguments.sockets];
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(FEW);
        let few = self.go_live(FEW).await?;
        let Some((heard, changed)) = few.split_first() else { return Ok(()) };
        let changed = Arc::new(changed.to_vec());
        let mut crowd = Crowd::gather(FEW, || sockets::open(&self.host, heard)).await?;
        let at_first = self.costs(heard, &changed, &mut crowd).await?;

        tokio::time::sleep(SETTLING).await;
        let before = own_kib(self.target.process_id)?;
        let more = self.go_live(count(meetings)).await?;
        tokio::time::sleep(SETTLING).await;
        let after = own_kib(self.target.process_id)?;
        let number = std::cell::Cell::new(0);
        let next = || {
            let nth = number.replace(number.get() + 1);
            sockets::open(&self.host, more.get(nth % more.len().max(1)).map_or("", String::as_str))
        };
        let idle = Crowd::gather(count(sockets), next).await?;
        let at_last = self.costs(heard, &changed, &mut crowd).await?;
        let [steady, surge] = self.starts().await?;
        drop(idle);

        let each = after.saturating_sub(before) as f64 / more.len().max(1) as f64;
        println!(
            "The server's processor time in µs, with {FEW} live meetings and sockets, then with {meetings} and {sockets}:"
        );
        for (what, (first, last)) in
            ["run status poll", "meeting PATCH", "push"].iter().zip(at_first.micros().into_iter().zip(at_last.micros()))
        {
            println!("{what:16} {first:>7.1} {last:>7.1}  {:.2} ×", last / first.max(f64::MIN_POSITIVE));
        }
        println!(
            "An awake meeting with {PEOPLE} participants: {each:.1} KiB of the server's memory ({before} → {after} KiB)"
        );
        println!(
            "{SURGE} meetings that start within a second: p50 {:.1} ms, p99 {:.1} ms; {USUAL} per second: p50 {:.1} ms, p99 \
             {:.1} ms; p99 {:.2} ×",
            surge.percentile(50),
            surge.percentile(99),
            steady.percentile(50),
            steady.percentile(99),
            surge.percentile(99) / steady.percentile(99).max(f64::MIN_POSITIVE),
        );
        Ok(())
    }

    /// Makes that many live meetings with everybody in them.
    async fn go_live(&self, count: usize) -> Result<Vec<String>, String> {
        let made = || {
            let (host, meetings, everybody) = (self.host.clone(), self.meetings.clone(), Arc::clone(&self.everybody));
            async move { live(&host, &meetings, &everybody).await }
        };
        many(count, made).await
    }

    async fn costs(&self, heard: &str, changed: &Arc<Vec<String>>, crowd: &mut Crowd) -> Result<Costs, String> {
        let token = self.host.token.as_deref().unwrap_or_default();
        let poll = always(request("GET", &self.run, token, "", ""));
        let poll = self.target.load(CLIENTS, self.time, 200, poll).await?;
        let change = self.target.load(CLIENTS, self.time, 200, changes(token, changed)).await?;
        let change_heard = |number| sockets::change(&self.host, heard, number);
        let pushes = crowd.push(self.target.process_id, self.time, change_heard).await?;
        Ok(Costs { poll, change, pushes })
    }

    /// Starts meetings at the usual rate, and many in one second.
    async fn starts(&self) -> Result<[Load; 2], String> {
        let scheduled = || {
            let (host, meetings) = (self.host.clone(), self.meetings.clone());
            async move { scheduled(&host, &meetings).await }
        };
        let token = self.host.token.as_deref().unwrap_or_default();
        let mut starts = Vec::new();
        for (count, seconds) in [(USUAL * USUAL_SECONDS, USUAL_SECONDS), (SURGE, 1)] {
            let ids = many(count, scheduled).await?;
            let start = |id: &String| request("POST", &format!("/api/meetings/{id}/start"), token, "", "{}");
            let requests = ids.iter().map(start).collect();
            let within = Duration::from_secs(seconds as u64);
            starts.push(load::evenly(self.target.address, 200, requests, within).await?);
        }
        starts.try_into().map_err(|_| "Not both rates were measured.".to_owned())
    }
}
