//! `colloquy admin …`: what an operator does at the machine, with the server running or without.
//!
//! Passwords are never arguments, which every user of the machine can read: they come from standard input, or are drawn
//! and printed once. Wrong use ends with 2, what could not be done with 1.

mod list;
mod password;

use std::path::PathBuf;
use std::process::ExitCode;

use actors::ids::Id;
use actors::run::Run;
use actors::time::{Clock, SystemClock};
use colloquy::accounts::model::{Email, FullName, JobTitle, Language};
use colloquy::accounts::operator::{self, NewUser};
use colloquy::analysis::operator as runs;
use colloquy::config::{Config, Overrides};
use colloquy::db::Db;
use colloquy::http::failure::Failure;
use colloquy::http::fields::Field;
use colloquy::jobs::operator::{self as jobs, Which};
use colloquy::passwords::Passwords;
use colloquy::wiring;
use password::Password;

#[derive(clap::Args)]
pub struct Admin {
    /// Where files, mails, keys and the embedded database are kept.
    #[arg(long, value_name = "FOLDER", global = true)]
    data: Option<PathBuf>,
    /// Settings that differ from the defaults: those that the server is started with.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// Make an account whose address needs no code.
    CreateUser(CreateUser),
    /// Put another password in place; all sessions of the account end.
    ResetPassword(ResetPassword),
    /// End all sessions of an account.
    RevokeSessions(Of),
    /// List the accounts, oldest first.
    ListUsers {
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// List the analysis runs that are not over, oldest first.
    ListRuns {
        /// Those that are over too.
        #[arg(long)]
        all: bool,
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// End an analysis run that is not over.
    CancelRun {
        /// The run's id.
        #[arg(long, value_name = "ID")]
        run: String,
    },
    /// List the jobs that failed for good, oldest first.
    ListFailedJobs {
        /// As JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Have jobs that failed for good tried again, with all their tries.
    RequeueJobs(RequeueJobs),
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct RequeueJobs {
    /// One job.
    #[arg(long, value_name = "ID")]
    job: Option<String>,
    /// Those of a kind, such as mail.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// All of them.
    #[arg(long)]
    all: bool,
}

#[derive(clap::Args)]
struct CreateUser {
    #[command(flatten)]
    of: Of,
    /// How the person is called.
    #[arg(long, value_name = "NAME")]
    name: String,
    #[arg(long, value_name = "TITLE", default_value = "")]
    job_title: String,
    /// Of the mails to the person, such as EN or AR.
    #[arg(long, value_name = "LANGUAGE", default_value = "EN")]
    language: String,
    #[command(flatten)]
    password: password::Asked,
}

#[derive(clap::Args)]
struct ResetPassword {
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    password: password::Asked,
}

#[derive(clap::Args)]
struct Of {
    /// The account's address.
    #[arg(long, value_name = "ADDRESS")]
    email: String,
}

/// Why it ended early.
enum End {
    /// The command can't be meant like this.
    Misused(String),
    Failed(String),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        let said = failure.cause.map_or(failure.message, String::from);
        if failure.code.status == 422 { Self::Misused(said) } else { Self::Failed(said) }
    }
}

pub fn run(asked: Admin) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime
        .map_err(|error| End::Failed(format!("The command can't be started: {error}.")))
        .and_then(|runtime| runtime.block_on(done(asked)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(End::Misused(fault)) => {
            eprintln!("{fault}");
            ExitCode::from(2)
        }
        Err(End::Failed(fault)) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

async fn done(asked: Admin) -> Result<(), End> {
    let mut settings = Vec::new();
    if let Some(data) = &asked.data {
        settings.push(("server.data", data.to_string_lossy().into_owned()));
    }
    let config = Config::read(asked.config.as_deref(), &Overrides { settings })
        .map_err(|faults| End::Misused(format!("The settings can't be used:\n  {}", faults.join("\n  "))))?;
    // What was typed is looked at before a database is.
    let task = Checked::of(asked.task)?;
    let makes_a_database = matches!(task, Checked::Create(..));
    if !makes_a_database && config.database.url.is_empty() && !wiring::own_database(&config).exists() {
        return Err(End::Failed(format!("There is no database in {} yet.", config.server.data.display())));
    }
    let db = wiring::open_database(&config).await.map_err(End::Failed)?;
    let passwords = Passwords::new(&config.accounts).map_err(End::Failed)?;
    task.carry_out(&db, &passwords).await
}

/// A task whose values are what they should be.
enum Checked {
    Create(NewUser, Password),
    Reset(Email, Password),
    Revoke(Email),
    List { json: bool },
    ListRuns { json: bool, all: bool },
    CancelRun(Id<Run>),
    ListFailedJobs { json: bool },
    Requeue(Which),
}

impl Checked {
    fn of(task: Task) -> Result<Self, End> {
        Ok(match task {
            Task::CreateUser(asked) => {
                let email = field("email", &asked.of.email)?;
                let full_name = field::<FullName>("name", &asked.name)?;
                let job_title = field::<JobTitle>("job-title", &asked.job_title)?;
                let language = field::<Language>("language", &asked.language)?;
                let password = asked.password.have().map_err(End::Misused)?;
                let new = NewUser { email, full_name, job_title, language, password: password.text().to_owned() };
                Self::Create(new, password)
            }
            Task::ResetPassword(asked) => {
                Self::Reset(field("email", &asked.of.email)?, asked.password.have().map_err(End::Misused)?)
            }
            Task::RevokeSessions(of) => Self::Revoke(field("email", &of.email)?),
            Task::ListUsers { json } => Self::List { json },
            Task::ListRuns { json, all } => Self::ListRuns { json, all },
            Task::CancelRun { run } => Self::CancelRun(field("run", &run)?),
            Task::ListFailedJobs { json } => Self::ListFailedJobs { json },
            Task::RequeueJobs(RequeueJobs { job, kind, all: _ }) => {
                let id = job.map(|job| field("job", &job)).transpose()?;
                Self::Requeue(Which { id, kind })
            }
        })
    }

    async fn carry_out(self, db: &Db, passwords: &Passwords) -> Result<(), End> {
        let now = SystemClock.now();
        match self {
            Self::Create(new, password) => {
                let email = new.email.clone();
                let id = operator::create_user(db, passwords, new, now).await?;
                println!("{} has the account {id}.", email.as_str());
                password.print_if_drawn();
            }
            Self::Reset(email, password) => {
                let ended = operator::reset_password(db, passwords, email, password.text().to_owned(), now).await?;
                println!("The password was changed; {}.", sessions_ended(ended));
                password.print_if_drawn();
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
            Self::ListFailedJobs { json } => list::failed_jobs(db, json).await?,
            Self::Requeue(which) => {
                let requeued = jobs::requeue(db, which, now).await.map_err(Failure::from)?;
                println!("{}", tried_again(requeued));
            }
        }
        Ok(())
    }
}

fn sessions_ended(count: usize) -> String {
    match count {
        0 => "there was no session to end".to_owned(),
        1 => "1 session ended".to_owned(),
        count => format!("{count} sessions ended"),
    }
}

fn tried_again(count: usize) -> String {
    match count {
        0 => "There was no such failed job.".to_owned(),
        1 => "1 job is tried again.".to_owned(),
        count => format!("{count} jobs are tried again."),
    }
}

/// A value as the interface takes it.
fn field<T: Field>(name: &str, text: &str) -> Result<T, End> {
    T::parse(&serde_json::Value::from(text)).map_err(|wrong| End::Misused(format!("--{name}: {}", wrong.message)))
}
