//! Tests a PJRT plugin with the suite, as a program that `cargo test` can run.
//!
//! ```sh
//! cargo run -p etalon-conformance --example plugin_test -- xla_cpu_pjrt.so
//! ```
//!
//! In a crate of your own, put it into `tests/plugin.rs`, with `[[test]] name = "plugin"` and
//! `harness = false` in `Cargo.toml`: the plugin runs in a process of its own, which is this
//! program started with another argument.
#![expect(clippy::print_stdout, reason = "the output of the example")]
use conformance::backend::{Plugin, PluginOptions, serve};
use conformance::suite::{Selection, Suite};
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

const HOST: &str = "plugin-host";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let argument = std::env::args().nth(1);
    let path = match argument.as_deref() {
        Some(HOST) => return Ok(serve().map(|()| ExitCode::SUCCESS)?),
        Some(path) => path.to_owned(),
        None => {
            println!("usage: plugin_test PLUGIN.so");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let mut host = Command::new(std::env::current_exe()?);
    host.arg(HOST);
    // `client` and `xla` have the options of the plugin and of its compiler.
    let mut plugin = Plugin::isolated(Path::new(&path), host, PluginOptions::default())?;
    let selection = Selection { pattern: Some("sort/*".to_owned()), ..Selection::full() };
    let results = Suite::load(&selection)?.run(&mut plugin, |_| {});
    for record in results.records().filter(|record| record.verdict.is_bad()) {
        println!("{}: {}: {}", record.name, record.verdict.name(), record.reason);
    }
    println!("{results}");
    Ok(if results.is_bad() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
