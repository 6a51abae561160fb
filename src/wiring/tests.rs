//! Tests of what was built: a panic in a handler or in a database write fails its own request and nothing else; every kind of
//! job is bounded.

use std::path::Path;
use std::rc::Rc;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{App as Web, test};
use serde_json::Value;

use super::{Built, background, build};
use crate::access::policy::Public;
use crate::api::operation::{Authorized, Operation};
use crate::config::{Config, Overrides};
use crate::core::Core;
use crate::db::DbError;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::Empty;
use crate::http::middleware::{self, MiddlewareSettings};
use crate::http::route_table::RouteTable;
use crate::jobs::{KindBounds, Turns};
use crate::service;

async fn bug_in_a_handler(_: Authorized<Public, Empty>, _: Core) -> Result<Reply<Nothing>, ApiError> {
    panic!("a secret of the inside")
}

async fn bug_in_a_write(_: Authorized<Public, Empty>, core: Core) -> Result<Reply<Nothing>, ApiError> {
    let written: Result<(), DbError> = core.db.write(|_| Box::pin(async { panic!("a secret of the inside") })).await;
    written.map(|()| Reply::ok(Nothing {})).map_err(ApiError::from)
}

/// Builds everything on a database in the folder.
async fn built_in(folder: &Path) -> Built {
    let settings = vec![
        ("server.listen", "127.0.0.1:0".to_owned()),
        ("internal.listen", "127.0.0.1:0".to_owned()),
        ("server.data", folder.to_string_lossy().into_owned()),
    ];
    let config = Config::layered(None, std::collections::HashMap::new(), &Overrides { settings }).unwrap();
    build(config).await.unwrap()
}

/// The kinds whose jobs take no turns: no user causes them, or nobody waits for them.
const IN_ORDER: [&str; 7] = [
    "cancel-run",
    "delete-project",
    "delete-recording-files",
    "forget-avatar",
    "forget-contents",
    "forget-guest",
    "overwrite-deleted",
];

#[actix_web::test]
async fn every_kind_of_job_has_a_time_limit_and_takes_turns_unless_it_is_listed_here() {
    let folder = tempfile::tempdir().unwrap();
    let built = built_in(folder.path()).await;
    let bounds = background::handlers(&built.states, folder.path()).unwrap().bounds();
    assert!(bounds.len() >= 21, "{bounds:?}");
    for KindBounds { kind, time_limit, turns } in &bounds {
        assert!((1..=2 * 60 * 60).contains(&time_limit.as_secs()), "{kind} may take {time_limit:?}");
        if let Turns::InOrder(why) = turns {
            assert!(why.len() > 10, "{kind} does not say why it takes no turns");
        }
    }
    let in_order = bounds.iter().filter(|bounds| bounds.turns != Turns::Fair).map(|bounds| bounds.kind);
    assert_eq!(in_order.collect::<Vec<_>>(), IN_ORDER);
}

#[actix_web::test]
async fn a_panic_is_one_500_in_the_envelope_and_everything_else_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let built = built_in(folder.path()).await;
    built.states.probes.readiness.set(true);
    let operations = [
        Operation::reading(Method::GET, "/handler", "handler", bug_in_a_handler),
        Operation::writing(Method::POST, "/handler", "handlerThatWrites", bug_in_a_handler),
        Operation::writing(Method::POST, "/write", "write", bug_in_a_write),
        Operation::reading(Method::GET, "/health/ready", "readiness", service::readiness),
    ];
    let table = Rc::new(RouteTable::new(operations.iter().map(Operation::endpoint)).unwrap());
    let middleware_settings =
        std::sync::Arc::new(MiddlewareSettings { over_tls: false, app_url: String::new(), is_public: true });
    let web = Web::new()
        .wrap(from_fn(move |request, next| {
            middleware::pass(std::sync::Arc::clone(&middleware_settings), Rc::clone(&table), request, next)
        }))
        .configure(|service| built.states.mount(service));
    let server = test::init_service(web).await;
    for _ in 0..20 {
        for (method, path) in [(Method::GET, "/handler"), (Method::POST, "/handler"), (Method::POST, "/write")] {
            let request = test::TestRequest::default()
                .method(method)
                .uri(path)
                .insert_header(("x-request-id", "story"))
                .to_request();
            let response = test::call_service(&server, request).await;
            assert_eq!(response.status(), 500, "{path}");
            assert_eq!(response.headers().get("x-request-id").unwrap(), "story");
            let body: Value = test::read_body_json(response).await;
            assert_eq!(body["errors"][0]["code"], "InternalServerError");
            assert!(!body.to_string().contains("secret"), "{body}");
        }
        let request = test::TestRequest::get().uri("/health/ready").to_request();
        assert_eq!(test::call_service(&server, request).await.status(), 200);
    }
}
