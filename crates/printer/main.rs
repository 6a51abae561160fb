//! Reads the results of a project as JSON from standard input and writes them as a PDF to standard output.
//!
//! The server runs this program for the format `PDF`, so that shaping and fonts are neither in its build nor in its memory. It reads no
//! file and opens no connection. It ends with 0, or with 2 and one line on standard error where the input is no specification, is larger
//! than 256 MiB, or cannot be set.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use exports::specification::Specification;
use rlimit::Resource;

/// Of the JSON, in bytes.
const MAX_INPUT_BYTES: u64 = 256 << 20;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match limit(&arguments).and_then(|()| run(io::stdin().lock(), MAX_INPUT_BYTES)).and_then(|pdf| send(&pdf)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // What a stranger wrote into the input must not move the cursor of who reads the line.
            let line: String = reason.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
            eprintln!("colloquy-printer: {line}");
            ExitCode::from(2)
        }
    }
}

/// Sets the limits that the server names on this process: `--memory-mib N --seconds N`, its address space and its processor time.
/// Without arguments there are none.
fn limit(arguments: &[String]) -> Result<(), String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usage = || "usage: colloquy-printer [--memory-mib N --seconds N] < SPECIFICATION.json > FILE.pdf".to_owned();
    let number = |text: &str| text.parse::<u64>().map_err(|_| usage());
    let (memory, seconds) = match arguments.as_slice() {
        [] => return Ok(()),
        ["--memory-mib", memory, "--seconds", seconds] => (number(memory)?.saturating_mul(1 << 20), number(seconds)?),
        _ => return Err(usage()),
    };
    for (resource, most) in [(Resource::AS, memory), (Resource::CPU, seconds), (Resource::CORE, 0)] {
        // This process may run under a hard limit already, which it can't raise.
        let limited = resource.get().and_then(|(_, hard)| resource.set(most.min(hard), most.min(hard)));
        limited.map_err(|error| format!("the limits cannot be set: {error}"))?;
    }
    Ok(())
}

fn run(input: impl Read, largest: u64) -> Result<Vec<u8>, String> {
    let mut json = Vec::new();
    input.take(largest + 1).read_to_end(&mut json).map_err(|error| format!("the input cannot be read: {error}"))?;
    if json.len() as u64 > largest {
        return Err(format!("the input is larger than {} MiB", largest >> 20));
    }
    let specification: Specification =
        serde_json::from_slice(&json).map_err(|error| format!("the input is no specification: {error}"))?;
    drop(json);
    printer::print(&specification).map_err(|error| error.to_string())
}

fn send(pdf: &[u8]) -> Result<(), String> {
    let mut output = io::stdout().lock();
    output.write_all(pdf).and_then(|()| output.flush()).map_err(|error| format!("the file cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_may_be() {
        assert_eq!(run(io::repeat(b' '), 3 << 20), Err("the input is larger than 3 MiB".to_owned()));
        // As large as may be: read whole, and judged by what it says.
        assert!(run(&[b' '; 16][..], 16).is_err_and(|reason| reason.starts_with("the input is no specification")));
    }
}
