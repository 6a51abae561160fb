//! Tests the event stream of an AI run (server-sent events).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::socket::events;
use crate::support::{Role, ServerSetup, Socket, User, World};

const NOTE: &str = "# Booking\n\nPatients must be able to book a visit online. The system shall send a reminder one day \
    before the visit. Doctors need to see their visits of the day.\n";

/// Makes a project with one document, waits until it is READY, and returns the project's id. Panics after 20 s.
async fn ready(ada: &User) -> String {
    let project = ada.project().await;
    let body = format!(
        "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"note.md\"\r\ncontent-type: \
            text/markdown\r\n\r\n{NOTE}\r\n--b--\r\n"
    );
    let path = format!("/api/projects/{project}/documents");
    let id = ada.client.post(&path).body("multipart/form-data; boundary=b", body).await.is(201).text_of("id");
    let begun = Instant::now();
    loop {
        let document = ada.client.get(format!("{path}/{id}")).await.is(200);
        match document.text_of("status").as_str() {
            "READY" => return project,
            "FAILED" => panic!("{}", document.text()),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "the document is not read");
    }
}

/// Starts an AI run and returns it.
async fn start(ada: &User, project: &str) -> Value {
    ada.client.post(format!("/api/projects/{project}/ai/runs")).json(json!({})).await.is(202).data().clone()
}

on_both! {
    async fn a_run_is_streamed_to_its_end_and_the_stream_can_be_resumed(world: World) {
        let ada = world.user().await;
        let project = ready(&ada).await;
        let topic = format!("project:{project}");
        let mut socket = Socket::open(&ada.client).await;
        socket.subscribe(&topic).await;
        let run = start(&ada, &project).await;
        let url = run["eventsUrl"].as_str().unwrap().to_owned();
        let answer = ada.client.get(&url).await.is(200);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let records = events(&answer.text());
        let last = records.last().unwrap();
        assert_eq!((last.event.as_str(), &last.data["status"]), ("run.completed", &json!("COMPLETED")));
        for pair in records.windows(2) {
            assert_eq!(pair[1].id, pair[0].id + 1);
            assert!(pair[1].data["progress"].as_u64() >= pair[0].data["progress"].as_u64());
        }
        let got = ada.client.get(format!("/api/projects/{project}/ai/runs/{}", run["id"].as_str().unwrap())).await;
        assert_eq!(got.data(), &last.data);

        // A socket that resumes from offset 0 receives the same events as a stream that does.
        let run_topic = format!("run:{}", run["id"].as_str().unwrap());
        let mut to_run = Socket::open(&ada.client).await;
        let begun = to_run.subscribe(&run_topic).await;
        assert_eq!((&begun["offset"], &begun["snapshot"]), (&json!(last.id), &last.data));
        let all = events(&ada.client.get(&url).header("last-event-id", "0").await.is(200).text());
        assert_eq!((all[0].id, all.last()), (1, Some(last)));
        assert_eq!(to_run.resume(&run_topic, &begun["epoch"], 0).await["recovered"], true);
        for event in &all {
            let frame = to_run.next().await;
            assert_eq!((&frame["offset"], &frame["event"]), (&json!(event.id), &json!(event.event)));
            assert_eq!(frame["data"], event.data);
        }
        let rest = events(&ada.client.get(&url).header("last-event-id", "2").await.is(200).text());
        assert_eq!(rest, all[2..]);

        // The run has ended. Without a valid position, the stream has its last event only.
        for id in ["", "x", "-1", "99999"] {
            let state = ada.client.get(&url).header("last-event-id", id).await.is(200);
            assert_eq!(events(&state.text()), std::slice::from_ref(last), "{id}");
        }
        let nothing = ada.client.get(&url).header("last-event-id", last.id.to_string()).await.is(200);
        assert_eq!(nothing.text(), "");

        // The project's topic has the events of the same run.
        let mut kinds = Vec::new();
        while kinds.last().is_none_or(|kind| kind != "run.completed") {
            let event = socket.next().await;
            kinds.push(event["event"].as_str().unwrap().to_owned());
        }
        let expected: Vec<_> = all.iter().map(|event| event.event.clone()).collect();
        kinds.retain(|kind| kind.starts_with("run."));
        assert!(expected.ends_with(&kinds) || kinds == expected, "{kinds:?}");
    }

    async fn members_follow_a_run_by_ticket_too(world: World) {
        let ada = world.user().await;
        let project = ready(&ada).await;
        let run = start(&ada, &project).await;
        let url = run["eventsUrl"].as_str().unwrap();
        let stakeholder = world.member(&project, Role::Stakeholder).await;
        let ticket = stakeholder.client.post("/api/ws/tickets").await.is(201).text_of("ticket");
        let by_ticket = format!("{url}?ticket={ticket}");
        assert_eq!(events(&world.nobody.get(&by_ticket).await.is(200).text()).last().unwrap().event, "run.completed");
        world.nobody.get(&by_ticket).await.refused(401, "Unauthorized");
        world.nobody.get(url).await.refused(401, "Unauthorized");
        world.user().await.client.get(url).await.refused(403, "Forbidden");
        let elsewhere = format!("/api/projects/{}/ai/runs/{}/events", ada.project().await, run["id"].as_str().unwrap());
        ada.client.get(elsewhere).await.refused(404, "NotFound");
    }

    async fn a_stream_ends_with_the_server(setup: ServerSetup) {
        let mut server = setup.start(&[]);
        let ada = server.user().await;
        let project = ready(&ada).await;
        let run = start(&ada, &project).await;
        let url = run["eventsUrl"].as_str().unwrap().to_owned();
        let reading = async { ada.client.get(url).await.is(200) };
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            server.terminate();
        };
        let (answer, ()) = tokio::join!(reading, stopping);
        assert!(!events(&answer.text()).is_empty());
        assert!(server.wait(Duration::from_secs(8)).expect("it ends").success());
    }
}
