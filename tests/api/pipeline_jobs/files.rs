//! Tests of requests whose sources are files.

use serde_json::{Value, json};

use super::{TEXT, ended, new_id};
use crate::support::pipeline_service::PipelineSetup;

const BOUNDARY: &str = "----the-boundary-of-the-story";

fn form(parts: &[(&str, Option<&str>, &[u8])]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, file_name, content) in parts {
        let file_name = file_name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
        let head = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"{file_name}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={BOUNDARY}"), body)
}

fn request(id: &str, names: &[&str]) -> Vec<u8> {
    let source = |(at, name): (usize, &&str)| json!({"id": format!("s{at}"), "kind": "DOCUMENT", "name": name});
    let sources: Vec<Value> = names.iter().enumerate().map(source).collect();
    json!({"jobId": id, "analysisType": "FULL", "sources": sources}).to_string().into_bytes()
}

#[tokio::test]
async fn files_are_read_and_analysed_and_what_cant_be_read_is_a_warning() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let id = new_id();
    let vtt = b"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Ada>The system must print a badge for each guest.\n";
    // The head of a PDF, and nothing behind it.
    let torn = b"%PDF-1.7\n%torn";
    let request = request(&id, &["note.md", "talk.vtt", "torn.pdf"]);
    let parts: [(&str, Option<&str>, &[u8]); 4] = [
        ("request", None, &request),
        ("file", Some("note.md"), TEXT.as_bytes()),
        ("file", Some("talk.vtt"), vtt),
        ("file", Some("torn.pdf"), torn),
    ];
    let (content_type, body) = form(&parts);
    client.post("/internal/process").body(&content_type, body.clone()).await.is(202);
    let job = ended(&client, &id).await;
    assert_eq!(job["status"], "PARTIAL", "{job}");
    let result = client.get(format!("/internal/jobs/{id}/result")).await.is(200).data().clone();
    assert_eq!(result["requirements"].as_array().unwrap().len(), 3, "{result}");
    let spoken = result["requirements"][2]["sources"][0].clone();
    assert_eq!((&spoken["sourceId"], &spoken["speaker"]), (&json!("s1"), &json!("Ada")));
    assert_eq!(
        (&result["warnings"][0]["sourceId"], &result["warnings"][0]["code"]),
        (&json!("s2"), &json!("Unreadable"))
    );
    // The same files are the same job.
    client.post("/internal/process").body(&content_type, body).await.is(202);
    let mut other = parts;
    other[1].2 = b"Another note.";
    let (_, body) = form(&other);
    client.post("/internal/process").body(&content_type, body).await.refused(409, "Conflict");
}

#[tokio::test]
async fn what_is_wrong_with_a_form_is_said() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[("COLLOQUY__LIMITS__DOCUMENT_BYTES", "1000")]);
    let client = service.client();
    let post = |parts: &[(&str, Option<&str>, &[u8])]| {
        let (content_type, body) = form(parts);
        client.post("/internal/process").body(&content_type, body)
    };
    let one = request(&new_id(), &["a.txt"]);
    let text = TEXT.as_bytes();
    let program = [b"\x7fELF\x02\x01\x01\x00", [0; 64].as_slice()].concat();
    post(&[("request", None, &one), ("file", Some("a.txt"), &program)]).await.refused(415, "UnsupportedMediaType");
    post(&[("request", None, &one), ("file", Some("a.txt"), &[b'x'; 1001])]).await.refused(413, "PayloadTooLarge");
    post(&[("request", None, &one)]).await.refused(422, "InvalidValue");
    post(&[("file", Some("a.txt"), text)]).await.refused(422, "Required");
    post(&[("request", None, &one), ("file", Some("a"), text), ("file", Some("b"), text)]).await.is(422);
    post(&[("request", None, &one), ("colour", None, b"blue")]).await.refused(422, "UnknownKey");
    post(&[("request", None, &one), ("request", None, &one)]).await.refused(422, "Repeated");
    let nameless = request(&new_id(), &[""]);
    let refused = post(&[("request", None, &nameless), ("file", Some("a.txt"), text)]).await.is(422);
    assert_eq!(refused.faults()[0].0, "request.sources[0].name");
    client.post("/internal/process").json(json!({})).await.refused(400, "BadRequest");
    let whole = client.get("/internal/health").await.is(200);
    assert_eq!(whole.data()["storedBytes"], 0, "nothing was kept");
    let left = std::fs::read_dir(setup.data.join("pipeline/incoming")).unwrap().count();
    assert_eq!(left, 0, "nor left behind");
}
