//! The values of `--input`: files of arrays, and values as text.
use super::parameters::Parameters;
use super::safetensors;
use crate::error::{Code, Failure, Result};
use crate::file::is_stdout;
use crate::limits::Limits;
use conformance::arrays::Name;
use hlo::Literal;
use hlo::diag::quantity;
use hlo::literal::npz::{self, NpyArray, NpzError};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek};
use std::ops::Range;
use std::path::Path;

/// The arrays of all values of `--input`.
#[derive(Default)]
pub(crate) struct Found {
    /// The arrays of parameters.
    pub(crate) arrays: Vec<(Name<'static>, NpyArray)>,
    /// The names of the others.
    pub(crate) others: Vec<String>,
    /// The number of arrays whose place is that in the list of values.
    unnamed: usize,
}

/// The device and the numbers of arrays that `NAME=` or `dK:NAME=` states.
type Place = (Option<usize>, Range<usize>);

/// Whose arrays are read, and how many bytes they may have.
pub(super) struct Wanted<'a> {
    pub(super) parameters: &'a Parameters<'a>,
    /// Whether an array of this name is used here.
    pub(super) is_used: &'a dyn Fn(&Name<'_>) -> bool,
    pub(super) limits: &'a Limits,
    /// The error of arrays for which the limits leave no memory: they are not read.
    pub(super) over: RefCell<Option<Failure>>,
}

impl Wanted<'_> {
    /// Returns the most bytes of an array that is to be read, and charges the least.
    fn bytes(&self, name: &Name<'_>) -> Option<usize> {
        let bytes = self.parameters.bytes(name.number)?;
        if !(self.is_used)(name) {
            return None;
        }
        match self.limits.charge(self.parameters.least_bytes(name.number)) {
            Ok(()) => Some(bytes),
            Err(failure) => {
                self.over.borrow_mut().get_or_insert(failure);
                None
            }
        }
    }
    fn name(&self, name: &str) -> Option<usize> {
        self.bytes(&self.parameters.place(name)?)
    }
    /// Reads a file as [`read`] does, within the limits.
    fn read(
        &self,
        path: &str,
        most: impl Fn(Option<&str>) -> Option<usize>,
    ) -> Result<(bool, Vec<NpyArray>)> {
        let found = read(path, File::open(path), self.limits, most);
        if let Some(failure) = self.over.take() {
            return Err(failure);
        }
        found.map_err(|failure| with_parameters(failure, self))
    }
}

impl Found {
    /// Adds the arrays of a value of `--input`: `FILE`, `NAME=FILE`, `dK:NAME=FILE`, or a value as text in place of the file.
    pub(super) fn add(&mut self, input: &str, wanted: &Wanted<'_>) -> Result<()> {
        match input.split_once('=') {
            Some((which, value)) if !Path::new(input).exists() => {
                let (device, arrays) = place(which, wanted.parameters)?;
                let found = match is_file(value) {
                    true => named_file(value, (device, arrays.clone()), wanted)?,
                    false => literal(which, value, wanted.parameters)?,
                };
                if found.len() != arrays.len() {
                    let message = format!(
                        "it has {}, expected {}",
                        quantity(found.len(), "array"),
                        quantity(arrays.len(), "array")
                    );
                    return Err(Failure::new(
                        &Code::Input { path: value.to_owned(), message },
                        None,
                    ));
                }
                let places = arrays.map(|number| Name { device, kind: "in", number });
                // Errors name the parameter, whatever the array is called in its file.
                let named = |mut array: NpyArray| {
                    which.clone_into(&mut array.name);
                    array
                };
                let found = found.into_iter().map(named);
                self.arrays.extend(places.zip(found));
            }
            _ if is_file(input) => self.add_file(input, wanted)?,
            _ => {
                let which = self.unnamed.to_string();
                let found = literal(&which, input, wanted.parameters)?;
                self.add_unnamed(found, wanted)?;
            }
        }
        Ok(())
    }
    /// Adds the arrays of a file under the names that they have there.
    fn add_file(&mut self, path: &str, wanted: &Wanted<'_>) -> Result<()> {
        let next = Name { device: None, kind: "in", number: self.unnamed };
        let (is_single, arrays) = wanted.read(path, |name| match name {
            Some(name) => wanted.name(name),
            None => wanted.bytes(&next),
        })?;
        if is_single {
            return self.add_unnamed(arrays, wanted);
        }
        let before = self.arrays.len();
        let mut others = Vec::new();
        for array in arrays {
            match wanted.parameters.place(&array.name) {
                Some(name) => self.arrays.push((name, array)),
                None => others.push(array.name),
            }
        }
        // Random values would take the place of all of them.
        if self.arrays.len() == before && !others.is_empty() && wanted.parameters.array_count() > 0
        {
            return Err(unused(path, &others, wanted.parameters));
        }
        self.others.extend(others);
        Ok(())
    }
    fn add_unnamed(&mut self, arrays: Vec<NpyArray>, wanted: &Wanted<'_>) -> Result<()> {
        for array in arrays {
            if self.unnamed >= wanted.parameters.array_count() {
                return Err(wanted.parameters.unknown(&self.unnamed.to_string()));
            }
            self.arrays.push((Name { device: None, kind: "in", number: self.unnamed }, array));
            self.unnamed += 1;
        }
        Ok(())
    }
}

