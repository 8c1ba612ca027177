//! What is shown for a panic: whatever the input is, a panic is a bug in Etalon.
use crate::output;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

/// Replaces the panic message by an error that asks for a report.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| output::note(&message(panic))));
}

fn message(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let what = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
    let place = panic.location().map(|place| format!("\n --> {place}")).unwrap_or_default();
    let trace = Backtrace::capture();
    let trace = match trace.status() {
        BacktraceStatus::Captured => format!("{trace}\n"),
        _ => "  = note: `RUST_BACKTRACE=1` shows the calls that led here\n".to_owned(),
    };
    let version = env!("CARGO_PKG_VERSION");
    let repository = env!("CARGO_PKG_REPOSITORY");
    format!(
        "error: {what}{place}\n  = help: this is a bug in Etalon {version}; please report the command and its files at {repository}/issues\n{trace}"
    )
}
