//! The operations for operators: who may call them, what they show of the installation, and what they steer.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use actors::time::Time;
use colloquy::db::schema::jobs;
use colloquy::db::{Conn, DbError, RunQueryDsl};
use diesel::ExpressionMethods;
use serde_json::{Value, json};

use crate::admin::{admin, generated_password, signed_in};
use crate::support::builders::{PASSWORD, fresh_email};
use crate::support::{Client, Server, ServerSetup, Socket, User, World, shape};

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

/// A mail server that refuses every connection.
const NO_MAIL: [(&str, &str); 4] = [
    ("COLLOQUY__MAIL__HOST", "127.0.0.1"),
    ("COLLOQUY__MAIL__PORT", "1"),
    ("COLLOQUY__MAIL__SECURITY", "NONE"),
    ("COLLOQUY__MAIL__FROM", "Colloquy <post@colloquy.example>"),
];
/// A pipeline service that nobody can reach: runs wait for it, and don't end by themselves.
const NO_PIPELINE: [(&str, &str); 3] = [
    ("COLLOQUY__PIPELINE__MODE", "remote"),
    ("COLLOQUY__PIPELINE__URL", "http://127.0.0.1:1"),
    ("COLLOQUY__PIPELINE__KEY", "a-key-of-the-pipeline-service-that-is-long"),
];

async fn operator(server: &Server) -> User {
    let user = server.user().await;
    server.set_operator(&user, true).await;
    user
}

/// An operator of a server that can send no e-mail, so that nobody can register.
async fn operator_without_mail(setup: &ServerSetup, server: &Server) -> Client {
    let email = fresh_email();
    let made = admin(setup, &["create-user", "--email", &email, "--name", "Olga Operator", "--operator"], "").done();
    signed_in(server, &email, &generated_password(&made)).await
}

