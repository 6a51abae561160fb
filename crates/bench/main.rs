//! `bench`: measures how fast Colloquy is on this machine.
//!
//! usage: cargo run --release -p bench -- [MEASUREMENT]
//!
//! It starts its own server (`server`), which is the program `colloquy` of the same build, on the default settings but
//! with the rate and connection limits lifted. The clients run in this process, so both share the machine's cores; a server
//! on its own machine is faster. Figures are ratios where possible: to a server that does nothing (`bare`), and to the
//! number of durable writes that the disk can do (`disk`).

mod awake;
mod bare;
mod beside;
mod dashboard;
mod disk;
mod enumeration;
mod joins;
mod journey;
mod live_meetings;
mod load;
mod memory;
mod people;
mod processor;
mod restart;
mod server;
mod soak;
mod sockets;
mod table;
mod uploads;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actors::time::{Clock, SystemClock};
use bare::{Bare, Same};
use beside::{PgBench, Pusher, Servers};
use clap::Parser;
use journey::Journey;
use load::{Load, LoadedServer, Requests, WARM_UP, always, changes};
use serde_json::json;
use sockets::Crowd;
use table::Table;
use wire::{Wire, header_in, request};

use api_client::account::ClientAccount;
use api_client::answer::MeetingAnswer;
use api_client::caller::ApiClient;
use api_client::own_server::OwnServer;

/// Numbers of concurrent clients in the PATCH measurements.
const PATCHING: [usize; 3] = [1, 16, 64];
/// Number of meetings in the list that is measured.
const LISTED: usize = 25;
/// Number of sockets whose further subscriptions are measured, and how many each makes.
const SUBSCRIBERS: usize = 200;
const FURTHER: usize = 20;
/// Pause after the last socket is open, before memory is read.
const SETTLING: Duration = Duration::from_secs(1);

/// Measures the performance of Colloquy on this machine, on a temporary server
#[derive(clap::Parser)]
#[command(name = "bench", version)]
struct Bench {
    #[command(subcommand)]
    apart: Option<Apart>,
    /// Duration of each measurement in seconds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Number of clients that poll concurrently.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    clients: u64,
    /// Number of sockets that subscribe to one meeting; several numbers, separated by commas, are measured one after the
    /// other.
    #[arg(long, default_value = "1000", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000))]
    sockets: Vec<u64>,
    /// URL of an empty database to measure with, such as postgres://user:password@host/database. Default: an SQLite file
    /// in a temporary folder.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Also measure `ws` and Socket.IO, with the servers in this folder (tests/figures in the repository). Needs Node and
    /// npm.
    #[arg(long, value_name = "FOLDER")]
    beside: Option<PathBuf>,
    /// Also measure pgbench, in this database of PostgreSQL. Needs `psql` and `pgbench`.
    #[arg(long, value_name = "URL")]
    pgbench: Option<String>,
    /// Measure for one second each, with 100 sockets.
    #[arg(long)]
    quick: bool,
}

/// The measurements that run on their own.
#[derive(clap::Subcommand)]
enum Apart {
    /// Measure whether requests and pushes cost the same however many meetings are awake, and what these take.
    Awake(awake::AwakeMeetings),
    /// Measure how long the dashboard of a large project takes, cold and warm.
    Dashboard(dashboard::DashboardBench),
    /// Measure whether response times reveal if an e-mail address has an account.
    Enumeration(enumeration::EnumerationBench),
    /// Measure how long it takes when many participants join one meeting at once, and what it costs.
    Joins(joins::Joins),
    /// Measure how soon a killed server enforces the timeouts of many live meetings again after its restart.
    Restart(restart::Restart),
    /// Measure whether memory and response times stay stable under sustained load, with attackers beside it.
    Soak(soak::Soak),
    /// Measure how fast recordings are uploaded, beside the disk and hashing.
    Uploads(uploads::Uploads),
}

impl Bench {
    fn time(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { self.seconds })
    }
    fn crowds(&self) -> Vec<usize> {
        let sizes: &[u64] = if self.quick { &[100] } else { &self.sockets };
        sizes.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect()
    }
    fn clients(&self) -> usize {
        usize::try_from(self.clients).unwrap_or(usize::MAX)
    }
}

