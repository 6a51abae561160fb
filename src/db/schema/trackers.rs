//! The tables of issue trackers.

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    tracker_connections (project_id) {
        project_id -> Uuid,
        provider -> Text,
        status -> Text,
        generation -> BigInt,
        site -> Nullable<Text>,
        sites -> Text,
        account_name -> Nullable<Text>,
        scopes -> Text,
        tokens -> Nullable<Text>,
        expires_at -> Nullable<UtcTime>,
        refreshing_until -> Nullable<UtcTime>,
        connected_by_id -> Uuid,
        connected_at -> UtcTime,
        last_error -> Nullable<Text>,
        polled_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    pending_tracker_connections (state_hash) {
        state_hash -> Text,
        project_id -> Uuid,
        user_id -> Uuid,
        provider -> Text,
        browser_hash -> Text,
        verifier -> Text,
        return_url -> Nullable<Text>,
        expires_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    tracker_destinations (project_id) {
        project_id -> Uuid,
        destination -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    tracker_exports (id) {
        id -> Uuid,
        project_id -> Uuid,
        status -> Text,
        provider -> Text,
        destination -> Text,
        options -> Text,
        dry_run -> Bool,
        total -> BigInt,
        created -> BigInt,
        updated -> BigInt,
        skipped -> BigInt,
        failed -> BigInt,
        error -> Nullable<Text>,
        waiting_until -> Nullable<UtcTime>,
        waiting_for -> Nullable<Text>,
        started_by_id -> Uuid,
        created_at -> UtcTime,
        started_at -> Nullable<UtcTime>,
        completed_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    tracker_export_items (export_id, user_story_id) {
        export_id -> Uuid,
        user_story_id -> Uuid,
        project_id -> Uuid,
        position -> BigInt,
        code -> Text,
        version -> BigInt,
        status -> Text,
        issue_key -> Nullable<Text>,
        issue_url -> Nullable<Text>,
        error_code -> Nullable<Text>,
        error_message -> Nullable<Text>,
        attempts -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    tracker_issues (user_story_id, provider, site_id) {
        user_story_id -> Uuid,
        provider -> Text,
        site_id -> Text,
        project_id -> Uuid,
        tracker_project_id -> Text,
        issue_id -> Nullable<Text>,
        issue_key -> Nullable<Text>,
        issue_url -> Nullable<Text>,
        intended_at -> UtcTime,
        fingerprint -> Text,
        state -> Nullable<Text>,
        is_gone -> Bool,
    }
}
