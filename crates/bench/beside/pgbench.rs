//! pgbench: what PostgreSQL does at most with the two statements of a PATCH, each pair in a transaction.

use std::process::Output;
use std::time::Duration;

use tokio::process::Command;

/// How many rows there are to change: one for each client.
const ROWS: usize = 64;

/// The statements are those of a meeting that is changed: its row, and the event that says so.
const SCRIPT: &str = "\\set row :client_id + 1
\\set position random(1, 9000000000000000)
BEGIN;
UPDATE bench_meetings SET title = 'Change ' || :position, revision = revision + 1, updated_at = now() WHERE id = :row;
INSERT INTO bench_events (topic, position, kind, data, at, request_id)
VALUES ('meeting:' || :row, :position, 'meeting.updated', repeat('d', 400), now(), 'bench');
COMMIT;
";

/// Tables that are like those of the server in what is written.
const TABLES: &str = "DROP TABLE IF EXISTS bench_meetings, bench_events;
CREATE TABLE bench_meetings (id int PRIMARY KEY, title text NOT NULL, description text NOT NULL, revision bigint NOT NULL,
updated_at timestamptz NOT NULL);
INSERT INTO bench_meetings SELECT n, 'A meeting', repeat('d', 300), 0, now() FROM generate_series(1, 64) n;
CREATE TABLE bench_events (topic text, position bigint, kind text NOT NULL, data text NOT NULL, at timestamptz NOT NULL,
request_id text NOT NULL, PRIMARY KEY (topic, position));";

/// A database that pgbench works on.
pub struct PgBench {
    url: String,
    script: tempfile::NamedTempFile,
}

impl PgBench {
    /// Creates the tables, which stay. Needs the programs `psql` and `pgbench`.
    ///
    /// # Errors
    /// Returns a message if a program is missing or the database refuses.
    pub async fn prepare(url: &str) -> Result<Self, String> {
        let script = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        std::fs::write(script.path(), SCRIPT).map_err(|error| error.to_string())?;
        ran(Command::new("psql").args([url, "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", "-c", TABLES])).await?;
        Ok(Self { url: url.to_owned(), script })
    }

    /// Returns how many transactions a second that many clients get done, one row each.
    ///
    /// # Errors
    /// Returns a message if pgbench fails.
    pub async fn measure(&self, clients: usize, time: Duration) -> Result<f64, String> {
        let count = clients.min(ROWS);
        let mut pgbench = Command::new("pgbench");
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--file"]).arg(self.script.path());
        pgbench.args(["--client", &count.to_string(), "--jobs", &count.min(2).to_string()]);
        pgbench.args(["--time", &time.as_secs().to_string()]).arg(&self.url);
        let output = ran(&mut pgbench).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        transactions_per_second(&text).ok_or_else(|| format!("pgbench printed no rate: {text}"))
    }
}

async fn ran(command: &mut Command) -> Result<Output, String> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let output = command.output().await.map_err(|error| format!("{program} can't be run: {error}"))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// Finds the rate in what pgbench prints.
fn transactions_per_second(printed: &str) -> Option<f64> {
    printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::transactions_per_second;

    #[test]
    fn the_rate_is_found_in_what_pgbench_prints() {
        let printed = "latency average = 0.4 ms\ninitial connection time = 3.1 ms\n\
                       tps = 2304.518 (without initial connection time)\n";
        assert_eq!(transactions_per_second(printed), Some(2304.518));
        assert_eq!(transactions_per_second("pgbench: error"), None);
    }
}
