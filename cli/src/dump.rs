//! `--dump-values`: the value of each executed instruction, in a folder of .npy files or in an .npz file.
use crate::error::{Code, Failure, Result};
use crate::output;
use hlo::literal::npz;
use hlo::{Literal, Module};
use interp::Event;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
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
    Folder,
    File(Option<Box<npz::Writer<BufWriter<File>>>>),
}

impl Dump {
    /// Creates the folder, which may be there if it is empty, or the file, which must not be there.
    pub(crate) fn create(to: &Path, filter: Option<&str>) -> Result<Self> {
        let failed = |e: std::io::Error| Failure::file(to, &e);
        let exists = || {
            let code = Code::Exists { path: to.display().to_string() };
            Failure::new(&code, Some("name another folder or file for the values".to_owned()))
        };
        let target = if to.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz")) {
            match File::create_new(to) {
                Ok(file) => Target::File(Some(Box::new(npz::Writer::new(BufWriter::new(file))))),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Err(exists()),
                Err(e) => return Err(failed(e)),
            }
        } else {
            if to.is_file() {
                return Err(exists());
            }
            std::fs::create_dir_all(to).map_err(failed)?;
            if std::fs::read_dir(to).map_err(failed)?.next().is_some() {
                return Err(exists());
            }
            Target::Folder
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
            let leaves = value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some());
            let leaves: Vec<Literal> = leaves.cloned().collect();
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
        let ended = match target {
            Target::File(writer) => writer.take().and_then(|writer| writer.finish().err()),
            Target::Folder => None,
        };
        if let Some(error) = failed.take().or(ended) {
            return Err(Failure::file(to, &error));
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
    fn values(&mut self, device: Option<usize>, name: &str, leaves: &[Literal]) {
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
            self.failed = self.array(&name, leaf).err();
            self.written += 1;
        }
    }
    fn array(&mut self, name: &str, value: &Literal) -> std::result::Result<(), npz::NpzError> {
        match &mut self.target {
            Target::File(writer) => {
                writer.as_mut().map_or(Ok(()), |writer| writer.add(name.to_owned(), value))
            }
            Target::Folder => {
                // A name is no path.
                let name = name.replace(['/', '\\'], "__");
                let file = File::create_new(self.to.join(format!("{name}.npy")))?;
                npz::write_array(BufWriter::new(file), value)
            }
        }
    }
}