fn main() -> ExitCode {
    // The server's files are accessible to its own user only, as those that it makes itself.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let arguments = Bench::parse();
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build: its figures are not meaningful. Use: cargo run --release -p bench");
    }
    // Each socket takes a descriptor in this process and one in the server, which inherits the limit.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let measured = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("The bench can't be started: {error}"))
        .and_then(|runtime| {
            runtime.block_on(async {
                tokio::select! {
                    measured = measure(&arguments) => measured,
                    _ = tokio::signal::ctrl_c() => Err("It was interrupted.".to_owned()),
                }
            })
        });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("The bench failed. {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Measured calls go through all that calls in production do, including the log (which goes to a file). The limits are
/// off because all clients have the same address.
const SETTINGS: [(&str, &str); 4] =
    [("COLLOQUY__LIMITS__CALLS__MOST", "0"), ("COLLOQUY__SOCKETS__PER_ACCOUNT", "20000"), MANY, OF_ONE];
const MANY: (&str, &str) = ("COLLOQUY__HTTP__CONNECTIONS", "25000");
const OF_ONE: (&str, &str) = ("COLLOQUY__HTTP__CONNECTIONS_PER_CLIENT", "0");

async fn measure(arguments: &Bench) -> Result<(), String> {
    match &arguments.apart {
        None => {}
        Some(Apart::Awake(arguments)) => return awake::measure(arguments).await,
        Some(Apart::Dashboard(arguments)) => return dashboard::measure(arguments).await,
        Some(Apart::Enumeration(arguments)) => return enumeration::measure(arguments).await,
        Some(Apart::Joins(arguments)) => return joins::measure(arguments).await,
        Some(Apart::Restart(arguments)) => return restart::measure(arguments).await,
        Some(Apart::Soak(arguments)) => return soak::measure(arguments).await,
        Some(Apart::Uploads(arguments)) => return uploads::measure(arguments).await,
    }
    let mut settings = SETTINGS.to_vec();
    settings.extend(arguments.database.as_deref().map(|url| ("COLLOQUY__DATABASE__URL", url)));
    let server = server::start(&settings).await?;
    let mut caller = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Ben Bench", "ben@colloquy.example");
    account.open(&caller, server.data()).await?;
    caller.token = Some(account.log_in(&caller).await?.access_token);
    let bench = Bound { arguments, target: target(&server)?, caller };

    let mut table = Table::begin(arguments.time(), arguments.database.as_ref().map_or("SQLite", |_| "PostgreSQL"));
    let journey = journey::travel(&bench.caller).await?;
    let folder = server.data().to_owned();
    let time = arguments.time();
    let syncs = tokio::task::spawn_blocking(move || disk::syncs_per_second(&folder, time)).await;
    let syncs = syncs.map_err(|error| error.to_string())??;
    table.disk(syncs);
    bench.polls(&mut table, &journey).await?;
    bench.patches(&mut table, &journey, syncs).await?;
    bench.sockets(&mut table, &journey).await?;
    // Measured again, warm and without other load; the first journey only created what was polled.
    table.journey(&journey::travel(&bench.caller).await?);
    table.end();
    Ok(())
}

fn target(server: &OwnServer) -> Result<LoadedServer, String> {
    Ok(LoadedServer { address: address(server)?, process_id: server.process_id() })
}

fn address(server: &OwnServer) -> Result<SocketAddr, String> {
    let address = server.url.trim_start_matches("http://");
    address.parse().map_err(|error| format!("{address} is not a socket address: {error}"))
}

/// What all measurements share.
struct Bound<'a> {
    arguments: &'a Bench,
    target: LoadedServer,
    caller: ApiClient,
}

