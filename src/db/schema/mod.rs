//! The tables, declared by hand with our own SQL types; a test compares them with both databases.

mod analysis;
mod media;
mod reviews;
mod trackers;
pub use analysis::{
    dashboard_exports, item_imports, item_numbers, item_pairs, items, model_answers, proposal_links, proposal_texts,
    proposals, run_drafts, run_findings, run_items, run_nodes, run_results, run_supersedes, run_undos, runs,
    unadopted_projects, uncompared_projects,
};
pub use media::{recording_chunks, recordings, transcript_segments, transcripts};
pub use reviews::{
    approval_events, approval_trails, baseline_items, baselines, feedback, former_review_tokens, review_invitations,
    search_passages, search_pending, search_retries, search_words,
};
pub use trackers::{
    pending_tracker_connections, tracker_connections, tracker_destinations, tracker_export_items, tracker_exports,
    tracker_issues,
};

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    users (id) {
        id -> Uuid,
        email -> Text,
        full_name -> Text,
        job_title -> Nullable<Text>,
        language -> Text,
        password_hash -> Nullable<Text>,
        created_at -> UtcTime,
        updated_at -> UtcTime,
        avatar -> Nullable<Text>,
        deleted_at -> Nullable<UtcTime>,
        is_operator -> Bool,
        quota_bytes -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    registrations (id) {
        id -> Uuid,
        email -> Text,
        full_name -> Text,
        language -> Text,
        password_hash -> Text,
        created_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    codes (email, purpose) {
        email -> Text,
        purpose -> Text,
        code_hash -> Text,
        tries_left -> BigInt,
        expires_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    attempts (id) {
        id -> Uuid,
        class -> Text,
        key_hash -> Text,
        at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    reset_tokens (user_id) {
        user_id -> Uuid,
        token_hash -> Text,
        expires_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    external_logins (issuer, subject) {
        issuer -> Text,
        subject -> Text,
        user_id -> Uuid,
        linked_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    login_codes (code_hash) {
        code_hash -> Text,
        user_id -> Uuid,
        code_challenge -> Text,
        expires_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    sessions (id) {
        id -> Uuid,
        user_id -> Uuid,
        salt -> Text,
        counter -> BigInt,
        graced_counter -> BigInt,
        device -> Text,
        created_at -> UtcTime,
        last_used_at -> UtcTime,
        expires_at -> UtcTime,
        revoked_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    projects (id) {
        id -> Uuid,
        name -> Text,
        description -> Text,
        language -> Text,
        status -> Text,
        owner_id -> Uuid,
        version -> BigInt,
        created_at -> UtcTime,
        updated_at -> UtcTime,
        signed_approvals -> Bool,
        quota_bytes -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    members (id) {
        id -> Uuid,
        project_id -> Uuid,
        user_id -> Uuid,
        role -> Text,
        joined_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    project_invitations (id) {
        id -> Uuid,
        project_id -> Uuid,
        email -> Text,
        role -> Text,
        token_hash -> Text,
        invited_by_id -> Uuid,
        created_at -> UtcTime,
        expires_at -> UtcTime,
        accepted_at -> Nullable<UtcTime>,
        revoked_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    documents (id) {
        id -> Uuid,
        project_id -> Uuid,
        file_name -> Text,
        mime_type -> Text,
        size_bytes -> BigInt,
        sha256 -> Text,
        status -> Text,
        page_count -> Nullable<BigInt>,
        character_count -> Nullable<BigInt>,
        language -> Text,
        error_message -> Nullable<Text>,
        uploaded_by_id -> Uuid,
        created_at -> UtcTime,
        text_bytes -> BigInt,
        version -> BigInt,
        newest_version -> BigInt,
        version_created_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    document_versions (document_id, version) {
        document_id -> Uuid,
        version -> BigInt,
        project_id -> Uuid,
        file_name -> Text,
        mime_type -> Text,
        size_bytes -> BigInt,
        sha256 -> Text,
        status -> Text,
        page_count -> Nullable<BigInt>,
        character_count -> Nullable<BigInt>,
        language -> Text,
        error_message -> Nullable<Text>,
        uploaded_by_id -> Uuid,
        created_at -> UtcTime,
        text_bytes -> BigInt,
        reader_version -> Nullable<Text>,
        source_text -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    document_texts (document_id) {
        document_id -> Uuid,
        source_text -> Text,
        reader_version -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    glossaries (project_id) {
        project_id -> Uuid,
        version -> BigInt,
        entries -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    meetings (id) {
        id -> Uuid,
        project_id -> Uuid,
        title -> Text,
        description -> Text,
        status -> Text,
        end_reason -> Nullable<Text>,
        closing_note -> Nullable<Text>,
        cancelled_by_id -> Nullable<Uuid>,
        cancelled_at -> Nullable<UtcTime>,
        consent_policy -> Text,
        created_by_id -> Uuid,
        host_participant_id -> Uuid,
        scheduled_at -> UtcTime,
        started_at -> Nullable<UtcTime>,
        ended_at -> Nullable<UtcTime>,
        version -> BigInt,
        revision -> BigInt,
        created_at -> UtcTime,
        updated_at -> UtcTime,
        empty_since -> Nullable<UtcTime>,
        ledger_entries -> BigInt,
        ledger_head -> Text,
        scheduled_offset_minutes -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    participants (id) {
        id -> Uuid,
        meeting_id -> Uuid,
        user_id -> Nullable<Uuid>,
        display_name -> Text,
        email -> Nullable<Text>,
        role -> Text,
        status -> Text,
        joined_at -> Nullable<UtcTime>,
        left_at -> Nullable<UtcTime>,
        invitation_id -> Nullable<Uuid>,
        first_joined_at -> Nullable<UtcTime>,
        removed_by_id -> Nullable<Uuid>,
        link -> Nullable<Text>,
        lost_at -> Nullable<UtcTime>,
        media_session -> Nullable<Text>,
        media_began_at -> Nullable<UtcTime>,
        media_is_open -> Nullable<Bool>,
        consent_decision -> Nullable<Text>,
        consent_scopes -> Nullable<Text>,
        consent_wording_version -> Nullable<Text>,
        consent_language -> Nullable<Text>,
        consent_text_hash -> Nullable<Text>,
        consent_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    consents (meeting_id, number) {
        meeting_id -> Uuid,
        number -> BigInt,
        participant_id -> Uuid,
        decision -> Text,
        scopes -> Text,
        wording_version -> Text,
        language -> Text,
        text_hash -> Text,
        at -> UtcTime,
        user_agent -> Nullable<Text>,
        user_agent_hash -> Text,
        previous_hash -> Text,
        hash -> Text,
        text -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    meeting_invitations (id) {
        id -> Uuid,
        meeting_id -> Uuid,
        invitee_type -> Text,
        email -> Text,
        display_name -> Nullable<Text>,
        user_id -> Nullable<Uuid>,
        role -> Text,
        participant_id -> Uuid,
        token_hash -> Text,
        message -> Nullable<Text>,
        delivery -> Text,
        invited_by_id -> Uuid,
        send_count -> BigInt,
        last_sent_at -> UtcTime,
        ics_sequence -> BigInt,
        expires_at -> UtcTime,
        is_expiry_chosen -> Bool,
        accepted_at -> Nullable<UtcTime>,
        declined_at -> Nullable<UtcTime>,
        revoked_at -> Nullable<UtcTime>,
        created_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    former_invitation_tokens (token_hash) {
        token_hash -> Text,
        invitation_id -> Uuid,
        replaced_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    topics (topic) {
        topic -> Text,
        epoch -> Uuid,
        last -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    events (topic, position) {
        topic -> Text,
        position -> BigInt,
        kind -> Text,
        data -> Text,
        at -> UtcTime,
        request_id -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    idempotency_keys (scope) {
        scope -> Text,
        body_hash -> Text,
        resource_id -> Uuid,
        lease_until -> UtcTime,
        status -> Nullable<BigInt>,
        etag -> Nullable<Text>,
        body -> Nullable<Text>,
        created_at -> UtcTime,
        user_id -> Nullable<Uuid>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    jobs (id) {
        id -> Uuid,
        kind -> Text,
        payload -> Text,
        request_id -> Text,
        run_at -> UtcTime,
        attempts -> BigInt,
        lease_until -> Nullable<UtcTime>,
        last_error -> Nullable<Text>,
        failed_at -> Nullable<UtcTime>,
        created_at -> UtcTime,
        fair_key -> Text,
        claims -> BigInt,
        waiting_since -> UtcTime,
        discarded_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    server_lease (id) {
        id -> BigInt,
        holder -> Uuid,
        epoch -> BigInt,
        lease_until -> UtcTime,
    }
}

// Only tables that appear in one query: each pair costs implementations that the compiler has to check.
diesel::allow_tables_to_appear_in_same_query!(meeting_invitations, meetings, members, participants, projects, users,);
diesel::allow_tables_to_appear_in_same_query!(external_logins, users);
diesel::allow_tables_to_appear_in_same_query!(document_texts, documents);
diesel::allow_tables_to_appear_in_same_query!(documents, projects);
diesel::allow_tables_to_appear_in_same_query!(documents, members);
diesel::allow_tables_to_appear_in_same_query!(items, projects);
diesel::allow_tables_to_appear_in_same_query!(items, members);
diesel::allow_tables_to_appear_in_same_query!(projects, runs);
diesel::allow_tables_to_appear_in_same_query!(meetings, recordings);
diesel::allow_tables_to_appear_in_same_query!(meetings, review_invitations);
diesel::allow_tables_to_appear_in_same_query!(members, review_invitations);
diesel::allow_tables_to_appear_in_same_query!(participants, review_invitations);
diesel::allow_tables_to_appear_in_same_query!(users, review_invitations);
