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
