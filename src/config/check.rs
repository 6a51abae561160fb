//! Checks of settings beyond their types.

use std::net::IpAddr;

use url::Url;

use crate::models;

use super::{Config, Hidden, Livekit, Llm, Pipeline, S3, Speech, Trackers};

/// Returns a message for every invalid setting.
pub fn faults(config: &Config) -> Vec<String> {
    let mut faults = Vec::new();
    let mut need = |holds: bool, fault: &str| {
        if !holds {
            faults.push(fault.to_owned());
        }
    };
    let url = config.database.url.as_str();
    let known = ["sqlite://", "postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
    need(url.is_empty() || known, "database.url: this must begin with sqlite://, postgres:// or postgresql://");
    need((1..=1000).contains(&config.database.connections), "database.connections: this must be 1 to 1000");
    need(config.database.queue >= 1, "database.queue: this must be at least 1");
    need(config.server.workers <= 1024, "server.workers: this must be at most 1024");
    let http = &config.http;
    need(http.connections >= 16, "http.connections: this must be at least 16");
    need((1..=300).contains(&http.head_seconds), "http.head_seconds: this must be 1 to 300");
    need((1..=300).contains(&http.grace_seconds), "http.grace_seconds: this must be 1 to 300");
    need(http.least_bytes_per_second >= 1, "http.least_bytes_per_second: this must be at least 1");
    // One client may use a quarter of the buffer, into which the largest JSON body has to fit.
    need(http.buffered_bytes >= 4 * 1024 * 1024, "http.buffered_bytes: this must be at least 4194304");
    let app = config.app.url.as_str();
    let is_web = url::Url::parse(app).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    need(app.is_empty() || is_web, "app.url: this must be an http or https address");
    let registration = config.accounts.registration.as_str();
    need(
        ["", "OPEN", "BY_INVITATION", "CLOSED"].contains(&registration),
        "accounts.registration: this must be OPEN, BY_INVITATION, CLOSED or empty",
    );
    need(config.accounts.access_token_seconds >= 1, "accounts.access_token_seconds: this must be at least 1");
    need(
        config.accounts.refresh_token_seconds > config.accounts.access_token_seconds,
        "accounts.refresh_token_seconds: this must be more than accounts.access_token_seconds",
    );
    need((1..=100).contains(&config.accounts.code_tries), "accounts.code_tries: this must be 1 to 100");
    need(config.accounts.code_seconds >= 1, "accounts.code_seconds: this must be at least 1");
    need(config.accounts.reset_token_seconds >= 1, "accounts.reset_token_seconds: this must be at least 1");
    need(config.accounts.argon2_memory_kib >= 8, "accounts.argon2_memory_kib: this must be at least 8");
    need(config.accounts.argon2_passes >= 1, "accounts.argon2_passes: this must be at least 1");
    need(config.accounts.argon2_parallel >= 1, "accounts.argon2_parallel: this must be at least 1");
    need(config.limits.documents_per_run >= 1, "limits.documents_per_run: this must be at least 1");
    need(config.limits.unread_documents >= 1, "limits.unread_documents: this must be at least 1");
    need(config.limits.unfinished_runs >= 1, "limits.unfinished_runs: this must be at least 1");
    need(config.limits.feedback_per_author >= 1, "limits.feedback_per_author: this must be at least 1");
    need(config.limits.document_bytes >= 1, "limits.document_bytes: this must be at least 1");
    need(config.limits.transcript_bytes >= 1, "limits.transcript_bytes: this must be at least 1");
    let storage = &config.storage;
    need(
        storage.live_reserve_mib <= storage.reserve_mib,
        "storage.live_reserve_mib: this must be at most storage.reserve_mib",
    );
    let mail = &config.mail;
    need(
        mail.from.parse::<lettre::message::Mailbox>().is_ok(),
        "mail.from: this must be an address, such as Name <a@b.example>",
    );
    need(mail.port >= 1, "mail.port: this must be 1 to 65535");
    need(
        ["STARTTLS", "TLS", "NONE"].contains(&mail.security.as_str()),
        "mail.security: this must be STARTTLS, TLS or NONE",
    );
    need(mail.timeout_seconds >= 1, "mail.timeout_seconds: this must be at least 1");
    need(mail.user.is_empty() == mail.password.reveal().is_empty(), "mail.user and mail.password: set both or neither");
    let is_here = mail.host == "localhost" || mail.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    need(
        mail.host.is_empty() || mail.user.is_empty() || mail.security != "NONE" || is_here,
        "mail.security: with NONE, the password would be sent unencrypted",
    );
    need(config.limits.avatar_bytes >= 1, "limits.avatar_bytes: this must be at least 1");
    need(config.analysis.readers >= 1, "analysis.readers: this must be at least 1");
    // What is parsed as a whole has to fit: see `analysis::large_reads::memory`.
    need(config.analysis.reads_memory_mib >= 256, "analysis.reads_memory_mib: this must be at least 256");
    need(config.analysis.run_memory_mib >= 64, "analysis.run_memory_mib: this must be at least 64");
    need(config.analysis.run_seconds >= 1, "analysis.run_seconds: this must be at least 1");
    let exports = &config.exports;
    need((1..=3600).contains(&exports.printer_seconds), "exports.printer_seconds: this must be between 1 and 3600");
    need(exports.printer_memory_mib >= 128, "exports.printer_memory_mib: this must be at least 128");
    need(config.meetings.people >= 1, "meetings.people: this must be at least 1");
    need(config.meetings.connect_seconds >= 1, "meetings.connect_seconds: this must be at least 1");
    need(config.recordings.per_meeting >= 1, "recordings.per_meeting: this must be at least 1");
    need(config.recordings.chunk_bytes >= 1, "recordings.chunk_bytes: this must be at least 1");
    need(
        config.recordings.bytes >= config.recordings.chunk_bytes,
        "recordings.bytes: this must be at least recordings.chunk_bytes",
    );
    need(config.sockets.window_frames >= 1, "sockets.window_frames: this must be at least 1");
    let formats = ["auto", "text", "json"];
    need(formats.contains(&config.log.format.as_str()), "log.format: this must be auto, text or json");
    let filter = tracing_subscriber::EnvFilter::builder().parse(&config.log.filter);
    need(filter.is_ok(), "log.filter: this can't be read (an example: info,colloquy=debug)");
    for (name, class) in config.limits.classes() {
        need((1..=86_400).contains(&class.seconds), &format!("limits.{name}.seconds: this must be 1 to 86400"));
        need(class.most <= 1_000_000, &format!("limits.{name}.most: this must be at most 1000000"));
    }
    let google = &config.google;
    let is_web = |url: &str| url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let is_on = !google.client_id.is_empty();
    need(!is_on || is_web(&google.discovery_url), "google.discovery_url: this must be an http or https address");
    need(!is_on || !google.issuer.is_empty(), "google.issuer: this must be the issuer named in ID tokens");
    need(
        google.redirect_url.is_empty() || is_web(&google.redirect_url),
        "google.redirect_url: this must be an http or https address",
    );
    faults.extend(of_livekit(&config.livekit));
    faults.extend(of_s3(&config.s3));
    faults.extend(of_speech(&config.speech));
    faults.extend(of_llm(&config.llm, &config.analysis.engine));
    faults.extend(of_pipeline(&config.pipeline));
    faults.extend(of_trackers(config));
    faults
}

fn of_trackers(config: &Config) -> Vec<String> {
    let web = ["http", "https"];
    let Trackers { origins, settle_seconds, poll_seconds } = &config.trackers;
    let is_origin = |text: &String| {
        let parsed = Url::parse(text);
        parsed.is_ok_and(|url| is_address(text, &web) && url.path() == "/" && !text.ends_with('/'))
    };
    let are_both = |id: &str, secret: &Hidden| id.is_empty() == secret.reveal().is_empty();
    let (jira, github) = (&config.jira, &config.github);
    let redirects = |url: &str| url.is_empty() || is_address(url, &web);
    let rules = [
        (origins.iter().all(is_origin), "trackers.origins: these must be origins such as https://jira.example.org"),
        ((1..=3600).contains(settle_seconds), "trackers.settle_seconds: this must be 1 to 3600"),
        ((1..=86_400).contains(poll_seconds), "trackers.poll_seconds: this must be 1 to 86400"),
        (are_both(&jira.client_id, &jira.client_secret), "jira.client_id and jira.client_secret: set both or neither"),
        (redirects(&jira.redirect_url), "jira.redirect_url: this must be an http or https address"),
        (is_address(&jira.auth_url, &web), "jira.auth_url: this must be an address such as https://auth.atlassian.com"),
        (is_address(&jira.api_url, &web), "jira.api_url: this must be an address such as https://api.atlassian.com"),
        (
            are_both(&github.client_id, &github.client_secret),
            "github.client_id and github.client_secret: set both or neither",
        ),
        (redirects(&github.redirect_url), "github.redirect_url: this must be an http or https address"),
        (is_address(&github.web_url, &web), "github.web_url: this must be an address such as https://github.com"),
        (is_address(&github.api_url, &web), "github.api_url: this must be an address such as https://api.github.com"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.to_owned()).collect()
}

fn of_speech(speech: &Speech) -> Vec<String> {
    let Speech {
        models: _,
        model,
        engine,
        memory_mib,
        service_url,
        service_key: _,
        service_model,
        service_seconds,
        longest_seconds,
    } = speech;
    let is_http = engine == "http";
    let has_service = Url::parse(service_url).is_ok_and(|url| ["http", "https"].contains(&url.scheme()));
    let rules = [
        (models::is_name(model), "speech.model: this must be the name of a model, such as whisper-tiny.en"),
        (["embedded", "http", "none"].contains(&engine.as_str()), "speech.engine: this must be embedded, http or none"),
        // The smallest model alone takes about as much as this.
        (*memory_mib >= 128, "speech.memory_mib: this must be at least 128"),
        (!is_http || has_service, "speech.service_url: this must be the http or https address of the speech service"),
        (!is_http || !service_model.is_empty(), "speech.service_model: name the model of the speech service"),
        ((1..=3600).contains(service_seconds), "speech.service_seconds: this must be between 1 and 3600"),
        ((60..=86_400).contains(longest_seconds), "speech.longest_seconds: this must be between 60 and 86400"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.to_owned()).collect()
}

fn of_llm(llm: &Llm, engine: &str) -> Vec<String> {
    let Llm {
        url,
        key: _,
        model,
        projects,
        runs,
        calls_at_once,
        call_seconds,
        run_seconds,
        run_tokens,
        chunk_characters,
        answer_tokens,
    } = llm;
    let is_id = |id: &str| uuid::Uuid::parse_str(id.trim()).is_ok();
    let are_projects = ["none", "all"].contains(&projects.as_str()) || projects.split(',').all(is_id);
    let is_engine = ["embedded", "llm", "fallback"].contains(&engine);
    let rules = [
        (is_engine, "analysis.engine: this must be embedded, llm or fallback"),
        (
            !is_engine || engine == "embedded" || llm.is_set(),
            "analysis.engine: the engines llm and fallback need a language model; set llm.url",
        ),
        (
            url.is_empty() || is_address(url, &["http", "https"]),
            "llm.url: this must be the base of an interface such as http://127.0.0.1:11434/v1",
        ),
        (url.is_empty() || !model.is_empty(), "llm.model: name the language model"),
        (are_projects, "llm.projects: this must be none, all, or ids of projects with commas between them"),
        ((1..=64).contains(runs), "llm.runs: this must be between 1 and 64"),
        ((1..=64).contains(calls_at_once), "llm.calls_at_once: this must be between 1 and 64"),
        ((1..=3600).contains(call_seconds), "llm.call_seconds: this must be between 1 and 3600"),
        ((1..=86_400).contains(run_seconds), "llm.run_seconds: this must be between 1 and 86400"),
        (*run_tokens >= 1, "llm.run_tokens: this must be at least 1"),
        ((500..=32_000).contains(chunk_characters), "llm.chunk_characters: this must be between 500 and 32000"),
        ((64..=100_000).contains(answer_tokens), "llm.answer_tokens: this must be between 64 and 100000"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.to_owned()).collect()
}

fn of_pipeline(pipeline: &Pipeline) -> Vec<String> {
    let Pipeline { mode, url, key, timeout_seconds, transfer_seconds, parallel, listen: _, .. } = pipeline;
    let Pipeline { queue, kept, keep_seconds, job_bytes, store_bytes, .. } = pipeline;
    let is_remote = mode == "remote";
    let key = key.reveal();
    let is_key = key.len() >= SECRET_CHARACTERS && key.bytes().all(|sign| sign.is_ascii_graphic());
    let rules = [
        (["embedded", "remote"].contains(&mode.as_str()), "pipeline.mode: this must be embedded or remote"),
        (
            is_address(url, &["http", "https"]) || (url.is_empty() && !is_remote),
            "pipeline.url: this must be the address of the pipeline service, such as http://pipeline:9465",
        ),
        (is_key || (key.is_empty() && !is_remote), "pipeline.key: this must have at least 32 visible ASCII characters"),
        ((1..=3600).contains(timeout_seconds), "pipeline.timeout_seconds: this must be 1 to 3600"),
        ((1..=3600).contains(transfer_seconds), "pipeline.transfer_seconds: this must be 1 to 3600"),
        ((1..=1000).contains(parallel), "pipeline.parallel: this must be 1 to 1000"),
        ((1..=100_000).contains(queue), "pipeline.queue: this must be 1 to 100000"),
        ((1..=100_000).contains(kept), "pipeline.kept: this must be 1 to 100000"),
        (*keep_seconds >= 1, "pipeline.keep_seconds: this must be at least 1"),
        (*job_bytes >= 1, "pipeline.job_bytes: this must be at least 1"),
        (store_bytes >= job_bytes, "pipeline.store_bytes: this must be at least pipeline.job_bytes"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.to_owned()).collect()
}

fn of_s3(s3: &S3) -> Vec<String> {
    let S3 { bucket, endpoint, region, access_key, secret_key, timeout_seconds } = s3;
    let given = [!bucket.is_empty(), !access_key.is_empty(), !secret_key.reveal().is_empty()];
    let rules = [
        (
            given.iter().all(|given| *given) || !given.contains(&true),
            "s3.bucket, s3.access_key and s3.secret_key: set all of them or none",
        ),
        (
            endpoint.is_empty() || is_address(endpoint, &["http", "https"]),
            "s3.endpoint: this must be an address such as https://storage.example.org",
        ),
        (!region.is_empty(), "s3.region: this must not be empty"),
        (*timeout_seconds >= 1, "s3.timeout_seconds: this must be at least 1"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.to_owned()).collect()
}

/// Whether the text is an address of one of the schemes, without a user, a query or a fragment.
fn is_address(url: &str, schemes: &[&str]) -> bool {
    url::Url::parse(url).is_ok_and(|url| {
        let is_plain = url.username().is_empty() && url.password().is_none();
        schemes.contains(&url.scheme())
            && url.has_host()
            && is_plain
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

/// The minimum length of an API secret; LiveKit requires it.
const SECRET_CHARACTERS: usize = 32;

fn of_livekit(livekit: &Livekit) -> Vec<String> {
    let Livekit { url, api_url, api_key, api_secret, timeout_seconds, look_seconds } = livekit;
    let given = [!url.is_empty(), !api_key.is_empty(), !api_secret.reveal().is_empty()];
    let secret = api_secret.reveal();
    let rules = [
        (
            given.iter().all(|given| *given) || !given.contains(&true),
            "livekit.url, livekit.api_key and livekit.api_secret: set all of them or none",
        ),
        (
            url.is_empty() || is_address(url, &["ws", "wss", "http", "https"]),
            "livekit.url: this must be an address such as wss://media.example.org",
        ),
        (
            api_url.is_empty() || is_address(api_url, &["http", "https"]),
            "livekit.api_url: this must be an address such as http://livekit:7880",
        ),
        (
            secret.is_empty() || secret.chars().count() >= SECRET_CHARACTERS,
            "livekit.api_secret: this must have at least 32 characters",
        ),
        (*timeout_seconds >= 1, "livekit.timeout_seconds: this must be at least 1"),
        (*look_seconds >= 1, "livekit.look_seconds: this must be at least 1"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.to_owned()).collect()
}
