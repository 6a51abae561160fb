//! `bench uploads`: how fast a recording is uploaded, in chunks one after the other and at once and as one file,
//! beside what the disk (`dd oflag=dsync`) and hashing (`sha256sum`) do with as much.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use api_client::account::ClientAccount;
use api_client::answer::{MeetingAnswer, ProjectAnswer};
use api_client::caller::ApiClient;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};

use super::memory::{peak_kib, resident_kib};
use super::server;

const MIB: usize = 1024 * 1024;
/// The timeout of one upload.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub struct Uploads {
    /// Size of each recording in mebibytes.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u64).range(16..=4096))]
    mib: u64,
    /// Size of a chunk in mebibytes.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=16))]
    chunk_mib: u64,
    /// Number of chunks that are uploaded at once.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=256))]
    at_once: u64,
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start or gives an unexpected answer, or `dd` or `sha256sum` is missing.
pub async fn measure(arguments: &Uploads) -> Result<(), String> {
    let size = |mib: u64| usize::try_from(mib).map_err(|error| error.to_string());
    let (mib, chunk_mib, at_once) = (size(arguments.mib)?, size(arguments.chunk_mib)?, size(arguments.at_once)?);
    let settings =
        [("COLLOQUY__LIMITS__CALLS__MOST", "0"), ("COLLOQUY__HTTP__BUFFERED_BYTES", "67108864"), super::OF_ONE];
    let server = server::start(&settings).await?;
    let mut host = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Hanna Host", "hanna@colloquy.example");
    account.open(&host, server.data()).await?;
    host.token = Some(account.log_in(&host).await?.access_token);
    let project: ProjectAnswer = host.post("/api/projects", &json!({ "name": "Uploads" })).await?;
    let body = json!({ "title": "Recorded", "scheduledAt": "2026-11-21T09:00:00.000Z" });
    let meeting: MeetingAnswer = host.post(&format!("/api/projects/{}/meetings", project.id), &body).await?;
    let path = format!("/api/meetings/{}", meeting.id);
    let _: Value = host.post(&format!("{path}/start"), &json!({})).await?;
    let recorder = Recorder { host, meeting: path, piece: chunk(chunk_mib * MIB), chunks: mib / chunk_mib };
    let total = recorder.chunks * chunk_mib;

    let (disk, hash) = (beside(server.data(), chunk_mib, recorder.chunks)?, hashing(server.data(), total)?);
    println!("dd oflag=dsync, blocks of {chunk_mib} MiB: {disk:.0} MiB/s; sha256sum: {hash:.0} MiB/s");
    let slower = disk.min(hash);
    let before = resident_kib(server.process_id())?;
    for one_by_one in [1, at_once] {
        let rate = total as f64 / recorder.chunked(one_by_one).await?.as_secs_f64();
        println!(
            "{} chunks, {one_by_one} at once: {rate:.0} MiB/s, {:.2} of the slower",
            recorder.chunks,
            rate / slower
        );
    }
    let (after, peak) = (resident_kib(server.process_id())?, peak_kib(server.process_id())?);
    println!("The server's memory: {before} → {after} KiB, at most {peak} KiB");
    let rate = total as f64 / recorder.single(total).await?.as_secs_f64();
    println!("One file: {rate:.0} MiB/s, {:.2} of the slower", rate / slower);
    Ok(())
}

/// Content that begins like a WAV file, without silence.
fn chunk(bytes: usize) -> Bytes {
    let mut content = b"RIFF\x24\0\0\0WAVEfmt ".to_vec();
    let mut state = 1_u32;
    content.resize_with(bytes, || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_le_bytes()[3]
    });
    content.into()
}

struct Recorder {
    host: ApiClient,
    /// The meeting's path.
    meeting: String,
    piece: Bytes,
    chunks: usize,
}

impl Recorder {
    async fn start(&self, upload_mode: &str) -> Result<String, String> {
        let attestation = json!({"text": "A measurement."});
        let body = json!({"uploadMode": upload_mode, "mimeType": "audio/wav", "consentAttestation": attestation});
        let started: Value = self.host.post(&format!("{}/recordings/start", self.meeting), &body).await?;
        let id = started.get("id").and_then(Value::as_str).ok_or("A recording has no id.")?;
        Ok(format!("/api/recordings/{id}"))
    }

    async fn put(&self, path: &str, index: usize, body: reqwest::Body) -> Result<(), String> {
        let request = self.host.request(Method::PUT, path).timeout(PATIENCE).body(body);
        let request = request.header("x-chunk-started-ms", index).header("x-chunk-ended-ms", index + 1);
        let answer = request.send().await.map_err(|error| format!("PUT {path}: {error}"))?;
        let status = answer.status();
        if status.is_success() { Ok(()) } else { Err(format!("PUT {path}: {status}")) }
    }

    /// Uploads a recording in chunks; returns how long it took until all were acknowledged.
    async fn chunked(&self, at_once: usize) -> Result<Duration, String> {
        let path = self.start("CHUNKED").await?;
        let began = Instant::now();
        let sending = stream::iter(0..self.chunks).map(Ok::<_, String>).try_for_each_concurrent(at_once, |index| {
            let path = format!("{path}/chunks/{index}");
            async move { self.put(&path, index, self.piece.clone().into()).await }
        });
        sending.await?;
        let took = began.elapsed();
        self.delete(&path).await?;
        Ok(took)
    }

    /// Uploads as much as one file.
    async fn single(&self, mib: usize) -> Result<Duration, String> {
        let path = self.start("SINGLE_FILE").await?;
        let pieces = mib * MIB / self.piece.len();
        let piece = self.piece.clone();
        let body = stream::iter((0..pieces).map(move |_| Ok::<_, std::io::Error>(piece.clone())));
        let began = Instant::now();
        self.put(&format!("{path}/file"), 0, reqwest::Body::wrap_stream(body)).await?;
        let took = began.elapsed();
        self.delete(&path).await?;
        Ok(took)
    }

    async fn delete(&self, path: &str) -> Result<(), String> {
        let answer = self.host.request(Method::DELETE, path).timeout(PATIENCE).send().await;
        answer.map(drop).map_err(|error| format!("DELETE {path}: {error}"))
    }
}

/// Writes as much with `dd`, each block durable before the next; returns the mebibytes a second.
fn beside(folder: &Path, block_mib: usize, blocks: usize) -> Result<f64, String> {
    let file = folder.join("dd.bench");
    let mut dd = Command::new("dd");
    dd.args([format!("bs={block_mib}M"), format!("count={blocks}")]).args(["if=/dev/zero", "oflag=dsync"]);
    dd.arg(format!("of={}", file.display()));
    let took = timed(&mut dd)?;
    Ok((block_mib * blocks) as f64 / took.as_secs_f64())
}

/// Hashes what `dd` wrote; returns the mebibytes a second.
fn hashing(folder: &Path, mib: usize) -> Result<f64, String> {
    let file = folder.join("dd.bench");
    let took = timed(Command::new("sha256sum").arg(&file));
    // A failure is ignored: the temporary folder is deleted anyway.
    let _ = std::fs::remove_file(&file);
    Ok(mib as f64 / took?.as_secs_f64())
}

fn timed(command: &mut Command) -> Result<Duration, String> {
    let began = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.map_err(|error| format!("{:?} can't be run: {error}", command.get_program()))?;
    if status.success() { Ok(began.elapsed()) } else { Err(format!("{:?} failed.", command.get_program())) }
}
