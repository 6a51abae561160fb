//! Tests the client of language models against a fake server, request by request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actors::time::SystemClock;
use colloquy::clients::llm::{LlmService, LlmSettings};
use futures_util::future::join_all;
use pipeline::Completions;
use pipeline::chat::{Chat, NoCompletion};
use serde_json::{Value, json};

use crate::support::llm_service::{FakeLlm, Formats, KEY, MODEL, Trouble};

fn service_of(fake: &FakeLlm, key: &str) -> LlmService {
    let limit = Duration::from_millis(1_500);
    let settings = LlmSettings { url: fake.url.clone(), key: key.to_owned(), limit, at_once: 2 };
    LlmService::new(settings, Arc::new(SystemClock)).unwrap()
}

fn chat(number: usize) -> Chat {
    Chat {
        model: MODEL.to_owned(),
        system: "Answer with {\"items\": []}.".to_owned(),
        user: format!("<<<PART 1\nThe system must print {number} lists.\n1 PART>>>"),
        schema_name: "items".to_owned(),
        schema: json!({"type": "object", "additionalProperties": false, "required": ["items"],
                       "properties": {"items": {"type": "array", "items": {"type": "string"}}}}),
        answer_tokens: 100,
    }
}

fn formats(fake: &FakeLlm) -> Vec<Value> {
    fake.requests().iter().map(|request| request["response_format"]["type"].clone()).collect()
}

#[tokio::test]
async fn a_schema_is_sent_strictly_and_neither_tools_nor_streams_are_asked_for() {
    let fake = FakeLlm::start();
    let completion = service_of(&fake, KEY).complete(&chat(7)).await.unwrap();
    assert!(completion.text.contains("print 7 lists") && !completion.is_cut && completion.tokens > 10);
    let request = &fake.requests()[0];
    assert_eq!(formats(&fake), ["json_schema"]);
    assert_eq!((&request["stream"], &request["max_tokens"], request.get("tools")), (&json!(false), &json!(100), None));
}

#[tokio::test]
async fn a_refused_form_is_replaced_by_the_next_and_not_tried_again() {
    for (known, expected) in [
        (Formats::ObjectsOfSchemas, vec!["json_schema", "json_object"]),
        (Formats::Objects, vec!["json_schema", "json_object", "json_object"]),
        (Formats::Nothing, vec!["json_schema", "json_object", "json_object", ""]),
    ] {
        let fake = FakeLlm::start();
        fake.knows(known);
        let service = service_of(&fake, KEY);
        service.complete(&chat(1)).await.unwrap();
        let tried: Vec<String> =
            formats(&fake).iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
        assert_eq!(tried, expected, "{known:?}");
        service.complete(&chat(2)).await.unwrap();
        assert_eq!(fake.requests().len(), expected.len() + 1, "{known:?}: it is known now");
    }
}

#[tokio::test]
async fn what_is_refused_for_another_reason_is_said_and_no_form_is_learned_from_it() {
    let fake = FakeLlm::start();
    let service = service_of(&fake, KEY);
    fake.fails(&[Trouble::TooLong; 4]);
    let refused = service.complete(&chat(1)).await.unwrap_err();
    let NoCompletion::Refused(why) = refused else { panic!("{refused:?}") };
    assert!(why.starts_with("400 ") && why.contains("maximum context length"), "{why}");
    service.complete(&chat(2)).await.unwrap();
    assert_eq!(formats(&fake).last().unwrap(), "json_schema");
}

#[tokio::test]
async fn a_busy_server_is_left_alone_for_as_long_as_it_says() {
    let fake = FakeLlm::start();
    fake.fails(&[Trouble::Busy(1)]);
    let service = service_of(&fake, KEY);
    let began = Instant::now();
    service.complete(&chat(1)).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(fake.requests().len(), 2);
    // Longer than anybody waits.
    fake.fails(&[Trouble::Busy(3_600)]);
    let began = Instant::now();
    let refused = service.complete(&chat(2)).await.unwrap_err();
    assert!(matches!(&refused, NoCompletion::Unavailable(why) if why == "it answers 429"), "{refused:?}");
    assert!(began.elapsed() < Duration::from_secs(1) && fake.requests().len() == 3);
}

#[tokio::test]
async fn a_busy_server_may_say_until_when_as_a_date() {
    let fake = FakeLlm::start();
    // Dates have whole seconds.
    fake.fails(&[Trouble::BusyUntil(3)]);
    let service = service_of(&fake, KEY);
    let began = Instant::now();
    service.complete(&chat(1)).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(1_900), "{:?}", began.elapsed());
    fake.fails(&[Trouble::BusyUntil(3_600)]);
    let refused = service.complete(&chat(2)).await.unwrap_err();
    assert!(matches!(&refused, NoCompletion::Unavailable(why) if why == "it answers 429"), "{refused:?}");
    assert_eq!(fake.requests().len(), 3, "an hour is longer than anybody waits");
}

