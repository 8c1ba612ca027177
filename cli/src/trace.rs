//! `--trace`: one event an instruction, in the format Perfetto and Chrome read.
use crate::error::{Failure, Result};
use crate::output;
use interp::Event;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// More events than viewers open.
const LIMIT: usize = 1_000_000;

/// A trace being written. Clones write to the same file.
#[derive(Debug, Clone)]
pub(crate) struct Trace(Arc<Mutex<Writing>>);

#[derive(Debug)]
struct Writing {
    path: PathBuf,
    file: BufWriter<File>,
    events: usize,
    failed: Option<std::io::Error>,
}

impl Trace {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|e| Failure::file(path, &e))?;
        let mut file = BufWriter::new(file);
        let failed = file.write_all(b"{\"displayTimeUnit\": \"ns\", \"traceEvents\": [").err();
        let writing = Writing { path: path.to_owned(), file, events: 0, failed };
        Ok(Self(Arc::new(Mutex::new(writing))))
    }

    /// Takes note of an instruction that has ended.
    pub(crate) fn event(&self, event: &Event<'_>) {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writing.events += 1;
        if writing.events > LIMIT || writing.failed.is_some() {
            return;
        }
        let micros = |d: std::time::Duration| d.as_secs_f64() * 1e6;
        let instruction = event.instruction();
        let json = json!({
            "name": event.name(),
            "cat": event.opcode().name(),
            "ph": "X",
            "ts": micros(event.start),
            "dur": micros(event.total),
            "pid": 0,
            "tid": 0,
            "args": {
                "opcode": event.opcode().name(),
                "shape": instruction.shape.to_string(),
                "computation": event.computation.name.as_str(),
                "op_name": event.op_name(),
                "bytes": event.bytes,
            },
        });
        let separator = if writing.events == 1 { "\n" } else { ",\n" };
        writing.failed = write!(writing.file, "{separator}{json}").err();
    }

    /// Ends the file.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.events > LIMIT {
            let left_out = writing.events - LIMIT;
            output::note(&format!(
                "the trace ends after {LIMIT} events; {left_out} are left out\n"
            ));
        }
        let ended = writing.file.write_all(b"\n]}\n").and_then(|()| writing.file.flush()).err();
        match writing.failed.take().or(ended) {
            Some(error) => Err(Failure::file(&writing.path, &error)),
            None => Ok(()),
        }
    }
}
