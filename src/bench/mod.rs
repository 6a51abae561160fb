//! `colloquy bench`: how fast this program is on this machine, measured and not promised.
//!
//! A server of its own, in another process, on the defaults but without limits; and in this process the clients, so both
//! share the machine's cores, and a server on a machine of its own does better. Figures are ratios where they can be: to
//! a server that does nothing (`bare`), and to what the disk can make durable (`disk`).

mod bare;
mod disk;
mod enumeration;
mod joins;
mod journey;
mod load;
mod memory;
mod people;
mod restart;
mod soak;
mod sockets;
mod table;
mod wire;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actors::time::{Clock, SystemClock};
use serde_json::json;

use crate::client::account::Account;
use crate::client::answer::Meeting;
use crate::client::caller::Caller;
use crate::client::own_server::OwnServer;
use bare::{Bare, Same};
use journey::Journey;
use load::{Load, Requests};
use sockets::Crowd;
use table::Table;
use wire::{Wire, header_in, request};

/// Clients of the PATCH measurements.
const PATCHING: [usize; 3] = [1, 16, 64];
/// Load before the first measurement, so that nothing is measured that happens once.
const WARM_UP: Duration = Duration::from_millis(500);
/// After the last socket is open, before memory is looked at.
const SETTLING: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    apart: Option<Apart>,
    /// How long each measurement takes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Clients that poll at once.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    clients: u64,
    /// Sockets that listen to one meeting.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    sockets: u64,
    /// One second each, and 100 sockets.
    #[arg(long)]
    quick: bool,
}

/// What is measured by itself.
#[derive(clap::Subcommand)]
enum Apart {
    /// Whether the time of an answer tells if an address has an account.
    Enumeration(enumeration::Enumeration),
    /// How long many people take who join one meeting in the same moment, and what it costs.
    Joins(joins::Joins),
    /// How soon a server that was killed knows again what time it is in many live meetings.
    Restart(restart::Restart),
    /// Whether memory and answers stay what they are under a load that goes on, with attackers beside it.
    Soak(soak::Soak),
}

impl Bench {
    fn time(&self) -> Duration {
        Duration::from_secs(if self.quick { 1 } else { self.seconds })
    }
    fn crowd(&self) -> usize {
        usize::try_from(if self.quick { 100 } else { self.sockets }).unwrap_or(usize::MAX)
    }
    fn clients(&self) -> usize {
        usize::try_from(self.clients).unwrap_or(usize::MAX)
    }
}

