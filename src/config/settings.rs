//! The settings as types; config/default.toml documents what each means.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use actors::meeting::RecordingLimits;
use serde::Deserialize;

/// A secret string; its `Debug` output does not show it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Hidden(String);

impl Hidden {
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

macro_rules! sections {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Deserialize)]
        pub struct $name { $(pub $field: $kind),* }
    )*};
}

sections! {
    Config {
        server: Server, internal: Internal, app: Application, database: Database, http: Http, limits: Limits,
        quotas: Quotas, storage: Storage, accounts: Accounts, google: Google, mail: Mail, livekit: Livekit, s3: S3,
        analysis: Analysis, exports: Exports, meetings: Meetings, recordings: Recordings, speech: Speech, llm: Llm,
        pipeline: Pipeline, trackers: Trackers, jira: Jira, github: Github, sockets: Sockets, log: Log,
    }
    Server { listen: SocketAddr, data: PathBuf, workers: usize, drain_seconds: u64 }
    Internal { listen: SocketAddr }
    Application { url: String }
    Database { url: String, connections: usize, queue: usize }
    Http {
        trusted_proxies: Vec<IpAddr>, origins: Vec<String>, connections: usize, connections_per_client: usize,
        head_seconds: u64, grace_seconds: u64, least_bytes_per_second: u64, buffered_bytes: usize,
    }
    Limits {
        calls: Class, costly_calls: Class, logins: Class, login_failures: Class, login_failures_of_client: Class,
        code_failures: Class, token_failures_of_client: Class, code_pause: Class, code_mails: Class, code_mails_of_client: Class,
        invitation_mails: Class, invitation_mails_of_address: Class, avatar_bytes: usize, document_bytes: usize, transcript_bytes: usize,
        documents_per_run: usize, unread_documents: usize, unfinished_runs: usize,
        feedback_mails_of_address: Class, feedback_per_author: i64,
    }
    /// 0 is without a limit.
    Quotas {
        account_bytes: u64, project_bytes: u64, installation_bytes: u64, live_grace_bytes: u64, account_projects: u64,
        project_documents: u64, project_meetings: u64, project_members: u64, project_invitations: u64,
        project_runs: u64, project_feedback: u64, meeting_invitations: u64,
    }
    Storage { reserve_mib: u64, live_reserve_mib: u64 }
    Exports { printer: PathBuf, printer_seconds: u64, printer_memory_mib: u64 }
    Accounts {
        access_token_seconds: u64, refresh_token_seconds: u64, code_seconds: u64, code_tries: i64,
        reset_token_seconds: u64,
        recent_login_seconds: u64, registration: String,
        argon2_memory_kib: u32, argon2_passes: u32, argon2_parallel: usize, argon2_queue: usize,
    }
    Mail {
        host: String, port: u16, security: String, user: String, password: Hidden, from: String, timeout_seconds: u64,
        ca_file: PathBuf,
    }
    S3 {
        bucket: String, endpoint: String, region: String, access_key: String, secret_key: Hidden, timeout_seconds: u64,
    }
    Livekit {
        url: String, api_url: String, api_key: String, api_secret: Hidden, timeout_seconds: u64, look_seconds: u64,
    }
    Google {
        client_id: String, client_secret: Hidden, discovery_url: String, issuer: String, issuer_alias: String,
        redirect_url: String,
    }
    Analysis {
        engine: String, workers: usize, run_memory_mib: u64, run_seconds: u64, readers: usize,
        reads_memory_mib: usize, idle_seconds: u64,
    }
    Meetings {
        people: usize, connect_seconds: u64, grace_seconds: u64, steady_seconds: u64, empty_seconds: u64, live_seconds: u64,
        wordings: PathBuf,
    }
    Recordings {
        per_meeting: usize, bytes: u64, chunk_bytes: u64, longest_seconds: u64, quiet_seconds: u64, late_seconds: u64,
        repair_seconds: u64, abandoned_seconds: u64, keep_audio_seconds: u64,
        delete_audio_once_transcribed: bool, keep_transcript_seconds: u64,
    }
    Speech {
        models: PathBuf, model: String, engine: String, memory_mib: u64, service_url: String, service_key: Hidden,
        service_model: String, service_seconds: u64, longest_seconds: u64,
    }
    Llm {
        url: String, key: Hidden, model: String, projects: String, runs: usize, calls_at_once: usize, call_seconds: u64,
        run_seconds: u64, run_tokens: u64, chunk_characters: usize, answer_tokens: u32,
    }
    Pipeline {
        mode: String, url: String, key: Hidden, timeout_seconds: u64, transfer_seconds: u64, parallel: usize,
        listen: SocketAddr, queue: usize, kept: usize, keep_seconds: u64, job_bytes: u64, store_bytes: u64,
    }
    Trackers { origins: Vec<String>, settle_seconds: u64, poll_seconds: u64 }
    Jira { client_id: String, client_secret: Hidden, redirect_url: String, auth_url: String, api_url: String }
    Github { client_id: String, client_secret: Hidden, redirect_url: String, web_url: String, api_url: String }
    Sockets { ticket_seconds: u64, per_account: usize, window_frames: usize, window_bytes: usize }
    Log { filter: String, format: String, access: bool }
}

