//! The tables of recordings and their transcripts.

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    recordings (id) {
        id -> Uuid,
        meeting_id -> Uuid,
        track_participant_id -> Nullable<Uuid>,
        upload_mode -> Text,
        mime_type -> Text,
        basis -> Text,
        status -> Text,
        failure_reason -> Nullable<Text>,
        last_chunk -> Nullable<BigInt>,
        repairable -> Bool,
        stopped_at -> Nullable<UtcTime>,
        ready_at -> Nullable<UtcTime>,
        expires_at -> Nullable<UtcTime>,
        sha256 -> Nullable<Text>,
        content_bytes -> Nullable<BigInt>,
        duration_ms -> Nullable<BigInt>,
        next_chunk -> BigInt,
        chunk_count -> BigInt,
        received_bytes -> BigInt,
        latest_chunk_at -> Nullable<UtcTime>,
        upload -> BigInt,
        announced_bytes -> Nullable<BigInt>,
        announced_ms -> Nullable<BigInt>,
        pauses -> Text,
        lacking -> Text,
        started_by_id -> Uuid,
        started_at -> UtcTime,
        wait -> Nullable<Text>,
        wait_since -> Nullable<UtcTime>,
        transcript -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    recording_chunks (recording_id, number) {
        recording_id -> Uuid,
        number -> BigInt,
        meeting_id -> Uuid,
        file_id -> Uuid,
        bytes -> BigInt,
        sha256 -> Text,
        from_ms -> Nullable<BigInt>,
        to_ms -> Nullable<BigInt>,
        stored_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    transcripts (id) {
        id -> Uuid,
        recording_id -> Uuid,
        number -> BigInt,
        status -> Text,
        engine -> Text,
        model -> Text,
        asked_language -> Nullable<Text>,
        language -> Nullable<Text>,
        done_ms -> BigInt,
        segment_count -> BigInt,
        crashes -> BigInt,
        error_message -> Nullable<Text>,
        created_by_id -> Nullable<Uuid>,
        created_at -> UtcTime,
        attached_bytes -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    transcript_segments (transcript_id, position) {
        transcript_id -> Uuid,
        position -> BigInt,
        meeting_id -> Uuid,
        start_ms -> BigInt,
        end_ms -> BigInt,
        text -> Text,
        confidence -> BigInt,
        participant_id -> Nullable<Uuid>,
        speaker_name -> Nullable<Text>,
        heard_text -> Nullable<Text>,
        corrected_by_id -> Nullable<Uuid>,
        corrected_at -> Nullable<UtcTime>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(recording_chunks, recordings);