pub fn run(asked: &Bench) -> ExitCode {
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build: its figures say nothing. Use: cargo run --release -- bench");
    }
    // A socket takes a descriptor here and one in the server, which inherits the limit.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let measured = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("The bench can't be started: {error}"))
        .and_then(|runtime| {
            runtime.block_on(async {
                tokio::select! {
                    measured = measure(asked) => measured,
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

/// Each call that is measured passes what a call in production passes, the log included (it goes to a file). All clients come
/// from one address.
const SETTINGS: [(&str, &str); 4] =
    [("COLLOQUY__LIMITS__CALLS__MOST", "0"), ("COLLOQUY__SOCKETS__PER_ACCOUNT", "20000"), MANY, OF_ONE];
const MANY: (&str, &str) = ("COLLOQUY__HTTP__CONNECTIONS", "25000");
const OF_ONE: (&str, &str) = ("COLLOQUY__HTTP__CONNECTIONS_PER_CLIENT", "0");

async fn measure(asked: &Bench) -> Result<(), String> {
    match &asked.apart {
        None => {}
        Some(Apart::Enumeration(asked)) => return enumeration::measure(asked).await,
        Some(Apart::Joins(asked)) => return joins::measure(asked).await,
        Some(Apart::Restart(asked)) => return restart::measure(asked).await,
        Some(Apart::Soak(asked)) => return soak::measure(asked).await,
    }
    let server = OwnServer::start(&SETTINGS).await?;
    let mut caller = Caller::at(&server.url)?;
    let account = Account::named("Ben Bench", "ben@colloquy.example");
    account.open(&caller, server.data()).await?;
    caller.token = Some(account.log_in(&caller).await?.access_token);
    let bench = Bound { asked, address: address(&server)?, server: &server, caller };

    let mut table = Table::begin(asked.time());
    let journey = journey::travel(&bench.caller).await?;
    let folder = server.data().to_owned();
    let time = asked.time();
    let syncs = tokio::task::spawn_blocking(move || disk::syncs_per_second(&folder, time)).await;
    let syncs = syncs.map_err(|error| error.to_string())??;
    table.disk(syncs);
    bench.polls(&mut table, &journey).await?;
    bench.patches(&mut table, &journey, syncs).await?;
    bench.sockets(&mut table, &journey).await?;
    // Again, warm and alone; the first one only made what was polled.
    table.journey(&journey::travel(&bench.caller).await?);
    table.end();
    Ok(())
}

fn address(server: &OwnServer) -> Result<SocketAddr, String> {
    let address = server.url.trim_start_matches("http://");
    address.parse().map_err(|error| format!("{address} is no address: {error}"))
}

/// What all measurements have.
struct Bound<'a> {
    asked: &'a Bench,
    address: SocketAddr,
    server: &'a OwnServer,
    caller: Caller,
}

impl Bound<'_> {
    fn token(&self) -> &str {
        self.caller.token.as_deref().unwrap_or_default()
    }

    async fn load(&self, address: SocketAddr, clients: usize, status: u16, of: Requests) -> Result<Load, String> {
        load::put(address, clients, WARM_UP, status, Arc::clone(&of)).await?;
        load::put(address, clients, self.asked.time(), status, of).await
    }

    /// The poll of a run that is over, whole and unchanged, beside a server that gives the same bytes.
    async fn polls(&self, table: &mut Table, journey: &Journey) -> Result<(), String> {
        let path = format!("/api/projects/{}/ai/runs/{}", journey.project_id, journey.run_id);
        let poll = request("GET", &path, self.token(), "", "");
        let mut wire = Wire::connect(self.address).await.map_err(|error| error.to_string())?;
        let answered = wire.exchange(&poll).await.map_err(|error| error.to_string())?;
        if answered.status != 200 {
            return Err(format!("A run's status was answered with {}.", answered.status));
        }
        let same = Same::of(answered.head, answered.body);
        let etag = header_in(answered.head, "etag").ok_or("A run's status has no ETag.")?;
        let unchanged = request("GET", &path, self.token(), &format!("if-none-match: {etag}\r\n"), "");

        let clients = self.asked.clients();
        let bare = Bare::start(same)?;
        let nothing = self.load(bare.address, clients, 200, always(poll.clone())).await?;
        bare.stop().await;
        let whole = self.load(self.address, clients, 200, always(poll)).await?;
        let unchanged = self.load(self.address, clients, 304, always(unchanged)).await?;
        table.row("the same bytes, bare", &nothing, "1.00 bare");
        table.row("run status poll, 200", &whole, &format!("{:.2} bare", whole.per_second() / nothing.per_second()));
        table.row(
            "run status poll, 304",
            &unchanged,
            &format!("{:.2} bare", unchanged.per_second() / nothing.per_second()),
        );
        Ok(())
    }

    /// A PATCH is answered when it is durable. Each client has a meeting of its own; then all share one.
    async fn patches(&self, table: &mut Table, journey: &Journey, syncs: f64) -> Result<(), String> {
        let most = PATCHING.iter().copied().max().unwrap_or(1);
        let mut meetings = Vec::new();
        for number in 0..most {
            meetings.push(self.meeting(journey, &format!("Meeting {number}")).await?);
        }
        let meetings = Arc::new(meetings);
        for clients in PATCHING {
            let load = self.load(self.address, clients, 200, self.changes(&meetings)).await?;
            table.row("meeting PATCH, one each", &load, &format!("{:.2} disk", load.per_second() / syncs));
        }
        let one = Arc::new(meetings.first().cloned().into_iter().collect::<Vec<_>>());
        let load = self.load(self.address, most, 200, self.changes(&one)).await?;
        table.row("meeting PATCH, all on one", &load, &format!("{:.2} disk", load.per_second() / syncs));
        Ok(())
    }

    async fn meeting(&self, journey: &Journey, title: &str) -> Result<String, String> {
        let at = SystemClock.now() + Duration::from_secs(24 * 3600);
        let body = json!({ "title": title, "scheduledAt": at });
        let path = format!("/api/projects/{}/meetings", journey.project_id);
        Ok(self.caller.post::<Meeting>(&path, &body).await?.id)
    }

    /// Another title each time: what changes nothing would cost nothing.
    fn changes(&self, meetings: &Arc<Vec<String>>) -> Requests {
        let (token, meetings) = (self.token().to_owned(), Arc::clone(meetings));
        Arc::new(move |client, count| {
            let meeting_id = meetings.get(client % meetings.len().max(1)).map_or("", String::as_str);
            let body = format!("{{\"title\":\"Change {count} by client {client}\"}}");
            request("PATCH", &format!("/api/meetings/{meeting_id}"), &token, "", &body)
        })
    }

    async fn sockets(&self, table: &mut Table, journey: &Journey) -> Result<(), String> {
        let size = self.asked.crowd();
        let meeting_id = self.meeting(journey, "Heard by many").await?;
        let before = memory::resident_kib(self.server.process_id())?;
        let mut crowd = Crowd::gather(&self.caller, &meeting_id, size).await?;
        tokio::time::sleep(SETTLING).await;
        let idle = memory::resident_kib(self.server.process_id())?;
        let pushes = crowd.push(&self.caller, &meeting_id, self.asked.time()).await?;
        table.sockets(size, &pushes, before, idle);
        Ok(())
    }
}

fn always(request: Vec<u8>) -> Requests {
    Arc::new(move |_, _| request.clone())
}
