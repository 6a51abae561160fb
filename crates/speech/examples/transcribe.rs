//! Transcribes a file and says what that cost.
//!
//! usage: cargo run --release -p speech --example transcribe -- MODEL_FOLDER FILE [LANGUAGE]

#![expect(clippy::expect_used, reason = "a program to measure with: it ends at the first error")]

use std::fs::{self, File};

use speech::{SpeechRequest, transcribe};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let model = arguments.next().expect("the folder of a model").into();
    let file = File::open(arguments.next().expect("a file")).expect("a readable file");
    let (language, hint) = (arguments.next(), std::env::var("HINT").ok());
    let request = SpeechRequest { model, model_name: String::new(), language, from_ms: 0, hint };
    let (began, mut done_ms) = (processor_seconds(), 0);
    let outcome = transcribe(file, &request, |batch| {
        for one in &batch.segments {
            println!("{:9} {:9} {:.2} {}", one.start_ms, one.end_ms, one.confidence, one.text);
        }
        done_ms = batch.done_ms;
        true
    });
    outcome.expect("a transcript");
    let seconds = done_ms as f64 / 1000.0;
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    eprintln!("{seconds:.1} s, {:.4} processor-seconds per second, {peak}", (processor_seconds() - began) / seconds);
}

/// User and system time of this process, which Linux counts in hundredths of a second.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
