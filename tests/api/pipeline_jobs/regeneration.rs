//! Tests of stories that are written anew.

use serde_json::{Value, json};

use crate::support::pipeline_service::PipelineSetup;

fn request() -> Value {
    json!({
        "story": {"title": "Cancel", "role": "clerk", "goal": "cancel", "benefit": null, "priority": "LOW", "acceptanceCriteria": []},
        "requirements": [{
            "title": "Cancel an appointment",
            "statement": "A patient must be able to cancel an appointment.",
            "type": "FUNCTIONAL",
        }],
        "sources": [{"quote": "When an appointment is cancelled, the system must offer the slot to the next patient."}],
        "feedback": "Say what happens to the slot.",
        "language": "EN",
    })
}

#[tokio::test]
async fn a_story_is_written_anew_from_its_requirements_and_sources_and_the_same_each_time() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let first = client.post("/internal/stories/regenerate").json(request()).await.is(200);
    let story = first.data();
    assert_eq!(
        (&story["role"], &story["goal"], &story["benefit"]),
        (&json!("patient"), &json!("cancel an appointment"), &Value::Null)
    );
    assert_eq!(story["description"], "As a patient, I want to cancel an appointment.");
    assert_eq!(story["acceptanceCriteria"][0]["then"], "the system must offer the slot to the next patient");
    assert_eq!((&story["title"], &story["priority"]), (&json!("Cancel an appointment"), &json!("LOW")));
    assert!(story["notes"][0].as_str().unwrap().contains("does not interpret feedback"), "{story}");
    let again = client.post("/internal/stories/regenerate").json(request()).await.is(200);
    assert_eq!(again.bytes, first.bytes);
}

#[tokio::test]
async fn a_request_that_is_not_acceptable_names_its_fields() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let mut wrong = request();
    wrong["requirements"] = json!([]);
    wrong["story"]["colour"] = json!("blue");
    wrong["story"]["goal"] = json!("");
    wrong["sources"] = json!([{"quote": 7}]);
    wrong["feedback"] = json!("x".repeat(5_001));
    let refused = client.post("/internal/stories/regenerate").json(wrong).await.is(422);
    let faults = refused.faults();
    let named: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(named, ["feedback", "requirements", "sources[0].quote", "story.colour", "story.goal"]);
    client.post("/internal/stories/regenerate").json(json!({})).await.refused(422, "Required");
    // As long as it may be, it takes no time to speak of.
    let mut long = request();
    let statement = "When a patient must, if so, then ".repeat(150);
    long["requirements"] = json!(vec![json!({"statement": statement}); 50]);
    long["sources"] = json!(vec![json!({"quote": statement}); 50]);
    let began = std::time::Instant::now();
    client.post("/internal/stories/regenerate").json(long).await.is(200);
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}