/// Returns the error of a file without an array of a parameter.
fn unused(path: &str, names: &[String], parameters: &Parameters<'_>) -> Failure {
    let message = "none of its arrays has the name of a parameter".to_owned();
    let help = format!(
        "the module takes {}; the file has {}; name them `in0`, `in1`, ..., or as the parameters",
        parameters.list(),
        shortly(names)
    );
    Failure::new(&Code::Input { path: path.to_owned(), message }, Some(help))
}

/// Returns the first names of a list.
pub(super) fn shortly(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    shown.extend((names.len() > SHOWN).then(|| "...".to_owned()));
    shown.join(", ")
}

/// Returns whether a value is the path of a file, rather than a value as text.
fn is_file(value: &str) -> bool {
    let path = Path::new(value);
    let extension = path.extension().unwrap_or_default();
    let is_known = ["npy", "npz", "safetensors"].iter().any(|known| extension == *known);
    is_known || path.exists() || !(value.contains(['[', '{', '(']) || is_number(value))
}
fn is_number(value: &str) -> bool {
    value.parse::<f64>().is_ok() || ["true", "false"].contains(&value)
}

/// Returns the device and the arrays of `3`, `NAME`, `d2:3` or `d2:NAME`.
fn place(which: &str, parameters: &Parameters<'_>) -> Result<Place> {
    let device = |which: &'_ str| -> Option<(usize, String)> {
        let (device, rest) = which.strip_prefix('d')?.split_once(':')?;
        Some((device.parse().ok()?, rest.to_owned()))
    };
    let (device, name) = match device(which) {
        Some((device, name)) => (Some(device), name),
        None => (None, which.to_owned()),
    };
    let count = parameters.array_count();
    let arrays = match (parameters.place(&name), name.parse::<usize>()) {
        (Some(Name { device: None, kind: "in", number }), _) if number < count => {
            number..number + 1
        }
        (_, Ok(number)) if number < count => number..number + 1,
        (Some(Name { number, .. }), _) if number >= count => {
            return Err(parameters.unknown(&number.to_string()));
        }
        _ => parameters.arrays(&name).ok_or_else(|| parameters.unknown(&name))?,
    };
    Ok((device, arrays))
}

/// Reads the arrays of a file for certain parameters, whatever their names are there.
fn named_file(path: &str, (device, arrays): Place, wanted: &Wanted<'_>) -> Result<Vec<NpyArray>> {
    let sizes = arrays.map(|number| wanted.bytes(&Name { device, kind: "in", number }));
    let most = sizes.collect::<Option<Vec<usize>>>().and_then(|sizes| sizes.into_iter().max());
    wanted.read(path, |_| most).map(|(_, arrays)| arrays)
}

/// Returns the error of an array that does not fit with the parameters that there are.
fn with_parameters(mut failure: Failure, wanted: &Wanted<'_>) -> Failure {
    for diagnostic in failure.diagnostics.iter_mut().filter(|found| found.code == "E0603") {
        let list = || format!("the module takes {}", wanted.parameters.list());
        diagnostic.help.get_or_insert_with(list);
    }
    failure
}

/// Reads a file of arrays, recognized by its content. `most` returns the most bytes of the elements of an array of a name;
/// the array of an .npy file has none. Returns whether it is such a file.
fn read(
    path: &str,
    file: std::io::Result<File>,
    limits: &Limits,
    most: impl Fn(Option<&str>) -> Option<usize>,
) -> Result<(bool, Vec<NpyArray>)> {
    let found = read_untimed(path, file, limits, most);
    limits.check_time()?;
    found
}

