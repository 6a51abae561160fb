//! Tests the tokens of project invitations (S14): long, stored as hashes, and in no log line, metric or referrer.

use std::collections::HashSet;

use colloquy::db::schema::project_invitations;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::QueryDsl;
use serde_json::json;

use super::{accept, link};
use crate::support::builders::fresh_email;
use crate::support::{Role, ServerSetup, World};

on_both! {
    async fn an_invitation_token_is_in_no_log_line_metric_or_referrer(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "info,colloquy=trace,actors=trace")]);
        let (ada, ben, eve) = (server.user().await, server.user().await, server.user().await);
        let project = ada.project().await;
        let token = server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        let nobody = server.client();
        let seen = nobody.get(link(&token)).header("x-request-id", "look-for-me").await.is(200);
        assert_eq!((seen.header("cache-control"), seen.header("referrer-policy")), (Some("no-store"), Some("no-referrer")));
        accept(&eve.client, &token).await.is(403);
        accept(&ben.client, &token).await.is(200);
        // Other spellings of the path, and paths that match a route in part or not at all.
        nobody.get(format!("/API/Project-Invitations/{token}/")).await.is(200);
        nobody.delete(link(&token)).await.is(405);
        nobody.get(format!("{}/elsewhere", link(&token))).await.is(404);
        nobody.get(format!("/elsewhere/{token}?token={token}")).await.is(404);
        nobody.get(format!("{}?token={token}", link(&token))).await.is(200);
        ben.client.post(format!("{}/accept?token={token}", link(&token))).json(json!({"token": token})).await.is(200);
        let said = server.read_log();
        let line = said.lines().find(|line| line.contains("look-for-me")).expect("a line of the request");
        assert!(line.contains("/api/project-invitations/{token}"), "{line}");
        assert!(!said.contains(&token), "the log has a token");
        let figures = server.operator().get("/metrics").await.is(200).text();
        assert!(figures.contains("/api/project-invitations/{token}/accept") && !figures.contains(&token));
    }

    async fn only_the_hash_of_an_invitation_token_is_stored(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let mut tokens = HashSet::new();
        for _ in 0..3 {
            tokens.insert(server.invite(&ada.client, &project, &fresh_email(), Role::Analyst).await);
        }
        assert!(tokens.len() == 3 && tokens.iter().all(|token| token.len() == 43), "{tokens:?}");
        let db = server.db().await;
        let kept = db.read(|conn| {
            Box::pin(async move {
                let hashes = project_invitations::table.select(project_invitations::token_hash);
                Ok::<_, DbError>(hashes.load::<String>(conn).await?)
            })
        });
        let kept = kept.await.unwrap();
        assert_eq!(kept.len(), 3);
        assert!(kept.iter().all(|hash| hash.len() == 64 && !tokens.contains(hash)), "{kept:?}");
    }

    async fn wrong_invitation_tokens_are_not_found_and_a_right_one_is_no_access_token(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let project = ada.project().await;
        let token = world.server.invite(&ada.client, &project, &ben.email, Role::Analyst).await;
        let mut wrong = vec!["x".to_owned(), "A".repeat(43), "%00".to_owned(), "x".repeat(2000), token[..42].to_owned()];
        wrong.push(format!("{token}A"));
        // Only four bits of the last character are significant. This changes one of them.
        let last = token.chars().last().unwrap();
        wrong.push(format!("{}{}", &token[..42], if last == 'A' { 'Q' } else { 'A' }));
        wrong.push(token.to_lowercase());
        for wrong in wrong.iter().filter(|wrong| **wrong != token) {
            world.nobody.get(link(wrong)).await.refused(404, "NotFound");
            accept(&ben.client, wrong).await.refused(404, "NotFound");
        }
        world.nobody.bearing(&token).get("/api/projects").await.refused(401, "Unauthorized");
        accept(&ben.client, &token).await.is(200);
    }
}
