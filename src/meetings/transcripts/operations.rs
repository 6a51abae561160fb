//! The operations on transcripts, one function each.

use actors::ids::{self, Id, User};
use actors::live::RequestId;
use actors::meeting::{Meeting, Recording, RecordingStatus, TranscriptStatus};
use actors::time::Time;

use super::bodies::{CorrectSegment, CorrectedSpeaker, TranscribeAgain, TranscriptQuery};
use super::model::{
    Correction, NamedSpeaker, SOMEBODY, StoredSegment, Transcript, TranscriptSegment, TranscriptVersion,
    TranscriptVersionView, current, overall, to_install,
};
use super::weaving::RecordingText;
use super::{grounding, making, store, telling, weaving};
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::budget::Share;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::http::reason::Reason;
use crate::meetings::commands::active;
use crate::meetings::consents::may_be_transcribed;
use crate::meetings::recordings::MeetingRecording;
use crate::meetings::state::Meetings;

/// The most versions of one recording's transcript.
const MAX_VERSIONS: usize = 10;

/// About how many bytes a segment has, as JSON.
const SEGMENT_BYTES: usize = 300;

/// Returns the transcript of a recording: the version with this number, or the one that is shown. Others may be woven in.
///
/// # Errors
/// 404 if there is no such version; 409 while it is not complete, and while somebody who can be heard does not consent
/// to it; 410 if the recording expired before there was one; 503 if the client holds too many bytes already.
pub async fn read(
    state: &Meetings,
    resource: &MeetingRecording,
    query: TranscriptQuery,
    share: &mut Share,
) -> Result<Transcript, ApiError> {
    must_be_consented(resource)?;
    let id = resource.id;
    let versions = state.db.read(move |conn| Box::pin(store::versions(conn, id)));
    let mut versions = versions.await.map_err(|failed: DbError| ApiError::from(failed))?;
    if let Some(number) = query.version {
        versions.retain(|version| version.number == number);
        if versions.is_empty() {
            return Err(ApiError::of(Code::NOT_FOUND));
        }
    }
    let shown = current(&versions).cloned().ok_or_else(|| not_ready(resource, &versions))?;
    let (meeting, recording) = (&resource.meeting.state, resource.recording()?);
    let mut shown_texts = vec![(recording, shown.clone())];
    if query.woven {
        shown_texts.extend(at_the_same_time(state, meeting, recording).await?);
    }
    // Reserves memory before any work is done, so that a refused request costs nothing.
    let count: usize = shown_texts.iter().filter_map(|(_, one)| usize::try_from(one.segment_count).ok()).sum();
    share.grow_to(count.saturating_mul(SEGMENT_BYTES))?;
    let mut texts = Vec::with_capacity(shown_texts.len());
    for (recording, version) in shown_texts {
        let segments = state.db.read(move |conn| Box::pin(store::segments(conn, version.id)));
        let segments = segments.await.map_err(|failed: DbError| ApiError::from(failed))?;
        texts.push(RecordingText::of(meeting, recording, segments));
    }
    let segments = match query.woven {
        true => weaving::segments(texts).into_iter().map(|placed| placed.segment).collect(),
        false => texts.into_iter().flat_map(|text| text.segments).collect(),
    };
    Ok(Transcript {
        recording_id: id,
        version: shown.number,
        language: shown.language.or(shown.asked_language),
        engine: shown.engine,
        model: shown.model,
        segments,
        has_sound: recording.status() == RecordingStatus::Ready && !recording.is_attached(),
    })
}

/// Returns the recordings that were made at the same time, with the transcripts that are shown of them.
async fn at_the_same_time<'a>(
    state: &Meetings,
    meeting: &'a Meeting,
    recording: &Recording,
) -> Result<Vec<(&'a Recording, TranscriptVersion)>, ApiError> {
    let mut found = Vec::new();
    let others = meeting.recordings.values().filter(|other| other.id != recording.id);
    for other in others.filter(|other| weaving::overlap(other, recording) && may_be_transcribed(meeting, other)) {
        let id = other.id;
        let versions = state.db.read(move |conn| Box::pin(store::versions(conn, id)));
        let versions = versions.await.map_err(|failed: DbError| ApiError::from(failed))?;
        found.extend(current(&versions).map(|shown| (other, shown.clone())));
    }
    Ok(found)
}

