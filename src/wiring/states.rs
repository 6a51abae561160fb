//! The states of all areas, each made of its own parts and of those it rests on, and mounted for the operations that name them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use actors::hub::{Hub, HubLimits};
use actors::ids::Id;
use actors::keeper::{AllLocal, Keeper, Parts as Keeping};
use actors::live::{Journal, Live};
use actors::meeting::Meeting;
use actors::run::Run;
use actors::shell::{Arbiters, Limits as LiveLimits};
use actors::time::Clock;
use actors::watch::Watch;
use async_trait::async_trait;

use super::{background, others};
use crate::access::revoked::Revoked;
use crate::access::state::{Gate, GateParts};
use crate::access::tickets::Tickets;
use crate::access::token::Tokens;
use crate::accounts::profile::leaving::{Deletion, Holders};
use crate::accounts::sessions::turns::Turns;
use crate::accounts::state::{Accounts, AccountsParts};
use crate::analysis::audience::{OfProjects, OfRuns};
use crate::analysis::state::{Analysis, AnalysisParts};
use crate::analysis::store::RunJournal;
use crate::api::openapi;
use crate::api::operation::Operation;
use crate::config::Config;
use crate::core::{Core, CoreParts};
use crate::db::Db;
use crate::http::budget::Budget;
use crate::http::limits::{Limit, Limits};
use crate::http::line::Lines;
use crate::http::mounted::{Mounted, Need};
use crate::http::places::Places;
use crate::http::state::{Http, HttpParts};
use crate::jobs::Jobs;
use crate::jobs::mail::Post;
use crate::live::audience::Audiences;
use crate::live::event_log::Rows;
use crate::live::state::{RealTime, RealTimeParts};
use crate::meetings::consents::wording::Wordings;
use crate::meetings::participants::attendance::Attendance;
use crate::meetings::rooms::Rooms;
use crate::meetings::state::{Meetings, MeetingsParts};
use crate::meetings::store::MeetingJournal;
use crate::outside::files::Files;
use crate::passwords::Passwords;
use crate::projects::deletion::awake::Awake;
use crate::projects::people::membership_end::MembershipHooks;
use crate::projects::roles::Roles;
use crate::projects::state::{Projects, ProjectsParts};
use crate::service::readiness::Readiness;
use crate::service::state::{Probes, ProbesParts};
use crate::tasks::Tasks;
use crate::{accounts, keys, meetings, projects, routes};

/// The states of all areas. Clones are the same ones.
#[derive(Clone)]
pub struct States {
    pub core: Core,
    pub http: Http,
    pub gate: Gate,
    pub accounts: Accounts,
    pub deletion: Deletion,
    pub projects: Projects,
    pub meetings: Meetings,
    pub analysis: Analysis,
    pub real_time: RealTime,
    pub probes: Probes,
}

/// What the states are made on.
pub struct Ground {
    pub config: Config,
    pub url: String,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub tasks: Tasks,
    pub arbiters: Arbiters,
}

/// A state, and how it is mounted.
type Mount = (Need, Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>);

fn mount_of<M: Mounted + Send + Sync>(state: &M) -> Mount {
    let state = state.clone();
    let mount = move |service: &mut ServiceConfig| {
        service.app_data(state.clone());
    };
    (Need::of::<M>(), Arc::new(mount))
}

impl States {
    fn mounts(&self) -> [Mount; 10] {
        [
            mount_of(&self.core),
            mount_of(&self.http),
            mount_of(&self.gate),
            mount_of(&self.accounts),
            mount_of(&self.deletion),
            mount_of(&self.projects),
            mount_of(&self.meetings),
            mount_of(&self.analysis),
            mount_of(&self.real_time),
            mount_of(&self.probes),
        ]
    }

    pub fn mount(&self, service: &mut ServiceConfig) {
        self.mounts().iter().for_each(|(_, mount)| mount(service));
    }

    /// # Errors
    /// An operation names a state that is not mounted.
    pub fn suffice(&self, operations: &[Operation]) -> Result<(), String> {
        let mounted = self.mounts().map(|(need, _)| need);
        for operation in operations {
            if let Some(missing) = operation.needs.iter().find(|need| !mounted.contains(need)) {
                return Err(format!("{} needs {}, which is not mounted", operation.id, missing.name));
            }
        }
        Ok(())
    }
}

