//! The one place that builds everything: from settings to a server that listens, and its end.

mod background;
mod others;
mod sweeps;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_http::{HttpService, Protocol};
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::{AppConfig, Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::rt::net::TcpStream;
use actix_web::{App as Web, web};
use actors::hub::{Hub, HubLimits};
use actors::keeper::{AllLocal, Keeper, Parts as Keeping};
use actors::live::{Journal, Live};
use actors::shell::{Arbiters, Limits as LiveLimits};
use actors::time::{Clock, SystemClock};
use actors::watch::Watch;

use crate::access::keys;
use crate::access::revoked::Revoked;
use crate::access::token::Tokens;
use crate::accounts::profile::leaving::Holders;
use crate::accounts::sessions::turns::Turns;
use crate::analysis::audience::{OfProjects, OfRuns};
use crate::analysis::store::RunJournal;
use crate::app::{App, Parts};
use crate::config::Config;
use crate::db::{Alone, Db, Settings};
use crate::http::budget::Budget;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::front::{self, Door, Paths};
use crate::http::gate::Gated;
use crate::http::limits::{Limit, Limits};
use crate::http::line::Lines;
use crate::http::openapi;
use crate::http::operation::Operation;
use crate::http::places::Places;
use crate::jobs::Jobs;
use crate::jobs::mail::Post;
use crate::live::audience::Audiences;
use crate::live::event_log::Rows;
use crate::live::tickets::Tickets;
use crate::meetings::consents::wording::Wordings;
use crate::meetings::participants::attendance::Attendance;
use crate::meetings::rooms::Rooms;
use crate::meetings::store::MeetingJournal;
use crate::outside::files::Files;
use crate::passwords::Passwords;
use crate::projects::people::membership_end::MembershipHooks;
use crate::projects::roles::Roles;
use crate::service::{Readiness, docs, pages};
use crate::tasks::Tasks;
use crate::{accounts, meetings, projects, routes};

/// How long a connection that is to end waits for its client to end it too.
const DISCONNECT: Duration = Duration::from_secs(1);
/// How long the last work in the background may take once requests have ended.
const BACKGROUND_END: Duration = Duration::from_secs(3);

/// Serves until it is told to stop (SIGTERM, SIGINT) or loses its database to another server.
///
/// # Errors
/// Why it can't start, in words.
pub async fn serve(config: Config) -> Result<(), String> {
    let built = build(config).await?;
    let (public, internal) = (listen_public(&built)?, listen_internal(&built)?);
    println!("Colloquy listens on http://{}", public.address);
    println!("Internal: http://{}", internal.address);
    println!("Documentation: http://{}/docs", public.address);
    built.app.readiness.set(true);
    run(built, public, internal).await
}

/// Everything but the listeners.
pub struct Built {
    pub app: App,
    alone: Alone,
    arbiters: Arbiters,
    background: Background,
    sockets: Sockets,
}

/// The threads of what goes on by itself.
struct Background(Option<tokio::runtime::Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        // Any other end of a runtime panics in async code: a start that fails would not say why.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The listening sockets, bound first, since links need the port.
struct Sockets {
    public: std::net::TcpListener,
    internal: std::net::TcpListener,
}

struct Listening {
    address: SocketAddr,
    server: Server,
}

async fn build(config: Config) -> Result<Built, String> {
    let data = config.server.data.clone();
    make_folder(&data)?;
    let bind = |address: SocketAddr| {
        let listener =
            std::net::TcpListener::bind(address).map_err(|error| format!("{address} can't be listened on: {error}"))?;
        listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        Ok::<_, String>(listener)
    };
    let sockets = Sockets { public: bind(config.server.listen)?, internal: bind(config.internal.listen)? };
    let address = sockets.public.local_addr().map_err(|error| error.to_string())?;
    let url = if config.app.url.is_empty() {
        format!("http://{address}")
    } else {
        config.app.url.trim_end_matches('/').to_owned()
    };

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let db = open_database(&config).await?;
    let alone = Alone::take(&db).await.map_err(|taken| taken.to_string())?;
    let background = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("background")
        .enable_all()
        .build()
        .map_err(|error| format!("the background threads can't be started: {error}"))?;
    let tasks = Tasks::on(background.handle().clone());
    let background = Background(Some(background));

    let key_folder = data.join("keys");
    let keys_fault = |error: std::io::Error| format!("the keys in {} can't be used: {error}", key_folder.display());
    let ring = keys::ring(&key_folder).map_err(keys_fault)?;
    let secret = keys::secret(&key_folder).map_err(keys_fault)?;
    let access_life = Duration::from_secs(config.accounts.access_token_seconds);
    let tokens = Tokens::new(&ring, &url, access_life);
    let revoked = Revoked::new(access_life + Duration::from_secs(10));
    let now = clock.now();
    let since = now - access_life;
    let ended = db.read(move |conn| Box::pin(accounts::sessions::store::ended_since(conn, since))).await;
    for session in ended.map_err(|error| error.to_string())? {
        revoked.add(session, now);
    }

    let hub = Hub::new(Arc::new(Rows(db.clone())), Arc::new(tasks.clone()), HubLimits::default());
    let watch = Watch::default();
    let arbiters = Arbiters::start(2).map_err(|error| format!("the actors' threads can't be started: {error}"))?;
    let idle = Duration::from_secs(config.analysis.idle_seconds);
    let keeping = Keepers { hub: &hub, clock: &clock, arbiters: &arbiters, watch: &watch, idle };
    let media = others::media_server(&config.livekit)?;
    let jobs = Jobs::by(Arc::clone(&clock));
    let meetings = keeping.keep(MeetingJournal {
        db: db.clone(),
        app_url: url.clone(),
        jobs: jobs.clone(),
        has_rooms: media.is_some(),
    });
    let runs = keeping.keep(RunJournal { db: db.clone() });
    let runner = background::runner(&config.analysis)?;

    let files = Files::at(data.join("files"));
    let avatars = Files::at(data.join("avatars"));
    avatars
        .clear_incoming()
        .await
        .map_err(|error| format!("{} can't be used: {error}", data.join("avatars").display()))?;
    files.clear_incoming().await.map_err(|error| format!("{} can't be used: {error}", data.join("files").display()))?;
    let metrics = crate::metrics::recorder().and_then(metrics_exporter_prometheus::PrometheusBuilder::install_recorder);
    let metrics = metrics.map_err(|error| error.to_string())?;
    let google = others::log_in_provider(&config, &url)?;
    let document = openapi::document(&routes::all());
    let places = meetings::membership::Places { app_url: url.clone(), has_rooms: media.is_some() };
    let app = App::new(Parts {
        url,
        tokens,
        revoked,
        post: Post::sealing_with(secret.clone()),
        turns: Turns::default(),
        google,
        secret,
        passwords: Passwords::new(&config.accounts)?,
        limits: Limits { calls: Limit::of(config.limits.calls) },
        hub,
        meetings,
        attendance: Attendance::default(),
        rooms: Rooms::at(media),
        wordings: Wordings::read(&config.meetings.wordings)?,
        runs,
        runner,
        roles: Roles::default(),
        jobs,
        files,
        avatars,
        membership_hooks: MembershipHooks::default().with(places),
        holders: Holders::default().with(projects::leaving::OfProjects).with(meetings::leaving::OfMeetings),
        tickets: Tickets::living(Duration::from_secs(config.sockets.ticket_seconds)),
        audiences: Audiences::default().with(meetings::Audience).with(OfProjects).with(OfRuns),
        sockets: Places::for_each(config.sockets.per_account),
        streams: Places::for_each(config.sockets.per_account),
        lines: Arc::new(Lines::new(&config.http, others::connections(config.http.connections))),
        budget: Budget::of(config.http.buffered_bytes),
        tasks,
        readiness: Readiness::default(),
        watch,
        metrics,
        openapi: serde_json::to_vec(&document).map_err(|error| error.to_string())?.into(),
        db,
        clock,
        config,
    });
    background::begin(&app, &data)?;
    Ok(Built { app, alone, arbiters, background, sockets })
}

/// A folder for this server's own account alone, also one that was made before under another umask.
fn make_folder(folder: &Path) -> Result<(), String> {
    let unusable = |error: std::io::Error| format!("{} can't be made: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(unusable)?;
    #[cfg(unix)]
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).map_err(unusable)?;
    Ok(())
}

/// The embedded database, where the settings name no other.
#[must_use]
pub fn own_database(config: &Config) -> PathBuf {
    config.server.data.join("colloquy.sqlite")
}

/// The database that the settings name, its tables brought up to date.
///
/// # Errors
/// Why it can't be used, in words.
pub async fn open_database(config: &Config) -> Result<Db, String> {
    let url = match config.database.url.as_str() {
        "" => format!("sqlite://{}", own_database(config).display()),
        url => url.to_owned(),
    };
    let settings =
        Settings { connections: config.database.connections, queue: config.database.queue, ..Settings::at(url) };
    Db::open(settings).await.map_err(|error| error.to_string())
}

/// What the keepers of all kinds share.
struct Keepers<'a> {
    hub: &'a Hub,
    clock: &'a Arc<dyn Clock>,
    arbiters: &'a Arbiters,
    watch: &'a Watch,
    idle: Duration,
}

impl Keepers<'_> {
    fn keep<L: Live>(&self, journal: impl Journal<L>) -> Keeper<L> {
        Keeper::new(Keeping {
            journal: Arc::new(journal),
            bus: Arc::new(self.hub.clone()),
            clock: Arc::clone(self.clock),
            ownership: Arc::new(AllLocal),
            arbiters: self.arbiters.clone(),
            watch: self.watch.clone(),
            limits: LiveLimits { idle: self.idle, ..LiveLimits::default() },
        })
    }
}

