//! Builds the state of each area from its own parts and the states it depends on, and mounts it for the operations that
//! use it.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use actors::hub::{Hub, HubLimits};
use actors::ids::Id;
use actors::live::{Journal, Live, RequestId};
use actors::mailbox_metrics::MailboxMetrics;
use actors::meeting::Meeting;
use actors::registry::{AllLocal, Registry, RegistryParts};
use actors::run::Run;
use actors::shell::{Arbiters, ShellLimits as LiveLimits};
use actors::time::{Clock, Time};
use async_trait::async_trait;

use super::{analysers, others};
use crate::access::revoked::Revoked;
use crate::access::state::{CallLimits, Gate, GateParts};
use crate::access::tickets::Tickets;
use crate::access::token::Tokens;
use crate::accounts::pictures::decoder::PictureDecoder;
use crate::accounts::profile::deletion::{AccountDeletion, DeletionHooks};
use crate::accounts::refresh_locks::RefreshLocks;
use crate::accounts::registration::{Registrar, RegistrationMode};
use crate::accounts::state::{Accounts, AccountsParts};
use crate::analysis::audience::RunAudience;
use crate::analysis::ends::{Ends, FilesToRead};
use crate::analysis::journal::{RunJournal, RunTables};
use crate::analysis::large_reads::LargeReads;
use crate::analysis::state::{Analysis, AnalysisParts, Exports};
use crate::api::openapi;
use crate::api::operation::Operation;
use crate::clients::files;
use crate::config::Config;
use crate::core::{Core, CoreParts};
use crate::db::{Conn, Db, DbError};
use crate::http::budget::Budget;
use crate::http::call_limits::CallLimit;
use crate::http::connection_limit::ConnectionLimit;
use crate::http::costly_calls::CostlyCalls;
use crate::http::mounted::{Mounted, Need};
use crate::http::raw_connection::Connections;
use crate::http::spool::Spools;
use crate::http::state::{Http, HttpParts};
use crate::jobs::Jobs;
use crate::jobs::mail::Outbox;
use crate::live::audience::Audiences;
use crate::live::event_log::Rows;
use crate::live::state::{RealTime, RealTimeParts};
use crate::meetings::attendance::{Attendance, AttendanceParts};
use crate::meetings::journal::{MeetingJournal, MeetingTables};
use crate::meetings::rooms::Rooms;
use crate::meetings::state::{Meetings, MeetingsParts};
use crate::meetings::wordings::Wordings;
use crate::operator::state::{FiguresCache, Operators, OperatorsParts};
use crate::passwords::Passwords;
use crate::projects::awake::{Awake, MeetingFiles};
use crate::projects::membership_end::MembershipHooks;
use crate::projects::people::invitees::ProjectInvitees;
use crate::projects::roles::Roles;
use crate::projects::state::{Projects, ProjectsParts};
use crate::quotas::Quotas;
use crate::reviews::deletion::ReviewDeletionHook;
use crate::reviews::known_reviewers::KnownReviewers;
use crate::reviews::stakeholder_dashboard::cache::ReviewContents;
use crate::reviews::state::{Reviews, ReviewsParts};
use crate::service::readiness::Readiness;
use crate::service::state::{Probes, ProbesParts};
use crate::tasks::Tasks;
use crate::trackers::audience::ProjectAudience;
use crate::trackers::pacing::CreationPaces;
use crate::trackers::running::RunningExports;
use crate::trackers::state::{Trackers, TrackersParts};
use crate::trackers::token_locks::TokenLocks;
use crate::{accounts, events, keys, meetings, projects, routes};

/// The states of all areas. Clones share the same states.
#[derive(Clone)]
pub struct States {
    pub core: Core,
    pub http: Http,
    pub gate: Gate,
    pub accounts: Accounts,
    pub deletion: AccountDeletion,
    pub projects: Projects,
    pub meetings: Meetings,
    pub analysis: Analysis,
    pub reviews: Reviews,
    pub trackers: Trackers,
    pub operators: Operators,
    pub real_time: RealTime,
    pub probes: Probes,
}

