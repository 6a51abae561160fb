//! The demo's recorded meeting: a conversation of generated voices, imported as a client imports the recording of a
//! meeting that was held elsewhere, and transcribed by a model that is installed on this machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use colloquy::config::{Config, Overrides};
use colloquy::models;
use serde_json::json;

use api_client::answer::{MeetingAnswer, RecordingAnswer, TranscriptAnswer};
use api_client::caller::ApiClient;

/// See tests/samples/speech/README.md.
const CONTENT: &[u8] = include_bytes!("../../../../tests/samples/speech/planning.webm");
const MIME_TYPE: &str = "audio/webm";
const TITLE: &str = "Lantern: planning";
/// How long the transcript may take. It takes seconds, but a minute in a program that was not optimised.
const TRANSCRIBING: Duration = Duration::from_secs(300);

/// What there is to recognise the speech with.
pub enum DemoSpeech {
    Model {
        folder: PathBuf,
        name: String,
    },
    /// No model is installed.
    Missing {
        /// The command that installs one where the demo looks for it.
        install: String,
    },
}

impl DemoSpeech {
    /// Looks for a model in the given folder, or else where `colloquy models install` puts it.
    ///
    /// # Errors
    /// Returns a message if the folder can't be read.
    pub fn find(given: Option<&Path>) -> Result<Self, String> {
        // Invalid settings are those of another server, and no model was installed with them.
        let config = Config::read(None, &Overrides::default())
            .or_else(|_| Config::layered(None, HashMap::new(), &Overrides::default()))
            .map_err(|faults| faults.join(" "))?;
        let folder = given.map_or_else(|| config.models_folder(), Path::to_path_buf);
        let all = models::all_installed(&folder);
        let all = all.map_err(|error| format!("The models in {} can't be read: {error}.", folder.display()))?;
        let wanted = config.speech.model;
        let model = all.iter().find(|model| model.name == wanted).or(all.first());
        Ok(match model {
            Some(model) => Self::Model { name: model.name.clone(), folder },
            None => {
                let place = given.map(|folder| format!(" --models {}", folder.display())).unwrap_or_default();
                Self::Missing { install: format!("colloquy models install {wanted}{place}") }
            }
        })
    }

    /// The settings of a server that recognises speech with it.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Model { folder, name } => vec![
                ("COLLOQUY__SPEECH__MODELS", folder.to_string_lossy().into_owned()),
                ("COLLOQUY__SPEECH__MODEL", name.clone()),
            ],
            Self::Missing { .. } => Vec::new(),
        }
    }
}

/// A meeting with its recording.
pub struct RecordedMeeting {
    pub title: String,
    pub meeting_id: String,
    pub recording_id: String,
}

/// Imports the recording into a meeting. The server transcribes it meanwhile.
///
/// # Errors
/// Returns a message if a call fails.
pub async fn import(caller: &ApiClient, project_id: &str, now: &serde_json::Value) -> Result<RecordedMeeting, String> {
    let body = json!({ "title": TITLE, "scheduledAt": now });
    let meeting: MeetingAnswer = caller.post(&format!("/api/projects/{project_id}/meetings"), &body).await?;
    let path = format!("/api/meetings/{}", meeting.id);
    let _: MeetingAnswer = caller.post(&format!("{path}/start"), &json!({})).await?;
    let _: MeetingAnswer = caller.post(&format!("{path}/end"), &json!({})).await?;
    let attestation = json!({ "text": "Both voices are generated: nobody is recorded." });
    let body = json!({ "uploadMode": "SINGLE_FILE", "mimeType": MIME_TYPE, "consentAttestation": attestation });
    let recording: RecordingAnswer = caller.post(&format!("{path}/recordings/start"), &body).await?;
    let path = format!("/api/recordings/{}", recording.id);
    let _: RecordingAnswer = caller.put_file(&format!("{path}/file"), MIME_TYPE, CONTENT.to_vec()).await?;
    let _: RecordingAnswer = caller.post(&format!("{path}/stop"), &json!({})).await?;
    Ok(RecordedMeeting { title: meeting.title, meeting_id: meeting.id, recording_id: recording.id })
}

/// Waits for the transcript.
///
/// # Errors
/// Returns a message if a call fails, the recording can't be transcribed, or that takes longer than `TRANSCRIBING`.
pub async fn transcript(caller: &ApiClient, meeting: &RecordedMeeting) -> Result<TranscriptAnswer, String> {
    let path = format!("/api/recordings/{}", meeting.recording_id);
    let began = Instant::now();
    loop {
        let recording: RecordingAnswer = caller.get(&path).await?;
        if let Some(why) = recording.error_message {
            return Err(format!("The recording failed: {why}"));
        }
        // A transcript that failed is refused with the reason.
        if matches!(recording.transcript_status.as_str(), "READY" | "FAILED") {
            return caller.get(&format!("{path}/transcript")).await;
        }
        if began.elapsed() > TRANSCRIBING {
            return Err(format!("The recording was not transcribed within {} s.", TRANSCRIBING.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_the_command_that_installs_one_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let Ok(DemoSpeech::Missing { install }) = DemoSpeech::find(Some(folder.path())) else { panic!("a model") };
        assert_eq!(install, format!("colloquy models install whisper-tiny.en --models {}", folder.path().display()));
        assert!(matches!(DemoSpeech::find(Some(&folder.path().join("none"))), Ok(DemoSpeech::Missing { .. })));
    }
}
