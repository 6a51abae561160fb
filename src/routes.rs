//! The table of all operations, in the order of the interface. The handler's first argument determines who may call an
//! operation. The table adds its error statuses besides the usual ones and the `message` of a success, for responses in
//! the envelope; the area's `api.md` says what the operation does.

use actix_web::http::Method;

use crate::accounts::{browser_sessions, external, login_links, profile, resets, sessions};
use crate::api::operation::Operation;
use crate::meetings::{consents, invitations, lifecycle, media, participants, recordings, transcripts};
use crate::projects::{documents, glossary, people};
use crate::reviews::{approvals, baselines, search, trace};
use crate::trackers::{connections, destinations, exports};
use crate::{accounts, analysis, live, operator, pipeline_jobs, projects, reviews, service};

macro_rules! operations {
    ($($tag:literal in $area:ident { $(
        $($method:ident)+ $path:literal $id:literal $handler:path => $success:literal [$($error:literal),*]
            $summary:literal $(message $message:literal)?;
    )* })*) => {
        vec![$($(
            operation!($($method)+; $path, $id, $handler)
                .answers($success, &[$($error),*])
                .named($tag, $summary, include_str!(concat!(stringify!($area), "/api.md")))
                $(.message($message))?,
        )*)*]
    };
}

/// Every method but GET may write, and so may some GETs: the callbacks of sign-ins elsewhere, and what may refresh a
/// tracker's tokens, which has to run to its end.
macro_rules! operation {
    (GET; $($rest:tt)*) => { Operation::reading(Method::GET, $($rest)*) };
    (GET writes; $($rest:tt)*) => { Operation::writing(Method::GET, $($rest)*) };
    ($method:ident; $($rest:tt)*) => { Operation::writing(Method::$method, $($rest)*) };
}

