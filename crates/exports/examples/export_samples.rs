//! Writes a file of each format for an English, a German and an Arabic specification with hostile texts, for a short brief in each of the
//! languages, and for an empty one, so that other programs can be asked to open them:
//! `cargo run -p exports --example export_samples -- FOLDER [FORMAT …]`
//!
//! A format is named by the ending of its files (`xlsx`); all are written where none is named.

use std::error::Error;
use std::path::Path;

use exports::{ExportFormat, specification, write};

#[path = "../file_tests/samples.rs"]
#[expect(dead_code, reason = "the tests and the other example use the rest")]
mod samples;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("Name the folder for the files.")?;
    let named: Vec<String> = arguments.collect();
    std::fs::create_dir_all(&folder)?;
    let specifications = [
        ("en", samples::hostile("EN")),
        ("de", samples::hostile("DE")),
        ("ar", samples::hostile("AR")),
        ("brief-en", samples::brief("EN")),
        ("brief-de", samples::brief("DE")),
        ("brief-ar", samples::brief("AR")),
        ("empty", samples::empty()),
    ];
    let is_named = |format: &ExportFormat| named.is_empty() || named.iter().any(|name| name == format.extension());
    for format in ExportFormat::ALL.into_iter().filter(is_named) {
        for (name, specification) in &specifications {
            let path = Path::new(&folder).join(format!("{name}.{}", format.extension()));
            let bytes = write(specification, format)?;
            std::fs::write(&path, &bytes)?;
            println!("{} {}", path.display(), bytes.len());
        }
    }
    Ok(())
}
