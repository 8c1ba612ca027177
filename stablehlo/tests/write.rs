//! Portable artifacts: what is written is read as the same program, for every version.
use rustc_hash::FxHashMap;
use stablehlo::ir::{Attribute, Location, LocationId, Op, Program, Region, ValueId};
use stablehlo::{Version, read};
use std::path::{Path, PathBuf};

/// A program without what its form in memory alone says: the numbers of values and of places, and
/// where ops stand in a text.
fn canonical(mut program: Program) -> Program {
    struct Canonical {
        numbers: FxHashMap<ValueId, ValueId>,
        places: Vec<Location>,
        canonical_places: Vec<Location>,
    }
    impl Canonical {
        fn define(&mut self, id: &mut ValueId) {
            let number = ValueId(u32::try_from(self.numbers.len()).unwrap());
            assert_eq!(self.numbers.insert(*id, number), None, "a value is defined twice");
            *id = number;
        }
        fn ops(&mut self, ops: &mut [Op]) {
            for op in ops {
                op.span = None;
                op.location = op.location.map(|id| self.place(id));
                op.operands.iter_mut().for_each(|id| *id = self.numbers[id]);
                op.results.iter_mut().for_each(|value| self.define(&mut value.id));
                for Region { arguments, ops } in &mut op.regions {
                    arguments.iter_mut().for_each(|value| self.define(&mut value.id));
                    self.ops(ops);
                }
            }
        }
        /// Numbers places by what they are, each once.
        fn place(&mut self, id: LocationId) -> LocationId {
            let place = match self.places[usize::try_from(id.0).unwrap()].clone() {
                Location::Name(name, inner) => {
                    Location::Name(name, inner.map(|inner| self.place(inner)))
                }
                Location::Call(callee, caller) => {
                    Location::Call(self.place(callee), self.place(caller))
                }
                Location::Fused(parts) => {
                    Location::Fused(parts.into_iter().map(|part| self.place(part)).collect())
                }
                file @ Location::File { .. } => file,
            };
            let known = self.canonical_places.iter().position(|known| *known == place);
            let index = known.unwrap_or_else(|| {
                self.canonical_places.push(place);
                self.canonical_places.len() - 1
            });
            LocationId(u32::try_from(index).unwrap())
        }
    }
    let places = std::mem::take(&mut program.locations);
    let mut canonical =
        Canonical { numbers: FxHashMap::default(), places, canonical_places: Vec::new() };
    canonical.ops(&mut program.ops);
    program.locations = canonical.canonical_places;
    program.values = u32::try_from(canonical.numbers.len()).unwrap();
    program
}

fn same(program: &Program, bytes: &[u8]) -> Result<(), String> {
    let read = read(bytes).map_err(|error| error.to_string())?;
    let (read, program) = (canonical(read), canonical(program.clone()));
    first_difference(&program.ops, &read.ops)?;
    if read == program {
        Ok(())
    } else {
        Err(format!(
            "{:?}\n{:?}",
            (&program.name, &program.attributes, program.values, &program.locations),
            (&read.name, &read.attributes, read.values, &read.locations)
        ))
    }
}
fn first_difference(a: &[Op], b: &[Op]) -> Result<(), String> {
    for (a, b) in a.iter().zip(b) {
        for (a, b) in a.regions.iter().zip(&b.regions) {
            first_difference(&a.ops, &b.ops)?;
        }
        if a != b {
            let outline = |op: &Op| {
                let regions: Vec<_> =
                    op.regions.iter().map(|region| (&region.arguments, region.ops.len())).collect();
                format!(
                    "{} {:?} {:?} {:?} {regions:?} {:?}",
                    op.name, op.operands, op.results, op.attributes, op.location
                )
            };
            return Err(format!("{}\n{}", outline(a), outline(b)));
        }
    }
    if a.len() == b.len() { Ok(()) } else { Err(format!("{} ops and {}", a.len(), b.len())) }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn programs_are_read_as_written() {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/stablehlo");
    let shared = std::env::var("ETALON_STABLEHLO").unwrap_or_else(|_| shared.to_owned());
    let mut paths = Vec::new();
    files(Path::new(tests), &mut paths);
    files(Path::new(&shared), &mut paths);
    paths.sort();
    let (mut same_count, mut refused, mut differences) = (0, FxHashMap::default(), Vec::new());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let texts: Vec<Vec<u8>> = match path.extension().and_then(|end| end.to_str()) {
            Some("mlir") => String::from_utf8(bytes)
                .unwrap()
                .split("// -----\n")
                .map(|text| text.as_bytes().to_vec())
                .collect(),
            Some("mlirbc") => vec![bytes],
            _ => continue,
        };
        for text in texts {
            let Ok(program) = read(&text) else { continue };
            match program.to_bytecode(None) {
                Ok(bytes) => match same(&program, &bytes) {
                    Ok(()) => same_count += 1,
                    Err(error) => differences.push(format!("{}: {error}", path.display())),
                },
                Err(error) => *refused.entry(error.to_string()).or_insert(0) += 1,
            }
        }
    }
    eprintln!("{same_count} {refused:#?}");
    assert!(differences.is_empty(), "{} {}", differences.len(), differences.join("\n"));
}