/// What an address answers: operations, and what is none.
struct Served {
    is_public: bool,
    operations: fn() -> Vec<Operation>,
    beside: fn(&App, &mut web::ServiceConfig),
}

fn listen_public(built: &Built) -> Result<Listening, String> {
    let beside = |app: &App, service: &mut web::ServiceConfig| {
        docs::mount(service);
        pages::mount(service, &app.url, app.rooms.server().map(|media| media.url()));
    };
    let served = Served { is_public: true, operations: routes::public, beside };
    listen(built, &built.sockets.public, served, built.app.config.server.workers)
}

fn listen_internal(built: &Built) -> Result<Listening, String> {
    let served = Served { is_public: false, operations: routes::internal, beside: |_, _| () };
    listen(built, &built.sockets.internal, served, 1)
}

fn listen(
    built: &Built,
    listener: &std::net::TcpListener,
    Served { is_public, operations, beside }: Served,
    workers: usize,
) -> Result<Listening, String> {
    let app = built.app.clone();
    let drain = built.app.config.server.drain_seconds;
    let paths = Paths::new(operations().iter().map(|operation| operation.path));
    let door = Arc::new(Door { paths, over_tls: app.url.starts_with("https://"), is_public });
    let service = move || {
        let door = Arc::clone(&door);
        let app = app.clone();
        Web::new()
            .app_data(app.clone())
            .wrap(from_fn(move |request, next| front::pass(Arc::clone(&door), request, next)))
            .configure(|service| mount(service, &operations()))
            .configure(|service| beside(&app, service))
            .default_service(web::to(|| async { Err::<String, _>(Failure::of(Code::NOT_FOUND)) }))
    };
    let lines = Arc::clone(&built.app.lines);
    let own = listener.try_clone().map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let server = Server::build().disable_signals().shutdown_timeout(drain);
    let server = if workers > 0 { server.workers(workers) } else { server };
    let stopping = server.graceful_shutdown_signal();
    // As `HttpServer` does it, but that each connection has its gate.
    let server = server.listen(address.to_string(), own, move || {
        let (lines, stopping) = (Arc::clone(&lines), stopping.clone());
        let gated = fn_service(move |stream: TcpStream| {
            let (line, peer) = (lines.of(&stream), stream.peer_addr().ok());
            async move { Ok((Gated::new(stream, line), Protocol::Http1, peer)) }
        });
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            // Its own limits count time in which it did not come to read, and end what a client has sent: lines have theirs.
            .keep_alive(actix_web::http::KeepAlive::Os)
            .client_request_timeout(Duration::ZERO)
            .client_disconnect_timeout(DISCONNECT)
            .local_addr(address)
            .on_connect_ext(|connection: &Gated, extensions| {
                extensions.insert(connection.line.clone());
            });
        let service = service().into_factory().map_err(|error: actix_web::Error| error.error_response());
        gated.and_then(http.finish(map_config(service, |()| AppConfig::default())))
    });
    let server = server.map_err(|error| format!("listening failed: {error}"))?;
    Ok(Listening { address, server: server.run() })
}

