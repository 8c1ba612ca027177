//! Output: data to stdout; errors, warnings and progress to stderr.
use crate::error::{Failure, Result};
use crate::streams;
use clap::ColorChoice;
use hlo::diag::{Diagnostic, Level, Source, SourceFile, render};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What the options of all commands ask for.
static WANTED: OnceLock<Wanted> = OnceLock::new();

#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) color: ColorChoice,
    pub(crate) is_quiet: bool,
    pub(crate) is_verbose: bool,
}

/// Notes when to color errors, and how much to write beside results.
pub(crate) fn set_up(wanted: Wanted) {
    let choice = match wanted.color {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    let _ = WANTED.set(wanted);
}

/// Returns whether errors are colored.
fn color() -> bool {
    match WANTED.get().map_or(ColorChoice::Auto, |wanted| wanted.color) {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            std::io::stderr().is_terminal() && !is_refused
        }
    }
}

fn is_quiet() -> bool {
    WANTED.get().is_some_and(|wanted| wanted.is_quiet)
}

/// Writes to stderr. A failure to write is ignored, because there is no other place to report it.
pub(crate) fn note(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Writes what a command has done to stderr, unless it is to be quiet.
pub(crate) fn status(text: &str) {
    if !is_quiet() {
        note(text);
    }
}

/// Writes what a phase of the work has done to stderr, with the time since its start, if every phase is asked for.
pub(crate) fn phase(start: Instant, text: impl FnOnce() -> String) {
    let taken = start.elapsed();
    if WANTED.get().is_some_and(|wanted| wanted.is_verbose) {
        note(&format!("{} in {:.1} ms\n", text(), taken.as_secs_f64() * 1e3));
    }
}

/// Shows a person what may be done next: on a terminal only.
pub(crate) fn hint(text: &str) {
    if is_hinting() {
        note(text);
    }
}
/// Returns whether a person reads hints.
pub(crate) fn is_hinting() -> bool {
    std::io::stderr().is_terminal() && !is_quiet()
}

/// Writes a report to stdout, or to stderr if an output of the command has stdout.
pub(crate) fn report(text: &str, has_stdout: bool) -> Result<()> {
    if has_stdout {
        note(text);
        return Ok(());
    }
    data(text)
}

/// Writes to stdout.
pub(crate) fn data(text: &str) -> Result<()> {
    bytes(text.as_bytes())
}
/// The same for bytes.
pub(crate) fn bytes(bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    written(std::io::stdout().lock().write_all(bytes))
}
/// Returns whether what was given to stdout is written. A closed pipe is not an error: the reader has read enough. Stdout that was
/// closed from the start is one: nobody has read anything.
pub(crate) fn written(given: std::io::Result<()>) -> Result<()> {
    let closed = || std::io::Error::other("standard output is closed");
    let given = if streams::is_stdout_closed() { Err(closed()) } else { given };
    match given.and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| Failure::file(Path::new("<stdout>"), &e)),
    }
}

/// Returns the columns of the terminal, if stdout is one.
pub(crate) fn width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(columns.into())
}

/// The most errors that are shown of one file.
const SHOWN: usize = 100;

/// Shows the errors that ended a command.
pub(crate) fn show(failure: &Failure) {
    let source = failure.source.as_ref().map(SourceFile::source);
    for diagnostic in failure.diagnostics.iter().take(SHOWN) {
        show_one(diagnostic, source);
    }
    if let Some(more @ 1..) = failure.diagnostics.len().checked_sub(SHOWN) {
        note(&format!("{more} more errors are not shown\n"));
    }
}

/// Shows an error or a warning.
pub(crate) fn show_one(diagnostic: &Diagnostic, source: Option<Source<'_>>) {
    if diagnostic.level == Level::Error || !is_quiet() {
        note(&render(diagnostic, source, color()));
    }
}

/// A progress indicator on a terminal, shown after one second and cleared on drop.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// For work of unknown length.
    pub(crate) fn new(what: &str) -> Self {
        Self::with_style(ProgressBar::new_spinner(), what, "{spinner} {msg} {elapsed}")
    }
    /// For a search through files, each of which it counts.
    pub(crate) fn looking(what: &str) -> Self {
        Self::with_style(ProgressBar::new_spinner(), what, "{spinner} {msg}: {pos} files {elapsed}")
    }
    /// For as much work as there is time for: it counts what is done.
    pub(crate) fn counting_up(what: &str, items: &str) -> Self {
        let template = format!("{{spinner}} {{msg}}: {{pos}} {items} {{elapsed}}");
        Self::with_style(ProgressBar::new_spinner(), what, &template)
    }
    /// For `total` items of work.
    pub(crate) fn counting(what: &str, total: usize) -> Self {
        let bar = ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX));
        Self::with_style(bar, what, "{msg} {wide_bar} {pos}/{len} {elapsed}")
    }
    /// Returns the bar, for another thread to set its message; none where it is not shown.
    pub(crate) fn bar(&self) -> Option<ProgressBar> {
        std::io::stderr().is_terminal().then(|| self.0.clone())
    }
    /// Counts a finished item.
    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }
    fn with_style(bar: ProgressBar, what: &str, template: &str) -> Self {
        let bar = bar.with_message(what.to_owned());
        let style = ProgressStyle::with_template(template);
        let bar = style.map_or(bar.clone(), |style| bar.with_style(style));
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let shown = bar.clone();
        if std::io::stderr().is_terminal() && !is_quiet() {
            let show = move || {
                std::thread::sleep(Duration::from_secs(1));
                if !shown.is_finished() {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(Duration::from_millis(200));
                }
            };
            // Without a thread there is no progress.
            let _ = std::thread::Builder::new().spawn(show);
        }
        Self(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
