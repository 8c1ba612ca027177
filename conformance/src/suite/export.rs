//! The suite as files, for those who have neither Rust nor PJRT: modules, arguments, and the legal
//! results, with a checker.
//!
//! ```text
//! DIR/manifest.json, check.py, types.npz
//! DIR/cases/ID/module.hlo, module.pb, module.mlir, module.mlirbc, in.npz, legal.npz
//! ```
use super::{Suite, SuiteCase};
use crate::arrays::flatten_per_device;
use crate::backend::EngineBackend;
use crate::judge::{Ends, JudgeOptions, LegalArray, Mode, Way, legal};
use crate::{AtomicFile, Engine, Existing, Subject, WriteError, on_large_stack};
use hlo::literal::npz;
use hlo::text::Style;
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar};
use interp::DeviceGrid;
use rayon::prelude::*;
use serde::Serialize;
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::collections::BTreeMap;
use std::io::{Cursor, ErrorKind};
use std::path::Path;

/// The number of the format, which is another one if a checker of this one would be wrong.
pub const FORMAT: u32 = 1;

/// The checker, which needs Python and NumPy.
const CHECKER: &str = include_str!("check.py");

/// The contents of a folder.
#[derive(Debug, Serialize)]
pub struct Manifest {
    format: u32,
    /// The version of Etalon that wrote it.
    etalon: String,
    /// The modes that are permitted.
    modes: Vec<Mode>,
    /// The cases.
    pub cases: Vec<ExportedCase>,
    /// The names of cases without legal results, and why.
    pub left_out: BTreeMap<String, String>,
}

/// A case of a folder.
#[derive(Debug, Serialize)]
pub struct ExportedCase {
    /// The name of its folder, and of the file of its results.
    pub id: String,
    /// The name of the case.
    pub name: String,
    op: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    ty: Option<String>,
    rule: String,
    replicas: usize,
    partitions: usize,
    /// The files of the module by format, and of the arguments and legal results.
    files: BTreeMap<&'static str, &'static str>,
    /// Why there is no module in a format.
    pub refused: BTreeMap<&'static str, String>,
    /// The element types of the arrays of the arguments.
    arguments: BTreeMap<String, String>,
    /// The element types of the arrays of the results.
    results: BTreeMap<String, String>,
    /// The modes of each way: the results of one of them are legal.
    ways: Vec<Vec<Mode>>,
}

impl Suite {
    /// Writes the cases to a new or empty folder, the manifest last. `version` is that of Etalon,
    /// and `goes_on` is called after each case: the export ends if it returns false.
    ///
    /// # Errors
    /// If the folder has files, or cannot be written, or if `goes_on` ends the export
    /// ([`ErrorKind::Interrupted`]). What was written is removed.
    pub fn export(
        &self,
        folder: &Path,
        judging: &JudgeOptions,
        version: &str,
        goes_on: impl Fn() -> bool + Sync,
    ) -> Result<Manifest, WriteError> {
        let failed = |error| WriteError { path: folder.to_owned(), error };
        let is_new = !folder.exists();
        std::fs::create_dir_all(folder).map_err(failed)?;
        if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(failed(ErrorKind::DirectoryNotEmpty.into()));
        }
        let export = |case: &SuiteCase| {
            let exported = case.export(folder, judging);
            if !goes_on() {
                return Err(failed(ErrorKind::Interrupted.into()));
            }
            exported.map(|result| result.map_err(|reason| (case.name().to_owned(), reason)))
        };
        let all: Result<Vec<_>, WriteError> =
            on_large_stack(|| self.cases.par_iter().map(export).collect());
        let mut manifest = Manifest {
            format: FORMAT,
            etalon: version.to_owned(),
            modes: judging.modes.list(),
            cases: Vec::new(),
            left_out: BTreeMap::new(),
        };
        let all = all.inspect_err(|_| {
            // What remains is reported by the next export.
            let _ = std::fs::remove_dir_all(folder.join("cases"));
            let _ = if is_new { std::fs::remove_dir(folder) } else { Ok(()) };
        });
        for exported in all? {
            match exported {
                Ok(case) => manifest.cases.push(case),
                Err((name, reason)) => drop(manifest.left_out.insert(name, reason)),
            }
        }
        write(&folder.join("check.py"), CHECKER.as_bytes())?;
        write_arrays(&folder.join("types.npz"), &tables())?;
        let text = serde_json::to_string_pretty(&manifest).map_err(|e| failed(e.into()))?;
        write(&folder.join("manifest.json"), (text + "\n").as_bytes())?;
        Ok(manifest)
    }
}