/// Mounts operations, the methods of one path on one resource, so that another method is a 405 that names them.
fn mount(service: &mut web::ServiceConfig, operations: &[Operation]) {
    let mut paths: Vec<&str> = operations.iter().map(|operation| operation.path).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let here: Vec<_> = operations.iter().filter(|operation| operation.path == path).collect();
        let allow = here.iter().map(|operation| operation.method.as_str()).collect::<Vec<_>>().join(", ");
        let mut resource = web::resource(path);
        for operation in here {
            resource = resource.route(operation.route());
        }
        let refuse = move || {
            let allow = allow.clone();
            async move {
                let mut refused = actix_web::ResponseError::error_response(&Failure::of(Code::METHOD_NOT_ALLOWED));
                if let Ok(allow) = allow.parse() {
                    refused.headers_mut().insert(actix_web::http::header::ALLOW, allow);
                }
                refused
            }
        };
        service.service(resource.default_service(web::to(refuse)));
    }
}

async fn run(built: Built, public: Listening, internal: Listening) -> Result<(), String> {
    let Built { app, alone, arbiters, background, sockets } = built;
    drop(sockets);
    let handles = [public.server.handle(), internal.server.handle()];
    actix_web::rt::spawn(public.server);
    actix_web::rt::spawn(internal.server);
    let mut lost = alone.lost();
    let reason = tokio::select! {
        name = signal() => name,
        _ = lost.wait_for(|lost| *lost) => "the database was taken by another server",
    };
    tracing::info!(reason, "stopping");
    let was_lost = *lost.borrow();
    end(&app, &handles, &arbiters).await;
    alone.release().await;
    drop(background);
    if was_lost { Err(reason.to_owned()) } else { Ok(()) }
}

/// Not ready at once; requests in flight finish; then what lives, then what runs in the background.
async fn end(app: &App, handles: &[ServerHandle], arbiters: &Arbiters) {
    app.readiness.set(false);
    app.tasks.stopping().cancel();
    for handle in handles {
        handle.stop(true).await;
    }
    let background = app.tasks.end(BACKGROUND_END).await;
    let live = async {
        app.meetings.stop_all().await;
        app.runs.stop_all().await;
    };
    if tokio::time::timeout(BACKGROUND_END, live).await.is_err() || !background {
        tracing::warn!("some work was cut off; it goes on at the next start");
    }
    let arbiters = arbiters.clone();
    // Blocks until the threads have ended.
    let _ = tokio::task::spawn_blocking(move || arbiters.stop()).await;
}

async fn signal() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals can't be listened to; only SIGKILL ends this server");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

#[cfg(test)]
mod tests;
