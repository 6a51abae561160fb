//! `colloquy demo`: starts a server of its own, and runs a client that goes the whole way from documents, and a recorded
//! meeting, to traced requirements over the HTTP API. It takes no shortcuts: everything shown comes from responses.

mod check;
mod dashboard;
mod page;
mod progress;
mod recorded;
mod review;
mod steps;
mod title;
mod welcome;

use std::path::PathBuf;
use std::process::ExitCode;

use page::Screen;
use recorded::DemoSpeech;

use api_client::sources::{self, SampleFile};

/// The exit code that shells use for an interruption by Ctrl-C.
const INTERRUPTED: u8 = 130;

#[derive(clap::Args)]
pub struct Demo {
    /// Documents to analyse instead of the samples: PDF, DOCX, PPTX, XLSX, ODT, HTML, Markdown, text, CSV, EML, VTT,
    /// SRT.
    files: Vec<PathBuf>,
    /// Folder of speech models, for the recorded meeting among the samples; by default where `colloquy models install`
    /// puts them
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Stop the server and exit after the results are shown.
    #[arg(long)]
    exit: bool,
}

/// Why the demo ended early.
enum End {
    Fault(String),
    Interrupted,
}

pub fn run(arguments: &Demo) -> ExitCode {
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| End::Fault(format!("The demo can't be started: {error}")))
        .and_then(|runtime| runtime.block_on(shown(arguments)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(End::Interrupted) => {
            eprintln!("\nInterrupted; the server was stopped and its folder was deleted.");
            ExitCode::from(INTERRUPTED)
        }
        Err(End::Fault(fault)) => {
            print_error(&format!("The demo failed. {fault}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints an error, wrapped to the terminal's width.
fn print_error(fault: &str) {
    eprintln!();
    let width = Screen::of_terminal().width;
    fault.lines().flat_map(|line| page::wrapped(line, width)).for_each(|line| eprintln!("{line}"));
}

/// Runs the demo until its server has ended, for whatever reason.
async fn shown(arguments: &Demo) -> Result<(), End> {
    let mut stop = Stop::listen().map_err(End::Fault)?;
    let files = files(arguments).map_err(End::Fault)?;
    // The recorded meeting is one of the samples.
    let speech = arguments.files.is_empty().then(|| DemoSpeech::find(arguments.models.as_deref()));
    let speech = speech.transpose().map_err(End::Fault)?;
    let page = Screen::of_terminal();
    // This future owns the server, so dropping it ends the server.
    let shown = async {
        let scene = steps::play(&page, files, arguments.files.is_empty(), speech).await?;
        if !arguments.exit {
            welcome::print(&page, &scene).await?;
        }
        Ok(scene)
    };
    let mut scene = tokio::select! {
        scene = shown => scene.map_err(End::Fault)?,
        () = stop.wait() => return Err(End::Interrupted),
    };
    if !arguments.exit {
        tokio::select! {
            () = stop.wait() => {}
            said = scene.server.ended() => return Err(End::Fault(format!("The server exited.\n{said}"))),
        }
        page.line("");
        page.line("The server was stopped and its folder was deleted.");
    }
    drop(scene);
    Ok(())
}

/// Returns the files to analyse.
fn files(arguments: &Demo) -> Result<Vec<SampleFile>, String> {
    if arguments.files.is_empty() {
        return Ok(sources::samples());
    }
    let read = |path: &PathBuf| {
        let content = std::fs::read(path).map_err(|error| format!("{} can't be read: {error}", path.display()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(SampleFile { name, content })
    };
    arguments.files.iter().map(read).collect()
}

/// The signals that stop the demo: SIGINT (Ctrl-C), SIGHUP (closed terminal) and SIGTERM.
struct Stop([tokio::signal::unix::Signal; 3]);

impl Stop {
    fn listen() -> Result<Self, String> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(|error| format!("Signal handlers can't be installed: {error}"));
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
