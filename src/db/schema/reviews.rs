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
