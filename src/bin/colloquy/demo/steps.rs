//! The steps from documents and a recorded meeting to a dashboard, each printed when it is done.

use actors::time::{Clock, SystemClock};
use api_client::account::ClientAccount;
use api_client::answer::{DocumentAnswer, MeetingAnswer, ProjectAnswer, RunAnswer, SessionAnswer, TranscriptAnswer};
use api_client::caller::ApiClient;
use api_client::own_server::OwnServer;
use api_client::runs;
use api_client::sources::{self, SampleFile};
use chrono::{DateTime, Duration, Timelike, Utc};
use colloquy::analysis::dashboard::model::ResultsDashboard;
use serde_json::{Value, json};

use super::page::{Screen, accent, bold, counted, dim, good, grouped, plain, time, warning};
use super::progress::Progress;
use super::recorded::{DemoSpeech, RecordedMeeting};
use super::{check, dashboard, recorded, review, title};

/// The column at which texts begin beside their labels.
const COLUMN: usize = 14;

/// The server, account and project that remain when all steps are done. Dropping it ends the server.
pub struct Scene {
    pub server: OwnServer,
    pub account: ClientAccount,
    pub session: SessionAnswer,
    pub project: ProjectAnswer,
}

/// Runs all steps; those of the recorded meeting only where its speech can be recognised.
///
/// # Errors
/// Returns a message if a call fails, a run does not succeed, a document can't be read, or quotes do not match their
/// sources.
pub async fn play(
    page: &Screen,
    files: Vec<SampleFile>,
    is_of_samples: bool,
    speech: Option<DemoSpeech>,
) -> Result<Scene, String> {
    let title = format!("{} {}", bold().apply_to("Colloquy"), dim().apply_to("· from documents to requirements"));
    page.line("");
    page.line(&format!("  {title}"));
    page.line("");
    let settings = speech.as_ref().map(DemoSpeech::settings).unwrap_or_default();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let program =
        std::env::current_exe().map_err(|error| format!("The path of this program can't be determined: {error}"))?;
    let server = OwnServer::start(&program, &settings).await?;
    step(page, "Server", &format!("{}, data folder {}", server.url, server.data().display()));

    let mut caller = ApiClient::at(&server.url)?;
    let account = ClientAccount::named("Ada Analyst", "ada@colloquy.example");
    account.open(&caller, server.data()).await?;
    let session = account.log_in(&caller).await?;
    caller.token = Some(session.access_token.clone());
    step(
        page,
        "Account",
        &format!("{}: registered, confirmed with the code from the e-mail, signed in", account.email),
    );

    let about = json!({ "name": title::of(&files, is_of_samples), "description": "Created by the demo." });
    let project: ProjectAnswer = caller.post("/api/projects", &about).await?;
    step(page, "Project", &format!("{}, {}", project.name, project.id));

    // First, so that the server transcribes while the rest goes on.
    let recorded = match speech {
        Some(DemoSpeech::Model { .. }) => {
            Some(recorded::import(&caller, &project.id, &written(SystemClock.now().utc())).await?)
        }
        Some(DemoSpeech::Missing { .. }) | None => None,
    };
    let documents = upload(page, &caller, &project.id, files).await?;
    meet(page, &caller, &project.id).await?;
    let transcript = match &recorded {
        Some(meeting) => Some(listen(page, &caller, meeting).await?),
        None => None,
    };
    if let Some(DemoSpeech::Missing { install }) = &speech {
        step(page, "Recording", &format!("left out; install a speech model with: {install}"));
    }
    let run = analyse(page, &caller, &project.id, &documents, recorded.as_ref()).await?;

    let path = format!("/api/projects/{}/ai/results-dashboard?runId={}", project.id, run.id);
    let found: ResultsDashboard = caller.get(&path).await?;
    let checked = check::quotes(&caller, &project.id, &found, transcript.as_ref()).await?;
    dashboard::print(page, &found, &documents, recorded.as_ref());
    verdict(page, &checked)?;
    let unread: Vec<_> = documents.iter().filter(|document| document.status != "READY").collect();
    if !unread.is_empty() {
        let names: Vec<_> = unread.iter().map(|document| document.file_name.as_str()).collect();
        return Err(format!("Not every document could be read: {}.", names.join(", ")));
    }
    if is_of_samples {
        step(page, "Review", &review::decide_some(&caller, &project.id, &found).await?);
    }
    Ok(Scene { server, account, session, project })
}

fn step(page: &Screen, label: &str, text: &str) {
    page.labelled(label, &accent(), COLUMN, text, &plain());
}

