//! What files of many requirements cost: `cargo run --release -p exports --example export_cost [-- COUNT]`
//!
//! Each format is written in a process of its own, whose peak of memory (`VmHWM`) is then that of the format and of the specification.

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use exports::{ExportFormat, specification, write};

#[path = "../file_tests/samples.rs"]
#[expect(dead_code, reason = "the tests and the other example use the rest")]
mod samples;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    if let Some(name) = arguments.next() {
        return measure(count, &name);
    }
    println!("{count} requirements, {} user stories", count / 2);
    println!("{:<10} {:>8} {:>12} {:>12}", "format", "ms", "bytes", "peak KiB");
    let names = ExportFormat::ALL.map(ExportFormat::extension);
    for name in ["none"].into_iter().chain(names) {
        let status = Command::new(std::env::current_exe()?).args([&count.to_string(), name]).status()?;
        if !status.success() {
            println!("{name:<10} failed: {status}");
        }
    }
    Ok(())
}

/// `none` measures the specification alone.
fn measure(count: usize, name: &str) -> Result<(), Box<dyn Error>> {
    let specification = samples::large(count);
    let format = ExportFormat::ALL.into_iter().find(|format| format.extension() == name);
    let start = Instant::now();
    let bytes = format.map_or(Ok(Vec::new()), |format| write(&specification, format))?;
    let milliseconds = start.elapsed().as_millis();
    println!("{name:<10} {milliseconds:>8} {:>12} {:>12}", bytes.len(), peak_kib()?);
    Ok(())
}

fn peak_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("The system names no peak of memory.")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