impl SuiteCase {
    /// Returns the name of the case as that of a file.
    fn id(&self) -> String {
        let plain = |c: char| match c {
            '/' => '.',
            ';' => ',',
            c if c.is_ascii_alphanumeric() || "-_.=,".contains(c) => c,
            _ => '-',
        };
        self.name.trim_end_matches(']').chars().map(plain).collect()
    }

    /// Writes the folder of the case. The inner error is why it has no legal results.
    fn export(
        &self,
        folder: &Path,
        judging: &JudgeOptions,
    ) -> Result<Result<ExportedCase, String>, WriteError> {
        let computed = self.subject().and_then(|subject| {
            let expected = subject.run(&mut EngineBackend(Engine::Exact));
            let expected = expected.map_err(|error| subject.describe(&error))?;
            let ways = legal(judging, &subject.module, &subject.arguments, &expected)?;
            Ok((subject, expected, ways))
        });
        let (subject, expected, ways) = match computed {
            Ok(computed) => computed,
            Err(reason) => return Ok(Err(reason)),
        };
        let id = self.id();
        let path = folder.join("cases").join(&id);
        std::fs::create_dir_all(&path).map_err(|error| WriteError { path: path.clone(), error })?;
        let mut files = BTreeMap::from([("arguments", "in.npz"), ("legal", "legal.npz")]);
        let mut refused = BTreeMap::new();
        for (format, file, bytes) in modules(&subject) {
            match bytes {
                Ok(bytes) => {
                    write(&path.join(file), &bytes)?;
                    files.insert(format, file);
                }
                Err(reason) => drop(refused.insert(format, reason)),
            }
        }
        let arguments: Vec<Literal> =
            subject.arguments.iter().map(|list| Literal::tuple(list.clone())).collect();
        let arguments = flatten_per_device(arguments.iter(), "in");
        let results = flatten_per_device(expected.iter(), "out");
        let types = |arrays: &[(String, &Literal)]| {
            let of = |(name, array): &(String, &Literal)| {
                Some((name.clone(), array.array_shape()?.ty.name().to_owned()))
            };
            arrays.iter().filter_map(of).collect()
        };
        let mut words = self.name.split('/');
        let grid = DeviceGrid::of(&subject.module.module().config);
        let exported = ExportedCase {
            id,
            name: self.name.clone(),
            op: words.next().unwrap_or_default().to_owned(),
            ty: words.next().filter(|ty| ElementType::from_name(ty).is_some()).map(str::to_owned),
            rule: self.rule().to_owned(),
            replicas: grid.replicas,
            partitions: grid.partitions,
            files,
            refused,
            arguments: types(&arguments),
            results: types(&results),
            ways: ways.iter().map(|way| way.modes.clone()).collect(),
        };
        let owned = |arrays: Vec<(String, &Literal)>| {
            arrays.into_iter().map(|(name, array)| (name, array.to_static())).collect::<Vec<_>>()
        };
        write_arrays(&path.join("in.npz"), &owned(arguments))?;
        let results = owned(results);
        let mut arrays = results.clone();
        for (number, Way { arrays: legal, .. }) in ways.iter().enumerate() {
            for ((name, expected), legal) in results.iter().zip(legal) {
                let named = intervals(legal, expected).into_iter();
                arrays.extend(named.map(|(key, ends)| (format!("{number}/{name}/{key}"), ends)));
            }
        }
        write_arrays(&path.join("legal.npz"), &arrays)?;
        Ok(Ok(exported))
    }
}

/// A format, the name of its file, and the file or why there is none.
type Written = (&'static str, &'static str, Result<Vec<u8>, String>);

/// Returns the module in each format.
fn modules(subject: &Subject) -> [Written; 4] {
    let module = subject.module.module();
    let program = |chlo| {
        stablehlo::from_hlo(&subject.module, &ExportOptions { chlo }).map_err(|e| e.to_string())
    };
    let message = hlo::proto::encode(module).map_err(|e| e.to_string());
    let text = program(Chlo::Expand).map(|program| program.to_text(TextStyle::Pretty).into_bytes());
    let bytecode = program(Chlo::Expand)
        .and_then(|program| program.to_bytecode(None).map_err(|e| e.to_string()));
    [
        ("hlo", "module.hlo", Ok(module.print(Style::Full).into_bytes())),
        ("proto", "module.pb", message),
        ("stablehlo", "module.mlir", text),
        ("bytecode", "module.mlirbc", bytecode),
    ]
}

