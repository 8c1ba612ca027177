//! What a person sees: errors with their places, and a sign of life while a run takes long.
use crate::error::Failure;
use hlo::diag::{Diagnostic, Source, render};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Whether errors are shown in colour: on a terminal, unless `NO_COLOR` is set.
fn colour() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Writes to standard error; what cannot be written is lost, as there is nowhere else to say so.
pub(crate) fn note(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Writes to standard output. A reader that has gone away is no error of ours.
pub(crate) fn data(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Columns of the terminal that standard output goes to, if it is one.
pub(crate) fn width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(columns.into())
}

/// Shows why a command ended early.
pub(crate) fn show(failure: &Failure) {
    let source = failure.source.as_ref().map(|(name, text)| Source { name, text });
    for diagnostic in &failure.diagnostics {
        show_one(diagnostic, source);
    }
}

/// Shows an error or a warning.
pub(crate) fn show_one(diagnostic: &Diagnostic, source: Option<Source<'_>>) {
    note(&render(diagnostic, source, colour()));
}

/// A sign of life on a terminal, shown once the work has taken a second; it goes away when dropped.
pub(crate) struct Progress(indicatif::ProgressBar);

impl Progress {
    pub(crate) fn new(what: &str) -> Self {
        let bar = indicatif::ProgressBar::new_spinner().with_message(what.to_owned());
        let style = indicatif::ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let bar = style.map_or(bar.clone(), |style| bar.with_style(style));
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        let shown = bar.clone();
        if std::io::stderr().is_terminal() {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(1));
                if !shown.is_finished() {
                    shown.set_draw_target(indicatif::ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(Duration::from_millis(200));
                }
            });
        }
        Self(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