/// Makes all states.
///
/// # Errors
/// What can't be made of the settings, or used of what was kept, in words.
pub async fn make(ground: Ground) -> Result<States, String> {
    let Ground { config, url, db, clock, tasks, arbiters } = ground;
    let data = config.server.data.clone();
    let settings = config.clone();
    let key_folder = data.join("keys");
    let keys_fault = |error: std::io::Error| format!("the keys in {} can't be used: {error}", key_folder.display());
    let ring = keys::ring(&key_folder).map_err(keys_fault)?;
    let secret = keys::secret(&key_folder).map_err(keys_fault)?;
    let hub = Hub::new(Arc::new(Rows(db.clone())), Arc::new(tasks.clone()), HubLimits::default());
    let jobs = Jobs::by(Arc::clone(&clock));
    let post = Post::sealing_with(secret.clone());
    let core = Core::new(CoreParts { config, url, db, clock, hub, jobs, post, secret, tasks });

    let http = Http::new(HttpParts {
        lines: Arc::new(Lines::new(&settings.http, others::connections(settings.http.connections))),
        budget: Budget::of(settings.http.buffered_bytes),
        settings: settings.http.clone(),
    });

    let access_life = Duration::from_secs(settings.accounts.access_token_seconds);
    let gate = Gate::new(GateParts {
        tokens: Tokens::new(&ring, &core.url, access_life),
        revoked: revoked(&core, access_life).await?,
        tickets: Tickets::living(Duration::from_secs(settings.sockets.ticket_seconds)),
        limits: Limits { calls: Limit::of(settings.limits.calls) },
        core: core.clone(),
    });

    let accounts = Accounts::new(AccountsParts {
        turns: Turns::default(),
        google: others::log_in_provider(&settings, &core.url)?,
        passwords: Passwords::new(&settings.accounts)?,
        avatars: files_at(&data.join("avatars")).await?,
        gate: gate.clone(),
    });

    let watch = Watch::default();
    let idle = Duration::from_secs(settings.analysis.idle_seconds);
    let keeping = Keepers { core: &core, arbiters: &arbiters, watch: &watch, idle };
    let media = others::media_server(&settings.livekit)?;
    let live_meetings = keeping.keep(MeetingJournal {
        db: core.db.clone(),
        app_url: core.url.clone(),
        jobs: core.jobs.clone(),
        has_rooms: media.is_some(),
    });
    let live_runs = keeping.keep(RunJournal { db: core.db.clone() });

    let places = meetings::membership::Places {
        app_url: core.url.clone(),
        has_rooms: media.is_some(),
        db: core.db.clone(),
        jobs: core.jobs.clone(),
        tasks: core.tasks.clone(),
        registry: live_meetings.clone(),
    };
    let projects = Projects::new(ProjectsParts {
        roles: Roles::default(),
        files: files_at(&data.join("files")).await?,
        membership_hooks: MembershipHooks::default().with(places),
        awake: Arc::new(InMemory { meetings: live_meetings.clone(), runs: live_runs.clone() }),
        accounts: accounts.clone(),
    });
    let meetings = Meetings::new(MeetingsParts {
        registry: live_meetings,
        attendance: Attendance::default(),
        wordings: Wordings::read(&settings.meetings.wordings)?,
        rooms: Rooms::at(media),
        projects: projects.clone(),
    });
    let analysis = Analysis::new(AnalysisParts {
        registry: live_runs,
        runner: background::runner(&settings.analysis)?,
        meetings: meetings.clone(),
    });

    let holders = Holders::default()
        .with(projects::leaving::OfProjects { state: projects.clone() })
        .with(meetings::leaving::OfMeetings { state: meetings.clone() });
    let audiences = Audiences::default()
        .with(meetings::Audience { meetings: meetings.clone() })
        .with(OfProjects { state: analysis.clone() })
        .with(OfRuns { state: analysis.clone() });
    let real_time = RealTime::new(RealTimeParts {
        audiences,
        sockets: Places::for_each(settings.sockets.per_account),
        streams: Places::for_each(settings.sockets.per_account),
        gate: gate.clone(),
    });

    let metrics = crate::metrics::recorder().and_then(metrics_exporter_prometheus::PrometheusBuilder::install_recorder);
    let document = openapi::document(&routes::all());
    let probes = Probes::new(ProbesParts {
        http: http.clone(),
        readiness: Readiness::default(),
        watch,
        metrics: metrics.map_err(|error| error.to_string())?,
        openapi: serde_json::to_vec(&document).map_err(|error| error.to_string())?.into(),
        core: core.clone(),
    });
    let deletion = Deletion { accounts: accounts.clone(), holders };
    Ok(States { core, http, gate, accounts, deletion, projects, meetings, analysis, real_time, probes })
}

/// Sessions that ended while their last access token is good.
async fn revoked(core: &Core, access_life: Duration) -> Result<Revoked, String> {
    let revoked = Revoked::new(access_life + Duration::from_secs(10));
    let now = core.now();
    let since = now - access_life;
    let ended = core.db.read(move |conn| Box::pin(accounts::sessions::store::ended_since(conn, since))).await;
    for session in ended.map_err(|error| error.to_string())? {
        revoked.add(session, now);
    }
    Ok(revoked)
}

async fn files_at(folder: &Path) -> Result<Files, String> {
    let files = Files::at(folder.to_owned());
    files.clear_incoming().await.map_err(|error| format!("{} can't be used: {error}", folder.display()))?;
    Ok(files)
}

/// What the keepers of all kinds share.
struct Keepers<'a> {
    core: &'a Core,
    arbiters: &'a Arbiters,
    watch: &'a Watch,
    idle: Duration,
}

impl Keepers<'_> {
    fn keep<L: Live>(&self, journal: impl Journal<L>) -> Keeper<L> {
        Keeper::new(Keeping {
            journal: Arc::new(journal),
            bus: Arc::new(self.core.hub.clone()),
            clock: Arc::clone(&self.core.clock),
            ownership: Arc::new(AllLocal),
            arbiters: self.arbiters.clone(),
            watch: self.watch.clone(),
            limits: LiveLimits { idle: self.idle, ..LiveLimits::default() },
        })
    }
}

/// Meetings and runs that are served from memory.
struct InMemory {
    meetings: Keeper<Meeting>,
    runs: Keeper<Run>,
}

#[async_trait]
impl Awake for InMemory {
    /// One that finds no row stops.
    async fn forget_meeting(&self, id: Id<Meeting>) {
        self.meetings.reload(id).await;
    }

    async fn forget_run(&self, id: Id<Run>) {
        self.runs.reload(id).await;
    }
}
