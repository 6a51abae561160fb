//! `colloquy admin …`: maintenance commands for an operator, with the server running or stopped.
//!
//! Passwords are never arguments, which every user of the machine can read: they come from standard input, or are
//! generated and printed once. The exit code is 2 for invalid usage and 1 for a command that failed.

mod backup;
mod jobs;
mod list;
mod password;
mod storage;
mod trail;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use actors::ids::{Id, Project};
use actors::language::Language;
use actors::run::Run;
use actors::time::{Clock, SystemClock};
use colloquy::accounts::external::model::ReturnUrl;
use colloquy::accounts::login_links::operations as login_links;
use colloquy::accounts::model::{Email, FullName, JobTitle};
use colloquy::accounts::operator::{self, NewUser};
use colloquy::analysis::operator as runs;
use colloquy::backup::marker;
use colloquy::config::{Config, Overrides};
use colloquy::db::Db;
use colloquy::http::error::ApiError;
use colloquy::http::fields::Field;
use colloquy::jobs::operator::Which;
use colloquy::passwords::Passwords;
use colloquy::quotas::operator as quotas;
use colloquy::{keys, wiring};
use jobs::JobArguments;
use password::Password;
use trail::Trails;

#[derive(clap::Args)]
pub struct Admin {
    /// Folder with files, e-mails, keys and the embedded database
    #[arg(long, value_name = "FOLDER", global = true)]
    data: Option<PathBuf>,
    /// Settings file; use the one that the server is started with
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    #[command(flatten)]
    Database(DatabaseTask),
    #[command(flatten)]
    Archive(backup::ArchiveTask),
}

