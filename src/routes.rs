//! Every operation on one page, in the order of the interface. Who may call one is said by its handler's first
//! argument; what it answers beyond the usual errors is said here, and what a success says happened: the `message` of its answer,
//! where it is in the envelope.

use actix_web::http::Method;

use crate::accounts::{external, profile, resets, sessions};
use crate::api::operation::Operation;
use crate::meetings::{consents, invitations, participants, rooms};
use crate::projects::{documents, people};
use crate::{accounts, analysis, live, meetings, projects, service};

macro_rules! operations {
    ($($tag:literal { $($($method:ident)+ $path:literal $id:literal $handler:path => $success:literal [$($error:literal),*] $summary:literal $(says $says:literal)?;)* })*) => {
        vec![$($(
            operation!($($method)+; $path, $id, $handler).answers($success, &[$($error),*]).named($tag, $summary)$(.says($says))?,
        )*)*]
    };
}

/// What is not a GET may write, and so may the one GET that a log-in comes back by.
macro_rules! operation {
    (GET; $($rest:tt)*) => { Operation::reading(Method::GET, $($rest)*) };
    (GET writes; $($rest:tt)*) => { Operation::writing(Method::GET, $($rest)*) };
    ($method:ident; $($rest:tt)*) => { Operation::writing(Method::$method, $($rest)*) };
}

