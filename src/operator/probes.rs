//! Whether the services that this server needs answer. Those that have no harmless question are judged by the jobs that wait
//! for them.

use std::time::Duration;

use actors::live::RequestId;

use super::model::{Dependency, DependencyName, DependencyStatus};
use super::state::Operators;
use crate::clients::livekit::MediaServerError;
use crate::db::DbError;
use crate::jobs::mail::SendEmail;
use crate::jobs::{JobPayload, operator as jobs};
use crate::meetings::transcripts::making::TranscribeRecording;
use crate::models;

/// How long a service may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// A room that does not exist: the media server is asked for it, since that changes nothing.
const NO_ROOM: &str = "colloquy-readiness";

/// Probes all services at once.
pub async fn all(state: &Operators, request: &RequestId) -> Vec<Dependency> {
    let (database, media, speech, pipeline, mail) = tokio::join!(
        database(state),
        media_server(state, request),
        speech(state),
        pipeline(state, request),
        mail(state)
    );
    vec![database, media, speech, pipeline, mail]
}

impl Dependency {
    fn ready(name: DependencyName, detail: impl Into<String>) -> Self {
        Self { name, status: DependencyStatus::Ready, detail: detail.into() }
    }

    fn not_configured(name: DependencyName, detail: impl Into<String>) -> Self {
        Self { name, status: DependencyStatus::NotConfigured, detail: detail.into() }
    }

    fn unavailable(name: DependencyName, detail: impl Into<String>) -> Self {
        Self { name, status: DependencyStatus::Unavailable, detail: detail.into() }
    }
}

async fn within<T>(asked: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let late = |_| format!("no answer within {} s", PATIENCE.as_secs());
    tokio::time::timeout(PATIENCE, asked).await.map_err(late).flatten()
}

async fn database(state: &Operators) -> Dependency {
    let asked = async {
        let answered = state.db.read(|conn| {
            Box::pin(async move {
                conn.batch("SELECT 1").await?;
                Ok::<_, DbError>(())
            })
        });
        tokio::try_join!(answered, state.db.check_writes()).map_err(|error| error.to_string())
    };
    match within(asked).await {
        Ok(_) => Dependency::ready(DependencyName::Database, "It answers."),
        Err(why) => Dependency::unavailable(DependencyName::Database, why),
    }
}

async fn media_server(state: &Operators, request: &RequestId) -> Dependency {
    let name = DependencyName::MediaServer;
    let Some(server) = state.analysis.meetings.rooms.server() else {
        return Dependency::not_configured(name, "Meetings have no media room; set livekit.url to give them one.");
    };
    let asked = async {
        server.instance(NO_ROOM, request).await.map_err(|error| match error {
            MediaServerError::Unavailable(why) | MediaServerError::Refused(why) => why,
        })
    };
    match within(asked).await {
        Ok(_) => Dependency::ready(name, format!("{} answers.", server.url())),
        Err(why) => Dependency::unavailable(name, why),
    }
}

async fn speech(state: &Operators) -> Dependency {
    let name = DependencyName::Speech;
    let speech = &state.config.speech;
    if speech.is_off() {
        return Dependency::not_configured(name, "Recordings are not transcribed; set speech.engine.");
    }
    if !speech.is_embedded() {
        return judged(state, name, TranscribeRecording::KIND, &format!("The service {} is used.", speech.service_url))
            .await;
    }
    let (folder, model) = (state.config.models_folder(), speech.model.clone());
    let installed = tokio::task::spawn_blocking(move || models::installed(&folder, &model).is_some()).await;
    if installed.unwrap_or(false) {
        Dependency::ready(name, format!("The model {} is installed.", speech.model))
    } else {
        let install = format!("Recordings wait for a model; install it with: colloquy models install {}", speech.model);
        Dependency::not_configured(name, install)
    }
}

async fn pipeline(state: &Operators, request: &RequestId) -> Dependency {
    let name = DependencyName::Pipeline;
    let Some(service) = state.analysis.runner.service() else {
        return Dependency::ready(name, "Runs are analysed by this server.");
    };
    match within(service.health(request)).await {
        Ok(()) => Dependency::ready(name, "The pipeline service answers."),
        Err(why) => Dependency::unavailable(name, why),
    }
}

async fn mail(state: &Operators) -> Dependency {
    let (name, mail) = (DependencyName::Mail, &state.config.mail);
    if mail.host.is_empty() {
        return Dependency::not_configured(name, "E-mails are written to files in the folder outbox; set mail.host.");
    }
    judged(state, name, SendEmail::KIND, &format!("E-mails are sent to {}:{}.", mail.host, mail.port)).await
}

/// Judges a service by the jobs of the kind that needs it.
async fn judged(state: &Operators, name: DependencyName, kind: &'static str, detail: &str) -> Dependency {
    match jobs::latest_error(&state.db, kind).await {
        Ok(None) => Dependency::ready(name, detail),
        Ok(Some(why)) => Dependency::unavailable(name, why),
        Err(error) => Dependency::unavailable(name, format!("the jobs can't be read: {error}")),
    }
}