/// Checks that everyone who can be heard in the recording of a resource consents to a transcript.
fn must_be_consented(resource: &MeetingRecording) -> Result<(), ApiError> {
    must_be_agreed(&resource.meeting.state, resource.recording()?)
}

/// Checks that everyone who can be heard in a recording consents to a transcript.
///
/// # Errors
/// 409 if somebody does not.
pub(super) fn must_be_agreed(meeting: &Meeting, recording: &Recording) -> Result<(), ApiError> {
    match may_be_transcribed(meeting, recording) {
        true => Ok(()),
        false => Err(ApiError::of(Code::CONSENT_WITHDRAWN)),
    }
}

/// Says why there is no transcript.
fn not_ready(resource: &MeetingRecording, versions: &[TranscriptVersion]) -> ApiError {
    let status = overall(versions);
    let is_expired = resource.recording().is_ok_and(|recording| recording.status() == RecordingStatus::Expired);
    let newest = versions.last();
    let sentence = match status {
        TranscriptStatus::None | TranscriptStatus::Failed if is_expired => return ApiError::of(Code::GONE),
        TranscriptStatus::None => "There is no transcript of this recording.".to_owned(),
        TranscriptStatus::WaitingForModel => newest.map(|version| to_install(&version.model)).unwrap_or_default(),
        TranscriptStatus::Failed => newest.and_then(|version| version.error_message.clone()).unwrap_or_default(),
        TranscriptStatus::Queued | TranscriptStatus::Processing | TranscriptStatus::Ready => {
            "The recording is still being transcribed.".to_owned()
        }
    };
    ApiError::with_message(Code::TRANSCRIPT_NOT_READY, sentence)
}

/// Lists the versions of a transcript, newest first.
///
/// # Errors
/// Any database error.
pub async fn versions(
    state: &Meetings,
    id: Id<ids::Recording>,
    page: PageQuery,
) -> Result<List<TranscriptVersionView>, ApiError> {
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let all = store::versions(conn, id).await?;
            Ok::<_, DbError>((current(&all).map(|version| version.number), store::list(conn, id, page).await?))
        })
    });
    let (shown, listed) = read.await.map_err(|failed: DbError| ApiError::from(failed))?;
    Ok(listed.map(|version| {
        let is_current = Some(version.number) == shown;
        TranscriptVersionView::of(version, is_current)
    }))
}

