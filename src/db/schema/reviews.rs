//! The tables of reviews.

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    approval_trails (project_id) {
        project_id -> Uuid,
        last -> BigInt,
        head -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    approval_events (id) {
        id -> Uuid,
        project_id -> Uuid,
        number -> BigInt,
        target_type -> Text,
        target_id -> Uuid,
        action -> Text,
        actor_id -> Uuid,
        actor_name -> Nullable<Text>,
        actor_salt -> Text,
        sealed -> Text,
        hash -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    baselines (id) {
        id -> Uuid,
        project_id -> Uuid,
        number -> BigInt,
        name -> Text,
        note -> Nullable<Text>,
        requirements -> BigInt,
        user_stories -> BigInt,
        acceptance_criteria -> BigInt,
        created_by_id -> Uuid,
        created_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    baseline_items (project_id, baseline_id, item_id) {
        project_id -> Uuid,
        baseline_id -> Uuid,
        item_id -> Uuid,
        kind -> Text,
        number -> BigInt,
        body -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    review_invitations (id) {
        id -> Uuid,
        project_id -> Uuid,
        email -> Text,
        full_name -> Nullable<Text>,
        organisation -> Nullable<Text>,
        permission -> Text,
        run_id -> Nullable<Uuid>,
        message -> Nullable<Text>,
        token_hash -> Text,
        invited_by_id -> Uuid,
        send_count -> BigInt,
        last_sent_at -> UtcTime,
        expires_at -> UtcTime,
        lapses_at -> Nullable<UtcTime>,
        accepted_at -> Nullable<UtcTime>,
        revoked_at -> Nullable<UtcTime>,
        access_hash -> Nullable<Text>,
        former_access_hash -> Nullable<Text>,
        last_seen_at -> Nullable<UtcTime>,
        created_at -> UtcTime,
        scope -> Text,
        baseline_id -> Nullable<Uuid>,
        selected_items -> Nullable<Text>,
        selected_count -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    former_review_tokens (token_hash) {
        token_hash -> Text,
        invitation_id -> Uuid,
        replaced_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    feedback (id) {
        id -> Uuid,
        project_id -> Uuid,
        invitation_id -> Nullable<Uuid>,
        author_id -> Nullable<Uuid>,
        author_name -> Text,
        author_email -> Nullable<Text>,
        target_type -> Text,
        target_id -> Nullable<Uuid>,
        target_code -> Nullable<Text>,
        comment -> Text,
        verdict -> Nullable<Text>,
        status -> Text,
        is_read -> Bool,
        resolution_note -> Nullable<Text>,
        created_at -> UtcTime,
        resolved_at -> Nullable<UtcTime>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    search_passages (id) {
        id -> BigInt,
        project_id -> Uuid,
        kind -> Text,
        source_id -> Uuid,
        position -> BigInt,
        code -> Nullable<Text>,
        title -> Text,
        text -> Text,
        starts_at -> Nullable<BigInt>,
        times -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    search_words (project_id, word) {
        project_id -> Uuid,
        word -> Text,
        passages -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    search_pending (id) {
        id -> BigInt,
        kind -> Text,
        source_id -> Uuid,
        project_id -> Uuid,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    search_retries (source_id) {
        source_id -> Uuid,
        kind -> Text,
        project_id -> Uuid,
        failures -> BigInt,
        due_at -> Nullable<UtcTime>,
    }
}
