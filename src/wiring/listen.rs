//! The public and the internal listener, and the routes that each of them serves.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::{HttpService, Protocol};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_factory, fn_service, map_config};
use actix_web::dev::{AppConfig, Server};
use actix_web::http::header::ALLOW;
use actix_web::middleware::{Condition, from_fn};
use actix_web::rt::net::TcpStream;
use actix_web::{App, HttpMessage, HttpRequest, HttpResponse, ResponseError, web};

use super::Built;
use crate::access::admission::count_refusals;
use crate::api::operation::Operation;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::middleware::{self, MiddlewareSettings};
use crate::http::raw_connection::Connections;
use crate::http::route_table::{AllowedMethods, RouteTable};
use crate::http::throttled_stream::ThrottledStream;
use crate::http::upgrade;
use crate::routes;
use crate::service::docs;
use crate::service::pages::{self, PageSettings};

/// How long a connection that the server closes waits for its client to close it too.
const DISCONNECT: Duration = Duration::from_secs(1);

/// Threads of each worker for blocking work, such as reading and hashing files; further work waits. Their number is what
/// bounds the memory of their stacks, however many clients ask for files at once.
const BLOCKING_THREADS: usize = 8;

/// A server that is bound to its address.
pub struct BoundServer {
    pub address: SocketAddr,
    pub server: Server,
}

/// What a listener serves, and how.
pub struct Served<'a> {
    pub listener: &'a std::net::TcpListener,
    /// HTTP worker threads. 0: one per core.
    pub workers: usize,
    pub drain_seconds: u64,
    pub connections: Arc<Connections>,
    pub is_public: bool,
    /// The server's public URL; empty for a server without pages.
    pub app_url: String,
    /// Whether refused requests count against the client's limit.
    pub is_counted: bool,
    pub operations: fn() -> Vec<Operation>,
    /// Mounts the states of the operations, and routes that are none.
    pub beside: Arc<dyn Fn(&mut web::ServiceConfig) + Send + Sync>,
}

pub fn public(built: &Built) -> Result<BoundServer, String> {
    let states = built.states.clone();
    let beside = move |service: &mut web::ServiceConfig| {
        states.mount(service);
        docs::mount(service);
        let google = &states.core.config.google;
        let settings = PageSettings {
            app_url: &states.core.url,
            livekit_url: states.meetings.rooms.server().map(|media| media.url()),
            login_issuer: (!google.client_id.is_empty()).then_some(google.issuer.as_str()),
            registration: states.accounts.registrar.mode.name(),
        };
        pages::mount(service, settings);
    };
    listen(Served {
        listener: &built.sockets.public,
        workers: built.states.core.config.server.workers,
        is_public: true,
        operations: routes::public,
        beside: Arc::new(beside),
        ..of_server(built)
    })
}

pub fn internal(built: &Built) -> Result<BoundServer, String> {
    listen(of_server(built))
}

/// The internal listener of the server.
fn of_server(built: &Built) -> Served<'_> {
    let states = built.states.clone();
    Served {
        listener: &built.sockets.internal,
        workers: 1,
        drain_seconds: states.core.config.server.drain_seconds,
        connections: Arc::clone(&states.http.connections),
        is_public: false,
        app_url: states.core.url.clone(),
        is_counted: true,
        operations: routes::internal,
        beside: Arc::new(move |service| states.mount(service)),
    }
}

/// The table of a listener's operations, for one worker.
fn table(operations: fn() -> Vec<Operation>) -> Result<RouteTable, String> {
    RouteTable::new(operations().iter().map(Operation::endpoint))
}

pub fn listen(served: Served<'_>) -> Result<BoundServer, String> {
    let Served { listener, workers, drain_seconds, connections, is_public, app_url, is_counted, operations, beside } =
        served;
    // Before any worker needs it: each makes its own.
    table(operations)?;
    let over_tls = app_url.starts_with("https://");
    let middleware_settings = Arc::new(MiddlewareSettings { over_tls, app_url, is_public });
    let service = move || {
        let (middleware_settings, beside) = (Arc::clone(&middleware_settings), Arc::clone(&beside));
        let table = Rc::new(table(operations).unwrap_or_default());
        App::new()
            .wrap(Condition::new(is_counted, from_fn(count_refusals)))
            .wrap(from_fn(move |request, next| {
                middleware::pass(Arc::clone(&middleware_settings), Rc::clone(&table), request, next)
            }))
            .configure(|service| beside(service))
            .default_service(web::to(refuse))
    };
    let own = listener.try_clone().map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let server =
        Server::build().disable_signals().shutdown_timeout(drain_seconds).worker_max_blocking_threads(BLOCKING_THREADS);
    let server = if workers > 0 { server.workers(workers) } else { server };
    let stopping = server.graceful_shutdown_signal();
    // Same as `HttpServer`, except that each connection is wrapped in a `ThrottledStream`.
    let server = server.listen(address.to_string(), own, move || {
        let (connections, stopping) = (Arc::clone(&connections), stopping.clone());
        let gated = fn_service(move |stream: TcpStream| {
            let peer = stream.peer_addr().ok();
            let (connection, reading) = connections.of(stream);
            async move { Ok((ThrottledStream::new(reading, connection), Protocol::Http1, peer)) }
        });
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            // actix's own timeouts are off, because they also count time in which the server itself did not get to
            // reading, and then end requests that the client has sent. The limits of `Connections` apply instead.
            .keep_alive(actix_web::http::KeepAlive::Os)
            .client_request_timeout(Duration::ZERO)
            .client_disconnect_timeout(DISCONNECT)
            .local_addr(address)
            .on_connect_ext(|connection: &ThrottledStream, extensions| {
                extensions.insert(connection.connection.clone());
            });
        let app = || {
            let service = service().into_factory().map_err(|error: actix_web::Error| error.error_response());
            map_config(service, |()| AppConfig::default())
        };
        let upgrading = app();
        let http = http.upgrade(fn_factory(move || {
            let made = upgrading.new_service(());
            async move {
                let app = Rc::new(made.await?);
                Ok::<_, ()>(fn_service(move |(request, framed)| {
                    let app = Rc::clone(&app);
                    async move {
                        // An error is how a connection ends whose client is gone.
                        let _ = upgrade::serve(&*app, request, framed).await;
                        Ok::<_, actix_web::Error>(())
                    }
                }))
            }
        }));
        gated.and_then(http.finish(app()))
    });
    let server = server.map_err(|error| format!("listening failed: {error}"))?;
    Ok(BoundServer { address, server: server.run() })
}

/// The response where no route is: 405 with the methods that the path has, if it has any; else 404.
async fn refuse(request: HttpRequest) -> HttpResponse {
    let Some(AllowedMethods(allow)) = request.extensions().get::<AllowedMethods>().cloned() else {
        return ApiError::of(Code::NOT_FOUND).error_response();
    };
    let mut refused = ApiError::of(Code::METHOD_NOT_ALLOWED).error_response();
    refused.headers_mut().insert(ALLOW, allow);
    refused
}
