//! Tests what a review token opens, for how long, under what its calls are counted, and that it shows nowhere.

use serde_json::json;

use super::{DASHBOARD, DAY, OWN_FEEDBACK, Review, accept, age, analysed, feedback_of, invitations, invite, link};
use crate::openapi;
use crate::reviews::Reviewed;
use crate::support::client::Request;
use crate::support::dump::dump;
use crate::support::{Client, Server, ServerSetup, World, outbox};

on_both! {
    async fn a_review_token_is_needed_known_and_no_access_token(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "APPROVER").await;
        let get = |client: &Client| client.get(DASHBOARD);
        get(&world.nobody).await.refused(401, "Unauthorized");
        for wrong in ["", "x", &"A".repeat(43), &review.link_token, &review.review_token.to_lowercase()] {
            get(&world.nobody).header("x-review-token", wrong).await.refused(401, "Unauthorized");
        }
        get(&review.client).also("x-review-token", &review.review_token).await.refused(401, "Unauthorized");
        get(&world.nobody.bearing(&review.review_token)).await.refused(401, "Unauthorized");
        ada.client.get(DASHBOARD).await.refused(401, "Unauthorized");
        review.client.get("/api/projects").await.refused(401, "Unauthorized");
        review.client.get(feedback_of(&project)).await.refused(401, "Unauthorized");
        // A link's token gives access to nothing by itself, and the review token is none of a link.
        world.nobody.get(link(&review.review_token)).await.refused(404, "NotFound");
        get(&review.client).await.is(200);
    }

    /// Most paths name what there is in the project of the access, so that nothing but the missing account can refuse the call.
    async fn a_review_token_alone_opens_what_is_the_reviewers_and_nothing_else(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (ada, project) = (&reviewed.ada, &reviewed.project);
        let (story, requirement) = reviewed.story().await;
        let first = async |path: &str| ada.client.get(reviewed.at(path)).await.is(200).data()["items"][0]["id"].clone();
        let body = json!({"name": "As sent"});
        let baseline = ada.client.post(reviewed.at("baselines")).json(body).await.is(201).data()["id"].clone();
        let review = Review::of(world.server, ada, project, "APPROVER").await;
        let comment = review.comment("It is well.").await;
        let meeting = ada.meeting(project).await;
        let named = [
            ("{projectId}", json!(project)),
            ("{requirementId}", requirement["id"].clone()),
            ("{userStoryId}", story["id"].clone()),
            ("{documentId}", first("documents").await),
            ("{runId}", first("ai/runs").await),
            ("{memberId}", first("members").await),
            ("{baselineId}", baseline),
            ("{feedbackId}", comment["id"].clone()),
            ("{meetingId}", meeting["id"].clone()),
            ("{userId}", json!(ada.id)),
        ];
        let path = |row: &openapi::Row| {
            let is_about_reviews = row.path.contains("review-invitations");
            let filled = named.iter().fold(row.path.to_owned(), |path, (name, value)| path.replace(name, value.as_str().unwrap()));
            let filled = if is_about_reviews { filled.replace("{invitationId}", &review.invitation) } else { filled };
            let segments = filled.split('/').map(|segment| match segment {
                "{chunkIndex}" | "{segmentIndex}" => "0",
                segment if segment.starts_with('{') => "0189a0f0-0000-7000-8000-000000000000",
                segment => segment,
            });
            segments.collect::<Vec<_>>().join("/")
        };
        let (mut opened, mut refused) = (Vec::new(), 0_usize);
        for row in openapi::table().iter().filter(|row| row.who != "public") {
            let call = || review.client.request(row.method.to_uppercase().parse().unwrap(), path(row));
            let answer = call().await;
            if row.who == "reviewer" {
                assert!(![401, 403, 404].contains(&answer.status), "{}: {}", answer.call, answer.text());
                opened.push(row.id);
                continue;
            }
            assert!([401, 403, 404].contains(&answer.status), "{}: {}", answer.call, answer.text());
            assert!(answer.body["data"].is_null(), "{}: {}", answer.call, answer.text());
            if row.path.starts_with("/api/") {
                assert_eq!(answer.status, 401, "{}: {}", answer.call, answer.text());
                // Nor is it an access token.
                let borne = call().header("authorization", format!("Bearer {}", review.review_token)).await;
                assert_eq!((borne.status, borne.body["data"].is_null()), (401, true), "{}", borne.text());
            }
            refused += 1;
        }
        opened.sort_unstable();
        assert_eq!(opened, OPENED);
        assert_eq!((reviewed.now(&story).await, reviewed.now(&requirement).await), (story, requirement), "nothing was done");
        println!("{refused} operations refused");
    }

    async fn an_access_ends_at_once_when_its_invitation_is_revoked(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let other = Review::of(world.server, &ada, &project, "COMMENTER").await;
        review.client.get(DASHBOARD).await.is(200);
        ada.client.delete(format!("{}/{}", invitations(&project), review.invitation)).await.is(200);
        review.client.get(DASHBOARD).await.refused(410, "Gone");
        review.client.get(OWN_FEEDBACK).await.refused(410, "Gone");
        // Before the body is read.
        review.client.post(OWN_FEEDBACK).body("application/json", "{").await.refused(410, "Gone");
        other.client.get(DASHBOARD).await.is(200);
    }

    async fn an_access_expires_and_needs_to_be_accepted_again(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        age(world.server, &review.invitation, 30 * DAY - 60).await;
        review.client.get(DASHBOARD).await.is(200);
        age(world.server, &review.invitation, 61).await;
        review.client.get(DASHBOARD).await.refused(410, "Gone");
        accept(&world.nobody, &review.link_token).await.refused(410, "Gone");
        let path = format!("{}/{}/resend", invitations(&project), review.invitation);
        let sent = ada.client.post(path).await.is(200);
        assert_eq!(sent.text_of("status"), "ACCEPTED");
        review.client.get(DASHBOARD).await.refused(401, "Unauthorized");
        let token = outbox::token_in(&outbox::wait_for(&world.server.data, &review.email, 2).await).unwrap();
        let again = accept(&world.nobody, &token).await.is(200).text_of("reviewToken");
        world.nobody.reviewing(&again).get(DASHBOARD).await.is(200);
        review.client.get(DASHBOARD).await.refused(401, "Unauthorized");
    }

    async fn an_access_ends_with_its_project(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let (_, _, open) = invite(world.server, &ada, &project, "VIEWER").await;
        review.comment("It is well.").await;
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        let gone = review.client.get(DASHBOARD).await;
        // Until its rows are deleted it is known, and then unknown.
        assert!([401, 410].contains(&gone.status), "{}", gone.text());
        let gone = world.nobody.get(link(&open)).await;
        assert!([404, 410].contains(&gone.status), "{}", gone.text());
    }

    async fn a_reviewer_is_a_stakeholder_who_was_seen(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "VIEWER").await;
        // Neither who did not accept, nor whose access was revoked, nor who is a member anyway.
        invite(world.server, &ada, &project, "VIEWER").await;
        let revoked = Review::of(world.server, &ada, &project, "VIEWER").await;
        ada.client.delete(format!("{}/{}", invitations(&project), revoked.invitation)).await.is(200);
        let body = json!({"invitees": [{"email": ada.email}], "permission": "VIEWER"});
        ada.client.post(invitations(&project)).json(body).await.is(201);
        let own = outbox::wait_for(&world.server.data, &ada.email, 2).await;
        accept(&world.nobody, &outbox::token_in(&own).unwrap()).await.is(200);
        // A guest with the same address is that reviewer.
        let meeting = ada.meeting(&project).await["id"].as_str().unwrap().to_owned();
        world.server.guest(&meeting, "Guest", Some(&review.email), None, None).await;
        let stakeholders = format!("/api/projects/{project}/stakeholders");
        let list = ada.client.get(&stakeholders).await.is(200);
        let items = list.data()["items"].as_array().unwrap();
        assert_eq!((items.len(), &list.data()["totalCount"]), (1, &json!(1)), "{}", list.text());
        let name = review.email.split('@').next().unwrap();
        assert_eq!(items[0], json!({
            "id": review.invitation, "fullName": name, "email": review.email, "organisation": null, "userId": null,
            "origin": "REVIEW_INVITATION", "lastSeenAt": items[0]["lastSeenAt"],
        }));
        assert!(items[0]["lastSeenAt"].is_string());
        for (query, count) in [("origin=REVIEW_INVITATION", 1), ("origin=MEETING_GUEST", 0), ("search=nobody-of-this-name", 0)] {
            let list = ada.client.get(format!("{stakeholders}?{query}")).await.is(200);
            assert_eq!(list.data()["totalCount"], count, "{query}");
        }
    }

    async fn review_tokens_are_in_no_table_log_line_or_metric(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "info,colloquy=trace,actors=trace")]);
        let ada = server.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(&server, &ada, &project, "APPROVER").await;
        let seen = server.client().get(link(&review.link_token)).header("x-request-id", "look-for-me").await.is(200);
        assert_eq!(seen.header("referrer-policy"), Some("no-referrer"));
        server.client().delete(link(&review.link_token)).await.is(405);
        server.client().get(format!("/API/Review-Invitations/{}/", review.link_token)).await.is(200);
        review.client.get(DASHBOARD).await.is(200);
        review.client.get(format!("{DASHBOARD}?token={}", review.review_token)).await.is(200);
        review.comment("It is well.").await;
        server.client().reviewing(&format!("{}A", review.review_token)).get(DASHBOARD).await.is(401);
        let said = server.read_log();
        let line = said.lines().find(|line| line.contains("look-for-me")).expect("a line of the request");
        assert!(line.contains("/api/review-invitations/{token}"), "{line}");
        let figures = server.operator().get("/metrics").await.is(200).text();
        let stored = dump(&server).await;
        for token in [&review.link_token, &review.review_token] {
            assert!(!said.contains(token.as_str()), "the log has a token");
            assert!(!figures.contains(token.as_str()), "the figures have a token");
            assert!(!stored.contains(token.as_str()), "the database has a token");
        }
    }
}