/// What the states are built from.
pub struct Foundation {
    pub config: Config,
    pub url: String,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub tasks: Tasks,
    pub arbiters: Arbiters,
}

/// The identity of a state, and the function that mounts it.
type StateMount = (Need, Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>);

fn mount_of<M: Mounted + Send + Sync>(state: &M) -> StateMount {
    let state = state.clone();
    let mount = move |service: &mut ServiceConfig| {
        service.app_data(state.clone());
    };
    (Need::of::<M>(), Arc::new(mount))
}

impl States {
    fn mounts(&self) -> [StateMount; 14] {
        [
            mount_of(&self.core.tasks),
            mount_of(&self.core),
            mount_of(&self.http),
            mount_of(&self.gate),
            mount_of(&self.accounts),
            mount_of(&self.deletion),
            mount_of(&self.projects),
            mount_of(&self.meetings),
            mount_of(&self.analysis),
            mount_of(&self.reviews),
            mount_of(&self.trackers),
            mount_of(&self.operators),
            mount_of(&self.real_time),
            mount_of(&self.probes),
        ]
    }

    pub fn mount(&self, service: &mut ServiceConfig) {
        self.mounts().iter().for_each(|(_, mount)| mount(service));
    }

    /// Checks that every state which an operation needs is mounted.
    ///
    /// # Errors
    /// Names the first operation and the state that it lacks.
    pub fn check_mounted(&self, operations: &[Operation]) -> Result<(), String> {
        check_mounted(&self.mounts().map(|(need, _)| need), operations)
    }
}

/// Checks that every state which an operation needs is mounted.
///
/// # Errors
/// Names the first operation and the state that it lacks.
pub fn check_mounted(mounted: &[Need], operations: &[Operation]) -> Result<(), String> {
    for operation in operations {
        if let Some(missing) = operation.needs.iter().find(|need| !mounted.contains(need)) {
            return Err(format!("{} requires {}, which is not mounted", operation.id, missing.name));
        }
    }
    Ok(())
}

