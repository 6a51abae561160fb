//! Load: concurrent clients, each with its own connection and sending its next request when it has received the
//! response.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::processor;
use super::wire::{Wire, request};

/// Duration of the load before each measurement, so that one-time work is not measured.
pub const WARM_UP: Duration = Duration::from_millis(500);

/// The figures of one load.
#[derive(Debug, Default)]
pub struct Load {
    pub clients: usize,
    pub answers: usize,
    pub elapsed: Duration,
    /// Processor time of the server meanwhile, if it is a process of its own.
    pub processor: Option<Duration>,
    /// Microseconds, in ascending order.
    latencies: Vec<u32>,
}

impl Load {
    pub fn per_second(&self) -> f64 {
        self.answers as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the server's processor time for each response, in microseconds.
    pub fn processor_micros(&self) -> Option<f64> {
        self.processor.map(|used| used.as_secs_f64() * 1e6 / self.answers.max(1) as f64)
    }

    /// Returns the latency in milliseconds that the given percentage of responses did not exceed.
    pub fn percentile(&self, percent: usize) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let micros = self.latencies.get(last * percent / 100).copied().unwrap_or_default();
        f64::from(micros) / 1000.0
    }
}

/// Makes the next request of a client from the client's number and the number of requests it has sent.
pub type Requests = Arc<dyn Fn(usize, usize) -> Vec<u8> + Send + Sync>;

/// Makes the same request again and again.
pub fn always(request: Vec<u8>) -> Requests {
    Arc::new(move |_, _| request.clone())
}

/// Makes PATCHes that give a meeting a new title each time: one that changes nothing would cost nothing. Each client has a
/// meeting of its own if there are enough.
pub fn changes(token: &str, meetings: &Arc<Vec<String>>) -> Requests {
    let (token, meetings) = (token.to_owned(), Arc::clone(meetings));
    Arc::new(move |client, count| {
        let meeting_id = meetings.get(client % meetings.len().max(1)).map_or("", String::as_str);
        let body = format!("{{\"title\":\"Change {count} by client {client}\"}}");
        request("PATCH", &format!("/api/meetings/{meeting_id}"), &token, "", &body)
    })
}

/// A server that is measured.
#[derive(Debug, Clone, Copy)]
pub struct LoadedServer {
    pub address: SocketAddr,
    pub process_id: Option<u32>,
}

impl LoadedServer {
    /// Puts load on the server, after a short one before, and measures its processor time.
    ///
    /// # Errors
    /// Same as [`put`].
    pub async fn load(self, clients: usize, time: Duration, status: u16, of: Requests) -> Result<Load, String> {
        put(self.address, clients, WARM_UP, status, Arc::clone(&of)).await?;
        let used = processor::time_used(self.process_id)?;
        let mut load = put(self.address, clients, time, status, of).await?;
        load.processor = Some(processor::time_used(self.process_id)?.saturating_sub(used));
        Ok(load)
    }
}

/// Puts load on a server for the given time.
///
/// # Errors
/// Returns a message if a response has another status than `expected`, or does not arrive.
pub async fn put(
    address: SocketAddr,
    clients: usize,
    time: Duration,
    expected: u16,
    requests: Requests,
) -> Result<Load, String> {
    let mut running = JoinSet::new();
    let start = Arc::new(Barrier::new(clients + 1));
    for client in 0..clients {
        let (requests, start) = (Arc::clone(&requests), Arc::clone(&start));
        running.spawn(async move {
            let connected = Wire::connect(address).await;
            start.wait().await;
            let mut wire = connected.map_err(|error| error.to_string())?;
            let (began, mut latencies) = (Instant::now(), Vec::with_capacity(1 << 16));
            while began.elapsed() < time {
                let request = requests(client, latencies.len());
                latencies.push(timed(&mut wire, &request, expected).await?);
            }
            Ok(latencies)
        });
    }
    start.wait().await;
    finish(running).await
}

/// Sends each request once, all at the same moment, each over its own connection that is opened before.
///
/// # Errors
/// Same as [`put`].
pub async fn at_once(address: SocketAddr, expected: u16, requests: Vec<Vec<u8>>) -> Result<Load, String> {
    evenly(address, expected, requests, Duration::ZERO).await
}

/// Sends each request once, spread evenly over `within`, whether those before are answered or not; each over its own
/// connection that is opened before.
///
/// # Errors
/// Same as [`put`].
pub async fn evenly(
    address: SocketAddr,
    expected: u16,
    requests: Vec<Vec<u8>>,
    within: Duration,
) -> Result<Load, String> {
    let mut running = JoinSet::new();
    let start = Arc::new(Barrier::new(requests.len() + 1));
    let count = u32::try_from(requests.len()).unwrap_or(u32::MAX).max(1);
    for (nth, request) in (0..).zip(requests) {
        let start = Arc::clone(&start);
        running.spawn(async move {
            let connected = Wire::connect(address).await;
            start.wait().await;
            tokio::time::sleep(within * nth / count).await;
            let mut wire = connected.map_err(|error| error.to_string())?;
            timed(&mut wire, &request, expected).await.map(|took| vec![took])
        });
    }
    start.wait().await;
    finish(running).await
}

/// Sends a request and returns the microseconds until its response is complete.
async fn timed(wire: &mut Wire, request: &[u8], expected: u16) -> Result<u32, String> {
    let sent = Instant::now();
    let answered = wire.exchange(request).await.map_err(|error| error.to_string())?;
    let took = sent.elapsed().as_micros();
    if answered.status != expected {
        let body = String::from_utf8_lossy(answered.body);
        return Err(format!("{} instead of {expected}: {body}", answered.status));
    }
    Ok(u32::try_from(took).unwrap_or(u32::MAX))
}

async fn finish(mut running: JoinSet<Result<Vec<u32>, String>>) -> Result<Load, String> {
    let began = Instant::now();
    let mut load = Load { clients: running.len(), ..Load::default() };
    while let Some(ended) = running.join_next().await {
        let latencies = ended.map_err(|error| error.to_string()).and_then(|ended| ended);
        load.latencies.extend(latencies.map_err(|why| format!("A client under load got no valid response: {why}"))?);
    }
    load.elapsed = began.elapsed();
    load.answers = load.latencies.len();
    load.latencies.sort_unstable();
    Ok(load)
}
