//! Tests the language of project invitation e-mails: the recipient's, else the project's, else the inviter's.

use serde_json::json;

use crate::support::builders::fresh_email;
use crate::support::{Role, World, outbox};

const ARABIC: &str = "للانضمام إلى المشروع التالي بصفة محلل:";
const ENGLISH: &str = "invited you to join the following project as an analyst:";

on_both! {
    async fn an_invitation_is_in_the_language_of_its_recipient_else_the_project_else_the_inviter(world: World) {
        let arabic = world.server.user_as(&fresh_email(), "Amal", "AR").await;
        let english = world.server.user_as(&fresh_email(), "Ada", "EN").await;
        let letter = async |by: &crate::support::User, language: &str, email: &str| {
            let project = by.project().await;
            by.client.patch(format!("/api/projects/{project}")).json(json!({"language": language})).await.is(200);
            world.server.invite(&by.client, &project, email, Role::Analyst).await;
            outbox::mails(&world.server.data, email).pop().unwrap()
        };
        for (by, language, email, words) in [
            (&english, "EN", arabic.email.clone(), ARABIC),
            (&arabic, "AR", english.email.clone(), ENGLISH),
            (&english, "AR", fresh_email(), ARABIC),
            (&arabic, "DE", fresh_email(), ENGLISH),
            (&arabic, "AUTO", fresh_email(), ARABIC),
            (&english, "AUTO", fresh_email(), ENGLISH),
        ] {
            let letter = letter(by, language, &email).await;
            assert!(letter.contains(words), "{language}: {letter}");
            assert!(letter.contains("Clinic booking"), "{letter}");
        }
    }
}
