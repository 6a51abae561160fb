//! The command-line program: `colloquy serve` and the other commands of an operator.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

mod admin;
mod allocator;
mod demo;
mod models_command;

use clap::{Parser, Subcommand};
use colloquy::accounts::pictures::decoder;
use colloquy::analysis::imports;
use colloquy::api::openapi;
use colloquy::config::{Config, Overrides};
use colloquy::{log, routes, wiring};
use confined::Allowance;
use pipeline::process;
use speech::media;

/// Backend that turns meetings into requirements
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the server
    Serve(Serve),
    /// Start the pipeline as a service of its own, to which servers send their analysis runs
    Pipeline(Serve),
    /// Run a demo: analyse sample documents, or your own, on a temporary server
    Demo(demo::Demo),
    /// Manage accounts, analysis runs and failed jobs, with the server running or stopped
    Admin(admin::Admin),
    /// List and install speech models, and measure the embedded analysis
    Models(models_command::Models),
    /// Print the OpenAPI document as JSON
    Openapi {
        /// Print the catalogue of errors, `docs/errors.md`, instead.
        #[arg(long)]
        errors: bool,
    },
    /// Print the AsyncAPI document of the socket as JSON
    Asyncapi,
}

#[derive(clap::Args)]
struct Serve {
    /// Address to listen on, such as 127.0.0.1:8080; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Folder for files, e-mails, keys and the embedded database
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Settings file (TOML) with values that override the defaults
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    // Files that this process creates, such as e-mails and keys, are accessible to its own user only.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Before any thread starts and any argument is parsed: the child process limits itself first.
    if let Some(code) = child_of_a_server() {
        return code;
    }
    match Arguments::parse().command {
        Command::Serve(serve) => {
            allocator::configure();
            run_server("server.listen", &serve, wiring::serve)
        }
        Command::Pipeline(serve) => {
            allocator::configure();
            run_server("pipeline.listen", &serve, wiring::serve_pipeline)
        }
        Command::Demo(demo) => demo::run(&demo),
        Command::Admin(arguments) => admin::run(arguments),
        Command::Models(arguments) => models_command::run(&arguments),
        Command::Openapi { errors } => {
            match errors {
                true => print!("{}", openapi::error_catalogue(&routes::all())),
                false => println!("{:#}", openapi::document(&routes::all())),
            }
            ExitCode::SUCCESS
        }
        Command::Asyncapi => {
            println!("{:#}", colloquy::events::document(&openapi::document(&routes::all())));
            ExitCode::SUCCESS
        }
    }
}

/// Runs this process as a child of a server, to parse one file of a user or to work on one run, and returns its exit code.
/// Returns `None` when the process was not started by a server.
fn child_of_a_server() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [readers::VERB, task @ ..] => readers::ReadTask::of_arguments(task).map(readers::child_main),
        [media::VERB, task @ ..] => media::ProbeTask::of_arguments(task).map(media::child_main),
        [speech::VERB, task @ ..] => speech::SpeechTask::of_arguments(task).map(speech::child_main),
        [imports::child::VERB, task @ ..] => {
            imports::child::ImportTask::of_arguments(task).map(imports::child::child_main)
        }
        [decoder::VERB, task @ ..] => decoder::DecodeTask::of_arguments(task).map(decoder::child_main),
        [process::VERB, allowance @ ..] => Allowance::of_arguments(allowance).map(process::child_main),
        _ => None,
    }
}

/// Runs a server whose address is the setting `listen`.
fn run_server<F: Future<Output = Result<(), String>>>(
    listen: &'static str,
    arguments: &Serve,
    serve: fn(Config) -> F,
) -> ExitCode {
    let mut settings = Vec::new();
    if let Some(address) = arguments.listen {
        settings.push((listen, address.to_string()));
    }
    if let Some(data) = &arguments.data {
        settings.push(("server.data", data.to_string_lossy().into_owned()));
    }
    let config = match Config::read(arguments.config.as_deref(), &Overrides { settings }) {
        Ok(config) => config,
        Err(faults) => {
            log::print_error("The settings are invalid:");
            faults.iter().for_each(|fault| log::print_error(&format!("  {fault}")));
            return ExitCode::from(2);
        }
    };
    if let Err(error) = log::begin(&config.log) {
        log::print_error(&format!("the log's thread can't be started: {error}"));
        return ExitCode::FAILURE;
    }
    let served = actix_web::rt::System::new().block_on(serve(config));
    if let Err(fault) = &served {
        log::print_error(fault);
    }
    log::end();
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
