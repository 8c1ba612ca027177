//! Output of `cargo test`, a line for each program: a person looks for what failed, not for thousands of names that did not.
use crate::{Result, cargo_command};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

/// Runs cargo in the repository and prints a line for each test program, and all of the output of one that fails.
pub(crate) fn test(root: &Path, arguments: &[&str]) -> Result {
    let failed = |e: std::io::Error| format!("cargo cannot be started: {e}");
    // One pipe for both streams: cargo names a program on stderr before the program writes to stdout.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    let mut command = cargo_command(root, arguments);
    command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut child = command.spawn().map_err(failed)?;
    // The command has the writing ends, which would keep the pipe open.
    drop(command);
    let (mut part, mut start, mut total) = (Vec::new(), Instant::now(), 0u64);
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.map_err(|e| format!("cargo: {e}"))?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let words = line.trim_start();
        if words.starts_with("Running ") || words.starts_with("Doc-tests ") {
            (part, start) = (Vec::new(), Instant::now());
        }
        let passed = words.strip_prefix("test result: ok. ").map(str::to_owned);
        part.push(line);
        if let Some(result) = passed {
            let name = part[0].trim_start().trim_start_matches("Running ");
            let name = name.split(" (").next().unwrap_or(name);
            let counts = result.split("; 0 measured").next().unwrap_or(&result);
            total += counts.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
            println!("   {name}: {counts}, {:.1} s", start.elapsed().as_secs_f64());
            part.clear();
        }
    }
    let status = child.wait().map_err(|e| format!("cargo: {e}"))?;
    if status.success() {
        println!("{total} passed, 0 failed");
        return Ok(());
    }
    println!("{}", part.join("\n"));
    Err(format!("`cargo {}`: {status}", arguments.join(" ")))
}
