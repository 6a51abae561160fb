//! The words for the groups of operations, for who may call one, and for how a caller authenticates.

use serde_json::{Value, json};

use crate::access::policy::Who;

/// Describes a group of operations.
pub fn about(tag: &str) -> &'static str {
    match tag {
        "Auth" => "Registration, sign-in and sessions.",
        "Project" => "Projects, which contain documents, meetings and requirements.",
        "Document" => "Uploaded documents and their extracted text.",
        "Meeting Transcripts" => "Transcripts of meetings that other programs made, given as files.",
        "Document Versions" => "Versions of a document, and what one says differently from another.",
        "Results" => "The requirements and user stories of a project.",
        "Project Lookup" => "Members, invitations and stakeholders of a project.",
        "Profile" => "The caller's account, and avatars.",
        "Meetings" => "Scheduling of meetings, and credentials for their media rooms.",
        "Invitations" => "Invitations of project members and guests to a meeting.",
        "Participants" => "Attendance of a meeting and recording consent.",
        "Recordings" => "Recordings of meetings: upload, status, content.",
        "Lifecycle" => "Start and end of a meeting.",
        "Run Findings" => "What a run added to the specification, confirmed, and proposes about it; undoing it.",
        "Pairs" => "Pairs of requirements that may repeat or contradict each other, and what people made of them.",
        "AI Runs" => "AI analysis runs over the sources of a project, their progress, and what they propose to change.",
        "AI Results Dashboard" => "The results of a run in one response.",
        "Imports" => "Files of items that were changed elsewhere come back as proposals.",
        "AI Pipeline Internal" => {
            "The AI pipeline as a service of its own (`colloquy pipeline`), on an address of its own."
        }
        "HITL Approval and Regeneration" => "Approval of requirements and user stories, and stories written anew.",
        "Baselines" => "Copies of a project's requirements and user stories as they stood, and what has changed since.",
        "Tracker Integration" => {
            "The issue tracker that a project is connected to, and where its user stories go there."
        }
        "Tracker Exports" => "Approved user stories become issues of the connected tracker, each exactly once.",
        "Operator" => "The whole installation, for its operators: state, storage, runs, jobs.",
        "Trace and search" => "From requirements to their sources, stories and issues.",
        "Glossary" => "The terms of a project, which speech recognition spells as the project does.",
        "Stakeholder" => {
            "Reviews by people outside of the project: invitations, what reviewers see, and feedback on results."
        }
        "Event description" => "The AsyncAPI document of the socket: its frames and every event.",
        "Real time" => "Events over sockets, and webhooks of the media server.",
        _ => "Health, metrics and this document.",
    }
}

/// Says in words who may call an operation.
pub fn who(who: Who) -> &'static str {
    match who {
        Who::Public => "anyone",
        Who::User => "any signed-in account",
        Who::UserOrGuest => "any signed-in account, or a guest of a meeting",
        Who::Member => "any member of the project",
        Who::Analyst => "project role ANALYST, MANAGER or OWNER",
        Who::Manager => "project role MANAGER or OWNER",
        Who::Owner => "project role OWNER",
        Who::Host => "the meeting's host or a co-host, or a MANAGER or OWNER of its project",
        Who::Attendee => "a member of the meeting's project, or a person who accepted an invitation to it",
        Who::Listener => {
            "an ANALYST, MANAGER or OWNER of the project, the meeting's host, or a project member who joined it"
        }
        Who::Participant => "a current or former participant of the meeting",
        Who::Ticket => "the bearer of a socket ticket, or of an access token",
        Who::Signed => "the media server, authenticated by the signature in the header Authorization",
        Who::Internal => "internal clients, on the internal address",
        Who::Service => "another part of the system, by the service key, at the address of the pipeline service",
        Who::Operator => "an operator: an account with isOperator",
        Who::Reviewer => {
            "a reviewer: whoever accepted an invitation to review the project's results, by the token in X-Review-Token"
        }
    }
}

/// Returns the alternatives by which a caller authenticates.
pub fn security(who: Who) -> Value {
    match who {
        Who::Public | Who::Signed | Who::Internal => json!([]),
        Who::Ticket => json!([{"ticket": []}, {"bearer": []}]),
        Who::Service => json!([{"serviceKey": []}]),
        Who::Reviewer => json!([{"reviewToken": []}]),
        _ => json!([{"bearer": []}]),
    }
}

pub fn security_schemes() -> Value {
    json!({
        "bearer": {
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "The access token of a session (`login`, `confirmAccount`, `refreshToken`), or the token of a guest \
                (`acceptInvitation`), which is good for one meeting.",
        },
        "ticket": {
            "type": "apiKey", "in": "query", "name": "ticket",
            "description": "A ticket of `issueSocketTicket`, for clients that can't set headers. It is valid once, for 30 seconds.",
        },
        "serviceKey": {
            "type": "http", "scheme": "bearer",
            "description": "The service key of the pipeline service, the setting `pipeline.key`.",
        },
        "reviewToken": {
            "type": "apiKey", "in": "header", "name": "X-Review-Token",
            "description": "The token that `acceptReviewInvitation` gives a reviewer.",
        },
    })
}
