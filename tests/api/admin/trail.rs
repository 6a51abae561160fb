//! Tests of `colloquy admin verify-trail`.

use actors::ids::{self, Id};
use colloquy::analysis::trail::seal::hash;
use colloquy::db::schema::approval_events;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::admin;
use crate::reviews::Reviewed;
use crate::support::ServerSetup;

on_both! {
    async fn an_operator_verifies_trails_and_exports_one_that_others_can_verify(setup: ServerSetup) {
        let server = setup.start(&[]);
        let reviewed = Reviewed::new(&server).await;
        let (story, requirement) = reviewed.story().await;
        reviewed.approve(&story).await;
        reviewed.approve(&requirement).await;
        let file = setup.data.join("trail.jsonl");
        let path = file.to_str().unwrap();
        let out = admin(&setup, &["verify-trail", "--project", &reviewed.project, "--export", path], "").done();
        let head = reviewed.verification().await["head"].as_str().unwrap().to_owned();
        assert_eq!(out, format!("{}  valid   2 events  head {head}\n", reviewed.project));
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        let mut previous = "0".repeat(64);
        for line in &lines[..2] {
            assert_eq!(line["previousHash"], previous);
            previous = hash(&previous, line["sealed"].as_str().unwrap());
            assert_eq!(line["hash"], previous);
        }
        assert_eq!((&lines[2]["head"], &lines[2]["valid"], previous), (&json!(head), &json!(true), head.clone()));
        let again = admin(&setup, &["verify-trail", "--project", &reviewed.project, "--export", path], "").refused(1);
        assert!(again.contains("can't be created"), "{again}");
        admin(&setup, &["verify-trail"], "").done();
        let project: Id<ids::Project> = reviewed.project.parse().unwrap();
        let db = server.db().await;
        let tampered = db.write(move |conn| {
            Box::pin(async move {
                let first = approval_events::table
                    .filter(approval_events::project_id.eq(project))
                    .filter(approval_events::number.eq(1));
                Ok::<_, DbError>(diesel::delete(first).execute(conn).await?)
            })
        });
        assert_eq!(tampered.await.unwrap(), 1);
        let broken = admin(&setup, &["verify-trail"], "");
        assert_eq!(broken.code, Some(1));
        assert_eq!(broken.out, format!("{}  BROKEN  at event 1 of 2\n", reviewed.project));
        assert_eq!(admin(&setup, &["verify-trail", "--project", "no-uuid"], "").refused(2), "--project: This must be a UUID.\n");
    }
}