/// Begins a new version of a transcript. The former ones stay.
///
/// # Errors
/// 409 while the recording is not READY, another version is being made, somebody's consent is missing, there are too
/// many versions, there is no sound, or speech recognition is off; 410 once the recording has expired; 422 for a language that the model
/// does not know.
pub async fn begin(
    state: &Meetings,
    caller: Caller,
    resource: &MeetingRecording,
    id: Id<ids::Transcript>,
    body: TranscribeAgain,
    request: RequestId,
) -> Result<TranscriptVersionView, ApiError> {
    active(state, &resource.meeting).await?;
    if resource.recording()?.is_attached() {
        let sentence = "This is a transcript that was attached as a file: there is no sound to transcribe.";
        return Err(ApiError::with_message(Code::INVALID_STATE, sentence));
    }
    match resource.recording()?.status() {
        RecordingStatus::Ready => {}
        RecordingStatus::Expired => return Err(ApiError::of(Code::GONE)),
        _ => return Err(ApiError::with_message(Code::RECORDING_NOT_READY, "The recording is not complete yet.")),
    }
    must_be_consented(resource)?;
    let speech = &state.config.speech;
    if speech.is_off() {
        return Err(ApiError::with_message(Code::INVALID_STATE, "Speech recognition is switched off on this server."));
    }
    let model = body.model.map_or_else(|| speech.default_model().to_owned(), |model| model.0);
    let asked_language = body.language.map(|language| language.0);
    if model.ends_with(".en") && asked_language.as_ref().is_some_and(|language| language != "en") {
        let sentence = format!("The model {model} knows English only.");
        return Err(ApiError::field("language", Reason::InvalidValue, sentence));
    }
    let now = state.now();
    let version = TranscriptVersion {
        id,
        recording_id: resource.id,
        number: 1,
        status: TranscriptStatus::Queued,
        engine: speech.engine.clone(),
        model,
        asked_language,
        language: None,
        done_ms: 0,
        segment_count: 0,
        crashes: 0,
        error_message: None,
        created_by: Some(caller.user_id),
        created_at: now,
        attached_bytes: None,
    };
    let begun = insert(state, resource.meeting.state.project_id, version, now, request.clone()).await?;
    state.jobs.wake();
    // The job tells it again, so that a failure is no reason to refuse what is stored.
    if let Err(away) = telling::report_transcript_status(state, resource.meeting.state.id, resource.id, request).await {
        tracing::warn!(why = away.why(), "a meeting could not be told of a transcript; its job tells it");
    }
    Ok(TranscriptVersionView::of(begun, false))
}

async fn insert(
    state: &Meetings,
    project_id: Id<ids::Project>,
    version: TranscriptVersion,
    now: Time,
    request: RequestId,
) -> Result<TranscriptVersion, ApiError> {
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let versions = store::versions(conn, version.recording_id).await?;
            if let Some(same) = versions.iter().find(|one| one.id == version.id) {
                return Ok(same.clone());
            }
            let number = next_number(&versions)?;
            let version = TranscriptVersion { number, ..version };
            match store::insert(conn, &version).await {
                Err(taken) if taken.is_taken() => return Err(transcribed_already()),
                done => done?,
            }
            making::enqueue(conn, project_id, version.recording_id, number, now, &request).await?;
            Ok(version)
        })
    });
    written.await
}

/// Returns the number of a version that follows these ones.
///
/// # Errors
/// 409 while one of them is being made, and if there are as many as there may be.
pub(super) fn next_number(versions: &[TranscriptVersion]) -> Result<u32, ApiError> {
    if versions.iter().any(TranscriptVersion::is_unfinished) {
        return Err(transcribed_already());
    }
    if versions.len() >= MAX_VERSIONS {
        let sentence = "The transcript has as many versions as it may have.";
        return Err(ApiError::with_message(Code::CONFLICT, sentence));
    }
    Ok(versions.last().map_or(1, |last| last.number + 1))
}

/// The error for a version beside one that is being made.
pub(super) fn transcribed_already() -> ApiError {
    ApiError::with_message(Code::CONFLICT, "The recording is being transcribed already.")
}

/// Corrects a segment of the transcript that is shown. Who corrected it, and what was recognised, is kept.
///
/// # Errors
/// 404 if there is no such segment; 409 while there is no transcript, and if another version is shown than the correction
/// was made for; 422 if the speaker is nobody of the meeting.
pub async fn correct(
    state: &Meetings,
    caller: Caller,
    resource: &MeetingRecording,
    position: u32,
    body: CorrectSegment,
    request: RequestId,
) -> Result<TranscriptSegment, ApiError> {
    active(state, &resource.meeting).await?;
    must_be_consented(resource)?;
    let (meeting, recording) = (&resource.meeting.state, resource.recording()?);
    let speaker = body.speaker.map(|speaker| named(meeting, recording, speaker)).transpose()?;
    let (id, now, text) = (resource.id, state.now(), body.text.map(|text| text.0));
    let wanted = body.version.map(|version| version.0);
    let project_id = meeting.project_id;
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let versions = store::versions(conn, id).await?;
            let Some(shown) = current(&versions) else { return Ok(Err(versions)) };
            if wanted.is_some_and(|wanted| wanted != shown.number) {
                let sentence = format!("The transcript has another version now: {}.", shown.number);
                return Err(ApiError::with_message(Code::CONFLICT, sentence));
            }
            let found = store::segment(conn, shown.id, position).await?;
            let segment = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
            let was = segment.speaker.clone();
            let to = speaker.as_ref().map(|speaker| speaker.to.clone());
            let corrected = corrected(segment, text, to, caller.user_id, now);
            store::correct(conn, shown.id, &corrected).await?;
            if speaker.is_some_and(|speaker| speaker.everywhere) {
                let to = corrected.speaker.as_ref();
                store::correct_speaker(conn, shown.id, was, to, caller.user_id, now).await?;
            }
            grounding::enqueue(conn, project_id, id, now, &request).await?;
            Ok::<_, ApiError>(Ok(corrected))
        })
    });
    let corrected = written.await?.map_err(|versions| not_ready(resource, &versions))?;
    state.jobs.wake();
    Ok(TranscriptSegment::of(meeting, recording, corrected))
}

