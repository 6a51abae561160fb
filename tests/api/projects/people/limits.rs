//! Tests the rate limits of invitation e-mails, per sending account and per address, also across a restart.

use serde_json::json;

use super::members;
use crate::support::builders::fresh_email;
use crate::support::{Answer, Role, ServerSetup, User};

/// Invites an address to a project as a stakeholder.
async fn ask(by: &User, project: &str, email: &str) -> Answer {
    by.client.post(members(project)).json(json!({"email": email, "role": "STAKEHOLDER"})).await
}

on_both! {
    async fn invitations_per_account_and_day_are_limited_and_rejected_ones_do_not_count(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__INVITATION_MAILS__MOST", "2")];
        let server = setup.start(&settings);
        let ada = server.user().await;
        let (one, other) = (ada.project().await, ada.project().await);
        ask(&ada, &one, &fresh_email()).await.is(201);
        ask(&ada, &one, &ada.email).await.refused(409, "Conflict");
        ask(&ada, &other, &fresh_email()).await.is(201);
        let refused = ask(&ada, &one, &fresh_email()).await.refused(429, "TooManyRequests");
        let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((86_300..=86_400).contains(&seconds), "{seconds}");
        server.kill();
        let server = setup.start(&settings);
        ask(&ada.at(&server), &other, &fresh_email()).await.refused(429, "TooManyRequests");
        let ben = server.user().await;
        ask(&ben, &ben.project().await, &fresh_email()).await.is(201);
    }

    async fn invitations_per_address_and_day_are_limited_across_inviters(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__INVITATION_MAILS_OF_ADDRESS__MOST", "2")]);
        let (ada, ben) = (server.user().await, server.user().await);
        let (hers, his) = (ada.project().await, ben.project().await);
        let email = fresh_email();
        server.invite(&ada.client, &hers, &email, Role::Analyst).await;
        ask(&ben, &his, &email.to_uppercase()).await.is(201);
        ask(&ada, &hers, &email).await.refused(429, "TooManyRequests");
        ask(&ben, &his, &email).await.refused(429, "TooManyRequests");
        ask(&ada, &hers, &fresh_email()).await.is(201);
    }
}
