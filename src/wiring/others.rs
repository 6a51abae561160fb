//! Builds the clients of external services from the settings: the mail server, the media server, the OpenID provider, the issue
//! trackers.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::analysers::program;
use crate::clients::files::{Bucket, BucketParts, Files, Folders, StorePlace};
use crate::clients::livekit::{self, LiveKit, MediaServer};
use crate::clients::mail::{DevOutbox, Mail, Security, Smtp, SmtpSettings as MailServer};
use crate::clients::openid::{self, OpenId};
use crate::clients::printer::{PROGRAM, PdfPrinter};
use crate::clients::trackers::TrackerProvider;
use crate::clients::trackers::github::{GitHub, GitHubOAuthSettings, GitHubSettings};
use crate::clients::trackers::http::TrackerHttp;
use crate::clients::trackers::jira::{Jira, JiraOAuthSettings, JiraSettings};
use crate::config::{self, Config};
use crate::trackers::providers::Providers;

/// File descriptors reserved for everything but connections: the database, documents, calls to external services.
const OTHER_FILES: u64 = 512;

/// Returns the number of connections that the server may accept: `wanted`, or what the system's limit on file
/// descriptors allows if that is less.
pub fn connections(wanted: usize) -> usize {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(1024);
    let most = usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX).max(16);
    if most < wanted {
        tracing::warn!(wanted, most, "the limit on file descriptors allows fewer connections than http.connections");
    }
    wanted.min(most)
}

/// Returns the SMTP client if a mail server is configured, else the development outbox.
pub fn mail(mail: &config::Mail, data: &Path) -> Result<Arc<dyn Mail>, String> {
    if mail.host.is_empty() {
        return Ok(Arc::new(DevOutbox::at(data.join("outbox"), &mail.from)?));
    }
    let security = Security::named(&mail.security);
    let with_password = (!mail.user.is_empty()).then(|| (mail.user.clone(), mail.password.reveal().to_owned()));
    let server = Smtp::new(MailServer {
        host: mail.host.clone(),
        port: mail.port,
        security: security.ok_or("mail.security: this must be STARTTLS, TLS or NONE")?,
        credentials: with_password,
        from: mail.from.clone(),
        limit: Duration::from_secs(mail.timeout_seconds),
        ca_file: Some(mail.ca_file.clone()).filter(|file| !file.as_os_str().is_empty()),
    })?;
    tracing::info!(host = mail.host, port = mail.port, security = mail.security, "e-mails are sent over SMTP");
    Ok(Arc::new(server))
}

/// Returns the media server's client, or `None` if no media server is configured.
pub fn media_server(livekit: &config::Livekit) -> Result<Option<Arc<dyn MediaServer>>, String> {
    if livekit.url.is_empty() {
        return Ok(None);
    }
    let server = LiveKit::new(livekit::LiveKitSettings {
        url: livekit.url.clone(),
        api_url: livekit.api_url.clone(),
        key: livekit.api_key.clone(),
        secret: livekit.api_secret.reveal().to_owned(),
        limit: Duration::from_secs(livekit.timeout_seconds),
    })?;
    tracing::info!(url = livekit.url, "a media server is configured");
    Ok(Some(Arc::new(server)))
}

/// Returns the bucket for uploaded files, or `None` if they are in folders.
pub fn bucket(s3: &config::S3) -> Result<Option<Bucket>, String> {
    if s3.bucket.is_empty() {
        return Ok(None);
    }
    let bucket = Bucket::new(&BucketParts {
        endpoint: &s3.endpoint,
        region: &s3.region,
        name: &s3.bucket,
        access_key: &s3.access_key,
        secret_key: s3.secret_key.reveal(),
        timeout: Duration::from_secs(s3.timeout_seconds),
    })?;
    tracing::info!(bucket = s3.bucket, endpoint = s3.endpoint, "uploaded files are stored in a bucket");
    Ok(Some(bucket))
}