/// The operations on the public listener.
#[must_use]
pub fn public() -> Vec<Operation> {
    operations! {
        "Auth" in accounts {
            POST "/api/auth/register" "register" accounts::routes::register => 201 []
                "Register an account" message "Account registered; a confirmation code has been sent.";
            POST "/api/auth/confirm-account" "confirmAccount" accounts::routes::confirm_account => 200 []
                "Confirm an account with its code" message "Account confirmed; you are signed in.";
            POST "/api/auth/otp/resend" "resendOtp" accounts::routes::resend_otp => 200 []
                "Resend a confirmation code" message "If the account awaits confirmation, a new code has been sent.";
            POST "/api/auth/password/forgot" "sendResetPasswordEmail" resets::routes::send_reset_password_email => 200 []
                "Request a password reset code" message "If the address has an account, a reset code has been sent.";
            POST "/api/auth/password/verify-otp" "verifyOtp" resets::routes::verify_otp => 200 []
                "Verify a password reset code" message "Reset code verified; choose a new password.";
            POST "/api/auth/password/reset" "resetPassword" resets::routes::reset_password => 200 []
                "Reset a password and end all sessions" message "Password reset. Sign in with the new password.";
            POST "/api/auth/login" "login" sessions::routes::login => 200 [401, 403]
                "Sign in" message "Signed in.";
            GET "/api/auth/google-login" "googleLogin" external::routes::google_login => 302 [502, 503]
                "Start sign-in with an OpenID provider";
            GET writes "/api/auth/google-login/callback" "googleLoginCallback" external::routes::google_login_callback => 302 [503]
                "Complete sign-in with an OpenID provider";
            POST "/api/auth/google-login/exchange" "exchangeLoginCode" external::routes::exchange_login_code => 200 [401]
                "Exchange a login code for a session" message "Signed in with the OpenID provider.";
            POST "/api/auth/login-link/exchange" "exchangeLoginLink" login_links::routes::exchange_login_link => 200 [401]
                "Exchange a login link for a session" message "Signed in with the login link.";
            POST "/api/auth/refresh-token" "refreshToken" sessions::routes::refresh_token => 200 [401]
                "Refresh a session" message "Session refreshed.";
            POST "/api/auth/browser-session" "beginBrowserSession" browser_sessions::routes::begin => 200 [401]
                "Begin a browser session" message "The browser stays signed in.";
            POST "/api/auth/browser-session/refresh" "refreshBrowserSession" browser_sessions::routes::refresh => 200 [401]
                "Refresh a browser session" message "Browser session refreshed.";
            DELETE "/api/auth/browser-session" "endBrowserSession" browser_sessions::routes::end => 200 []
                "End a browser session" message "The browser is signed out.";
            POST "/api/auth/logout" "logOut" sessions::routes::log_out => 200 []
                "Sign out of this session or of all sessions" message "Signed out.";
            GET "/api/auth/sessions" "listSessions" sessions::routes::list => 200 []
                "List the caller's sessions" message "Sessions retrieved.";
            DELETE "/api/auth/sessions/{sessionId}" "revokeSession" sessions::routes::revoke => 200 [404]
                "End one of the caller's sessions" message "Session ended.";
        }
        "Project" in projects {
            POST "/api/projects" "createProject" projects::routes::create => 201 [409]
                "Create a project" message "Project created.";
            GET "/api/projects" "getUserProjects" projects::routes::list => 200 []
                "List the caller's projects" message "Projects retrieved.";
            GET "/api/projects/{projectId}" "getProjectDetails" projects::routes::details => 200 [404]
                "Get a project" message "Project retrieved.";
            PATCH "/api/projects/{projectId}" "editProject" projects::routes::edit => 200 [404, 409, 412]
                "Update a project" message "Project updated.";
            DELETE "/api/projects/{projectId}" "deleteProject" projects::routes::delete => 200 [404, 409]
                "Delete a project and everything in it" message "Project deleted.";
        }
        "Document" in projects {
            POST "/api/projects/{projectId}/documents" "uploadDocument" documents::routes::upload => 201 [404, 409, 413, 415, 507]
                "Upload a document" message "Document uploaded.";
            GET "/api/projects/{projectId}/documents" "getDocumentsByProjectId" documents::routes::list => 200 [404]
                "List a project's documents" message "Documents retrieved.";
            GET "/api/projects/{projectId}/documents/{documentId}" "getDocument" documents::routes::details => 200 [404]
                "Get a document's metadata" message "Document retrieved.";
            GET "/api/projects/{projectId}/documents/{documentId}/content" "downloadDocument" documents::routes::download => 200 [404]
                "Download the uploaded file of a document";
            GET "/api/projects/{projectId}/documents/{documentId}/text" "getDocumentText" documents::routes::text => 200 [404, 409]
                "Get the text of a document" message "Document text retrieved.";
            DELETE "/api/projects/{projectId}/documents/{documentId}" "deleteDocument" documents::routes::delete => 200 [404, 409]
                "Delete a document" message "Document deleted.";
        }
        "Document Versions" in projects {
            POST "/api/projects/{projectId}/documents/{documentId}/versions" "uploadDocumentVersion" documents::versions::routes::upload
                => 201 [404, 409, 413, 415, 507]
                "Upload a new version of a document" message "Version uploaded.";
            GET "/api/projects/{projectId}/documents/{documentId}/versions" "listDocumentVersions" documents::versions::routes::list
                => 200 [404]
                "List the versions of a document" message "Versions retrieved.";
            GET "/api/projects/{projectId}/documents/{documentId}/versions/{version}/comparison" "compareDocumentVersions"
                documents::versions::routes::compare => 200 [404]
                "Compare two versions of a document" message "Versions compared.";
        }
        "Results" in analysis {
            GET "/api/projects/{projectId}/user-stories" "getUserStoriesByProject" analysis::items::routes::user_stories => 200 [404]
                "List a project's user stories" message "User stories retrieved.";
            GET "/api/projects/{projectId}/requirements" "getRequirementsByProject" analysis::items::routes::requirements => 200 [404]
                "List a project's requirements" message "Requirements retrieved.";
        }
        "Profile" in accounts {
            GET "/api/profile" "getProfileDetails" profile::routes::details => 200 []
                "Get the caller's profile" message "Profile retrieved.";
            PUT "/api/profile" "editProfile" profile::routes::edit => 200 []
                "Update the caller's profile" message "Profile updated.";
            POST "/api/profile/avatar" "uploadAvatar" profile::routes::upload_avatar => 200 [413, 415, 507]
                "Upload the caller's avatar" message "Avatar uploaded.";
            GET "/api/users/{userId}/avatar" "downloadAvatar" profile::routes::download_avatar => 200 [304, 404]
                "Download a user's avatar";
            PUT "/api/profile/change-password" "changePassword" profile::routes::change_password => 200 [403]
                "Change the caller's password" message "Password changed; all other sessions have ended.";
            DELETE "/api/profile" "deleteAccount" profile::routes::delete => 200 [403, 409]
                "Delete the caller's account" message "Account deleted.";
        }
        "Project Lookup" in projects {
            GET "/api/projects/{projectId}/members" "listProjectMembers" people::routes::list => 200 [404]
                "List a project's members" message "Project members retrieved.";
            POST "/api/projects/{projectId}/members" "addProjectMember" people::routes::add => 201 [404, 409]
                "Invite a member to a project by e-mail" message "Project invitation sent.";
            GET "/api/projects/{projectId}/invitations" "listProjectInvitations" people::routes::list_invitations => 200 [404]
                "List a project's open invitations" message "Project invitations retrieved.";
            POST "/api/projects/{projectId}/invitations/{invitationId}/resend" "resendProjectInvitation"
                people::routes::resend_invitation => 200 [404, 409]
                "Resend a project invitation" message "Project invitation sent again.";
            DELETE "/api/projects/{projectId}/invitations/{invitationId}" "revokeProjectInvitation"
                people::routes::revoke_invitation => 200 [404, 409]
                "Revoke a project invitation" message "Project invitation revoked.";
            GET "/api/project-invitations/{token}" "previewProjectInvitation" people::routes::preview => 200 [404, 410]
                "Preview a project invitation" message "Project invitation retrieved.";
            POST "/api/project-invitations/{token}/accept" "acceptProjectInvitation" people::routes::accept => 200 [403, 404, 409, 410]
                "Accept a project invitation" message "Invitation accepted; you are a member of the project.";
            PATCH "/api/projects/{projectId}/members/{memberId}" "changeProjectMemberRole" people::routes::change_role => 200 [404, 409]
                "Change a project member's role" message "Project member's role changed.";
            DELETE "/api/projects/{projectId}/members/{memberId}" "removeProjectMember" people::routes::remove => 200 [404, 409]
                "Remove a project member, or leave a project" message "Project member removed.";
            GET "/api/projects/{projectId}/stakeholders" "listProjectStakeholders" people::routes::stakeholders => 200 [404]
                "List a project's stakeholders" message "Stakeholders retrieved.";
        }
        "Meetings" in meetings {
            POST "/api/projects/{projectId}/meetings" "createMeeting" lifecycle::routes::create => 201 [404, 409]
                "Schedule a meeting" message "Meeting scheduled.";
            GET "/api/projects/{projectId}/meetings" "listProjectMeetings" lifecycle::routes::list => 200 [404]
                "List a project's meetings" message "Meetings retrieved.";
            GET "/api/meetings/{meetingId}" "getMeetingDetails" lifecycle::routes::details => 200 [404]
                "Get a meeting" message "Meeting retrieved.";
            PATCH "/api/meetings/{meetingId}" "updateMeeting" lifecycle::routes::update => 200 [404, 409, 412]
                "Update a meeting" message "Meeting updated.";
            POST "/api/meetings/{meetingId}/cancel" "cancelMeeting" lifecycle::routes::cancel => 200 [404, 409]
                "Cancel a meeting" message "Meeting cancelled.";
            POST "/api/meetings/{meetingId}/room-credentials" "issueRoomCredentials" media::routes::issue => 200 [404, 409, 503]
                "Issue room credentials for a meeting" message "Room credentials issued.";
        }
        "Invitations" in meetings {
            POST "/api/meetings/{meetingId}/invitations/participants" "inviteParticipants"
                invitations::routes::invite_participants => 201 [404, 409]
                "Invite project members to a meeting" message "Invitations sent to project members.";
            POST "/api/meetings/{meetingId}/invitations/guests" "inviteGuests" invitations::routes::invite_guests => 201 [404, 409]
                "Invite guests to a meeting by e-mail" message "Invitations sent to guests.";
            GET "/api/meetings/{meetingId}/invitations" "listMeetingInvitations" invitations::routes::list => 200 [404]
                "List a meeting's invitations" message "Meeting invitations retrieved.";
            GET "/api/meeting-invitations/{token}" "previewInvitation" invitations::routes::preview => 200 [404, 410]
                "Preview a meeting invitation" message "Meeting invitation retrieved.";
            POST "/api/meeting-invitations/{token}/accept" "acceptInvitation" invitations::routes::accept => 200 [401, 403, 404, 409, 410]
                "Accept a meeting invitation" message "Invitation accepted; you can join the meeting.";
            POST "/api/meeting-invitations/{token}/decline" "declineInvitation"
                invitations::routes::decline => 200 [401, 403, 404, 409, 410]
                "Decline a meeting invitation" message "Invitation declined.";
            POST "/api/meetings/{meetingId}/invitations/{invitationId}/resend" "resendInvitation"
                invitations::routes::resend => 200 [404, 409]
                "Resend a meeting invitation" message "Invitation resent with a new link.";
            DELETE "/api/meetings/{meetingId}/invitations/{invitationId}" "revokeInvitation" invitations::routes::revoke => 200 [404, 409]
                "Revoke a meeting invitation" message "Invitation revoked.";
        }
        "Participants" in meetings {
            POST "/api/meetings/{meetingId}/join" "joinMeeting" participants::routes::join => 200 [404, 409]
                "Join a meeting" message "You joined the meeting.";
            POST "/api/meetings/{meetingId}/leave" "leaveMeeting" participants::routes::leave => 200 [404, 409]
                "Leave a meeting" message "You left the meeting.";
            GET "/api/meetings/{meetingId}/participants" "listMeetingParticipants" participants::routes::list => 200 [404]
                "List a meeting's participants" message "Participants retrieved.";
            DELETE "/api/meetings/{meetingId}/participants/{participantId}" "removeParticipant"
                participants::routes::remove => 200 [404, 409]
                "Remove a participant" message "Participant removed.";
            POST "/api/meetings/{meetingId}/participants/{participantId}/consent" "saveRecordingConsent"
                consents::routes::save => 200 [404, 409]
                "Record consent" message "Recording consent saved.";
            GET "/api/meetings/{meetingId}/consents" "exportConsentRecord" consents::routes::export => 200 [404]
                "Export a meeting's consent record" message "Consent record retrieved.";
        }
        "Lifecycle" in meetings {
            POST "/api/meetings/{meetingId}/start" "startMeeting" lifecycle::routes::start => 200 [404, 409]
                "Start a meeting" message "Meeting started.";
            POST "/api/meetings/{meetingId}/end" "endMeeting" lifecycle::routes::end => 200 [404, 409]
                "End a meeting" message "Meeting ended.";
        }
        "Recordings" in meetings {
            POST "/api/meetings/{meetingId}/recordings/start" "startRecording" recordings::routes::start => 201 [404, 409, 507]
                "Start a recording" message "Recording started.";
            GET "/api/meetings/{meetingId}/recordings" "listMeetingRecordings" recordings::routes::list => 200 [404]
                "List a meeting's recordings" message "Recordings retrieved.";
            PUT "/api/recordings/{recordingId}/chunks/{chunkIndex}" "uploadRecordingChunk"
                recordings::routes::upload_chunk => 200 [404, 409, 413, 415, 422, 507]
                "Upload a chunk of a recording" message "Chunk stored.";
            PUT "/api/recordings/{recordingId}/file" "uploadRecordingFile"
                recordings::routes::upload_file => 200 [404, 409, 413, 415, 422, 507]
                "Upload a recording as one file" message "Recording uploaded.";
            POST "/api/recordings/{recordingId}/stop" "stopRecording" recordings::routes::stop => 200 [404, 409]
                "Stop a recording" message "Recording stopped.";
            GET "/api/recordings/{recordingId}" "getRecordingStatus" recordings::routes::status => 200 [304, 404]
                "Get the status of a recording" message "Recording status retrieved.";
            POST "/api/recordings/{recordingId}/playback-links" "createPlaybackLink" recordings::routes::link => 201 [404, 409, 410]
                "Create a link that plays a recording" message "Playback link created.";
            GET "/api/recordings/{recordingId}/content" "downloadRecording"
                recordings::routes::download => 200 [206, 304, 404, 409, 410, 416]
                "Download the content of a recording";
            GET "/api/recordings/{recordingId}/transcript" "getRecordingTranscript" transcripts::routes::read => 200 [404, 409, 410]
                "Get the transcript of a recording" message "Transcript retrieved.";
            PATCH "/api/recordings/{recordingId}/transcript/segments/{segmentIndex}" "correctTranscriptSegment"
                transcripts::routes::correct => 200 [404, 409, 410]
                "Correct a segment of a transcript" message "Transcript corrected.";
            DELETE "/api/recordings/{recordingId}" "deleteRecording" recordings::routes::delete => 200 [404, 409]
                "Delete a recording" message "Recording deleted.";
        }
        "Transcripts" in meetings {
            POST "/api/recordings/{recordingId}/transcripts" "transcribeRecording" transcripts::routes::begin => 202 [404, 409, 410]
                "Transcribe a recording anew" message "Transcription started.";
            GET "/api/recordings/{recordingId}/transcripts" "listTranscripts" transcripts::routes::versions => 200 [404]
                "List the versions of a transcript" message "Transcript versions retrieved.";
        }
        "Meeting Transcripts" in meetings {
            POST "/api/meetings/{meetingId}/transcripts" "attachMeetingTranscript"
                transcripts::attached::routes::attach => 201 [404, 409, 413, 415, 507]
                "Attach a transcript to a meeting" message "Transcript attached.";
        }
        "AI Runs" in analysis {
            POST "/api/projects/{projectId}/ai/runs" "startAiAnalysisRun" analysis::routes::start => 202 [404, 409]
                "Start an AI analysis run" message "AI analysis run started.";
            GET "/api/projects/{projectId}/ai/runs" "listAiAnalysisRuns" analysis::routes::list => 200 [404]
                "List a project's AI analysis runs" message "AI analysis runs retrieved.";
            GET "/api/projects/{projectId}/ai/runs/{runId}" "getAiAnalysisRunStatus" analysis::routes::status => 200 [304, 404]
                "Get the status of an AI analysis run" message "AI analysis run status retrieved.";
            GET "/api/projects/{projectId}/ai/runs/{runId}/events" "streamAiAnalysisRun" analysis::routes::stream => 200 [404]
                "Stream the progress of an AI analysis run";
            POST "/api/projects/{projectId}/ai/runs/{runId}/cancel" "cancelAiAnalysisRun" analysis::routes::cancel => 200 [404, 409]
                "Cancel an AI analysis run" message "AI analysis run cancelled.";
            POST "/api/projects/{projectId}/ai/runs/{runId}/retry" "retryAiAnalysisRun" analysis::routes::retry => 202 [404, 409]
                "Retry an AI analysis run" message "AI analysis run restarted.";
            GET "/api/projects/{projectId}/proposals" "listProposals" analysis::proposals::routes::list => 200 [404]
                "List a project's proposals" message "Proposals retrieved.";
            POST "/api/projects/{projectId}/proposals/{proposalId}/accept" "acceptProposal"
                analysis::proposals::routes::accept => 200 [404, 409, 412]
                "Accept a proposal" message "Proposal accepted.";
            POST "/api/projects/{projectId}/proposals/{proposalId}/dismiss" "dismissProposal"
                analysis::proposals::routes::dismiss => 200 [404, 409]
                "Dismiss a proposal" message "Proposal dismissed.";
        }
        "Run Findings" in analysis {
            GET "/api/projects/{projectId}/ai/runs/{runId}/findings" "getRunFindings"
                analysis::findings::routes::findings => 200 [404, 409]
                "Get what an AI analysis run found" message "Findings of the AI analysis run retrieved.";
            POST "/api/projects/{projectId}/ai/runs/{runId}/undo" "undoAiAnalysisRun"
                analysis::findings::routes::undo => 200 [404, 409]
                "Undo an AI analysis run" message "AI analysis run undone.";
        }
        "Pairs" in analysis {
            GET "/api/projects/{projectId}/item-pairs" "listItemPairs" analysis::pairs::routes::list => 200 [404]
                "List the pairs of requirements that may repeat or contradict each other" message "Pairs retrieved.";
            POST "/api/projects/{projectId}/item-pairs/settlements" "settleItemPairs"
                analysis::pairs::routes::settle => 200 [404, 409]
                "Settle pairs of requirements, or open them again" message "Pairs settled.";
        }
        "AI Results Dashboard" in analysis {
            GET "/api/projects/{projectId}/ai/results-dashboard" "getResultsDashboard"
                analysis::dashboard::routes::dashboard => 200 [304, 404, 409]
                "Get a run's results dashboard" message "Results dashboard retrieved.";
            GET "/api/projects/{projectId}/ai/results-dashboard/exports/formats" "listExportFormats"
                analysis::exports::routes::formats => 200 [404]
                "List the formats of exports" message "Export formats retrieved.";
            POST "/api/projects/{projectId}/ai/results-dashboard/exports" "exportResultsDashboard"
                analysis::exports::routes::create => 201 [404, 409, 503, 507]
                "Export a results dashboard as a file" message "Results dashboard exported.";
            GET "/api/projects/{projectId}/ai/results-dashboard/exports/{exportId}/content" "downloadDashboardExport"
                analysis::exports::routes::download => 200 [404, 409, 410]
                "Download an exported file";
        }
        "Imports" in analysis {
            POST "/api/projects/{projectId}/imports" "importItems" analysis::imports::routes::create => 201 [404, 409, 413, 415, 507]
                "Import a file of changed items as proposals" message "File imported; see its proposals.";
            GET "/api/projects/{projectId}/imports" "listImports" analysis::imports::routes::list => 200 [404]
                "List a project's imports" message "Imports retrieved.";
            GET "/api/projects/{projectId}/imports/{importId}" "getImport" analysis::imports::routes::details => 200 [404]
                "Get an import with its report" message "Import retrieved.";
        }
        "HITL Approval and Regeneration" in reviews {
            GET "/api/projects/{projectId}/approval-events" "listApprovalEvents" approvals::routes::events => 200 [404]
                "List a project's approval events" message "Approval events retrieved.";
            GET "/api/projects/{projectId}/approval-events/verification" "verifyApprovalTrail" approvals::routes::verification => 200 [404]
                "Verify a project's approval trail" message "Approval trail verified.";
            PATCH "/api/projects/{projectId}/requirements/{requirementId}/status" "updateRequirementStatus"
                approvals::routes::update_requirement_status => 200 [404, 409, 412]
                "Approve, reject, reopen or defer a requirement" message "Requirement's status updated.";
            PATCH "/api/projects/{projectId}/requirements/{requirementId}" "editRequirement"
                approvals::routes::edit_requirement => 200 [404, 409, 412]
                "Edit a requirement" message "Requirement edited.";
            PATCH "/api/projects/{projectId}/user-stories/{userStoryId}/status" "updateUserStoryStatus"
                approvals::routes::update_user_story_status => 200 [404, 409, 412]
                "Approve, reject, reopen or defer a user story" message "User story's status updated.";
            PATCH "/api/projects/{projectId}/user-stories/{userStoryId}" "editUserStory"
                approvals::routes::edit_user_story => 200 [404, 409, 412]
                "Edit a user story" message "User story edited.";
            POST "/api/projects/{projectId}/items/status" "updateItemsStatus" approvals::routes::update_items_status => 200 [404, 409]
                "Approve, reject, reopen or defer many items" message "Items' status updated.";
            POST "/api/projects/{projectId}/user-stories/{userStoryId}/regenerate" "regenerateUserStory"
                approvals::routes::regenerate_user_story => 200 [404, 409, 412, 502, 503]
                "Regenerate a user story" message "User story regenerated.";
        }
        "Stakeholder" in reviews {
            POST "/api/projects/{projectId}/review-invitations" "createReviewInvitation"
                reviews::invitations::routes::create => 201 [404, 409]
                "Invite people to review a project's results" message "Review invitations sent.";
            GET "/api/projects/{projectId}/review-invitations" "listReviewInvitations" reviews::invitations::routes::list => 200 [404]
                "List a project's review invitations" message "Review invitations retrieved.";
            POST "/api/projects/{projectId}/review-invitations/{invitationId}/resend" "resendReviewInvitation"
                reviews::invitations::routes::resend => 200 [404, 409]
                "Resend a review invitation" message "Review invitation resent with a new link.";
            DELETE "/api/projects/{projectId}/review-invitations/{invitationId}" "revokeReviewInvitation"
                reviews::invitations::routes::revoke => 200 [404, 409]
                "Revoke a review invitation and its access" message "Review invitation revoked; its access has ended.";
            GET "/api/review-invitations/{token}" "previewReviewInvitation" reviews::invitations::routes::preview => 200 [404, 410]
                "Preview a review invitation" message "Review invitation retrieved.";
            POST "/api/review-invitations/{token}/accept" "acceptReviewInvitation"
                reviews::invitations::routes::accept => 200 [404, 409, 410]
                "Accept a review invitation" message "Review invitation accepted; use the review token for the review.";
            GET "/api/project-review/dashboard" "getReviewDashboard"
                reviews::stakeholder_dashboard::routes::dashboard => 200 [304, 409, 410]
                "Get the dashboard of a review" message "Review dashboard retrieved.";
            GET "/api/project-review/feedback" "listFeedbackByReviewToken" reviews::feedback::routes::list_own => 200 [410]
                "List the reviewer's own feedback" message "Your feedback retrieved.";
            POST "/api/project-review/feedback" "submitFeedback" reviews::feedback::routes::submit_as_reviewer => 201 [403, 404, 409, 410]
                "Submit feedback as a reviewer" message "Feedback submitted; thank you.";
            GET "/api/projects/{projectId}/feedback" "listProjectFeedback" reviews::feedback::routes::list => 200 [404]
                "List a project's feedback" message "Project feedback retrieved.";
            POST "/api/projects/{projectId}/feedback" "submitProjectFeedback" reviews::feedback::routes::submit_as_member => 201 [404, 409]
                "Submit feedback as a member" message "Feedback submitted to the project.";
            PATCH "/api/projects/{projectId}/feedback/{feedbackId}" "updateFeedbackStatus"
                reviews::feedback::routes::update_status => 200 [404, 409]
                "Update the status of feedback" message "Feedback updated.";
        }
        "Glossary" in projects {
            GET "/api/projects/{projectId}/glossary" "getProjectGlossary" glossary::routes::read => 200 [304, 404]
                "Get a project's glossary" message "Glossary retrieved.";
            PUT "/api/projects/{projectId}/glossary" "replaceProjectGlossary" glossary::routes::replace => 200 [404, 409, 412]
                "Replace the entries of a project's glossary" message "Glossary replaced.";
        }
        "Trace and search" in reviews {
            GET "/api/projects/{projectId}/trace-matrix" "getTraceMatrix" trace::routes::matrix => 200 [304, 404, 409]
                "Get a project's trace matrix" message "Trace matrix retrieved.";
            GET "/api/projects/{projectId}/search" "searchProject" search::routes::search => 200 [404]
                "Search a project" message "Search results retrieved.";
        }
        "Baselines" in reviews {
            POST "/api/projects/{projectId}/baselines" "createBaseline" baselines::routes::create => 201 [404, 409]
                "Take a baseline of a project" message "Baseline taken.";
            GET "/api/projects/{projectId}/baselines" "listBaselines" baselines::routes::list => 200 [404]
                "List a project's baselines" message "Baselines retrieved.";
            GET "/api/projects/{projectId}/baselines/{baselineId}/comparison" "compareBaseline" baselines::routes::compare => 200 [404, 409]
                "Compare a baseline with another one or with the present" message "Baseline compared.";
        }
        "Tracker Integration" in trackers {
            POST "/api/projects/{projectId}/tracker/connection" "startTrackerConnection"
                connections::routes::start => 201 [404, 409, 502, 503]
                "Connect a project to an issue tracker" message "Tracker connection started.";
            GET writes "/api/tracker/callback" "trackerOAuthCallback" connections::routes::callback => 302 []
                "Complete a connection to an issue tracker";
            GET "/api/projects/{projectId}/tracker" "getTrackerConnection" connections::routes::details => 200 [404]
                "Get a project's tracker connection and destination" message "Tracker connection retrieved.";
            GET writes "/api/projects/{projectId}/tracker/projects" "listTrackerProjects"
                destinations::routes::projects => 200 [404, 409, 502]
                "List the projects at the tracker" message "Tracker projects retrieved.";
            GET writes "/api/projects/{projectId}/tracker/projects/{trackerProjectId}/issue-types" "listTrackerIssueTypes"
                destinations::routes::issue_types => 200 [404, 409, 502]
                "List the issue types of a project at the tracker" message "Tracker issue types retrieved.";
            PUT "/api/projects/{projectId}/tracker/destination" "saveTrackerDestination" destinations::routes::save => 200 [404, 409, 502]
                "Save where exported stories go" message "Tracker destination saved.";
            DELETE "/api/projects/{projectId}/tracker/connection" "disconnectTracker" connections::routes::disconnect => 200 [404]
                "Disconnect a project from its issue tracker" message "Tracker disconnected; its tokens are erased.";
        }
        "Tracker Exports" in trackers {
            POST "/api/projects/{projectId}/tracker/exports" "exportApprovedUserStories" exports::routes::create => 202 [404, 409]
                "Export user stories to the issue tracker" message "Export to the tracker started.";
            GET "/api/projects/{projectId}/tracker/exports" "listTrackerExports" exports::routes::list => 200 [404]
                "List a project's exports to the issue tracker" message "Exports to the tracker retrieved.";
            GET "/api/projects/{projectId}/tracker/exports/{exportId}" "getTrackerExport" exports::routes::details => 200 [404]
                "Get an export with its items" message "Export to the tracker retrieved.";
            POST "/api/projects/{projectId}/tracker/exports/{exportId}/cancel" "cancelTrackerExport"
                exports::routes::cancel => 200 [404, 409]
                "Cancel an export to the issue tracker" message "Export to the tracker cancelled.";
        }
        "Operator" in operator {
            GET "/api/operator/overview" "getOperatorOverview" operator::routes::overview => 200 []
                "Get the state of the installation" message "State of the installation retrieved.";
            GET "/api/operator/runs" "listOperatorRuns" operator::routes::list_runs => 200 []
                "List the AI analysis runs of all projects" message "Runs of all projects retrieved.";
            POST "/api/operator/runs/{runId}/cancel" "cancelOperatorRun" operator::routes::cancel_run => 200 [404, 409]
                "Cancel an AI analysis run of any project" message "AI analysis run of the project cancelled.";
            GET "/api/operator/jobs" "listFailedJobs" operator::routes::list_jobs => 200 []
                "List failed, waiting or running jobs" message "Jobs retrieved.";
            POST "/api/operator/jobs/{jobId}/retry" "retryFailedJob" operator::routes::retry_job => 200 [404, 409]
                "Retry a failed job" message "Job requeued.";
            POST "/api/operator/jobs/retry" "retryFailedJobs" operator::routes::retry_jobs => 200 []
                "Retry failed jobs of a kind, or all" message "Failed jobs requeued.";
        }
        "Real time" in live {
            POST "/api/ws/tickets" "issueSocketTicket" live::routes::issue_ticket => 201 []
                "Issue a ticket for one socket or event stream" message "Socket ticket issued.";
            GET "/api/ws" "openSocket" live::routes::open_socket => 101 [400, 403]
                "Open a socket for meeting, run and project events";
            POST "/api/webhooks/livekit" "receiveMediaWebhook" media::routes::receive => 200 [400, 413]
                "Receive media server webhooks" message "Webhook accepted.";
        }
        "Service" in service {
            GET "/health/live" "liveness" service::liveness => 200 []
                "Liveness probe" message "The process is alive.";
            GET "/health/ready" "readiness" service::readiness => 200 [503]
                "Readiness probe" message "The service is ready.";
            GET "/api/openapi.json" "openApiDocument" service::openapi_document => 200 []
                "Get this OpenAPI document";
        }
        "Event description" in service {
            GET "/api/asyncapi.json" "asyncApiDocument" service::asyncapi_document => 200 []
                "Get the AsyncAPI document of the socket";
        }
    }
}

