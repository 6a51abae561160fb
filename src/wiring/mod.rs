//! Builds the whole server from the settings, runs it, and shuts it down.

mod analysers;
mod background;
mod listen;
mod others;
mod pipeline_service;
mod states;
mod sweeps;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actors::shell::Arbiters;
use actors::time::{Clock, SystemClock};
use futures_util::future::select_all;

pub use self::analysers::analyser_with_model;
use self::listen::BoundServer;
pub use self::pipeline_service::serve_pipeline;
use self::states::{Foundation, States};
use crate::analysis::findings::adoption;
use crate::analysis::pairs::comparing;
use crate::backup::{BackupPlaces, BackupStore, marker};
use crate::clients::files::{Collection, STORES, StorePlace};
use crate::config::Config;
use crate::db::{Db, DbSettings, InstanceLease};
use crate::tasks::Tasks;
use crate::{accounts, log, routes};

/// How long background work may take to finish after requests have ended.
const BACKGROUND_END: Duration = Duration::from_secs(3);
/// Threads of the background tasks for blocking work, such as hashing recordings; further work waits.
const BACKGROUND_BLOCKING_THREADS: usize = 16;

/// Serves until the process receives SIGTERM or SIGINT, or another server takes over the database.
///
/// # Errors
/// Returns a message if the server can't start or loses its database.
pub async fn serve(config: Config) -> Result<(), String> {
    let built = build(config).await?;
    let (public, internal) = (listen::public(&built)?, listen::internal(&built)?);
    log::print(&format!("Colloquy listens on http://{}", public.address));
    log::print(&format!("Internal: http://{}", internal.address));
    log::print(&format!("Documentation: http://{}/docs", public.address));
    // After the addresses: whoever starts a server by a script reads them first.
    print_first_steps(&built.states).await;
    built.states.probes.readiness.set(true);
    run(built, public, internal).await
}

/// Says how to begin where nobody has an account yet, and where letters go without a mail server.
async fn print_first_steps(states: &States) {
    let core = &states.core;
    if core.config.mail.host.is_empty() {
        let outbox = core.config.server.data.join("outbox");
        let letters = "letters, such as codes and invitations, are files in";
        log::print(&format!("No mail server is set up: {letters} {}", outbox.display()));
    }
    // A database that does not answer now keeps no server from starting.
    if matches!(core.db.read(|conn| Box::pin(accounts::store::is_any(conn))).await, Ok(false)) {
        let admin = format!("colloquy admin --data {}", core.config.server.data.display());
        log::print("Nobody has an account yet. For the first one, and a link that signs in:");
        log::print(&format!("  {admin} create-user --email ADDRESS --name NAME --operator"));
        log::print(&format!("  {admin} login-link --email ADDRESS"));
    }
}

/// Everything but the listeners.
struct Built {
    states: States,
    lease: InstanceLease,
    arbiters: Arbiters,
    background: Background,
    sockets: Sockets,
}

/// The threads that run background tasks.
struct Background(Option<tokio::runtime::Runtime>);

