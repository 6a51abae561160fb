//! Limits and requests that are repeated: what was made under a key is answered again although there may be no more of it,
//! and a document waits for the disk.

use actors::ids::{self, Id};
use actors::time::{Clock, SystemClock};
use colloquy::db::schema::{documents, idempotency_keys, jobs};
use colloquy::db::{DbError, RunQueryDsl};
use colloquy::jobs::Job;
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::analysis::runs;
use crate::projects::people::{accept, members};
use crate::support::client::Request;
use crate::support::{Role, Server, ServerSetup};

/// Deletes the stored answers, as if the server had been killed between each COMMIT and its answer, and its leases had
/// expired since: the keys are there, with the ids of what was made.
async fn forget_answers(server: &Server) {
    let db = server.db().await;
    let forgotten = db.write(|conn| {
        Box::pin(async move {
            let unanswered = (
                idempotency_keys::status.eq(None::<i64>),
                idempotency_keys::etag.eq(None::<String>),
                idempotency_keys::body.eq(None::<String>),
                idempotency_keys::lease_until.eq(idempotency_keys::created_at),
            );
            diesel::update(idempotency_keys::table).set(unanswered).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    forgotten.await.unwrap();
}

/// Makes the only thing that there may be, once more after the answer was lost, and a second one, which is refused. Returns
/// the data of the first and of the second answer.
async fn made_twice(server: &Server, ask: impl Fn(&str) -> Request) -> (Value, Value) {
    let first = ask("one").await;
    let made = first.data().clone();
    forget_answers(server).await;
    let again = ask("one").await.is(first.status).data().clone();
    ask("another").await.refused(409, "LimitReached");
    // The refusal of the other one does not touch the first one either.
    forget_answers(server).await;
    ask("one").await.is(first.status);
    (made, again)
}

/// As [`made_twice`], for what has an id. Returns it.
async fn one_id(server: &Server, ask: impl Fn(&str) -> Request) -> String {
    let (made, again) = made_twice(server, ask).await;
    assert_eq!(made["id"], again["id"]);
    made["id"].as_str().unwrap().to_owned()
}

/// As [`made_twice`], for a list of things with ids.
async fn same_ids(server: &Server, count: usize, ask: impl Fn(&str) -> Request) {
    let (made, again) = made_twice(server, ask).await;
    let ids = |data: &Value| -> Vec<Value> {
        data["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect()
    };
    assert_eq!((ids(&made).len(), ids(&made)), (count, ids(&again)));
}

/// Lets a document be unread again, with a job that was tried so often.
async fn unread(setup: &ServerSetup, path: &str, attempts: i64) {
    let id: Id<ids::Document> = path.rsplit('/').next().unwrap().parse().unwrap();
    let db = setup.db().await;
    let undone = db.write(move |conn| {
        Box::pin(async move {
            let own = documents::table.find(id);
            diesel::update(own).set(documents::status.eq("PENDING")).execute(conn).await?;
            let now = SystemClock.now();
            let job = (
                jobs::id.eq(Id::<Job>::generate()),
                jobs::kind.eq("read-document"),
                jobs::payload.eq(json!({"documentId": id}).to_string()),
                jobs::request_id.eq("story"),
                jobs::run_at.eq(now),
                jobs::attempts.eq(attempts),
                jobs::created_at.eq(now),
            );
            diesel::insert_into(jobs::table).values(job).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    undone.await.unwrap();
}

on_both! {
    async fn a_request_whose_answer_was_lost_gets_what_it_made_although_there_may_be_no_more(setup: ServerSetup) {
        let settings = [
            ("COLLOQUY__QUOTAS__ACCOUNT_PROJECTS", "1"),
            ("COLLOQUY__QUOTAS__PROJECT_DOCUMENTS", "1"),
            ("COLLOQUY__QUOTAS__PROJECT_MEETINGS", "1"),
            ("COLLOQUY__QUOTAS__PROJECT_INVITATIONS", "1"),
            ("COLLOQUY__QUOTAS__PROJECT_RUNS", "1"),
            ("COLLOQUY__QUOTAS__PROJECT_FEEDBACK", "1"),
            ("COLLOQUY__QUOTAS__MEETING_INVITATIONS", "2"),
        ];
        let server = setup.start(&settings);
        let ada = server.user().await;
        let client = &ada.client;
        let post = |path: &str, key: &str, body: Value| client.post(path).key(key).json(body);

        let project = one_id(&server, |key| post("/api/projects", key, json!({"name": "Clinic booking"}))).await;
        let document = b"The system must send a receipt.";
        let document = one_id(&server, |key| ada.upload(&project, "notes.txt", document).key(key)).await;
        ada.settled(&format!("/api/projects/{project}/documents/{document}")).await;

        let meetings = format!("/api/projects/{project}/meetings");
        let meeting = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00.000Z"});
        let meeting = one_id(&server, |key| post(&meetings, key, meeting.clone())).await;
        let guests = format!("/api/meetings/{meeting}/invitations/guests");
        let two = json!({"invitees": [{"email": "one@example.org"}, {"email": "two@example.org"}]});
        same_ids(&server, 2, |key| post(&guests, key, two.clone())).await;

        let member = json!({"email": "third@example.org", "role": "STAKEHOLDER"});
        let (mut made, again) = made_twice(&server, |key| post(&members(&project), key, member.clone())).await;
        // The link is told by the answer that was lost alone.
        assert!(made["link"].take().is_string());
        assert_eq!(made, again);
        let reviews = format!("/api/projects/{project}/review-invitations");
        let reviewer = json!({"permission": "VIEWER", "invitees": [{"email": "fourth@example.org"}]});
        same_ids(&server, 1, |key| post(&reviews, key, reviewer.clone())).await;
        let feedback = format!("/api/projects/{project}/feedback");
        let said = json!({"targetType": "SUMMARY", "comment": "Very clear."});
        one_id(&server, |key| post(&feedback, key, said.clone())).await;

        let run = one_id(&server, |key| post(&runs(&project), key, json!({}))).await;
        ada.over(&format!("{}/{run}", runs(&project))).await;
        for list in ["documents", "meetings", "review-invitations", "feedback", "ai/runs"] {
            let listed = client.get(format!("/api/projects/{project}/{list}")).await.is(200);
            assert_eq!(listed.data()["totalCount"], 1, "{list}");
        }
    }

    async fn who_accepts_an_invitation_several_times_at_once_is_the_last_member_there_may_be(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__QUOTAS__PROJECT_MEMBERS", "2")]);
        let (ada, bob, eve) = (server.user().await, server.user().await, server.user().await);
        let project = ada.project().await;
        let token = server.invite(&ada.client, &project, &bob.email, Role::Analyst).await;
        for answer in join_all((0..10).map(|_| accept(&bob.client, &token))).await {
            answer.is(200);
        }
        let token = server.invite(&ada.client, &project, &eve.email, Role::Analyst).await;
        accept(&eve.client, &token).await.refused(409, "LimitReached");
        let listed = ada.client.get(members(&project)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 2);
    }

    /// The disk may have room again a moment later, and an error of the program it is not.
    async fn a_document_waits_for_room_on_the_disk_and_says_so_if_there_is_none_in_the_end(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (one, _) = ada.read(&project, "one.txt", b"The system must send a receipt.").await;
        let (other, _) = ada.read(&project, "other.txt", b"The system must send a reminder.").await;
        server.kill();
        // The last attempt of the five there are, and the first one.
        unread(&setup, &one, 4).await;
        unread(&setup, &other, 0).await;
        let all = (1_u64 << 40).to_string();
        let reserves = [("COLLOQUY__STORAGE__RESERVE_MIB", all.as_str()), ("COLLOQUY__STORAGE__LIVE_RESERVE_MIB", "0")];
        let server = setup.start(&reserves);
        let ada = ada.at(&server);
        let failed = ada.settled(&one).await;
        assert_eq!(failed["status"], "FAILED", "{failed}");
        let why = "There is no room for its text: the server is short of storage. Upload it again later.";
        assert_eq!(failed["errorMessage"], why);
        let waits = ada.client.get(&other).await.is(200).text_of("status");
        assert!(matches!(waits.as_str(), "PENDING" | "PROCESSING"), "{waits}");
        server.kill();
        let server = setup.start(&[]);
        server.make_due("read-document").await;
        assert_eq!(ada.at(&server).settled(&other).await["status"], "READY");
    }
}