/// A task that opens the database and brings its tables up to date.
#[derive(clap::Subcommand)]
enum DatabaseTask {
    /// Create an account; its e-mail address needs no confirmation
    CreateUser(CreateUser),
    /// Set a new password for an account and end all its sessions
    ResetPassword(ResetPasswordArguments),
    /// Make an account an operator, who sees and steers the whole installation over the console
    SetOperator {
        #[command(flatten)]
        of: Of,
        /// Make it an ordinary account again
        #[arg(long)]
        revoke: bool,
    },
    /// Print a link that signs in once, within ten minutes
    LoginLink {
        #[command(flatten)]
        of: Of,
        /// Path of the console to open, such as /operator
        #[arg(long, value_name = "PATH")]
        return_url: Option<String>,
    },
    /// End all sessions of an account
    RevokeSessions(Of),
    /// List accounts, oldest first
    ListUsers {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// List unfinished analysis runs, oldest first
    ListRuns {
        /// Include finished runs
        #[arg(long)]
        all: bool,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Cancel an unfinished analysis run
    CancelRun {
        /// Id of the run
        #[arg(long, value_name = "ID")]
        run: String,
    },
    /// List jobs that failed permanently, oldest first
    ListFailedJobs {
        /// Include jobs that wait or run
        #[arg(long)]
        unfinished: bool,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Retry jobs that failed permanently, with a full set of attempts
    RequeueJobs(JobArguments),
    /// Delete jobs that failed permanently; end one that waits or runs, as failed and without another attempt
    DiscardJobs(JobArguments),
    /// Set how many bytes a project may store, or all projects of an account together
    SetQuota(SetQuota),
    /// List the projects and the accounts that have stored most
    ListStorage {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Verify the approval trail of a project, or of all; export it with its hashes
    VerifyTrail(VerifyTrail),
}

#[derive(clap::Args)]
struct VerifyTrail {
    /// Id of the project; without it, all trails are verified
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Write the trail as JSON lines to a new file, the last line with the hash of its head
    #[arg(long, value_name = "FILE", requires = "project")]
    export: Option<PathBuf>,
}

#[derive(clap::Args)]
struct SetQuota {
    #[command(flatten)]
    of: QuotaOf,
    #[command(flatten)]
    quota: QuotaBytes,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct QuotaOf {
    /// Id of the project
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct QuotaBytes {
    /// How many bytes; 0: no limit
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(i64).range(0..))]
    bytes: Option<i64>,
    /// The limit of the settings again
    #[arg(long)]
    default: bool,
}

#[derive(clap::Args)]
struct CreateUser {
    #[command(flatten)]
    of: Of,
    /// Full name of the user
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Job title of the user
    #[arg(long, value_name = "TITLE", default_value = "")]
    job_title: String,
    /// Language of e-mails to the user, such as EN or AR
    #[arg(long, value_name = "LANGUAGE", default_value = "EN")]
    language: String,
    /// Make the account an operator
    #[arg(long)]
    operator: bool,
    #[command(flatten)]
    password: password::PromptedPassword,
}

#[derive(clap::Args)]
struct ResetPasswordArguments {
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    password: password::PromptedPassword,
}

#[derive(clap::Args)]
struct Of {
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: String,
}

/// Why a command failed.
enum AdminError {
    /// Invalid usage: wrong arguments, settings or password.
    Misused(String),
    Failed(String),
}

impl From<ApiError> for AdminError {
    fn from(failure: ApiError) -> Self {
        let said = failure.cause.map_or(failure.message, String::from);
        if failure.code.status == 422 { Self::Misused(said) } else { Self::Failed(said) }
    }
}

pub fn run(arguments: Admin) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime
        .map_err(|error| AdminError::Failed(format!("The command can't be started: {error}.")))
        .and_then(|runtime| runtime.block_on(done(arguments)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(AdminError::Misused(fault)) => {
            eprintln!("{fault}");
            ExitCode::from(2)
        }
        Err(AdminError::Failed(fault)) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

async fn done(arguments: Admin) -> Result<(), AdminError> {
    let mut settings = Vec::new();
    if let Some(data) = &arguments.data {
        settings.push(("server.data", data.to_string_lossy().into_owned()));
    }
    let config = Config::read(arguments.config.as_deref(), &Overrides { settings })
        .map_err(|faults| AdminError::Misused(format!("The settings are invalid:\n  {}", faults.join("\n  "))))?;
    // A restore must find the database as it is, and a backup must not migrate it.
    let task = match arguments.task {
        Task::Archive(task) => return task.carry_out(&config).await.map_err(failed),
        Task::Database(task) => task,
    };
    marker::refuse(&config.server.data).map_err(failed)?;
    // The arguments are validated before a database is opened or created.
    let task = CheckedTask::of(task)?;
    let makes_a_database = matches!(task, CheckedTask::Create(..));
    if !makes_a_database && config.database.url.is_empty() && !wiring::own_database(&config).exists() {
        return Err(AdminError::Failed(format!("There is no database in {} yet.", config.server.data.display())));
    }
    let db = wiring::open_database(&config).await.map_err(AdminError::Failed)?;
    let passwords = Passwords::new(&config.accounts).map_err(AdminError::Failed)?;
    task.carry_out(&db, &passwords, &config).await
}

/// A task whose arguments are validated.
enum CheckedTask {
    Create(NewUser, Password),
    Reset(Email, Password),
    SetOperator(Email, bool),
    LoginLink(Email, Option<ReturnUrl>),
    Revoke(Email),
    List { json: bool },
    ListRuns { json: bool, all: bool },
    CancelRun(Id<Run>),
    ListJobs { json: bool, failed_only: bool },
    Requeue(Which),
    Discard(Which),
    SetProjectQuota(Id<Project>, Option<i64>),
    SetAccountQuota(Email, Option<i64>),
    ListStorage { json: bool },
    VerifyTrail(Trails),
}

impl CheckedTask {
    fn of(task: DatabaseTask) -> Result<Self, AdminError> {
        Ok(match task {
            DatabaseTask::CreateUser(arguments) => {
                let email = field("email", &arguments.of.email)?;
                let full_name = field::<FullName>("name", &arguments.name)?;
                let job_title = field::<JobTitle>("job-title", &arguments.job_title)?;
                let language = field::<Language>("language", &arguments.language)?;
                let password = arguments.password.have().map_err(AdminError::Misused)?;
                let is_operator = arguments.operator;
                let text = password.text().to_owned();
                let new = NewUser { email, full_name, job_title, language, password: text, is_operator };
                Self::Create(new, password)
            }
            DatabaseTask::ResetPassword(arguments) => Self::Reset(
                field("email", &arguments.of.email)?,
                arguments.password.have().map_err(AdminError::Misused)?,
            ),
            DatabaseTask::SetOperator { of, revoke } => Self::SetOperator(field("email", &of.email)?, !revoke),
            DatabaseTask::LoginLink { of, return_url } => {
                let return_url = return_url.map(|path| field("return-url", &path)).transpose()?;
                Self::LoginLink(field("email", &of.email)?, return_url)
            }
            DatabaseTask::RevokeSessions(of) => Self::Revoke(field("email", &of.email)?),
            DatabaseTask::ListUsers { json } => Self::List { json },
            DatabaseTask::ListRuns { json, all } => Self::ListRuns { json, all },
            DatabaseTask::CancelRun { run } => Self::CancelRun(field("run", &run)?),
            DatabaseTask::ListFailedJobs { json, unfinished } => Self::ListJobs { json, failed_only: !unfinished },
            DatabaseTask::RequeueJobs(arguments) => Self::Requeue(arguments.which()?),
            DatabaseTask::DiscardJobs(arguments) => Self::Discard(arguments.which()?),
            DatabaseTask::SetQuota(SetQuota { of: QuotaOf { project: Some(project), .. }, quota }) => {
                Self::SetProjectQuota(field("project", &project)?, quota.bytes)
            }
            DatabaseTask::SetQuota(SetQuota { of: QuotaOf { email, .. }, quota }) => {
                Self::SetAccountQuota(field("email", &email.unwrap_or_default())?, quota.bytes)
            }
            DatabaseTask::ListStorage { json } => Self::ListStorage { json },
            DatabaseTask::VerifyTrail(VerifyTrail { project, export }) => Self::VerifyTrail(match project {
                Some(project) => Trails::Of(field("project", &project)?, export),
                None => Trails::All,
            }),
        })
    }

    async fn carry_out(self, db: &Db, passwords: &Passwords, config: &Config) -> Result<(), AdminError> {
        let now = SystemClock.now();
        match self {
            Self::Create(new, password) => {
                let email = new.email.clone();
                let id = operator::create_user(db, passwords, new, now).await?;
                println!("Created the account {id} for {}.", email.as_str());
                password.print_if_generated();
            }
            Self::Reset(email, password) => {
                let ended = operator::reset_password(db, passwords, email, password.text().to_owned(), now).await?;
                println!("The password was changed; {}.", sessions_ended(ended));
                password.print_if_generated();
            }
            Self::SetOperator(email, is_operator) => {
                let address = email.as_str().to_owned();
                let changed = operator::set_operator(db, email, is_operator, now).await?;
                println!("{}", operator_set(&address, is_operator, changed));
            }
            Self::LoginLink(email, return_url) => {
                let url = public_url(config)?;
                let folder = config.server.data.join("keys");
                let secret = known_secret(&folder)?;
                println!("{}", login_links::create(db, &secret, &url, email, return_url, now).await?);
            }
            Self::Revoke(email) => {
                let ended = operator::revoke_sessions(db, email, now).await?;
                println!("Done: {}.", sessions_ended(ended));
            }
            Self::List { json } => list::users(db, json, now).await?,
            Self::ListRuns { json, all } => list::runs(db, json, all).await?,
            Self::CancelRun(id) => {
                runs::cancel(db, id, now).await?;
                println!("The run was cancelled.");
            }
            Self::ListJobs { json, failed_only } => list::jobs(db, json, failed_only).await?,
            Self::Requeue(which) => println!("{}", jobs::requeue(db, which, now).await?),
            Self::Discard(which) => println!("{}", jobs::discard(db, which, now).await?),
            Self::SetProjectQuota(id, bytes) => {
                let is_there = quotas::set_project_quota(db, id, bytes).await.map_err(ApiError::from)?;
                if !is_there {
                    return Err(AdminError::Failed(format!("There is no project {id}.")));
                }
                println!("{}", quota_set(&format!("The project {id}"), bytes));
            }
            Self::SetAccountQuota(email, bytes) => {
                let id = operator::id_of(db, email.clone()).await?;
                quotas::set_account_quota(db, id, bytes).await.map_err(ApiError::from)?;
                println!("{}", quota_set(&format!("All projects of {} together", email.as_str()), bytes));
            }
            Self::ListStorage { json } => storage::largest(db, json).await?,
            Self::VerifyTrail(trails) => trail::verify(db, trails).await?,
        }
        Ok(())
    }
}

/// Makes a sentence of a message.
fn failed(why: String) -> AdminError {
    let mut signs = why.chars();
    let first: String = signs.next().into_iter().flat_map(char::to_uppercase).collect();
    AdminError::Failed(format!("{first}{}.", signs.as_str()))
}

fn sessions_ended(count: usize) -> String {
    match count {
        0 => "there was no active session".to_owned(),
        1 => "1 session ended".to_owned(),
        count => format!("{count} sessions ended"),
    }
}

/// The URL at which browsers reach the server: the setting, or else the address that it listens on.
fn public_url(config: &Config) -> Result<String, AdminError> {
    match (config.app.url.trim_end_matches('/'), config.server.listen) {
        ("", listen) if listen.port() == 0 => {
            Err(AdminError::Misused("Set app.url: the port is not known.".to_owned()))
        }
        ("", listen) => Ok(format!("http://{listen}")),
        (url, _) => Ok(url.to_owned()),
    }
}

/// Returns the secret of a server that has one: a new one would make links that no server knows.
fn known_secret(folder: &Path) -> Result<keys::Secret, AdminError> {
    if !keys::has_secret(folder) {
        let why = format!("There is no key in {}: name the server's data folder.", folder.display());
        return Err(AdminError::Failed(why));
    }
    keys::secret(folder).map_err(|error| unusable_keys(folder, &error))
}

fn unusable_keys(folder: &Path, error: &std::io::Error) -> AdminError {
    AdminError::Failed(format!("The keys in {} can't be used: {error}.", folder.display()))
}

fn operator_set(email: &str, is_operator: bool, changed: bool) -> String {
    let (now, already) = if is_operator { ("an", "already") } else { ("no", "not") };
    if changed { format!("{email} is now {now} operator.") } else { format!("{email} was {already} an operator.") }
}

fn quota_set(whose: &str, bytes: Option<i64>) -> String {
    match bytes {
        None => format!("{whose} may store what the settings say."),
        Some(0) => format!("{whose} may store without a limit."),
        Some(bytes) => format!("{whose} may store {bytes} bytes."),
    }
}

/// Parses an argument by the same rules as the HTTP API.
fn field<T: Field>(name: &str, text: &str) -> Result<T, AdminError> {
    T::parse(&serde_json::Value::from(text))
        .map_err(|wrong| AdminError::Misused(format!("--{name}: {}", wrong.message)))
}