fn read_untimed(
    path: &str,
    file: std::io::Result<File>,
    limits: &Limits,
    most: impl Fn(Option<&str>) -> Option<usize>,
) -> Result<(bool, Vec<NpyArray>)> {
    let failed = |message: String, help: Option<String>| {
        Failure::new(&Code::Input { path: path.to_owned(), message }, help)
    };
    let malformed = |error: NpzError| failed(error.to_string(), None);
    let unreadable = |e| Failure::file(Path::new(path), &e);
    let mut file = limits.timed(file.map_err(unreadable)?);
    let mut start = Vec::new();
    file.by_ref().take(9).read_to_end(&mut start).map_err(unreadable)?;
    let is_safetensors = start.get(8) == Some(&b'{') || path.ends_with(".safetensors");
    let named = |name: &str| most(Some(name));
    if start.starts_with(b"PK") || is_safetensors {
        file.rewind().map_err(unreadable)?;
        let file = BufReader::new(file);
        let arrays = match is_safetensors {
            true => safetensors::read(file, named).map_err(|message| failed(message, None))?,
            false => npz::read_some(file, named).map_err(malformed)?,
        };
        return Ok((false, arrays));
    }
    if !start.starts_with(b"\x93NUMPY") {
        let help = "arrays are read from .npy, .npz and .safetensors files, and from text such as `f32[2] {1, 2}`";
        return Err(failed("not a file of arrays".to_owned(), Some(help.to_owned())));
    }
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let array = match most(None) {
        Some(most) => {
            npz::read_up_to(name, Cursor::new(start).chain(file), most).map_err(malformed)?
        }
        None => NpyArray::unread(name),
    };
    Ok((true, vec![array]))
}

/// Parses a value; without its shape it has that of the parameter.
fn literal(which: &str, text: &str, parameters: &Parameters<'_>) -> Result<Vec<NpyArray>> {
    let parsed: hlo::Result<Literal> = text.parse();
    let parsed = parsed.or_else(|error| {
        let shaped = parameters.shape(which).map(|shape| format!("{shape:#} {text}").parse());
        // An error in a value that states its shape is about that.
        shaped
            .filter(|parsed: &hlo::Result<_>| parsed.is_ok() || !text.contains('['))
            .unwrap_or(Err(error))
    });
    let value = parsed.map_err(|error| {
        let (path, message) = (which.to_owned(), format!("`{text}`: {}", error.code()));
        let help = "write a value as `f32[2] {1, 2}`, or without its shape as `{1, 2}`";
        Failure::new(&Code::Input { path, message }, Some(help.to_owned()))
    })?;
    let arrays = value.leaves().into_iter();
    Ok(arrays.filter_map(|leaf| NpyArray::of_literal(which.to_owned(), leaf)).collect())
}

/// Returns a file without a name that has what standard input has: a reader of archives seeks.
fn stdin() -> std::io::Result<File> {
    let mut file = tempfile::tempfile()?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
    file.rewind()?;
    Ok(file)
}

/// Reads the arrays of an `.npz` file for which `most` returns the most bytes that they may have.
pub(crate) fn read_npz(
    path: &Path,
    limits: &Limits,
    most: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<NpyArray>> {
    let file = limits.timed(File::open(path).map_err(|e| Failure::file(path, &e))?);
    let found = npz::read_some(BufReader::new(file), most);
    limits.check_time()?;
    found.map_err(|e| {
        let (path, message) = (path.display().to_string(), e.to_string());
        Failure::new(&Code::Input { path, message }, None)
    })
}

/// Reads the arrays of a file within the limits; the first value is whether it is an array alone.
pub(super) fn read_array(path: &str, limits: &Limits) -> Result<(bool, Vec<NpyArray>)> {
    read(path, File::open(path), limits, |_| Some(usize::MAX))
}

/// Reads all arrays of a file; `-` is standard input. The first value is whether it is an array alone.
pub(crate) fn read_any(path: &Path) -> Result<(bool, Vec<NpyArray>)> {
    let text = path.to_str().ok_or_else(|| {
        Failure::file(path, &std::io::Error::new(ErrorKind::InvalidInput, "the name is not UTF-8"))
    })?;
    let limits = Limits::start(interp::RunOptions::default());
    let file = if is_stdout(path) { stdin() } else { File::open(path) };
    read(text, file, &limits, |_| Some(usize::MAX))
}
