//! Trains the heads of the embedded engine on the corpus, or measures such training on projects it has not seen.
//!
//! ```text
//! cargo run --release -p evaluation --example train_heads -- tests/corpus/train crates/pipeline/engine/heads/weights.bin
//! cargo run --release -p evaluation --example train_heads -- tests/corpus/train --cross [--faults]
//! ```

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use evaluation::{KINDS, MarkedProject, Reliability, Report, claims, evaluated, lessons, projects, trained};
use pipeline::Embedded;

/// Parts that the corpus is divided into, by project, to be measured.
const PARTS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [corpus, "--cross"] => cross(Path::new(corpus), false),
        [corpus, "--cross", "--faults"] => cross(Path::new(corpus), true),
        [corpus, output] => train(Path::new(corpus), Path::new(output)),
        _ => Err("usage: train_heads CORPUS OUTPUT | CORPUS --cross [--faults]".to_owned()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn read(corpus: &Path) -> Result<Vec<MarkedProject>, String> {
    projects(corpus).map_err(|fault| fault.to_string())
}

fn train(corpus: &Path, output: &Path) -> Result<(), String> {
    let all: Vec<_> = read(corpus)?.iter().map(lessons).collect();
    let heads = trained(&all);
    println!("thresholds: {:?}", heads.thresholds);
    println!("calibration: {:?}", heads.calibration);
    std::fs::write(output, heads.to_bytes()).map_err(|fault| fault.to_string())
}

fn cross(corpus: &Path, is_loud: bool) -> Result<(), String> {
    let mut parts: Vec<Vec<MarkedProject>> = (0..PARTS).map(|_| Vec::new()).collect();
    for (at, project) in read(corpus)?.into_iter().enumerate() {
        if let Some(part) = parts.get_mut(at % PARTS) {
            part.push(project);
        }
    }
    let taught: Vec<Vec<_>> = parts.iter().map(|part| part.iter().map(lessons).collect()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|fault| fault.to_string())?;
    let (mut report, mut claimed) = (Report::default(), Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let others: Vec<_> =
            taught.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, part)| part).cloned().collect();
        let heads = &*Box::leak(Box::new(trained(&others)));
        claimed.extend(taught.iter().skip(at).take(1).flatten().flat_map(|lessons| claims(heads, lessons)));
        report.add(runtime.block_on(evaluated(Arc::new(Embedded::with(heads)), part)));
    }
    if is_loud {
        report.faults().for_each(|fault| println!("{fault}"));
    }
    println!("{report}");
    println!("By sentences, before findings become items:");
    for kind in KINDS {
        let claims = claimed.iter().filter(|(known, _)| *known == kind).map(|(_, claim)| *claim).collect();
        print!("{}", Reliability { name: format!("{kind:?}"), claims });
    }
    Ok(())
}