/// Returns a store of files by their hashes: the bucket's objects of its name, or its folder.
pub async fn files(bucket: Option<&Bucket>, place: StorePlace, data: &Path) -> Result<Files, String> {
    let folder = data.join(place.folder);
    let unusable = |error: io::Error| format!("{} can't be used: {error}", folder.display());
    let files = match bucket {
        Some(bucket) => Files::in_bucket(bucket, place.name, folder.join("incoming")),
        None => Files::at(folder.clone()).map_err(unusable)?,
    };
    files.clear_incoming().await.map_err(unusable)?;
    Ok(files)
}

/// Returns a store of files that belong to one owner each: the bucket's objects of its name, or its folder.
pub async fn folders(bucket: Option<&Bucket>, place: StorePlace, data: &Path) -> Result<Folders, String> {
    let folder = data.join(place.folder);
    let unusable = |error: io::Error| format!("{} can't be used: {error}", folder.display());
    let folders = match bucket {
        Some(bucket) => Folders::in_bucket(bucket, place.name, folder.join("incoming")),
        None => Folders::at(folder.clone()).map_err(unusable)?,
    };
    folders.clear_incoming().await.map_err(unusable)?;
    Ok(folders)
}

/// Returns what calls the program that sets PDF: the one of the settings, else the one beside this program.
pub fn printer(exports: &config::Exports) -> Result<PdfPrinter, String> {
    let is_named = !exports.printer.as_os_str().is_empty();
    let program = if is_named { exports.printer.clone() } else { program()?.with_file_name(PROGRAM) };
    let limit = Duration::from_secs(exports.printer_seconds);
    Ok(PdfPrinter { program, limit, memory_mib: exports.printer_memory_mib })
}

/// Returns the OpenID provider's client, or `None` if none is configured.
pub fn log_in_provider(config: &Config, url: &str) -> Result<Option<OpenId>, String> {
    let google = config.google.clone();
    if google.client_id.is_empty() {
        return Ok(None);
    }
    let below = || format!("{url}/api/auth/google-login/callback");
    let redirect_url = if google.redirect_url.is_empty() { below() } else { google.redirect_url };
    let settings = openid::OpenIdSettings {
        client_id: google.client_id,
        client_secret: google.client_secret.reveal().to_owned(),
        discovery_url: google.discovery_url,
        issuer: google.issuer,
        issuer_alias: Some(google.issuer_alias).filter(|alias| !alias.is_empty()),
        redirect_url,
    };
    OpenId::new(settings).map(Some)
}

/// Returns the clients of all issue trackers.
pub fn trackers(config: &Config, url: &str) -> Result<Providers, String> {
    let config::Trackers { origins, .. } = &config.trackers;
    let (jira, github) = (&config.jira, &config.github);
    let named = [&jira.auth_url, &jira.api_url, &github.web_url, &github.api_url];
    let origins: Vec<String> = origins.iter().chain(named).cloned().collect();
    let http = TrackerHttp::new(&origins)?;
    let callback = |named: &str| match named {
        "" => format!("{url}/api/tracker/callback"),
        named => named.to_owned(),
    };
    let jira_oauth = (!jira.client_id.is_empty()).then(|| JiraOAuthSettings {
        client_id: jira.client_id.clone(),
        client_secret: jira.client_secret.reveal().to_owned(),
        redirect_url: callback(&jira.redirect_url),
        auth_url: jira.auth_url.clone(),
        api_url: jira.api_url.clone(),
    });
    let github_oauth = (!github.client_id.is_empty()).then(|| GitHubOAuthSettings {
        client_id: github.client_id.clone(),
        client_secret: github.client_secret.reveal().to_owned(),
        redirect_url: callback(&github.redirect_url),
        web_url: github.web_url.clone(),
    });
    let github = GitHubSettings { oauth: github_oauth, api_url: github.api_url.clone() };
    Ok(Providers::new(vec![
        (TrackerProvider::Jira, Arc::new(Jira::new(JiraSettings { oauth: jira_oauth }, http.clone()))),
        (TrackerProvider::Github, Arc::new(GitHub::new(github, http))),
    ]))
}
