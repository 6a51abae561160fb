//! A fake pipeline service for tests: each answers as the test says, true or not.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Value, json};

use super::local_server::LocalServer;
use super::pipeline_service::KEY;

/// A request to the fake service.
pub struct FakeCall {
    pub path: String,
    /// The JSON body, or null.
    pub body: Value,
}

impl FakeCall {
    /// Returns the id of the job that it is about.
    pub fn job(&self) -> String {
        let of_path = || self.path.split('/').nth(3).unwrap_or_default().to_owned();
        self.body["jobId"].as_str().map_or_else(of_path, str::to_owned)
    }

    pub fn is_result(&self) -> bool {
        self.path.ends_with("/result")
    }

    pub fn is_process(&self) -> bool {
        self.path == "/internal/process-json"
    }
}

/// What the fake service answers.
pub enum FakeAnswer {
    /// This as `data` of a success.
    Data(Value),
    Status(u16),
    /// A body of a success that is nothing of the kind.
    Raw(Vec<u8>),
    Redirect(String),
    /// Nothing for a minute.
    Silence,
}

/// Returns a job as the service shows it.
pub fn job(id: &str, status: &str, node: &str, progress: u8) -> Value {
    json!({
        "jobId": id, "status": status, "progress": progress, "currentNode": node, "currentNodeLabel": node,
        "message": node, "errorMessage": null, "attempt": 1,
    })
}

type Answering = Arc<dyn Fn(&FakeCall) -> FakeAnswer + Send + Sync>;

/// A running fake service. It stops when this value is dropped.
pub struct FakePipeline {
    _server: LocalServer,
    pub url: String,
}

impl FakePipeline {
    pub fn start(answer: impl Fn(&FakeCall) -> FakeAnswer + Send + Sync + 'static) -> Self {
        let answer: Answering = Arc::new(answer);
        let server = LocalServer::start(move |routes| {
            routes
                .app_data(web::Data::new(Arc::clone(&answer)))
                .app_data(web::PayloadConfig::new(64 * 1024 * 1024))
                .default_service(web::to(serve));
        });
        Self { url: format!("http://127.0.0.1:{}", server.port), _server: server }
    }

    /// Returns the settings with which a server sends its runs there.
    pub fn settings(&self) -> Vec<(&str, &str)> {
        vec![
            ("COLLOQUY__PIPELINE__MODE", "remote"),
            ("COLLOQUY__PIPELINE__URL", &self.url),
            ("COLLOQUY__PIPELINE__KEY", KEY),
            ("COLLOQUY__PIPELINE__TIMEOUT_SECONDS", "2"),
        ]
    }
}

async fn serve(request: HttpRequest, body: web::Bytes, answer: web::Data<Answering>) -> HttpResponse {
    assert_eq!(request.headers().get("authorization").unwrap(), &format!("Bearer {KEY}"));
    assert!(request.headers().contains_key("x-request-id"));
    let call = FakeCall { path: request.path().to_owned(), body: serde_json::from_slice(&body).unwrap_or(Value::Null) };
    match answer(&call) {
        FakeAnswer::Data(data) => HttpResponse::Ok().json(json!({
            "isSuccess": true, "data": data, "message": "Told.", "statusCode": 200, "errors": [],
        })),
        FakeAnswer::Status(status) => HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(json!({
            "isSuccess": false, "data": null, "message": "The fake refuses.", "statusCode": status, "errors": [],
        })),
        FakeAnswer::Raw(bytes) => HttpResponse::Ok().content_type("application/json").body(bytes),
        FakeAnswer::Redirect(to) => HttpResponse::Found().insert_header(("location", to)).finish(),
        FakeAnswer::Silence => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            HttpResponse::Ok().finish()
        }
    }
}