/// Uploads all files before waiting for the first one, because the server reads them in parallel.
async fn upload(
    page: &Screen,
    caller: &ApiClient,
    project_id: &str,
    files: Vec<SampleFile>,
) -> Result<Vec<DocumentAnswer>, String> {
    let mut uploaded = Vec::new();
    for file in files {
        uploaded.push(sources::upload(caller, project_id, file).await?);
    }
    let name_width = uploaded.iter().map(|document| document.file_name.chars().count()).max().unwrap_or_default();
    let mut documents = Vec::new();
    for (index, sent) in uploaded.iter().enumerate() {
        let document = sources::read(caller, project_id, &sent.id).await?;
        let label = if index == 0 { "Documents" } else { "" };
        let name = &document.file_name;
        let text = match &document.error_message {
            Some(why) => format!("{name}: {why}"),
            None => format!("{name:name_width$}  {}", size_of(&document)),
        };
        // Not wrapped: wrapping collapses spaces, which would break the columns.
        if document.error_message.is_none() && COLUMN + text.chars().count() <= page.width {
            let gap = COLUMN - 2 - label.len();
            page.line(&format!("  {}{:gap$}{text}", accent().apply_to(label), ""));
        } else {
            let style = if document.error_message.is_some() { warning() } else { plain() };
            page.labelled(label, &accent(), COLUMN, &text, &style);
        }
        documents.push(document);
    }
    if documents.iter().all(|document| document.status != "READY") {
        return Err("None of the documents could be read.".to_owned());
    }
    Ok(documents)
}

fn size_of(document: &DocumentAnswer) -> String {
    let number = |count: Option<u64>| usize::try_from(count.unwrap_or_default()).unwrap_or(usize::MAX);
    let characters = format!("{:>7} characters", grouped(number(document.character_count)));
    match document.page_count {
        Some(_) => format!("{characters}, {}", counted(number(document.page_count), "page", "pages")),
        None => characters,
    }
}

/// Schedules a meeting in two days, then moves it by a day.
async fn meet(page: &Screen, caller: &ApiClient, project_id: &str) -> Result<(), String> {
    let day = SystemClock.now().utc() + Duration::days(2);
    let at = day.with_minute(0).and_then(|at| at.with_second(0)).and_then(|at| at.with_nanosecond(0)).unwrap_or(day);
    let body = json!({ "title": "Lantern: discovery", "scheduledAt": written(at) });
    let made: MeetingAnswer = caller.post(&format!("/api/projects/{project_id}/meetings"), &body).await?;
    let body = json!({ "title": "Lantern: requirements review", "scheduledAt": written(at + Duration::days(1)) });
    let version = made.version.unwrap_or(1);
    let changed: MeetingAnswer = caller.patch(&format!("/api/meetings/{}", made.id), version, &body).await?;
    let time = |meeting: &MeetingAnswer| meeting.scheduled_at.format("%-d %B, %H:%M UTC").to_string();
    let text =
        format!("“{}” on {}; changed by PATCH to “{}” on {}", made.title, time(&made), changed.title, time(&changed));
    step(page, "Meeting", &text);
    Ok(())
}

fn written(at: DateTime<Utc>) -> Value {
    Value::from(at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
}

/// Waits for the transcript of the recorded meeting and prints it.
async fn listen(page: &Screen, caller: &ApiClient, meeting: &RecordedMeeting) -> Result<TranscriptAnswer, String> {
    let transcript = recorded::transcript(caller, meeting).await?;
    let end = transcript.segments.last().map_or(0, |segment| segment.end_ms);
    let text = format!("“{}”, {} s of speech, transcribed by {}:", meeting.title, end / 1000, transcript.model);
    step(page, "Recording", &text);
    for segment in &transcript.segments {
        let label = format!("{:12}{}", "", time(segment.start_ms));
        page.labelled(&label, &dim(), COLUMN + 7, &format!("{}: {}", segment.speaker.name, segment.text), &dim());
    }
    Ok(transcript)
}

/// Starts a run over the documents, and over the recorded meeting where there is one, and follows it to its end.
async fn analyse(
    page: &Screen,
    caller: &ApiClient,
    project_id: &str,
    documents: &[DocumentAnswer],
    recorded: Option<&RecordedMeeting>,
) -> Result<RunAnswer, String> {
    let body = recorded.map_or_else(
        || json!({}),
        |meeting| {
            let ready = documents.iter().filter(|document| document.status == "READY");
            let ready: Vec<&str> = ready.map(|document| document.id.as_str()).collect();
            json!({ "documentIds": ready, "meetingId": meeting.meeting_id })
        },
    );
    let run: RunAnswer = caller.post(&format!("/api/projects/{project_id}/ai/runs"), &body).await?;
    step(page, "Analysis", &format!("run {}, followed over its event stream", run.id));
    page.line("");
    let mut progress = Progress::begin(page);
    let ended = runs::follow(caller, &run, |run| progress.show(run)).await;
    progress.end();
    let run = ended?;
    for warned in &run.warnings {
        page.text(2, &format!("Warning: {}", warned.message), &warning());
    }
    if run.has_results() {
        return Ok(run);
    }
    let why = run.error_message.as_deref().unwrap_or(&run.message);
    Err(format!("The run ended with the status {}: {why}", run.status))
}

fn verdict(page: &Screen, checked: &check::Checked) -> Result<(), String> {
    page.heading("Proof", "");
    let quotes = counted(checked.quotes, "quote", "quotes");
    let items = counted(checked.items, "item", "items");
    if checked.faults.is_empty() {
        let text = format!(
            "All {quotes} of {items} verified: each occurs verbatim at its offsets, on its page, in the document text \
             that the API returns, or at its time in the transcript."
        );
        page.labelled("✓", &good(), 4, &text, &plain());
        return Ok(());
    }
    let mut fault = format!("{} of {quotes} of {items} could not be verified:", checked.faults.len());
    for one in &checked.faults {
        fault.push_str("\n  ");
        fault.push_str(one);
    }
    Err(fault)
}