/// Builds all states.
///
/// # Errors
/// Returns a message if the settings, or the files and rows of an earlier start, can't be used.
pub async fn make(ground: Foundation) -> Result<States, String> {
    let Foundation { config, url, db, clock, tasks, arbiters } = ground;
    let data = config.server.data.clone();
    let settings = config.clone();
    let key_folder = data.join("keys");
    let keys_fault = |error: std::io::Error| format!("the keys in {} can't be used: {error}", key_folder.display());
    let ring = keys::ring(&key_folder).map_err(keys_fault)?;
    let secret = keys::secret(&key_folder).map_err(keys_fault)?;
    let hub = Hub::new(Arc::new(Rows(db.clone())), Arc::new(tasks.clone()), HubLimits::default());
    let jobs = Jobs::by(Arc::clone(&clock));
    let outbox = Outbox::sealing_with(secret.clone());
    let quotas = Quotas::new(&config, db.clone());
    let core = Core::new(CoreParts { config, url, db, clock, hub, jobs, outbox, secret, quotas, tasks });

    let spools = Spools::at(data.clone(), settings.storage.reserve_mib);
    let http = Http::new(HttpParts {
        connections: Arc::new(Connections::new(&settings.http, others::connections(settings.http.connections))),
        budget: Budget::of(settings.http.buffered_bytes),
        spools: spools.clone(),
        settings: settings.http.clone(),
    });

    let bucket = others::bucket(&settings.s3)?;
    let access_life = Duration::from_secs(settings.accounts.access_token_seconds);
    let gate = Gate::new(GateParts {
        tokens: Tokens::new(&ring, &core.url, access_life),
        revoked: revoked(&core, access_life).await?,
        tickets: Tickets::living(Duration::from_secs(settings.sockets.ticket_seconds)),
        limits: CallLimits {
            calls: CallLimit::of(settings.limits.calls),
            costly: CostlyCalls::of(settings.limits.costly_calls),
        },
        core: core.clone(),
    });

    let accounts = Accounts::new(AccountsParts {
        core: core.clone(),
        refresh_locks: RefreshLocks::default(),
        registrar: Registrar {
            mode: RegistrationMode::of(&settings.accounts.registration, settings.server.listen.ip(), &core.url),
            invited: Arc::new(ProjectInvitees(core.clone())),
        },
        google: others::log_in_provider(&settings, &core.url)?,
        passwords: Passwords::new(&settings.accounts)?,
        avatars: others::files(bucket.as_ref(), files::AVATARS, &data).await?,
        pictures: PictureDecoder::new(analysers::program()?),
        gate: gate.clone(),
    });

    let mailboxes = MailboxMetrics::default();
    let idle = Duration::from_secs(settings.analysis.idle_seconds);
    let registries = RegistryFactory { core: &core, arbiters: &arbiters, metrics: &mailboxes, idle };
    let media = others::media_server(&settings.livekit)?;
    let tables = MeetingTables { app_url: core.url.clone(), jobs: core.jobs.clone(), has_rooms: media.is_some() };
    let live_meetings = registries.create(MeetingJournal::new(core.db.clone(), tables.clone()));
    let live_runs = registries.create(RunJournal::new(core.db.clone(), RunTables));

    let membership_hook = meetings::membership::MeetingParticipantsHook {
        tables,
        db: core.db.clone(),
        tasks: core.tasks.clone(),
        registry: live_meetings.clone(),
    };
    let projects = Projects::new(ProjectsParts {
        core: core.clone(),
        roles: Roles::default(),
        files: others::files(bucket.as_ref(), files::DOCUMENTS, &data).await?,
        membership_hooks: MembershipHooks::default().with(membership_hook),
        meeting_files: Arc::new(RecordingFiles),
        awake: Arc::new(InMemory { meetings: live_meetings.clone(), runs: live_runs.clone() }),
        accounts: accounts.clone(),
    });
    let meetings = Meetings::new(MeetingsParts {
        core: core.clone(),
        attendance: Attendance::new(AttendanceParts {
            registry: live_meetings.clone(),
            tasks: core.tasks.clone(),
            steady: Duration::from_secs(settings.meetings.steady_seconds),
            grace: Duration::from_secs(settings.meetings.grace_seconds),
        }),
        registry: live_meetings,
        wordings: Wordings::read(&settings.meetings.wordings)?,
        recordings: others::folders(bucket.as_ref(), files::RECORDINGS, &data).await?,
        excerpts: analysers::excerpts(&settings.speech)?,
        transcript_reader: analysers::transcript_reader()?,
        rooms: Rooms::at(media),
        projects: projects.clone(),
    });
    let analysis = Analysis::new(AnalysisParts {
        core: core.clone(),
        projects: projects.clone(),
        registry: live_runs,
        runner: analysers::runner(&settings, Arc::clone(&core.clock))?,
        exports: Exports::new(
            others::files(bucket.as_ref(), files::EXPORTS, &data).await?,
            others::printer(&settings.exports)?,
        ),
        imports: FilesToRead {
            files: others::files(bucket.as_ref(), files::IMPORTS, &data).await?,
            ended: Ends::default(),
        },
        large_reads: LargeReads::new(settings.analysis.reads_memory_mib, spools),
        meetings: meetings.clone(),
    });

    let reviews = Reviews::new(ReviewsParts {
        core: core.clone(),
        meetings: meetings.clone(),
        projects: projects.clone(),
        accounts: accounts.clone(),
        gate: gate.clone(),
        known_reviewers: KnownReviewers::default(),
        review_contents: ReviewContents::default(),
        analysis: analysis.clone(),
    });

    let trackers = Trackers::new(TrackersParts {
        core: core.clone(),
        projects: projects.clone(),
        providers: others::trackers(&settings, &core.url)?,
        token_locks: TokenLocks::default(),
        running_exports: RunningExports::default(),
        creation_paces: CreationPaces::default(),
        analysis: analysis.clone(),
    });

    let holders = DeletionHooks::default()
        .with(projects::deletion_hook::ProjectDeletionHook { state: projects.clone() })
        .with(meetings::deletion::MeetingDeletionHook { state: meetings.clone() })
        .with(ReviewDeletionHook { state: reviews.clone() });
    let audiences = Audiences::default()
        .with(meetings::MeetingAudience { meetings: meetings.clone() })
        .with(ProjectAudience { state: trackers.clone() })
        .with(RunAudience { state: analysis.clone() });
    let real_time = RealTime::new(RealTimeParts {
        core: core.clone(),
        audiences,
        sockets: ConnectionLimit::for_each(settings.sockets.per_account),
        streams: ConnectionLimit::for_each(settings.sockets.per_account),
        gate: gate.clone(),
    });

    let operators = Operators::new(OperatorsParts {
        core: core.clone(),
        real_time: real_time.clone(),
        http: http.clone(),
        started_at: core.now(),
        figures: FiguresCache::default(),
        analysis: analysis.clone(),
    });

    let metrics = crate::metrics::install();
    let document = openapi::document(&routes::all());
    let probes = Probes::new(ProbesParts {
        http: http.clone(),
        readiness: Readiness::default(),
        mailboxes,
        metrics: metrics.map_err(|error| error.to_string())?,
        openapi: serde_json::to_vec(&document).map_err(|error| error.to_string())?.into(),
        asyncapi: serde_json::to_vec(&events::document(&document)).map_err(|error| error.to_string())?.into(),
        core: core.clone(),
    });
    let deletion = AccountDeletion { accounts: accounts.clone(), hooks: holders };
    Ok(States {
        core,
        http,
        gate,
        accounts,
        deletion,
        projects,
        meetings,
        analysis,
        reviews,
        trackers,
        operators,
        real_time,
        probes,
    })
}