/// What is served to everybody.
#[must_use]
pub fn public() -> Vec<Operation> {
    operations! {
        "Auth" {
            POST "/api/auth/register" "register" accounts::routes::register => 201 [] "Ask for an account; a code comes by mail" says "The code that confirms the account is on its way.";
            POST "/api/auth/confirm-account" "confirmAccount" accounts::routes::confirm_account => 200 [] "Confirm the address with the code" says "Account confirmed; you are logged in.";
            POST "/api/auth/otp/resend" "resendOtp" accounts::routes::resend_otp => 200 [] "Have a new code mailed" says "If the address waits for a code, it is on its way.";
            POST "/api/auth/password/forgot" "sendResetPasswordEmail" resets::routes::send_reset_password_email => 200 [] "Have a code mailed that lets you choose a new password" says "If the address has an account, a code is on its way.";
            POST "/api/auth/password/verify-otp" "verifyOtp" resets::routes::verify_otp => 200 [] "Turn that code into a token" says "The code is right; choose a new password.";
            POST "/api/auth/password/reset" "resetPassword" resets::routes::reset_password => 200 [] "Choose a new password with that token; all sessions end" says "Password replaced. Log in with the new one.";
            POST "/api/auth/login" "login" sessions::routes::login => 200 [401, 403] "Log in" says "Logged in.";
            GET "/api/auth/google-login" "googleLogin" external::routes::google_login => 302 [502, 503] "Be sent to Google, or to another provider, to log in";
            GET writes "/api/auth/google-login/callback" "googleLoginCallback" external::routes::google_login_callback => 302 [503] "Come back from the provider";
            POST "/api/auth/google-login/exchange" "exchangeLoginCode" external::routes::exchange_login_code => 200 [401] "Turn the code of such a log-in into a session" says "Logged in by the provider.";
            POST "/api/auth/refresh-token" "refreshToken" sessions::routes::refresh_token => 200 [401] "Go on with a session" says "Session renewed.";
            POST "/api/auth/logout" "logOut" sessions::routes::log_out => 200 [] "End this session, or all" says "Logged out.";
            GET "/api/auth/sessions" "listSessions" sessions::routes::list => 200 [] "List where I am logged in" says "Sessions retrieved.";
            DELETE "/api/auth/sessions/{sessionId}" "revokeSession" sessions::routes::revoke => 200 [404] "End one of my sessions" says "Session ended.";
        }
        "Project" {
            POST "/api/projects" "createProject" projects::routes::create => 201 [] "Make a project" says "Project created.";
            GET "/api/projects" "getUserProjects" projects::routes::list => 200 [] "List my projects" says "Projects retrieved.";
            GET "/api/projects/{projectId}" "getProjectDetails" projects::routes::details => 200 [404] "Read a project" says "Project retrieved.";
            PATCH "/api/projects/{projectId}" "editProject" projects::routes::edit => 200 [404, 409, 412] "Change a project" says "Project updated.";
            DELETE "/api/projects/{projectId}" "deleteProject" projects::routes::delete => 200 [404, 409] "Delete a project with all that is in it" says "Project deleted.";
        }
        "Document" {
            POST "/api/projects/{projectId}/documents" "uploadDocument" documents::routes::upload => 201 [404, 413, 415] "Upload a document" says "Document uploaded.";
            GET "/api/projects/{projectId}/documents" "getDocumentsByProjectId" documents::routes::list => 200 [404] "List a project's documents" says "Documents retrieved.";
            GET "/api/projects/{projectId}/documents/{documentId}" "getDocument" documents::routes::details => 200 [404] "Read what is known of a document" says "Document retrieved.";
            GET "/api/projects/{projectId}/documents/{documentId}/content" "downloadDocument" documents::routes::download => 200 [404] "Download a document as it was uploaded";
            GET "/api/projects/{projectId}/documents/{documentId}/text" "getDocumentText" documents::routes::text => 200 [404, 409] "Read the text in which quotes are found" says "Document text retrieved.";
            DELETE "/api/projects/{projectId}/documents/{documentId}" "deleteDocument" documents::routes::delete => 200 [404, 409] "Delete a document" says "Document deleted.";
        }
        "Results" {
            GET "/api/projects/{projectId}/user-stories" "getUserStoriesByProject" analysis::results::routes::user_stories => 200 [404] "List a project's user stories" says "User stories retrieved.";
            GET "/api/projects/{projectId}/requirements" "getRequirementsByProject" analysis::results::routes::requirements => 200 [404] "List a project's requirements" says "Requirements retrieved.";
        }
        "Profile" {
            GET "/api/profile" "getProfileDetails" profile::routes::details => 200 [] "Read my account" says "Profile retrieved.";
            PUT "/api/profile" "editProfile" profile::routes::edit => 200 [] "Change my name, job title or language" says "Profile updated.";
            POST "/api/profile/avatar" "uploadAvatar" profile::routes::upload_avatar => 200 [413, 415] "Put a picture of me in place" says "Picture put in place.";
            GET "/api/users/{userId}/avatar" "downloadAvatar" profile::routes::download_avatar => 200 [304, 404] "Download somebody's picture";
            PUT "/api/profile/change-password" "changePassword" profile::routes::change_password => 200 [403] "Choose another password" says "Password changed; all other sessions have ended.";
            DELETE "/api/profile" "deleteAccount" profile::routes::delete => 200 [403, 409] "Delete my account" says "Account deleted.";
        }
        "Project Lookup" {
            GET "/api/projects/{projectId}/members" "listProjectMembers" people::routes::list => 200 [404] "List a project's members" says "Project members retrieved.";
            POST "/api/projects/{projectId}/members" "addProjectMember" people::routes::add => 201 [404, 409] "Ask somebody into a project by mail" says "The invitation to the project is on its way.";
            GET "/api/project-invitations/{token}" "previewProjectInvitation" people::routes::preview => 200 [404, 410] "See what one is asked into" says "Project invitation retrieved.";
            POST "/api/project-invitations/{token}/accept" "acceptProjectInvitation" people::routes::accept => 200 [403, 404, 409, 410] "Become a member" says "Invitation accepted; you are a member of the project.";
            PATCH "/api/projects/{projectId}/members/{memberId}" "changeProjectMemberRole" people::routes::change_role => 200 [404, 409] "Change what a member may do" says "Member's role changed.";
            DELETE "/api/projects/{projectId}/members/{memberId}" "removeProjectMember" people::routes::remove => 200 [404, 409] "Take a member out, or leave" says "Member taken out of the project.";
            GET "/api/projects/{projectId}/stakeholders" "listProjectStakeholders" people::routes::stakeholders => 200 [404] "List who has a stake in a project" says "Stakeholders retrieved.";
        }
        "Meetings" {
            POST "/api/projects/{projectId}/meetings" "createMeeting" meetings::routes::create => 201 [404] "Schedule a meeting" says "Meeting scheduled.";
            GET "/api/projects/{projectId}/meetings" "listProjectMeetings" meetings::routes::list => 200 [404] "List a project's meetings" says "Meetings retrieved.";
            GET "/api/meetings/{meetingId}" "getMeetingDetails" meetings::routes::details => 200 [404] "Read a meeting" says "Meeting retrieved.";
            PATCH "/api/meetings/{meetingId}" "updateMeeting" meetings::routes::update => 200 [404, 409, 412] "Change a meeting's title, description or time" says "Meeting updated.";
            POST "/api/meetings/{meetingId}/cancel" "cancelMeeting" meetings::routes::cancel => 200 [404, 409] "Call a meeting off" says "Meeting cancelled.";
            POST "/api/meetings/{meetingId}/room-credentials" "issueRoomCredentials" rooms::routes::issue => 200 [404, 409, 503] "Get into the meeting's room at the media server" says "Room credentials issued.";
        }
        "Invitations" {
            POST "/api/meetings/{meetingId}/invitations/participants" "inviteParticipants" invitations::routes::invite_participants => 201 [404, 409] "Ask members of the project to a meeting" says "The invitations to members are on their way.";
            POST "/api/meetings/{meetingId}/invitations/guests" "inviteGuests" invitations::routes::invite_guests => 201 [404, 409] "Ask others to a meeting by mail" says "The invitations to guests are on their way.";
            GET "/api/meetings/{meetingId}/invitations" "listMeetingInvitations" invitations::routes::list => 200 [404] "List a meeting's invitations" says "Meeting invitations retrieved.";
            GET "/api/meeting-invitations/{token}" "previewInvitation" invitations::routes::preview => 200 [404, 410] "See what one is asked to" says "Meeting invitation retrieved.";
            POST "/api/meeting-invitations/{token}/accept" "acceptInvitation" invitations::routes::accept => 200 [401, 403, 404, 409, 410] "Get a place in the meeting" says "Invitation accepted; you have a place in the meeting.";
            POST "/api/meeting-invitations/{token}/decline" "declineInvitation" invitations::routes::decline => 200 [401, 403, 404, 409, 410] "Say no" says "Invitation declined.";
            POST "/api/meetings/{meetingId}/invitations/{invitationId}/resend" "resendInvitation" invitations::routes::resend => 200 [404, 409] "Send an invitation again, with a new link" says "Invitation sent again, with a new link.";
            DELETE "/api/meetings/{meetingId}/invitations/{invitationId}" "revokeInvitation" invitations::routes::revoke => 200 [404, 409] "Take an invitation back" says "Invitation taken back.";
        }
        "Participants" {
            POST "/api/meetings/{meetingId}/join" "joinMeeting" participants::routes::join => 200 [404, 409] "Come into a meeting" says "You joined the meeting.";
            POST "/api/meetings/{meetingId}/leave" "leaveMeeting" participants::routes::leave => 200 [404, 409] "Leave a meeting" says "You left the meeting.";
            GET "/api/meetings/{meetingId}/participants" "listMeetingParticipants" participants::routes::list => 200 [404] "List a meeting's people" says "Participants retrieved.";
            DELETE "/api/meetings/{meetingId}/participants/{participantId}" "removeParticipant" participants::routes::remove => 200 [404, 409] "Put somebody out of a meeting" says "Participant put out of the meeting.";
            POST "/api/meetings/{meetingId}/participants/{participantId}/consent" "saveRecordingConsent" consents::routes::save => 200 [404, 409] "Say what may be made of what I say" says "Recording consent saved.";
            GET "/api/meetings/{meetingId}/consents" "exportConsentRecord" consents::routes::export => 200 [404] "Read who agreed to what, with its proof" says "Consent record retrieved.";
        }
        "Lifecycle" {
            POST "/api/meetings/{meetingId}/start" "startMeeting" meetings::routes::start => 200 [404, 409] "Open a meeting" says "Meeting started.";
            POST "/api/meetings/{meetingId}/end" "endMeeting" meetings::routes::end => 200 [404, 409] "End a meeting for everybody" says "Meeting ended.";
        }
        "AI Runs" {
            POST "/api/projects/{projectId}/ai/runs" "startAiAnalysisRun" analysis::routes::start => 202 [404, 409] "Analyse documents" says "AI analysis run started.";
            GET "/api/projects/{projectId}/ai/runs" "listAiAnalysisRuns" analysis::routes::list => 200 [404] "List a project's runs" says "AI analysis runs retrieved.";
            GET "/api/projects/{projectId}/ai/runs/{runId}" "getAiAnalysisRunStatus" analysis::routes::status => 200 [304, 404] "Read how far a run is" says "AI analysis run status retrieved.";
            GET "/api/projects/{projectId}/ai/runs/{runId}/events" "streamAiAnalysisRun" analysis::routes::stream => 200 [404] "Follow a run as it goes";
            POST "/api/projects/{projectId}/ai/runs/{runId}/cancel" "cancelAiAnalysisRun" analysis::routes::cancel => 200 [404, 409] "End a run" says "AI analysis run cancelled.";
            POST "/api/projects/{projectId}/ai/runs/{runId}/retry" "retryAiAnalysisRun" analysis::routes::retry => 202 [404, 409] "Run again what failed" says "AI analysis run started again.";
        }
        "AI Results Dashboard" {
            GET "/api/projects/{projectId}/ai/results-dashboard" "getResultsDashboard" analysis::dashboard::routes::dashboard => 200 [304, 404, 409] "Read what a run found" says "Results dashboard retrieved.";
        }
        "Real time" {
            POST "/api/ws/tickets" "issueSocketTicket" live::routes::issue_ticket => 201 [] "Get a ticket for one socket or stream" says "Socket ticket issued.";
            GET "/api/ws" "openSocket" live::routes::open_socket => 101 [400, 403] "Listen to meetings, runs and projects";
            POST "/api/webhooks/livekit" "receiveMediaWebhook" rooms::routes::receive => 200 [400, 413] "Hear what the media server tells" says "Event heard.";
        }
        "Service" {
            GET "/health/live" "liveness" service::liveness => 200 [] "Whether the process lives" says "The process lives.";
            GET "/health/ready" "readiness" service::readiness => 200 [503] "Whether it can serve" says "The service is ready.";
            GET "/api/openapi.json" "openApiDocument" service::openapi_document => 200 [] "This document";
        }
    }
}

/// What is served on the internal address.
#[must_use]
pub fn internal() -> Vec<Operation> {
    operations! {
        "Service" {
            GET "/metrics" "metrics" service::metrics => 200 [] "Figures for Prometheus";
        }
    }
}

/// What the OpenAPI document describes.
#[must_use]
pub fn all() -> Vec<Operation> {
    public().into_iter().chain(internal()).collect()
}
