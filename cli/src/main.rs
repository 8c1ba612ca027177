//! The command `etalon`.
use std::process::ExitCode;

fn main() -> ExitCode {
    let host = std::env::current_exe().map_or_else(|_| "etalon".into(), Into::into);
    ExitCode::from(cli::run(std::env::args_os().skip(1).collect(), vec![host]))
}