/// Loads the sessions that ended so recently that an access token of theirs may not have expired yet.
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

/// What the registries of all actor kinds share.
struct RegistryFactory<'a> {
    core: &'a Core,
    arbiters: &'a Arbiters,
    metrics: &'a MailboxMetrics,
    idle: Duration,
}

impl RegistryFactory<'_> {
    fn create<L: Live>(&self, journal: impl Journal<L>) -> Registry<L> {
        Registry::new(RegistryParts {
            journal: Arc::new(journal),
            bus: Arc::new(self.core.hub.clone()),
            clock: Arc::clone(&self.core.clock),
            ownership: Arc::new(AllLocal),
            arbiters: self.arbiters.clone(),
            metrics: self.metrics.clone(),
            limits: LiveLimits { idle: self.idle, ..LiveLimits::default() },
        })
    }
}

/// The meetings and runs that are loaded as actors.
struct InMemory {
    meetings: Registry<Meeting>,
    runs: Registry<Run>,
}

#[async_trait]
impl Awake for InMemory {
    /// Reloads the actor, which stops because it finds no row.
    async fn forget_meeting(&self, id: Id<Meeting>) {
        self.meetings.reload(id).await;
    }

    async fn forget_run(&self, id: Id<Run>) {
        self.runs.reload(id).await;
    }
}

/// The files of the recordings of deleted meetings.
struct RecordingFiles;

#[async_trait]
impl MeetingFiles for RecordingFiles {
    async fn enqueue_deletion(
        &self,
        conn: &mut Conn,
        meeting: Id<Meeting>,
        now: Time,
        request: &RequestId,
    ) -> Result<(), DbError> {
        meetings::recordings::files::enqueue_deletion_of_meeting(conn, meeting, now, request).await
    }
}