/// Waits for a job of a kind in a state, and returns the first one. Panics after 20 s.
async fn job(operator: &Client, state: &str, kind: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let listed = operator.get(format!("/api/operator/jobs?state={state}&kind={kind}")).await.is(200);
        let mut items = listed.data()["items"].as_array().unwrap().clone().into_iter();
        if let Some(found) = items.find(|job| job["lastError"].is_string()) {
            return found;
        }
        assert!(Instant::now() < deadline, "no job {kind} is {state}: {}", listed.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Makes all jobs of a kind fail for good.
async fn give_up(server: &Server, kind: &'static str) {
    let now = actors::time::Clock::now(&actors::time::SystemClock);
    let db = server.db().await;
    let given_up = db.write(move |conn| {
        Box::pin(async move {
            let all = diesel::update(jobs::table).filter(jobs::kind.eq(kind));
            all.set((jobs::failed_at.eq(Some(now)), jobs::lease_until.eq(None::<Time>))).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    given_up.await.unwrap();
}

/// How many reads the database has had.
async fn reads(server: &Server) -> u64 {
    let figures = server.operator().get("/metrics").await.is(200).text();
    figures.lines().find_map(|line| line.strip_prefix("colloquy_database_reads_total ")).unwrap().parse().unwrap()
}

on_both! {
    /// With the same access token: the flag is looked up at each call.
    async fn whoever_is_no_operator_any_more_is_refused_at_the_next_call(world: World) {
        let ada = world.user().await;
        for path in ["overview", "runs", "jobs"] {
            ada.client.get(format!("/api/operator/{path}")).await.refused(403, "Forbidden");
        }
        world.server.set_operator(&ada, true).await;
        assert_eq!(ada.client.get("/api/profile").await.is(200).data()["isOperator"], true);
        for path in ["overview", "runs", "jobs"] {
            ada.client.get(format!("/api/operator/{path}")).await.is(200);
        }
        ada.client.post(format!("/api/operator/runs/{NOWHERE}/cancel")).await.refused(404, "NotFound");
        ada.client.post(format!("/api/operator/jobs/{NOWHERE}/retry")).await.refused(404, "NotFound");
        world.server.set_operator(&ada, false).await;
        assert_eq!(ada.client.get("/api/profile").await.is(200).data()["isOperator"], false);
        for path in ["overview", "runs", "jobs"] {
            ada.client.get(format!("/api/operator/{path}")).await.refused(403, "Forbidden");
        }
        for path in [format!("runs/{NOWHERE}/cancel"), format!("jobs/{NOWHERE}/retry")] {
            ada.client.post(format!("/api/operator/{path}")).await.refused(403, "Forbidden");
        }
        let all = ada.client.post("/api/operator/jobs/retry").json(json!({"all": true}));
        all.await.refused(403, "Forbidden");
    }

    /// Nobody becomes one over HTTP.
    async fn no_body_makes_an_account_an_operator(world: World) {
        let ada = world.user().await;
        ada.client.put("/api/profile").json(json!({"fullName": "Ada", "isOperator": true})).await.refused(422, "UnknownKey");
        let body = json!({"email": fresh_email(), "password": PASSWORD, "fullName": "Eve", "isOperator": true});
        world.nobody.post("/api/auth/register").json(body).await.refused(422, "UnknownKey");
        assert_eq!(ada.client.get("/api/profile").await.is(200).data()["isOperator"], false);
    }

    async fn the_overview_shows_what_there_is_and_sums_it_up_once_a_minute(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = operator(&server).await;
        let project = ada.project().await;
        // The same content twice is stored once.
        for name in ["one.md", "two.md"] {
            ada.read(&project, name, b"The system must ring.\n").await;
        }
        let _socket = Socket::open(&ada.client).await;
        let overview = ada.client.get("/api/operator/overview").await.is(200).data().clone();
        assert_eq!(overview["version"], env!("CARGO_PKG_VERSION"));
        let counted = ["openSockets", "openStreams", "unfinishedRuns", "failedJobs"].map(|name| overview[name].clone());
        assert_eq!(counted, [json!(1), json!(0), json!(0), json!(0)]);
        assert!(overview["connections"].as_u64().unwrap() >= 1 && overview["uptimeSeconds"].is_u64(), "{overview}");
        shape::time(&overview["startedAt"]);
        let figures = &overview["figures"];
        let kind = if setup.url.is_some() { "POSTGRESQL" } else { "SQLITE" };
        assert_eq!(figures["database"]["kind"], kind);
        assert!(figures["database"]["bytes"].as_u64().unwrap() > 100_000, "{figures}");
        let storage = json!([
            {"kind": "DOCUMENTS", "count": 1, "bytes": 22}, {"kind": "RECORDINGS", "count": 0, "bytes": 0},
            {"kind": "EXPORTS", "count": 0, "bytes": 0}, {"kind": "AVATARS", "count": 0, "bytes": 0},
        ]);
        assert_eq!(figures["storage"], storage);
        assert_eq!((&figures["accounts"], &figures["projects"], &figures["liveMeetings"]), (&json!(1), &json!(1), &json!(0)));
        let states: Vec<_> = figures["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["name"].clone(), one["status"].clone()))
            .collect();
        let expected = [
            ("DATABASE", "READY"), ("MEDIA_SERVER", "NOT_CONFIGURED"), ("SPEECH", "NOT_CONFIGURED"), ("PIPELINE", "READY"),
            ("MAIL", "NOT_CONFIGURED"),
        ];
        assert_eq!(states, expected.map(|(name, status)| (json!(name), json!(status))));
        // A job that fails is counted at once; the sums stay for a minute.
        ada.project().await;
        server.enqueue("cancel-run", json!({})).await;
        job(&ada.client, "FAILED", "cancel-run").await;
        let again = ada.client.get("/api/operator/overview").await.is(200).data().clone();
        assert_eq!((&again["failedJobs"], &again["figures"]), (&json!(1), figures));
    }

    async fn services_that_do_not_answer_are_unavailable_with_the_reason(setup: ServerSetup) {
        let media = [
            ("COLLOQUY__LIVEKIT__URL", "ws://127.0.0.1:1"),
            ("COLLOQUY__LIVEKIT__API_KEY", "key"),
            ("COLLOQUY__LIVEKIT__API_SECRET", "a secret of thirty-two characters"),
        ];
        let server = setup.start(&[&NO_MAIL[..], &media[..], &NO_PIPELINE[..]].concat());
        let olga = operator_without_mail(&setup, &server).await;
        let body = json!({"email": fresh_email(), "password": PASSWORD, "fullName": "Ada Lovelace"});
        server.client().post("/api/auth/register").json(body).await.is(201);
        job(&olga, "WAITING", "mail").await;
        let overview = olga.get("/api/operator/overview").await.is(200).data().clone();
        let state_of = |name: &str| {
            let all = overview["figures"]["dependencies"].as_array().unwrap();
            let found = all.iter().find(|one| one["name"] == name).unwrap();
            (found["status"].as_str().unwrap().to_owned(), found["detail"].as_str().unwrap().to_owned())
        };
        for name in ["MEDIA_SERVER", "PIPELINE", "MAIL"] {
            let (status, detail) = state_of(name);
            assert!(status == "UNAVAILABLE" && !detail.is_empty(), "{name}: {status} {detail}");
        }
        assert_eq!(state_of("DATABASE").0, "READY");
        assert!(!overview.to_string().contains("a secret of") && !overview.to_string().contains("a-key-of"), "{overview}");
        let queue = &overview["figures"]["queues"].as_array().unwrap().iter().find(|queue| queue["kind"] == "mail").unwrap().clone();
        assert_eq!((&queue["waiting"], &queue["failed"]), (&json!(1), &json!(0)));
        assert_eq!(queue["oldestWaitingAt"], overview["figures"]["oldestWaitingJobAt"]);
    }

    async fn runs_of_all_projects_are_listed_and_cancelled_and_the_log_says_by_whom(setup: ServerSetup) {
        let server = setup.start(&[&NO_PIPELINE[..], &[("COLLOQUY__LOG__FILTER", "info")]].concat());
        let (olga, ada, ben) = (operator(&server).await, server.user().await, server.user().await);
        let mut started = Vec::new();
        for owner in [&ada, &ben, &ben] {
            let project = owner.project().await;
            owner.read(&project, "short.md", b"The system must ring.\n").await;
            let runs = format!("/api/projects/{project}/ai/runs");
            let id = owner.client.post(&runs).json(json!({})).await.is(202).text_of("id");
            started.push((project, format!("{runs}/{id}"), id));
        }
        let (busy, path, running) = started[0].clone();
        for (_, path, _) in &started[1..] {
            ben.client.post(format!("{path}/cancel")).await.is(200);
        }
        let list = async |query: &str| olga.client.get(format!("/api/operator/runs{query}")).await.is(200).data().clone();
        let ids = |page: &Value| -> Vec<String> {
            page["items"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
        };
        let over = [started[2].2.clone(), started[1].2.clone()];
        let order = [running.clone(), over[0].clone(), over[1].clone()];
        let all = list("").await;
        assert_eq!((ids(&all), &all["totalCount"], &all["nextCursor"]), (order.to_vec(), &json!(3), &Value::Null));
        let first = &all["items"][0];
        assert_eq!(
            (&first["projectId"], &first["projectName"], &first["createdById"]),
            (&json!(busy), &json!("Clinic booking"), &json!(ada.id))
        );
        assert!(!all.to_string().contains("must ring"), "nothing of what is in a project: {all}");
        // Page by page, across the border between those that go on and those that have ended.
        let (mut seen, mut query) = (Vec::new(), "?limit=1".to_owned());
        loop {
            let page = list(&query).await;
            seen.extend(ids(&page));
            let Some(cursor) = page["nextCursor"].as_str() else { break };
            query = format!("?limit=1&cursor={cursor}");
        }
        assert_eq!(seen, order);
        assert_eq!(ids(&list("?status=CANCELLED").await), over);
        olga.client.get("/api/operator/runs?cursor=x&status=ODD").await.is(422);

        let cancelled = olga.client.post(format!("/api/operator/runs/{running}/cancel")).await.is(200);
        assert_eq!(cancelled.data()["status"], "CANCELLED");
        let read = ada.client.get(&path).await.is(200);
        assert_eq!(read.data()["status"], "CANCELLED");
        olga.client.post(format!("/api/operator/runs/{running}/cancel")).await.refused(409, "InvalidState");
        let newest_first = [over[0].clone(), over[1].clone(), running.clone()];
        assert_eq!(ids(&list("").await), newest_first, "once it has ended it stands in its turn");
        let log = server.read_log();
        let line = log.lines().find(|line| line.contains("an operator cancelled a run")).unwrap();
        assert!(line.contains(&olga.id) && line.contains(&running), "{line}");
        assert!(
            !server.events_of_run(&running).await.iter().any(|event| event.2.to_string().contains(&olga.id)),
            "a project learns of no operator"
        );
    }

    async fn failed_emails_show_whom_and_what_they_are_about_and_nothing_secret(setup: ServerSetup) {
        let server = setup.start(&[&NO_MAIL[..], &[("COLLOQUY__LOG__FILTER", "info")]].concat());
        let olga = operator_without_mail(&setup, &server).await;
        let email = fresh_email();
        let body = json!({"email": email, "password": PASSWORD, "fullName": "Ada Lovelace"});
        server.client().post("/api/auth/register").json(body).await.is(201);
        let waiting = job(&olga, "WAITING", "mail").await;
        let (local, domain) = email.split_once('@').unwrap();
        let masked = format!("{}…@{domain}", &local[..1]);
        assert_eq!(waiting["email"], json!({"kind": "CONFIRMATION_CODE", "recipient": masked}));
        assert_eq!((&waiting["state"], &waiting["failedAt"]), (&json!("WAITING"), &Value::Null));
        let id = waiting["id"].as_str().unwrap();
        let retry = || olga.post(format!("/api/operator/jobs/{id}/retry"));
        retry().await.refused(409, "InvalidState");
        give_up(&server, "mail").await;
        let listed = olga.get("/api/operator/jobs").await.is(200);
        let failed = &listed.data()["items"][0];
        assert_eq!((&failed["id"], &failed["state"], &listed.data()["totalCount"]), (&json!(id), &json!("FAILED"), &json!(1)));
        shape::time(&failed["failedAt"]);
        for secret in [email.as_str(), local, "Lovelace", "sealed", "subject"] {
            assert!(!listed.text().contains(secret), "{secret}: {}", listed.text());
        }
        let retried = retry().await.is(200);
        assert_eq!((&retried.data()["state"], &retried.data()["attempts"]), (&json!("WAITING"), &json!(0)));
        job(&olga, "WAITING", "mail").await;
        assert_eq!(olga.get("/api/operator/jobs").await.is(200).data()["totalCount"], 0);
        let log = server.read_log();
        let profile = olga.get("/api/profile").await.is(200).text_of("id");
        let line = log.lines().find(|line| line.contains("an operator retried a job")).unwrap();
        assert!(line.contains(&profile) && line.contains(id), "{line}");
    }

    async fn jobs_are_retried_by_kind_or_all_at_once(setup: ServerSetup) {
        let server = setup.start(&[]);
        let olga = operator(&server).await.client;
        for kind in ["cancel-run", "make-export", "make-export"] {
            server.enqueue(kind, json!({"broken": true})).await;
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        while olga.get("/api/operator/jobs").await.is(200).data()["totalCount"] != 3 {
            assert!(Instant::now() < deadline, "the jobs do not fail");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let retry = |body: Value| olga.post("/api/operator/jobs/retry").json(body);
        for wrong in [json!({}), json!({"all": false}), json!({"kind": "mail", "all": true}), json!({"kind": ""}), json!({"kind": 1})] {
            retry(wrong).await.is(422);
        }
        let requeued = async |body: Value| retry(body).await.is(200).data()["requeued"].clone();
        assert_eq!(requeued(json!({"kind": "nothing"})).await, 0);
        assert_eq!(requeued(json!({"kind": "make-export"})).await, 2);
        give_up(&server, "make-export").await;
        assert_eq!(requeued(json!({"all": true})).await, 3);
    }

    async fn a_hundred_thousand_jobs_are_paged_and_counted_in_bounded_time(setup: ServerSetup) {
        let server = setup.start(&[]);
        let olga = operator(&server).await.client;
        let db = server.db().await;
        for _ in 0..20 {
            let inserted = db.write(|conn| Box::pin(async move {
                let (numbers, id, now) = match conn {
                    Conn::Pg(_) => ("generate_series(1, 5000) AS number", "gen_random_uuid()", "now()"),
                    Conn::Sqlite(_) => (
                        "(WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < \
                            5000) SELECT number FROM n)",
                        "randomblob(16)", "CAST(strftime('%s', 'now') AS INTEGER) * 1000000",
                    ),
                };
                let insert = format!(
                    "INSERT INTO jobs (id, kind, payload, request_id, run_at, attempts, created_at, failed_at, last_error) \
                     SELECT {id}, 'gone-' || (number % 7), '{{}}', 'story', {now}, 5, {now}, {now}, 'no' FROM {numbers}"
                );
                conn.batch(&insert).await?;
                Ok::<_, DbError>(())
            }));
            inserted.await.unwrap();
        }
        let (before, began) = (reads(&server).await, Instant::now());
        let (mut seen, mut query) = (BTreeSet::new(), "?limit=100".to_owned());
        for _ in 0..10 {
            let page = olga.get(format!("/api/operator/jobs{query}")).await.is(200);
            assert_eq!(page.data()["totalCount"], 100_000);
            seen.extend(page.data()["items"].as_array().unwrap().iter().map(|job| job["id"].to_string()));
            query = format!("?limit=100&cursor={}", page.text_of("nextCursor"));
        }
        let of_kind = olga.get("/api/operator/jobs?limit=100&kind=gone-3").await.is(200);
        let of_kind = of_kind.data()["items"].as_array().unwrap().clone();
        assert!(of_kind.len() == 100 && of_kind.iter().all(|job| job["kind"] == "gone-3"));
        let overview = olga.get("/api/operator/overview").await.is(200);
        assert_eq!(overview.data()["failedJobs"], 10_000);
        let queues = overview.data()["figures"]["queues"].as_array().unwrap().clone();
        assert_eq!(queues.iter().map(|queue| queue["failed"].as_i64().unwrap()).sum::<i64>(), 100_000);
        let (took, read) = (began.elapsed(), reads(&server).await - before);
        assert_eq!(seen.len(), 1000);
        // Two for each page, a handful for the overview, and those that the server makes by itself meanwhile.
        assert!(read < 22 + 12 + 20 * (1 + took.as_secs()), "{read} reads in {took:?}");
        assert!(took < Duration::from_secs(20), "{took:?}");
    }
}
