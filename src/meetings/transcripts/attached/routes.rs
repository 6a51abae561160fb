//! The HTTP handler of transcripts that are attached.

use super::operations;
use super::upload::TranscriptUpload;
use crate::access::policy::Host;
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::meetings::MeetingSnapshot;
use crate::meetings::recordings::model::RecordingView;
use crate::meetings::state::Meetings;

pub async fn attach(
    request: Authorized<Host<MeetingSnapshot>, WithClient<TranscriptUpload>>,
    state: Meetings,
) -> Result<Reply<RecordingView>, ApiError> {
    let id = request.new_id();
    let WithClient { input: upload, agent } = request.input;
    let (caller, meeting) = (request.access.caller, &request.access.resource);
    operations::attach(&state, caller, meeting, id, upload, agent, request.request_id).await.map(Reply::created)
}