/// The operations of reviewers.
const OPENED: [&str; 3] = ["getReviewDashboard", "listFeedbackByReviewToken", "submitFeedback"];

const MOST: usize = 30;
const PROXY: (&str, &str) = ("COLLOQUY__HTTP__TRUSTED_PROXIES", "127.0.0.1");

/// Returns the number of database reads so far, from the metrics.
async fn reads(server: &Server) -> u64 {
    let figures = server.operator().get("/metrics").await.is(200).text();
    figures.lines().find_map(|line| line.strip_prefix("colloquy_database_reads_total ")).unwrap().parse().unwrap()
}

fn from(client: &Client, address: &str) -> Request {
    client.get(DASHBOARD).header("x-forwarded-for", address)
}

on_both! {
    async fn a_reviewers_calls_count_under_the_access_and_refused_ones_under_the_client(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__CALLS__MOST", "30"), ("COLLOQUY__LIMITS__CALLS__SECONDS", "86400"), PROXY];
        let server = setup.start(&settings);
        let ada = server.user().await;
        let project = ada.project().await;
        let review = Review::of(&server, &ada, &project, "VIEWER").await;
        let other = Review::of(&server, &ada, &project, "VIEWER").await;
        // The first call shows that the token is a good one; from then on they are counted for the access, from
        // whatever address.
        from(&review.client, "203.0.113.1").await.is(200);
        for number in 0..MOST {
            from(&review.client, &format!("203.0.113.{}", number + 10)).await.is(200);
        }
        from(&review.client, "203.0.113.2").await.refused(429, "TooManyRequests");
        from(&other.client, "203.0.113.2").await.is(200);
        // Guesses are counted under the client's address; past the limit none is looked for.
        let guess = |number: usize| server.client().reviewing(&format!("{number:0>43}"));
        for number in 0..MOST {
            from(&guess(number), "203.0.113.3").await.refused(401, "Unauthorized");
        }
        let before = reads(&server).await;
        for number in 0..200 {
            from(&guess(1_000 + number), "203.0.113.3").await.refused(429, "TooManyRequests");
        }
        let loaded = reads(&server).await - before;
        // The server's own maintenance reads now and then.
        assert!(loaded < 100, "{loaded} reads for 200 calls that were refused");
        from(&other.client, "203.0.113.3").await.is(200);
    }
}
