//! `bench dashboard`: how long the dashboard of a large project takes, cold and warm.
//!
//! A text with so many demands is analysed. What is beyond the items that a run keeps comes as ReqIF, whose proposals are accepted
//! one by one. Then the server is killed and started again, so that the first dashboard is read by a server that has read nothing
//! before. Times are those of one client on the same machine, from the request to the last byte.

use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use api_client::account::ClientAccount;
use api_client::answer::{ProjectAnswer, RunAnswer};
use api_client::caller::ApiClient;
use api_client::runs;
use api_client::sources::{self, SampleFile};
use colloquy::analysis::dashboard::model::ResultsDashboard;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{people, server};

/// The fixed issuer keeps tokens valid after the restart, on whatever port the server listens.
const SETTINGS: [(&str, &str); 3] =
    [("COLLOQUY__LIMITS__CALLS__MOST", "0"), ("COLLOQUY__LOG__FILTER", "warn"), people::ISSUER];
/// Items that are approved in one call.
const APPROVED: usize = 200;
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Of each measurement; the fastest and the slowest are printed.
const TIMES: usize = 5;

#[derive(clap::Args)]
pub struct DashboardBench {
    /// Number of requirements on the dashboard.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    requirements: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImportAnswer {
    id: String,
    status: String,
    error_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProposalsAnswer {
    items: Vec<ProposalAnswer>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct ProposalAnswer {
    id: String,
}

/// Runs the measurement and prints its results.
///
/// # Errors
/// Returns a message if the server doesn't start, the analysis does not succeed, or an answer is unexpected.
pub async fn measure(arguments: &DashboardBench) -> Result<(), String> {
    let mut server = server::start(&SETTINGS).await?;
    let mut caller = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Dora Dash", "dora@colloquy.example");
    account.open(&caller, server.data()).await?;
    caller.token = Some(account.log_in(&caller).await?.access_token);
    let project: ProjectAnswer = caller.post("/api/projects", &json!({ "name": "Dashboard" })).await?;
    let text = SampleFile { name: "demands.md".to_owned(), content: demands(arguments.requirements).into_bytes() };
    let document = sources::upload(&caller, &project.id, text).await?;
    sources::read(&caller, &project.id, &document.id).await?;
    let began = Instant::now();
    let run: RunAnswer = caller.post(&format!("/api/projects/{}/ai/runs", project.id), &json!({})).await?;
    let run = runs::follow(&caller, &run, |_| ()).await?;
    if !run.has_results() {
        return Err(format!("The run ended with the status {}.", run.status));
    }
    let analysed = began.elapsed();
    let path = format!("/api/projects/{}/ai/results-dashboard", project.id);
    let found: ResultsDashboard = caller.get(&path).await?;
    let (from, to) = (u64::try_from(found.requirements.len()).unwrap_or(u64::MAX), arguments.requirements);
    println!("an analysis of {to} demands kept {from} and took {:.1} s", analysed.as_secs_f64());
    if from < to {
        import(&caller, &project.id, from..to).await?;
    }

    server.crash_and_start(&SETTINGS).await?;
    caller.url.clone_from(&server.url);
    let (cold, bytes) = timed(&caller, &path).await?;
    let found: ResultsDashboard = caller.get(&path).await?;
    println!("a dashboard of {} requirements, {:.1} MB", found.requirements.len(), mega(bytes));
    println!("  cold, right after a restart     {:>6.0} ms", millis(cold));
    repeated("as it was stored", &caller, &path).await?;

    let some: Vec<Value> = found
        .requirements
        .iter()
        .take(APPROVED)
        .map(|one| json!({ "targetType": "REQUIREMENT", "id": one.id }))
        .collect();
    let decision = json!({ "items": some, "workflowStatus": "APPROVED" });
    let _: Value = caller.post(&format!("/api/projects/{}/items/status", project.id), &decision).await?;
    let (first, _) = timed(&caller, &path).await?;
    println!("  first after {APPROVED} approvals       {:>6.0} ms", millis(first));
    repeated("after the approvals", &caller, &path).await?;
    repeated("filtered by status", &caller, &format!("{path}?status=APPROVED")).await?;
    repeated("filtered by a word", &caller, &format!("{path}?search=ward%2017")).await
}

/// Adds requirements by an import, all of whose proposals are accepted.
async fn import(caller: &ApiClient, project_id: &str, numbers: Range<u64>) -> Result<(), String> {
    let count = numbers.end - numbers.start;
    let began = Instant::now();
    let file = reqif(numbers).into_bytes();
    let imports = format!("/api/projects/{project_id}/imports");
    let mut import: ImportAnswer = caller.upload(&imports, "demands.reqif", file).await?;
    let id = import.id.clone();
    while import.status == "READING" {
        tokio::time::sleep(CHECK_INTERVAL).await;
        import = caller.get(&format!("{imports}/{id}")).await?;
    }
    if import.status != "READY" {
        return Err(format!("The import is {}: {}", import.status, import.error_message.unwrap_or_default()));
    }
    println!("an import of {count} requirements took {:.1} s", began.elapsed().as_secs_f64());

    let (proposals, mut cursor) = (format!("/api/projects/{project_id}/proposals"), String::new());
    let mut ids: Vec<String> = Vec::new();
    loop {
        let page: ProposalsAnswer = caller.get(&format!("{proposals}?limit=100&importId={id}{cursor}")).await?;
        ids.extend(page.items.into_iter().map(|one| one.id));
        let Some(next) = page.next_cursor else { break };
        cursor = format!("&cursor={next}");
    }
    let began = Instant::now();
    for id in &ids {
        let _: Value = caller.post(&format!("{proposals}/{id}/accept"), &json!({})).await?;
    }
    println!("{} proposals were accepted one by one in {:.1} s", ids.len(), began.elapsed().as_secs_f64());
    Ok(())
}

/// Returns how long an answer takes, and its size.
async fn timed(caller: &ApiClient, path: &str) -> Result<(Duration, usize), String> {
    let began = Instant::now();
    let answer = caller.request(Method::GET, path).send().await.map_err(|error| error.to_string())?;
    if !answer.status().is_success() {
        return Err(format!("{path} was refused with {}.", answer.status().as_u16()));
    }
    let bytes = answer.bytes().await.map_err(|error| error.to_string())?;
    Ok((began.elapsed(), bytes.len()))
}

async fn repeated(what: &str, caller: &ApiClient, path: &str) -> Result<(), String> {
    let mut times = Vec::with_capacity(TIMES);
    let mut size = 0;
    for _ in 0..TIMES {
        let (time, bytes) = timed(caller, path).await?;
        times.push(time);
        size = bytes;
    }
    times.sort_unstable();
    let (Some(fastest), Some(slowest)) = (times.first(), times.last()) else { return Ok(()) };
    println!("  {what:<31} {:>6.0} to {:.0} ms, {:.1} MB", millis(*fastest), millis(*slowest), mega(size));
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "megabytes, to one digit")]
fn mega(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// A text with so many demands, each of which is another one.
fn demands(count: u64) -> String {
    let mut text = String::from("# Demands\n\n");
    for number in 0..count {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}\n", demand(number));
    }
    text
}

fn demand(number: u64) -> String {
    format!(
        "The booking desk number {number} must be able to print the list of ward {} within {} seconds.",
        number * 7 % 613,
        number % 50 + 1
    )
}

/// ReqIF with the demands of these numbers.
fn reqif(numbers: Range<u64>) -> String {
    let mut text = String::from(
        "<REQ-IF xmlns=\"http://www.omg.org/spec/ReqIF/20110401/reqif.xsd\"><CORE-CONTENT><REQ-IF-CONTENT><SPEC-TYPES>\
         <SPEC-OBJECT-TYPE IDENTIFIER=\"t\" LONG-NAME=\"Requirement\"><SPEC-ATTRIBUTES>\
         <ATTRIBUTE-DEFINITION-STRING IDENTIFIER=\"a\" LONG-NAME=\"ReqIF.Text\"/>\
         </SPEC-ATTRIBUTES></SPEC-OBJECT-TYPE></SPEC-TYPES><SPEC-OBJECTS>",
    );
    for number in numbers {
        // As above.
        let _ = write!(
            text,
            "<SPEC-OBJECT IDENTIFIER=\"o{number}\"><TYPE><SPEC-OBJECT-TYPE-REF>t</SPEC-OBJECT-TYPE-REF></TYPE><VALUES>\
             <ATTRIBUTE-VALUE-STRING THE-VALUE=\"{}\"><DEFINITION>\
             <ATTRIBUTE-DEFINITION-STRING-REF>a</ATTRIBUTE-DEFINITION-STRING-REF>\
             </DEFINITION></ATTRIBUTE-VALUE-STRING></VALUES></SPEC-OBJECT>",
            demand(number)
        );
    }
    text.push_str("</SPEC-OBJECTS></REQ-IF-CONTENT></CORE-CONTENT></REQ-IF>");
    text
}
