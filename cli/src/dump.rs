//! `--dump-values`: the value of each executed instruction, in a folder of .npy files or in an .npz file.
use crate::error::{Failure, Result};
use crate::file::{self, Existing, Output};
use crate::output;
use conformance::AtomicFile;
use hlo::literal::npz;
use hlo::{Array, Literal, Module};
use interp::Event;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The most arrays of a dump.
const LIMIT: usize = 100_000;

/// A dump that is written during a run. Clones write to the same place.
#[derive(Clone)]
pub(crate) struct Dump(Arc<Mutex<Writing>>);

struct Writing {
    to: PathBuf,
    target: Target,
    /// The part of names that is written.
    filter: Option<String>,
    /// How often each instruction of each device has run.
    executions: BTreeMap<(usize, String), usize>,
    written: usize,
    omitted: usize,
    parts: usize,
    failed: Option<npz::NpzError>,
}

enum Target {
    /// A folder, and whether its files are replaced.
    Folder(Existing),
    File(Option<Box<npz::Writer<BufWriter<Output>>>>),
}

/// Returns whether a dump is one file, as its name says.
pub(crate) fn is_file(to: &Path) -> bool {
    file::is_stdout(to) || to.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"))
}

impl Dump {
    /// Creates the folder, or starts the file.
    pub(crate) fn create(to: &Path, filter: Option<&str>, existing: Existing) -> Result<Self> {
        let failed = |e: std::io::Error| Failure::file(to, &e);
        let target = if is_file(to) {
            let file = BufWriter::new(Output::create(to, Existing::Replace)?);
            Target::File(Some(Box::new(npz::Writer::new(file))))
        } else {
            if !to.exists() {
                std::fs::create_dir_all(to).map_err(failed)?;
            }
            let is_empty = std::fs::read_dir(to).map_err(failed)?.next().is_none();
            if !is_empty && existing == Existing::Keep {
                return Err(file::exists(to));
            }
            Target::Folder(existing)
        };
        Ok(Self(Arc::new(Mutex::new(Writing {
            to: to.to_owned(),
            target,
            filter: filter.map(str::to_owned),
            executions: BTreeMap::new(),
            written: 0,
            omitted: 0,
            parts: 0,
            failed: None,
        }))))
    }

    /// Writes the parameters of the entry computation on a device. `device` is none in a run of one.
    pub(crate) fn parameters(&self, module: &Module, device: Option<usize>, values: &[Literal]) {
        let entry = module.entry();
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, value) in entry.parameters().into_iter().zip(values) {
            let leaves = value.leaves().into_iter().filter_map(Literal::array);
            let leaves: Vec<Array> = leaves.cloned().collect();
            writing.values(device, &format!("{}/{}", entry.name, entry.name(id)), &leaves);
        }
    }
    /// Writes the value of an executed instruction.
    pub(crate) fn event(&self, event: &Event<'_>, device: Option<usize>) {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writing.parts += usize::from(event.is_part);
        let name = format!("{}/{}", event.computation.name, event.name());
        writing.values(device, &name, event.outputs);
    }

    /// Writes the end of the file, and a note of what is left out.
    pub(crate) fn finish(&self) -> Result<()> {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Writing { to, target, written, omitted, parts, failed, filter, .. } = &mut *writing;
        if let Some(error) = failed.take() {
            return Err(Failure::file(to, &error));
        }
        if let Target::File(writer) = target
            && let Some(writer) = writer.take()
        {
            let file = writer.finish().map_err(|e| Failure::file(to, &e))?;
            file.into_inner().map_err(|e| Failure::file(to, e.error()))?.finish()?;
        }
        let arrays = if *written == 1 { "array" } else { "arrays" };
        let mut note = format!("{}: {written} {arrays}", to.display());
        if let (0, Some(filter)) = (*written, filter) {
            let _ = write!(note, "; no executed instruction has `{filter}` in `computation/name`");
        }
        if *omitted > 0 {
            let _ = write!(note, "; {omitted} more are left out: state --filter");
        }
        if *parts > 0 {
            let _ = write!(
                note,
                "; of {parts} values only the part that is used is computed: --engine reference computes all"
            );
        }
        output::status(&format!("{note}\n"));
        Ok(())
    }
}

impl Writing {
    /// Writes the arrays of a value: `computation/name`, with `#k` for execution k after the first, and `.i` for array i of
    /// several.
    fn values(&mut self, device: Option<usize>, name: &str, leaves: &[Array]) {
        let count = self.executions.entry((device.unwrap_or(0), name.to_owned())).or_default();
        let execution = *count;
        *count += 1;
        if self.filter.as_ref().is_some_and(|filter| !name.contains(filter)) {
            return;
        }
        let device = device.map_or_else(String::new, |k| format!("d{k}_"));
        let execution = if execution == 0 { String::new() } else { format!("#{execution}") };
        for (i, leaf) in leaves.iter().enumerate() {
            if self.written >= LIMIT || self.failed.is_some() {
                self.omitted += 1;
                continue;
            }
            let leaf_number = if leaves.len() == 1 { String::new() } else { format!(".{i}") };
            let name = format!("{device}{name}{execution}{leaf_number}");
            self.failed = self.array(&name, &leaf.clone().into()).err();
            self.written += 1;
        }
    }
    fn array(&mut self, name: &str, value: &Literal) -> std::result::Result<(), npz::NpzError> {
        match &mut self.target {
            Target::File(writer) => {
                writer.as_mut().map_or(Ok(()), |writer| writer.add(name.to_owned(), value))
            }
            Target::Folder(existing) => {
                // A name is no path.
                let name = name.replace(['/', '\\'], "__");
                let path = self.to.join(format!("{name}.npy"));
                let mut file = BufWriter::new(AtomicFile::create(&path, *existing)?);
                npz::write_array(&mut file, value)?;
                Ok(file.into_inner().map_err(IntoInnerError::into_error)?.persist()?)
            }
        }
    }
}
