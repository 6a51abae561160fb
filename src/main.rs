//! The program: `colloquy serve` and what else an operator runs.

use std::fs::File;
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod admin;
mod allocator;
mod bench;
mod client;
mod demo;

use clap::{Parser, Subcommand};
use colloquy::config::{Config, Overrides};
use colloquy::pipeline::confined::Allowance;
use colloquy::pipeline::{engine, process, readers};
use colloquy::{routes, wiring};

/// The backend that turns conversations into requirements.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the interface.
    Serve(Serve),
    /// Watch documents become requirements: on the samples, or on files of your own, with a server that is made for it.
    Demo(demo::Demo),
    /// Measure how fast this program is here, with a server that is made for it.
    Bench(bench::Bench),
    /// See to accounts at the machine, with the server running or without.
    Admin(admin::Admin),
    /// Print the OpenAPI document.
    Openapi,
    /// Measure how well the embedded engine tells requirements from other sentences.
    Score(Score),
}

#[derive(clap::Args)]
struct Score {
    /// Rows of `document <TAB> is_requirement (0 or 1) <TAB> text`.
    file: PathBuf,
}

#[derive(clap::Args)]
struct Serve {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where files, mails, keys and the embedded database are kept.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Settings that differ from the defaults.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    // Whatever this process writes, mails and keys among it, is for its own account alone.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Before any thread is started and any argument is looked at: the child limits itself first.
    if let Some(code) = child_of_a_server() {
        return code;
    }
    match Arguments::parse().command {
        Command::Serve(serve) => {
            allocator::settle();
            self::serve(&serve)
        }
        Command::Demo(demo) => demo::run(&demo),
        Command::Bench(bench) => bench::run(&bench),
        Command::Admin(asked) => admin::run(asked),
        Command::Openapi => {
            println!("{:#}", colloquy::api::openapi::document(&routes::all()));
            ExitCode::SUCCESS
        }
        Command::Score(Score { file }) => score(&file),
    }
}

fn score(file: &Path) -> ExitCode {
    match File::open(file).and_then(|file| engine::score(BufReader::new(file))) {
        Ok(score) => {
            println!("precision {:.3}, recall {:.3}, F1 {:.3}", score.precision(), score.recall(), score.f1());
            println!("macro-F1 {:.3} (rows left out: {})", score.macro_f1(), score.skipped);
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("{}: {fault}", file.display());
            ExitCode::FAILURE
        }
    }
}

/// How this process ended, where a server started it: to read one document, or to work at one run.
fn child_of_a_server() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [readers::VERB, task @ ..] => readers::Task::of_arguments(task).map(readers::child_main),
        [process::VERB, allowance @ ..] => Allowance::of_arguments(allowance).map(process::child_main),
        _ => None,
    }
}

fn serve(arguments: &Serve) -> ExitCode {
    let mut settings = Vec::new();
    if let Some(listen) = arguments.listen {
        settings.push(("server.listen", listen.to_string()));
    }
    if let Some(data) = &arguments.data {
        settings.push(("server.data", data.to_string_lossy().into_owned()));
    }
    let config = match Config::read(arguments.config.as_deref(), &Overrides { settings }) {
        Ok(config) => config,
        Err(faults) => {
            eprintln!("The settings can't be used:");
            faults.iter().for_each(|fault| eprintln!("  {fault}"));
            return ExitCode::from(2);
        }
    };
    colloquy::log::begin(&config.log);
    match actix_web::rt::System::new().block_on(wiring::serve(config)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
