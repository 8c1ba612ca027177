//! `--trace`: a trace for Perfetto and Chrome, with one event per instruction and one track per device.
use crate::error::{Failure, Result};
use crate::file::{Existing, Output};
use crate::output;
use interp::{Device, Event};
use serde_json::json;
use std::fmt::Arguments;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Viewers do not open files with many more events.
const LIMIT: usize = 1_000_000;

/// A trace being written. Clones write to the same file.
#[derive(Debug, Clone)]
pub(crate) struct Trace(Arc<Mutex<Writing>>);

#[derive(Debug)]
struct Writing {
    path: PathBuf,
    /// Taken at the end.
    file: Option<BufWriter<Output>>,
    /// Whether no event has been written.
    first: bool,
    events: usize,
    failed: Option<std::io::Error>,
}

impl Writing {
    fn write(&mut self, json: &serde_json::Value) {
        let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        self.text(format_args!("{separator}{json}"));
    }
    fn text(&mut self, text: Arguments<'_>) {
        let failed = self.file.as_mut().and_then(|file| file.write_fmt(text).err());
        self.failed = self.failed.take().or(failed);
    }
}

impl Trace {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = Some(BufWriter::new(Output::create(path, Existing::Replace)?));
        let path = path.to_owned();
        let mut writing = Writing { path, file, first: true, events: 0, failed: None };
        writing.text(format_args!("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["));
        Ok(Self(Arc::new(Mutex::new(writing))))
    }

    /// Writes the name of a device's track.
    pub(crate) fn track(&self, number: usize, device: Device) {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("device {number} ({device})");
        writing.write(&json!({
            "name": "thread_name", "ph": "M", "pid": 0, "tid": number, "args": { "name": name },
        }));
    }

    /// Records an executed instruction of a device that started at `begin`.
    pub(crate) fn event(&self, event: &Event<'_>, device: usize, begin: Duration) {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writing.events += 1;
        if writing.events > LIMIT || writing.failed.is_some() {
            return;
        }
        let micros = |d: Duration| d.as_secs_f64() * 1e6;
        let instruction = event.instruction();
        writing.write(&json!({
            "name": event.name(),
            "cat": event.opcode().name(),
            "ph": "X",
            "ts": micros(begin + event.start),
            "dur": micros(event.total),
            "pid": 0,
            "tid": device,
            "args": {
                "opcode": event.opcode().name(),
                "shape": instruction.shape.to_string(),
                "computation": event.computation.name.as_str(),
                "op_name": event.op_name(),
                "bytes": event.bytes,
            },
        }));
    }

    /// Writes the end of the file.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.events > LIMIT {
            let omitted = writing.events - LIMIT;
            output::note(&format!(
                "the trace has only the first {LIMIT} events; {omitted} are omitted\n"
            ));
        }
        writing.text(format_args!("\n]}}\n"));
        let Writing { path, file, failed: earlier, .. } = &mut *writing;
        let failed = |error: std::io::Error| Failure::file(path, &error);
        match (earlier.take(), file.take()) {
            (Some(error), _) => Err(failed(error)),
            (None, Some(file)) => file.into_inner().map_err(|e| failed(e.into_error()))?.finish(),
            (None, None) => Ok(()),
        }
    }
}
