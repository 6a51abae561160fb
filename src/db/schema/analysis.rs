//! The tables of analysis runs, and of what they found.

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    runs (id) {
        id -> Uuid,
        project_id -> Uuid,
        created_by_id -> Uuid,
        meeting_id -> Nullable<Uuid>,
        document_ids -> Text,
        analysis_type -> Text,
        language -> Text,
        engine -> Text,
        input_hash -> Text,
        status -> Text,
        progress -> BigInt,
        node -> Text,
        message -> Text,
        error_message -> Nullable<Text>,
        ai_job_id -> Uuid,
        attempt -> BigInt,
        warnings -> Text,
        revision -> BigInt,
        started_at -> Nullable<UtcTime>,
        completed_at -> Nullable<UtcTime>,
        created_at -> UtcTime,
        updated_at -> UtcTime,
        taken_up -> BigInt,
        document_versions -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    run_nodes (run_id, attempt, node) {
        run_id -> Uuid,
        attempt -> BigInt,
        node -> Text,
        input_hash -> Text,
        engine_version -> Text,
        output -> Text,
        kept_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    model_answers (run_id, question) {
        run_id -> Uuid,
        question -> Text,
        answer -> Text,
        kept_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    run_drafts (run_id) {
        run_id -> Uuid,
        attempt -> BigInt,
        result -> Text,
        generated_at -> UtcTime,
        last_requirement -> Nullable<BigInt>,
        last_story -> Nullable<BigInt>,
        summary -> Nullable<Text>,
        metrics -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    run_items (run_id, id) {
        run_id -> Uuid,
        id -> Uuid,
        project_id -> Uuid,
        kind -> Text,
        number -> BigInt,
        text_key -> Text,
        item_type -> Text,
        priority -> Text,
        workflow_status -> Text,
        search_text -> Text,
        body -> Text,
        created_at -> UtcTime,
        updated_at -> UtcTime,
        content_key -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    run_results (run_id) {
        run_id -> Uuid,
        result -> Text,
        generated_at -> UtcTime,
        composed_at -> Nullable<UtcTime>,
        summary -> Nullable<Text>,
        metrics -> Nullable<Text>,
        attempt -> Nullable<BigInt>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    items (id) {
        id -> Uuid,
        project_id -> Uuid,
        run_id -> Uuid,
        kind -> Text,
        number -> BigInt,
        text_key -> Text,
        item_type -> Text,
        priority -> Text,
        workflow_status -> Text,
        search_text -> Text,
        body -> Text,
        created_at -> UtcTime,
        updated_at -> UtcTime,
        touched -> Bool,
        content_key -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    item_numbers (project_id, kind) {
        project_id -> Uuid,
        kind -> Text,
        last -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    proposals (id) {
        id -> Uuid,
        project_id -> Uuid,
        run_id -> Uuid,
        item_id -> Uuid,
        target_type -> Text,
        kind -> Text,
        status -> Text,
        text_key -> Text,
        content_key -> Text,
        target_version -> Nullable<BigInt>,
        created_at -> UtcTime,
        import_id -> Nullable<Uuid>,
        reason -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    proposal_texts (proposal_id) {
        proposal_id -> Uuid,
        before_body -> Nullable<Text>,
        after_body -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    proposal_links (proposal_id, from_id, reference) {
        proposal_id -> Uuid,
        from_id -> Uuid,
        reference -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    run_supersedes (run_id, proposal_id) {
        run_id -> Uuid,
        proposal_id -> Uuid,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    run_findings (run_id, attempt, item_id) {
        run_id -> Uuid,
        attempt -> BigInt,
        item_id -> Uuid,
        project_id -> Uuid,
        kind -> Text,
        number -> BigInt,
        effect -> Text,
        reason -> Nullable<Text>,
        proposal_id -> Nullable<Uuid>,
        before_body -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::Uuid;

    unadopted_projects (project_id) {
        project_id -> Uuid,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    run_undos (run_id) {
        run_id -> Uuid,
        undone_at -> UtcTime,
        undone_by_id -> Uuid,
    }
}

diesel::allow_tables_to_appear_in_same_query!(items, run_findings, run_items);
diesel::allow_tables_to_appear_in_same_query!(run_undos, run_results, runs);
diesel::allow_tables_to_appear_in_same_query!(run_findings, run_results);
diesel::allow_tables_to_appear_in_same_query!(run_findings, run_undos);
diesel::allow_tables_to_appear_in_same_query!(items, proposal_links, proposal_texts, proposals, run_supersedes,);

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    dashboard_exports (id) {
        id -> Uuid,
        project_id -> Uuid,
        run_id -> Nullable<Uuid>,
        status -> Text,
        format -> Text,
        filters -> Text,
        file_name -> Text,
        sha256 -> Nullable<Text>,
        size_bytes -> Nullable<BigInt>,
        error -> Nullable<Text>,
        created_at -> UtcTime,
        expires_at -> UtcTime,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    item_imports (id) {
        id -> Uuid,
        project_id -> Uuid,
        run_id -> Uuid,
        status -> Text,
        format -> Text,
        file_name -> Text,
        sha256 -> Nullable<Text>,
        report -> Nullable<Text>,
        error -> Nullable<Text>,
        created_at -> UtcTime,
        size_bytes -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::db::sql::{UtcTime, Uuid};

    item_pairs (id) {
        id -> Uuid,
        project_id -> Uuid,
        kind -> Text,
        first_id -> Uuid,
        second_id -> Uuid,
        first_key -> Text,
        second_key -> Text,
        strength -> Text,
        confidence -> BigInt,
        reason -> Text,
        spans -> Text,
        status -> Text,
        settlement -> Nullable<Text>,
        settled_by_id -> Nullable<Uuid>,
        settled_at -> Nullable<UtcTime>,
        moved -> Nullable<Text>,
        run_id -> Uuid,
        created_at -> UtcTime,
    }
}

diesel::table! {
    use crate::db::sql::Uuid;

    uncompared_projects (project_id) {
        project_id -> Uuid,
    }
}

diesel::allow_tables_to_appear_in_same_query!(item_pairs, items);