impl Bound<'_> {
    fn token(&self) -> &str {
        self.caller.token.as_deref().unwrap_or_default()
    }

    async fn load(&self, clients: usize, status: u16, of: Requests) -> Result<Load, String> {
        self.target.load(clients, self.arguments.time(), status, of).await
    }

    /// Measures polling a finished run, full and unchanged, and compares it with a server that sends the same bytes.
    async fn polls(&self, table: &mut Table, journey: &Journey) -> Result<(), String> {
        let path = format!("/api/projects/{}/ai/runs/{}", journey.project_id, journey.run_id);
        let poll = request("GET", &path, self.token(), "", "");
        let mut wire = Wire::connect(self.target.address).await.map_err(|error| error.to_string())?;
        let answered = wire.exchange(&poll).await.map_err(|error| error.to_string())?;
        if answered.status != 200 {
            return Err(format!("The request for a run's status returned {}.", answered.status));
        }
        let same = Same::of(answered.head, answered.body);
        let etag = header_in(answered.head, "etag").ok_or("A run's status has no ETag.")?;
        let unchanged = request("GET", &path, self.token(), &format!("if-none-match: {etag}\r\n"), "");

        let clients = self.arguments.clients();
        let bare = Bare::start(same)?;
        load::put(bare.address, clients, WARM_UP, 200, always(poll.clone())).await?;
        let nothing = load::put(bare.address, clients, self.arguments.time(), 200, always(poll.clone())).await?;
        bare.stop().await;
        table.row("the same bytes, bare", &nothing, "1.00 bare");
        let health = self.load(clients, 200, always(request("GET", "/health/live", "", "", ""))).await?;
        let whole = self.load(clients, 200, always(poll)).await?;
        let unchanged = self.load(clients, 304, always(unchanged)).await?;
        for (what, load) in
            [("health check", &health), ("run status poll, 200", &whole), ("run status poll, 304", &unchanged)]
        {
            table.row(what, load, &format!("{:.2} bare", load.per_second() / nothing.per_second()));
        }
        self.reads(table, journey, &whole).await
    }

    /// Measures what else is read most often, and compares its processor time with that of a poll.
    async fn reads(&self, table: &Table, journey: &Journey, poll: &Load) -> Result<(), String> {
        let project = format!("/api/projects/{}", journey.project_id);
        for number in 0..LISTED {
            self.meeting(journey, &format!("Listed {number}")).await?;
        }
        let meeting = format!("/api/meetings/{}", self.meeting(journey, "Read by many").await?);
        let list = format!("{project}/meetings?limit={LISTED}");
        let poll = poll.processor_micros().unwrap_or_default();
        for (what, path) in
            [("a meeting's details", meeting), ("a project's details", project), ("a list of 25 meetings", list)]
        {
            let get = request("GET", &path, self.token(), "", "");
            let load = self.load(self.arguments.clients(), 200, always(get)).await?;
            let ratio = load.processor_micros().unwrap_or_default() / poll.max(f64::MIN_POSITIVE);
            table.row(what, &load, &format!("{ratio:.1} × the poll's cpu"));
        }
        Ok(())
    }

    /// Measures PATCH, which is answered when it is durable. At first each client has its own meeting; then all share
    /// one.
    async fn patches(&self, table: &mut Table, journey: &Journey, syncs: f64) -> Result<(), String> {
        let most = PATCHING.iter().copied().max().unwrap_or(1);
        let mut meetings = Vec::new();
        for number in 0..most {
            meetings.push(self.meeting(journey, &format!("Meeting {number}")).await?);
        }
        let meetings = Arc::new(meetings);
        let pgbench = match &self.arguments.pgbench {
            Some(url) => Some(PgBench::prepare(url).await?),
            None => None,
        };
        for clients in PATCHING {
            let load = self.load(clients, 200, changes(self.token(), &meetings)).await?;
            let mut ratio = format!("{:.2} disk", load.per_second() / syncs);
            if let Some(pgbench) = &pgbench {
                let rate = pgbench.measure(clients, self.arguments.time()).await?;
                ratio = format!("{ratio}, {:.2} pgbench ({rate:.0})", load.per_second() / rate);
            }
            table.row("meeting PATCH, one each", &load, &ratio);
        }
        let one = Arc::new(meetings.first().cloned().into_iter().collect::<Vec<_>>());
        let load = self.load(most, 200, changes(self.token(), &one)).await?;
        table.row("meeting PATCH, all on one", &load, &format!("{:.2} disk", load.per_second() / syncs));
        Ok(())
    }

    async fn meeting(&self, journey: &Journey, title: &str) -> Result<String, String> {
        let at = SystemClock.now() + Duration::from_secs(24 * 3600);
        let body = json!({ "title": title, "scheduledAt": at });
        let path = format!("/api/projects/{}/meetings", journey.project_id);
        Ok(self.caller.post::<MeetingAnswer>(&path, &body).await?.id)
    }

    async fn sockets(&self, table: &mut Table, journey: &Journey) -> Result<(), String> {
        let (process_id, time) = (self.target.process_id, self.arguments.time());
        let servers = match &self.arguments.beside {
            Some(folder) => Some(Servers::install(folder).await?),
            None => None,
        };
        for size in self.arguments.crowds() {
            let meeting_id = self.meeting(journey, "Heard by many").await?;
            let text = sockets::event_text(&self.caller, &meeting_id).await?;
            let before = memory::resident_kib(process_id)?;
            let mut crowd = Crowd::gather(size, || sockets::open(&self.caller, &meeting_id)).await?;
            tokio::time::sleep(SETTLING).await;
            let idle = memory::resident_kib(process_id)?;
            let change = |number| sockets::change(&self.caller, &meeting_id, number);
            let pushes = crowd.push(process_id, time, change).await?;
            drop(crowd);
            table.sockets(size, &pushes, before, idle);
            for pusher in servers.iter().flat_map(|_| Pusher::ALL) {
                let Some(servers) = &servers else { continue };
                table.beside(size, &servers.measure(pusher, size, &text, time).await?, &pushes);
            }
        }
        self.subscriptions(table, journey).await
    }

    /// Measures what a further subscription of a socket takes.
    async fn subscriptions(&self, table: &Table, journey: &Journey) -> Result<(), String> {
        let process_id = self.target.process_id;
        let mut meetings = Vec::new();
        for number in 0..=FURTHER {
            meetings.push(self.meeting(journey, &format!("Heard besides {number}")).await?);
        }
        let first = meetings.split_off(FURTHER).pop().unwrap_or_default();
        let mut few = Vec::new();
        for _ in 0..SUBSCRIBERS {
            few.push(sockets::open(&self.caller, &first).await?);
        }
        tokio::time::sleep(SETTLING).await;
        let before = memory::resident_kib(process_id)?;
        for socket in &mut few {
            for meeting_id in &meetings {
                sockets::subscribe(socket, meeting_id).await?;
            }
        }
        tokio::time::sleep(SETTLING).await;
        table.subscriptions(SUBSCRIBERS * FURTHER, before, memory::resident_kib(process_id)?);
        Ok(())
    }
}