/// Returns the arrays that say which values of a result are legal, besides the expected ones.
fn intervals(legal: &LegalArray, expected: &Literal) -> Vec<(&'static str, Literal)> {
    let Some(ty) = expected.array_shape().map(|shape| shape.ty) else { return Vec::new() };
    let mut dims = expected.sizes().to_vec();
    dims.extend(ty.is_complex().then_some(2));
    let mut arrays = Vec::new();
    for (names, elements) in
        [(["legal_lo", "legal_hi"], &legal.legal), (["open_lo", "open_hi"], &legal.open)]
    {
        if elements.iter().any(|all| !all.is_empty()) {
            arrays.extend(names.into_iter().zip(columns(ty, &dims, elements)));
        }
    }
    let bits = legal.untested.iter().map(|&[below, above]| u64::from(below) + 2 * u64::from(above));
    if bits.clone().any(|bits| bits > 0) {
        arrays.push(("untested", array(ElementType::U8, &dims, bits.map(Scalar::Unsigned))));
    }
    if !legal.orders.is_empty() {
        let (mut at, mut of, mut member_of, mut members) = (vec![], vec![], vec![], vec![]);
        for (number, order) in (0..).zip(&legal.orders) {
            at.extend(order.positions.iter().map(|&at| i64::try_from(at).unwrap_or(i64::MAX)));
            of.extend(order.positions.iter().map(|_| number));
            member_of.extend(order.members.iter().map(|_| number));
            let alone = |ends: &Vec<Ends>| ends.iter().map(|&ends| vec![ends]).collect::<Vec<_>>();
            members.extend(order.members.iter().map(alone));
        }
        let count = [i64::try_from(members.len()).unwrap_or(i64::MAX)];
        for (name, numbers) in [("order_at", at), ("order_of", of), ("member_of", member_of)] {
            let count = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
            let numbers = numbers.into_iter().map(Scalar::Signed);
            arrays.push((name, array(ElementType::S64, &[count], numbers)));
        }
        arrays.extend(["member_lo", "member_hi"].into_iter().zip(columns(ty, &count, &members)));
    }
    arrays
}

/// Returns the least and the greatest values of intervals as arrays: the first dimension is that of
/// the alternatives of an element, of which those it lacks are empty.
fn columns(ty: ElementType, dims: &[i64], elements: &[Vec<Vec<Ends>>]) -> [Literal; 2] {
    let parts = if ty.is_complex() { 2 } else { 1 };
    let (nothing, ty) = match ty.class() {
        Class::Pred => ((Scalar::Pred(true), Scalar::Pred(false)), ty),
        Class::Signed => ((Scalar::Signed(1), Scalar::Signed(0)), ty),
        Class::Unsigned => ((Scalar::Unsigned(1), Scalar::Unsigned(0)), ty),
        Class::Float | Class::Complex => {
            ((Scalar::Float(f64::NAN), Scalar::Float(f64::NEG_INFINITY)), ElementType::F64)
        }
    };
    let most = elements.iter().map(Vec::len).max().unwrap_or(0);
    let all: Vec<Ends> = (0..most)
        .flat_map(|k| {
            elements.iter().flat_map(move |all| {
                let own = all.get(k).cloned();
                own.unwrap_or_else(|| vec![nothing; parts])
            })
        })
        .collect();
    let dims: Vec<i64> = i64::try_from(most).into_iter().chain(dims.iter().copied()).collect();
    let ends = |end: fn(&Ends) -> Scalar| array(ty, &dims, all.iter().map(end));
    [ends(|ends| ends.0), ends(|ends| ends.1)]
}

/// Returns an array of these elements.
fn array(ty: ElementType, dims: &[i64], elements: impl Iterator<Item = Scalar>) -> Literal {
    let mut array = Literal::zeros(ArrayShape::new(ty, dims));
    let slots = array.bytes_mut().chunks_exact_mut(ty.storage_bytes());
    slots.zip(elements).for_each(|(slot, x)| x.write(ty, slot));
    array
}

/// Returns the numbers of the float types that NumPy lacks, by their bits.
fn tables() -> Vec<(String, Literal)> {
    let lacking = |ty: &ElementType| ty.is_float() && (ty.bits() <= 8 || *ty == ElementType::Bf16);
    let table = |&ty: &ElementType| {
        let numbers = (0..1u128 << ty.bits()).map(|bits| Scalar::from_bits(ty, bits));
        let count = [1i64 << ty.bits()];
        (ty.name().to_owned(), array(ElementType::F64, &count, numbers))
    };
    ElementType::ALL.iter().filter(|ty| lacking(ty)).map(table).collect()
}

fn write(path: &Path, contents: &[u8]) -> Result<(), WriteError> {
    AtomicFile::write(path, Existing::Keep, contents)
        .map_err(|error| WriteError { path: path.to_owned(), error })
}

fn write_arrays(path: &Path, arrays: &[(String, Literal)]) -> Result<(), WriteError> {
    let mut file = Cursor::new(Vec::new());
    npz::write(&mut file, arrays.iter().map(|(name, array)| (name.clone(), array))).map_err(
        |error| WriteError { path: path.to_owned(), error: std::io::Error::other(error) },
    )?;
    write(path, &file.into_inner())
}
