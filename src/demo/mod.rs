//! `colloquy demo`: a server of its own, and a client that goes the whole way from documents to traced requirements over
//! the interface. Nothing is short-cut: what is shown came as answers to calls.

mod check;
mod dashboard;
mod page;
mod progress;
mod steps;
mod welcome;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::client::sources::{self, File};
use page::Page;

/// As shells count an interruption.
const INTERRUPTED: u8 = 130;

#[derive(clap::Args)]
pub struct Demo {
    /// Documents to analyse instead of the samples: PDF, DOCX, HTML, Markdown, text, CSV, VTT, SRT.
    files: Vec<PathBuf>,
    /// End the server when everything is shown.
    #[arg(long)]
    exit: bool,
}

/// Why it ended early.
enum End {
    Fault(String),
    Interrupted,
}

pub fn run(asked: &Demo) -> ExitCode {
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| End::Fault(format!("The demo can't be started: {error}")))
        .and_then(|runtime| runtime.block_on(shown(asked)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(End::Interrupted) => {
            eprintln!("\nInterrupted; the server has ended and its folder is gone.");
            ExitCode::from(INTERRUPTED)
        }
        Err(End::Fault(fault)) => {
            say_fault(&format!("The demo failed. {fault}"));
            ExitCode::FAILURE
        }
    }
}

/// In lines that fit, like everything else.
fn say_fault(fault: &str) {
    eprintln!();
    let width = Page::of_terminal().width;
    fault.lines().flat_map(|line| page::wrapped(line, width)).for_each(|line| eprintln!("{line}"));
}

/// Everything up to the end of the server, whichever way it comes.
async fn shown(asked: &Demo) -> Result<(), End> {
    let mut stop = Stop::listen().map_err(End::Fault)?;
    let files = files(asked).map_err(End::Fault)?;
    let page = Page::of_terminal();
    // The server lives in here: whatever is dropped ends it.
    let shown = async {
        let scene = steps::play(&page, files).await?;
        if !asked.exit {
            welcome::print(&page, &scene);
        }
        Ok(scene)
    };
    let mut scene = tokio::select! {
        scene = shown => scene.map_err(End::Fault)?,
        () = stop.wait() => return Err(End::Interrupted),
    };
    if !asked.exit {
        tokio::select! {
            () = stop.wait() => {}
            said = scene.server.ended() => return Err(End::Fault(format!("The server has ended.\n{said}"))),
        }
        page.line("");
        page.line("The server has ended and its folder is gone.");
    }
    drop(scene);
    Ok(())
}

/// What is to be analysed.
fn files(asked: &Demo) -> Result<Vec<File>, String> {
    if asked.files.is_empty() {
        return Ok(sources::samples());
    }
    let read = |path: &PathBuf| {
        let content = std::fs::read(path).map_err(|error| format!("{} can't be read: {error}", path.display()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(File { name, content })
    };
    asked.files.iter().map(read).collect()
}

/// Ctrl-C, a closed terminal, or a polite kill.
struct Stop([tokio::signal::unix::Signal; 3]);

impl Stop {
    fn listen() -> Result<Self, String> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(|error| format!("Signals can't be listened to: {error}"));
        Ok(Self([listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?]))
    }

    async fn wait(&mut self) {
        let Self([interrupt, terminate, hangup]) = self;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
