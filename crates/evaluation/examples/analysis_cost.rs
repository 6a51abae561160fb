//! Measures what the embedded engine needs for a megabyte of text: processor time, wall time and memory.
//!
//! ```text
//! cargo run --release -p evaluation --example analysis_cost -- tests/corpus/train [MEGABYTES]
//! ```

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use actors::language::Language;
use actors::run::AnalysisType;
use evaluation::projects;
use pipeline::{
    Bounds, CancelToken, NoCheckpoints, NoProgressSink, PipelineOutcome, Request, Source, SourceKind, Workers, run,
};
use readers::SourceText;

/// Ticks of the processor times in `/proc/self/stat`, in a second.
const TICKS: f64 = 100.0;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let megabytes = arguments.get(1).map_or(Ok(1.0), |text| text.parse::<f64>());
    let megabytes = megabytes.ok().filter(|count| (0.0..1e3).contains(count));
    let (Some(corpus), Some(megabytes)) = (arguments.first(), megabytes) else {
        eprintln!("usage: analysis_cost CORPUS [MEGABYTES]");
        return ExitCode::FAILURE;
    };
    match measure(Path::new(corpus), megabytes).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(corpus: &Path, megabytes: f64) -> Result<(), String> {
    let (sources, bytes) = sources(corpus, megabytes * 1e6)?;
    let texts = sources.len();
    let before = memory_kib("VmRSS")?;
    let (begun, busy) = (Instant::now(), processor_seconds()?);
    let request = Request {
        job_id: "cost".to_owned(),
        attempt: 1,
        analysis_type: AnalysisType::Full,
        language: Language::Auto,
        sources,
        bounds: Bounds::default(),
    };
    let outcome = run(request, &NoCheckpoints, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await;
    let (wall, busy) = (begun.elapsed(), processor_seconds()? - busy);
    let (PipelineOutcome::Completed(result) | PipelineOutcome::Partial(result, _)) = outcome else {
        return Err(format!("{outcome:?}"));
    };
    let most = memory_kib("VmHWM")?;
    let (found, warnings) = (result.requirements.len(), result.warnings.len());
    println!("{bytes} bytes in {texts} documents, {found} requirements, {warnings} warnings");
    println!("{busy:.2} s of processor time, {:.2} s of wall time", wall.as_secs_f64());
    println!("{before} KiB of memory with the texts before, at most {most} KiB");
    Ok(())
}

/// Returns documents of the corpus, again and again, until they have this many bytes.
fn sources(corpus: &Path, bytes: f64) -> Result<(Vec<Source>, usize), String> {
    let projects = projects(corpus).map_err(|fault| fault.to_string())?;
    let texts: Vec<SourceText> =
        projects.into_iter().flat_map(|project| project.documents).map(|document| document.text.source).collect();
    let (mut sources, mut total) = (Vec::new(), 0);
    for (number, text) in texts.iter().cycle().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        if total as f64 >= bytes {
            break;
        }
        total += text.text.len();
        let text = Ok(Arc::new(text.clone()));
        sources.push(Source { id: number.to_string(), kind: SourceKind::Document, name: number.to_string(), text });
    }
    Ok((sources, total))
}

fn processor_seconds() -> Result<f64, String> {
    let stat = std::fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    // The fields after the name, which may contain any character: user and system time are the 12th and 13th.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace().skip(11).take(2);
    Ok(fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS)
}

fn memory_kib(name: &str) -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.ok_or_else(|| format!("there is no {name}"))
}