impl Background {
    fn start() -> Result<(Self, Tasks), String> {
        let background = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(BACKGROUND_BLOCKING_THREADS)
            .thread_name("background")
            .enable_all()
            .build()
            .map_err(|error| format!("the background threads can't be started: {error}"))?;
        let tasks = Tasks::on(background.handle().clone());
        Ok((Self(Some(background)), tasks))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Dropping a runtime in async code panics, which would hide why a start failed.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The listening sockets. They are bound first, because links need the port.
struct Sockets {
    public: std::net::TcpListener,
    internal: std::net::TcpListener,
}

async fn build(config: Config) -> Result<Built, String> {
    let data = config.server.data.clone();
    make_folder(&data)?;
    let sockets = Sockets { public: bind(config.server.listen)?, internal: bind(config.internal.listen)? };
    let address = sockets.public.local_addr().map_err(|error| error.to_string())?;
    let url = if config.app.url.is_empty() {
        format!("http://{address}")
    } else {
        config.app.url.trim_end_matches('/').to_owned()
    };

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let db = open_database(&config).await?;
    let lease = InstanceLease::take(&db).await.map_err(|taken| taken.to_string())?;
    let (background, tasks) = Background::start()?;

    let arbiters = Arbiters::start(2).map_err(|error| format!("the actors' threads can't be started: {error}"))?;
    let ground = Foundation { config, url, db, clock, tasks, arbiters: arbiters.clone() };
    let states = states::make(ground).await?;
    states.check_mounted(&routes::public())?;
    states.check_mounted(&routes::internal())?;
    adoption::adopt_all(&states.analysis).await.map_err(|error| error.to_string())?;
    comparing::enqueue_all_noted(&states.analysis).await.map_err(|error| error.to_string())?;
    background::begin(&states, &data)?;
    Ok(Built { states, lease, arbiters, background, sockets })
}

fn bind(address: SocketAddr) -> Result<std::net::TcpListener, String> {
    let listener =
        std::net::TcpListener::bind(address).map_err(|error| format!("can't listen on {address}: {error}"))?;
    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
    Ok(listener)
}

/// Creates a folder that only the server's own user can access, and fixes the permissions of an existing one.
fn make_folder(folder: &Path) -> Result<(), String> {
    let unusable = |error: std::io::Error| format!("{} can't be created: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(unusable)?;
    #[cfg(unix)]
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).map_err(unusable)?;
    Ok(())
}

/// Returns the path of the embedded database, which is used if the settings name no other.
#[must_use]
pub fn own_database(config: &Config) -> PathBuf {
    config.server.data.join("colloquy.sqlite")
}

/// Opens the database of the settings and migrates its schema.
///
/// # Errors
/// Returns a message if the database can't be used.
pub async fn open_database(config: &Config) -> Result<Db, String> {
    marker::refuse(&config.server.data)?;
    let url = database_url(config);
    let settings =
        DbSettings { connections: config.database.connections, queue: config.database.queue, ..DbSettings::at(url) };
    Db::open(settings).await.map_err(|error| error.to_string())
}

fn database_url(config: &Config) -> String {
    match config.database.url.as_str() {
        "" => format!("sqlite://{}", own_database(config).display()),
        url => url.to_owned(),
    }
}

/// Returns where the server of these settings keeps its things, for a backup or a restore.
///
/// # Errors
/// Returns a message if a store can't be used.
pub fn backup_places(config: &Config) -> Result<BackupPlaces, String> {
    let data = config.server.data.clone();
    let bucket = others::bucket(&config.s3)?;
    let store = |place: StorePlace| {
        let home = data.join(place.folder);
        let files = Collection::of(bucket.as_ref(), place.name, &home);
        let files = files.map_err(|error| format!("{} can't be used: {error}", home.display()))?;
        Ok::<_, String>(BackupStore { name: place.name, home, files })
    };
    let stores = STORES.into_iter().map(store).collect::<Result<_, _>>()?;
    Ok(BackupPlaces { keys: data.join("keys"), database: database_url(config), data, stores })
}

async fn run(built: Built, public: BoundServer, internal: BoundServer) -> Result<(), String> {
    let Built { states, lease, arbiters, background, sockets } = built;
    drop(sockets);
    let handles = [public.server.handle(), internal.server.handle()];
    let listening = [public.server, internal.server].map(actix_web::rt::spawn);
    let mut lost = lease.lost();
    let reason = tokio::select! {
        name = signal() => Ok(name),
        _ = lost.wait_for(|lost| *lost) => Err("another server has taken over the database"),
        _ = select_all(listening) => Err("a listener has ended"),
    };
    let (Ok(why) | Err(why)) = reason;
    tracing::info!(reason = why, "stopping");
    end(&states, &handles, &arbiters).await;
    lease.release().await;
    drop(background);
    reason.map(drop).map_err(str::to_owned)
}

/// Shuts down in order: reports not ready, lets requests in flight finish, then ends background tasks and actors.
async fn end(states: &States, handles: &[ServerHandle], arbiters: &Arbiters) {
    states.probes.readiness.set(false);
    states.core.tasks.stopping().cancel();
    for handle in handles {
        handle.stop(true).await;
    }
    let background = states.core.tasks.end(BACKGROUND_END).await;
    let live = async {
        states.meetings.registry.stop_all().await;
        states.analysis.registry.stop_all().await;
    };
    if tokio::time::timeout(BACKGROUND_END, live).await.is_err() || !background {
        tracing::warn!("background work did not finish in time; it continues at the next start");
    }
    let arbiters = arbiters.clone();
    // `stop` blocks until the threads have ended.
    let _ = tokio::task::spawn_blocking(move || arbiters.stop()).await;
}

async fn signal() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signal handlers could not be installed; only SIGKILL stops this server");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

#[cfg(test)]
mod tests;
