//! Load: concurrent clients, each with its own connection and sending its next request when it has received the
//! response.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::wire::Wire;

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
    let mut running = JoinSet::new();
    let start = Arc::new(Barrier::new(requests.len() + 1));
    for request in requests {
        let start = Arc::clone(&start);
        running.spawn(async move {
            let connected = Wire::connect(address).await;
            start.wait().await;
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