/// A rate limit: at most `most` requests or attempts within `seconds`; a `most` of 0 means no limit.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Class {
    pub most: u32,
    pub seconds: u64,
}

impl Class {
    #[must_use]
    pub const fn window(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl Config {
    /// Returns the names of the analysis engines that a project, given by its id, may use; the default is the first.
    #[must_use]
    pub fn engines(&self, project: &str) -> Vec<&'static str> {
        let mut engines = vec!["embedded"];
        if self.llm.may_have(project) {
            engines.extend(["llm", "fallback"]);
        }
        // A default that the project may not use is not used.
        engines.sort_by_key(|engine| *engine != self.analysis.engine);
        engines
    }

    /// Returns the folder of speech models.
    #[must_use]
    pub fn models_folder(&self) -> PathBuf {
        let is_named = !self.speech.models.as_os_str().is_empty();
        if is_named { self.speech.models.clone() } else { self.server.data.join("models") }
    }
}

impl Llm {
    /// Whether there is a language model.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        !self.url.is_empty()
    }

    /// Whether texts of a project, given by its id, may be sent to the language model.
    #[must_use]
    pub fn may_have(&self, project: &str) -> bool {
        let is_named = || self.projects.split(',').any(|id| id.trim().eq_ignore_ascii_case(project));
        self.is_set() && (self.projects == "all" || is_named())
    }
}

impl Recordings {
    /// Returns the limits that meetings apply to their recordings.
    #[must_use]
    pub const fn limits(&self, transcribed: bool) -> RecordingLimits {
        RecordingLimits {
            per_meeting: self.per_meeting,
            bytes: self.bytes,
            longest: Duration::from_secs(self.longest_seconds),
            quiet: Duration::from_secs(self.quiet_seconds),
            late: Duration::from_secs(self.late_seconds),
            repair: Duration::from_secs(self.repair_seconds),
            abandoned: Duration::from_secs(self.abandoned_seconds),
            kept: kept_for(self.keep_audio_seconds),
            transcribed,
            only_until_transcribed: self.delete_audio_once_transcribed,
            transcripts_kept: self.transcripts_kept(),
        }
    }

    /// How long transcripts are kept. `None`: until their recordings are deleted.
    #[must_use]
    pub const fn transcripts_kept(&self) -> Option<Duration> {
        kept_for(self.keep_transcript_seconds)
    }
}

/// 0 is for ever.
const fn kept_for(seconds: u64) -> Option<Duration> {
    if seconds == 0 { None } else { Some(Duration::from_secs(seconds)) }
}

impl Limits {
    /// Returns all rate limits under their names.
    #[must_use]
    pub const fn classes(&self) -> [(&'static str, Class); 13] {
        [
            ("calls", self.calls),
            ("costly_calls", self.costly_calls),
            ("logins", self.logins),
            ("login_failures", self.login_failures),
            ("login_failures_of_client", self.login_failures_of_client),
            ("code_failures", self.code_failures),
            ("token_failures_of_client", self.token_failures_of_client),
            ("code_pause", self.code_pause),
            ("code_mails", self.code_mails),
            ("code_mails_of_client", self.code_mails_of_client),
            ("invitation_mails", self.invitation_mails),
            ("invitation_mails_of_address", self.invitation_mails_of_address),
            ("feedback_mails_of_address", self.feedback_mails_of_address),
        ]
    }
}

impl Speech {
    /// The model of transcripts for which nobody chose one.
    #[must_use]
    pub fn default_model(&self) -> &str {
        if self.engine == "http" { &self.service_model } else { &self.model }
    }

    /// Whether the model has to be installed on this machine.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.engine == "embedded"
    }

    /// Whether recordings are not transcribed at all.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.engine == "none"
    }
}