/// The operations on the internal listener.
#[must_use]
pub fn internal() -> Vec<Operation> {
    operations! {
        "Service" in service {
            GET "/metrics" "metrics" service::metrics => 200 []
                "Metrics in the Prometheus text format";
        }
    }
}

/// The operations of the pipeline service, on its own address.
#[must_use]
pub fn pipeline() -> Vec<Operation> {
    operations! {
        "AI Pipeline Internal" in pipeline_jobs {
            GET "/internal/health" "pipelineHealth" pipeline_jobs::routes::health => 200 [503]
                "Get the health of the pipeline service" message "Pipeline service health retrieved.";
            POST "/internal/process-json" "pipelineProcessJson" pipeline_jobs::routes::process_json => 202 [409, 503]
                "Analyse texts" message "Texts queued for analysis.";
            POST "/internal/process" "pipelineProcessFiles" pipeline_jobs::routes::process_files => 202 [409, 413, 415, 503]
                "Analyse files" message "Files queued for analysis.";
            GET "/internal/jobs/{jobId}" "pipelineJobStatus" pipeline_jobs::routes::status => 200 [404]
                "Get the status of a pipeline job" message "Pipeline job status retrieved.";
            GET "/internal/jobs/{jobId}/result" "pipelineJobResult" pipeline_jobs::routes::result => 200 [304, 404, 409]
                "Get the result of a pipeline job" message "Pipeline job result retrieved.";
            POST "/internal/jobs/{jobId}/cancel" "pipelineCancelJob" pipeline_jobs::routes::cancel => 200 [404, 409]
                "Cancel a pipeline job" message "Pipeline job cancelled.";
        }
        "HITL Approval and Regeneration" in pipeline_jobs {
            POST "/internal/stories/regenerate" "pipelineRegenerateStory" pipeline_jobs::routes::regenerate_story => 200 [503]
                "Write a user story anew" message "User story written anew.";
        }
    }
}

/// All operations, as the OpenAPI document describes them.
#[must_use]
pub fn all() -> Vec<Operation> {
    public().into_iter().chain(internal()).chain(pipeline()).collect()
}