#[tokio::test]
async fn failures_are_tried_again_and_given_up_in_the_end() {
    let fake = FakeLlm::start();
    let service = service_of(&fake, KEY);
    fake.fails(&[Trouble::Failing, Trouble::Failing]);
    service.complete(&chat(1)).await.unwrap();
    assert_eq!(fake.requests().len(), 3);
    fake.fails(&[Trouble::Closes]);
    service.complete(&chat(2)).await.unwrap();
    assert_eq!(fake.requests().len(), 5);
    fake.dies_after(0);
    let refused = service.complete(&chat(3)).await.unwrap_err();
    assert!(matches!(&refused, NoCompletion::Unavailable(why) if why == "it answers 503"), "{refused:?}");
    assert_eq!(fake.requests().len(), 9);
}

#[tokio::test]
async fn a_server_that_says_nothing_has_its_time_twice() {
    let fake = FakeLlm::start();
    fake.fails(&[Trouble::Silent, Trouble::Silent]);
    let refused = service_of(&fake, KEY).complete(&chat(1)).await.unwrap_err();
    assert!(matches!(&refused, NoCompletion::Unavailable(why) if why.contains("in time")), "{refused:?}");
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn what_is_no_answer_is_invalid() {
    let fake = FakeLlm::start();
    let service = service_of(&fake, KEY);
    for trouble in [Trouble::WrongType, Trouble::Huge] {
        fake.fails(&[trouble, trouble]);
        let refused = service.complete(&chat(1)).await.unwrap_err();
        assert!(matches!(refused, NoCompletion::Invalid(_)), "{trouble:?}: {refused:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let fake = FakeLlm::start();
    fake.fails(&[Trouble::Redirects]);
    let refused = service_of(&fake, KEY).complete(&chat(1)).await.unwrap_err();
    assert!(matches!(&refused, NoCompletion::Refused(why) if why.starts_with("302 ")), "{refused:?}");
    assert_eq!((fake.requests().len(), fake.redirected()), (1, 0));
}

#[tokio::test]
async fn a_refused_key_is_not_repeated() {
    let fake = FakeLlm::start();
    let refused = service_of(&fake, "sk-wrong").complete(&chat(1)).await.unwrap_err();
    let NoCompletion::Refused(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains("llm.key") && !why.contains("sk-wrong"), "{why}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let fake = FakeLlm::start();
    let service = service_of(&fake, KEY);
    // Bound, and not listened at: it refuses connections, and nobody else gets it meanwhile.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = held.local_addr().unwrap().port();
    let settings = LlmSettings {
        url: format!("http://user:secret@127.0.0.1:{port}/v1"),
        key: String::new(),
        limit: Duration::from_secs(1),
        at_once: 1,
    };
    let away = LlmService::new(settings, Arc::new(SystemClock)).unwrap().complete(&chat(1)).await.unwrap_err();
    assert!(matches!(&away, NoCompletion::Unavailable(why) if !why.contains("secret")), "{away:?}");
    service.complete(&chat(1)).await.unwrap();
}

#[tokio::test]
async fn tokens_are_estimated_where_nobody_counts_them() {
    let fake = FakeLlm::start();
    fake.counts_no_tokens();
    let completion = service_of(&fake, KEY).complete(&chat(1)).await.unwrap();
    assert!(completion.tokens >= 30, "{}", completion.tokens);
}

#[tokio::test]
async fn never_are_three_calls_under_way() {
    let fake = FakeLlm::start();
    fake.takes(Duration::from_millis(60));
    let service = service_of(&fake, KEY);
    let chats: Vec<Chat> = (0..10).map(chat).collect();
    let answers = join_all(chats.iter().map(|chat| service.complete(chat))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(fake.most_under_way(), 2);
}

/// With `COLLOQUY_TEST_LLM` naming the base of an interface, and `COLLOQUY_TEST_LLM_MODEL` the model, as
/// `http://127.0.0.1:8080/v1`: a real server takes the requests, and gives what can be read.
#[tokio::test]
async fn a_real_server_takes_the_requests() {
    let Ok(url) = std::env::var("COLLOQUY_TEST_LLM") else {
        println!("SKIPPED: COLLOQUY_TEST_LLM names no server");
        return;
    };
    let model = std::env::var("COLLOQUY_TEST_LLM_MODEL").unwrap_or_else(|_| "default".to_owned());
    let settings = LlmSettings { url, key: String::new(), limit: Duration::from_secs(120), at_once: 2 };
    let service = LlmService::new(settings, Arc::new(SystemClock)).unwrap();
    let completion = service.complete(&Chat { model, ..chat(7) }).await.unwrap();
    println!("{completion:?}");
    let parsed: Result<Value, _> = serde_json::from_str(completion.text.trim());
    assert!(completion.is_cut || parsed.is_ok_and(|answer| answer["items"].is_array()), "{completion:?}");
    assert!(completion.tokens > 20);
}