/// Who speaks, as corrected.
#[derive(Clone)]
struct SpeakerChange {
    /// `None`: whoever speaks where nobody was named. So two names that are shown alike are one.
    to: Option<NamedSpeaker>,
    /// Whether all segments of the former speaker are theirs.
    everywhere: bool,
}

fn named(meeting: &Meeting, recording: &Recording, speaker: CorrectedSpeaker) -> Result<SpeakerChange, ApiError> {
    let to = match (speaker.participant_id, speaker.name) {
        (Some(id), None) if recording.track == Some(id) => None,
        (Some(id), None) if meeting.participants.get(&id).is_some() => Some(NamedSpeaker::Participant(id)),
        (Some(_), None) => {
            let sentence = "This must be a participant of the meeting.";
            return Err(ApiError::field("speaker.participantId", Reason::InvalidValue, sentence));
        }
        (None, Some(name)) if recording.track.is_none() && name.0 == SOMEBODY => None,
        (None, Some(name)) => Some(NamedSpeaker::Name(name.0)),
        (None, None) | (Some(_), Some(_)) => {
            let sentence = "Name either a participant or a name.";
            return Err(ApiError::field("speaker", Reason::InvalidValue, sentence));
        }
    };
    Ok(SpeakerChange { to, everywhere: speaker.everywhere })
}

fn corrected(
    segment: StoredSegment,
    text: Option<String>,
    speaker: Option<Option<NamedSpeaker>>,
    by: Id<User>,
    at: Time,
) -> StoredSegment {
    let heard = segment.correction.and_then(|correction| correction.heard_text);
    let heard_text = match &text {
        Some(text) if *text != segment.text => heard.or(Some(segment.text.clone())),
        _ => heard,
    };
    StoredSegment {
        text: text.unwrap_or(segment.text),
        speaker: speaker.unwrap_or(segment.speaker),
        correction: Some(Correction { heard_text, by, at }),
        ..segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_heard_first_is_kept_through_all_corrections() {
        let (by, at) = (Id::generate(), Time::from_millis(1).unwrap());
        let heard = StoredSegment {
            position: 3,
            start_ms: 0,
            end_ms: 900,
            text: "the portal shell".to_owned(),
            confidence: 700,
            speaker: None,
            correction: None,
        };
        let named = corrected(heard, None, Some(Some(NamedSpeaker::Name("Ada".to_owned()))), by, at);
        assert_eq!(named.correction.as_ref().unwrap().heard_text, None);
        let once = corrected(named, Some("the portal shall".to_owned()), None, by, at);
        let twice = corrected(once, Some("The portal shall".to_owned()), None, by, at);
        assert_eq!(twice.text, "The portal shall");
        assert_eq!(twice.correction.unwrap().heard_text.unwrap(), "the portal shell");
        assert_eq!(twice.speaker, Some(NamedSpeaker::Name("Ada".to_owned())));
    }
}
