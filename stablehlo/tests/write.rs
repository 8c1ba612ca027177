//! Portable artifacts: what is written is read as the same program, for every version.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
use rustc_hash::FxHashMap;
use stablehlo::ir::{
    Attribute, Attributes, Fields, Location, LocationId, Op, Program, Region, Type, Value, ValueId,
};
use stablehlo::{Version, read};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A program without what its form in memory alone says: the numbers of values and of places, and
/// where ops stand in a text.
fn canonical(mut program: Program) -> Program {
    struct Canonical {
        numbers: FxHashMap<ValueId, ValueId>,
        places: Vec<Location>,
        known: Vec<Location>,
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
                remove_unwritten(op);
                op.location = op.location.map(|id| self.place(id));
                op.operands.iter_mut().for_each(|id| *id = self.numbers[id]);
                op.results.iter_mut().for_each(|value| self.define(&mut value.id));
                for Region { arguments, ops } in &mut op.regions {
                    for value in arguments {
                        self.define(&mut value.id);
                    }
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
            let known = self.known.iter().position(|known| *known == place);
            let index = known.unwrap_or_else(|| {
                self.known.push(place);
                self.known.len() - 1
            });
            LocationId(u32::try_from(index).unwrap())
        }
    }
    let places = std::mem::take(&mut program.locations);
    let mut canonical = Canonical { numbers: FxHashMap::default(), places, known: Vec::new() };
    canonical.ops(&mut program.ops);
    program.locations = canonical.known;
    program.values = u32::try_from(canonical.numbers.len()).unwrap();
    program
}

/// Removes what bytecode does not have: the type of a channel where VHLO has its number alone, and
/// rules for shardings, of which the readers keep nothing.
fn remove_unwritten(op: &mut Op) {
    let has_type = ["stablehlo.send", "stablehlo.recv"].contains(&op.name.as_str());
    let attributes = &mut Arc::make_mut(&mut op.attributes).0;
    attributes.retain_mut(|(_, value)| match value {
        Attribute::Dialect(name, Fields::Named(fields)) => {
            if !has_type && name == "stablehlo.channel_handle" {
                fields.0.retain(|(field, _)| field == "handle");
            }
            name != "sdy.op_sharding_rule"
        }
        _ => true,
    });
}

/// Checks that bytes are read as this program, and that these bytes are written for what is read.
fn check(program: &Program, bytes: &[u8], target: Option<Version>) -> Result<(), String> {
    let read = read(bytes).map_err(|error| error.to_string())?;
    let again = read.to_bytecode(target).map_err(|error| error.to_string())?;
    if again != bytes {
        return Err("other bytes are written when the bytes are read".to_owned());
    }
    let (read, program) = (canonical(read), canonical(program.clone()));
    first_difference(&program.ops, &read.ops)?;
    if read == program {
        return Ok(());
    }
    let outline = |program: &Program| {
        format!("{:?} {:?} {:?}", program.name, program.attributes, program.locations)
    };
    Err(format!("{}\n{}", outline(&program), outline(&read)))
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
                let Op { name, operands, results, attributes, location, .. } = op;
                format!("{name} {operands:?} {results:?} {attributes:?} {regions:?} {location:?}")
            };
            return Err(format!("{}\n{}", outline(a), outline(b)));
        }
    }
    if a.len() == b.len() { Ok(()) } else { Err(format!("{} ops and {}", a.len(), b.len())) }
}

fn tests(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file)
}
/// Returns the programs of a file.
fn programs(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("// -----\n").map(str::to_owned).collect()
}
fn parse(text: &str) -> Program {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
/// Returns the versions of StableHLO, from the oldest to the newest.
fn versions() -> impl Iterator<Item = Version> {
    let minors = (9..=20).map(|minor| (0, minor)).chain((0..=20).map(|minor| (1, minor)));
    minors.map(|(major, minor)| Version::new(major, minor, 0))
}
/// Checks that a program is written for every version from that on which it needs, and is refused
/// for those before.
fn check_versions(program: &Program, versions: impl Iterator<Item = Version>) -> Version {
    let needs = program.needs().unwrap_or_else(|error| panic!("{error}"));
    for version in versions {
        match program.to_bytecode(Some(version)) {
            Ok(bytes) => {
                assert!(version >= needs, "{needs} is needed, {version} is written");
                let result = check(program, &bytes, Some(version));
                result.unwrap_or_else(|error| panic!("{version}: {error}"));
            }
            Err(error) => {
                assert!(version < needs, "{needs} is needed, {version} is refused: {error}");
                assert_eq!(error.number(), "E0913");
                let message = error.code().to_string();
                let target = format!("; the target is {version}");
                assert!(message.contains(" needs StableHLO "), "{message}");
                assert!(message.ends_with(&target), "{message}");
            }
        }
    }
    needs
}
/// Returns whether an artifact has a string.
fn has_string(bytes: &[u8], text: &str) -> bool {
    let text = [b"\0", text.as_bytes(), b"\0"].concat();
    bytes.windows(text.len()).any(|window| window == text)
}

/// Programs that need some version, and which op they are written by.
#[test]
fn each_feature_needs_its_version() {
    for text in programs(&tests("versions.mlir")) {
        let line = text.lines().find_map(|line| line.strip_prefix("// needs ")).unwrap();
        let (version, ops) = line.split_once(": ").unwrap();
        let program = parse(&text);
        assert_eq!(check_versions(&program, versions()).to_string(), version, "{text}");
        let bytes = program.to_bytecode(None).unwrap();
        check(&program, &bytes, None).unwrap_or_else(|error| panic!("{text}{error}"));
        for op in ops.split(' ') {
            assert!(has_string(&bytes, op), "{op}\n{text}");
        }
        let label = version.parse::<Version>().unwrap().max(Version::new(1, 0, 0));
        assert!(bytes[5..].starts_with(format!("StableHLO_v{label}\0").as_bytes()), "{text}");
    }
}

/// Dynamic convolutions have had an attribute that only the oldest programs can have.
#[test]
fn old_ops_are_written_for_old_versions() {
    let text = programs(&tests("versions.mlir"));
    let program = parse(text.iter().find(|text| text.contains("dynamic_conv_v2")).unwrap());
    for version in versions() {
        let bytes = program.to_bytecode(Some(version)).unwrap();
        let is_old = has_string(&bytes, "dynamic_conv_v1");
        assert_eq!(is_old, version < Version::new(0, 20, 0), "{version}");
    }
}

/// Collects the types of values.
fn types(ops: &[Op], all: &mut FxHashMap<ValueId, Type>) {
    for op in ops {
        all.extend(op.results.iter().map(|value| (value.id, value.ty.clone())));
        for Region { arguments, ops } in &op.regions {
            all.extend(arguments.iter().map(|value| (value.id, value.ty.clone())));
            types(ops, all);
        }
    }
}
/// A program of one op, whose operands and whatever its regions use are arguments.
fn alone(program: &Program, all: &FxHashMap<ValueId, Type>, op: &Op) -> Program {
    fn free(op: &Op, bound: &mut Vec<ValueId>, found: &mut Vec<ValueId>) {
        for id in &op.operands {
            if !bound.contains(id) && !found.contains(id) {
                found.push(*id);
            }
        }
        for Region { arguments, ops } in &op.regions {
            bound.extend(arguments.iter().map(|value| value.id));
            for op in ops {
                free(op, bound, found);
                bound.extend(op.results.iter().map(|value| value.id));
            }
        }
    }
    let mut found = Vec::new();
    free(op, &mut Vec::new(), &mut found);
    let arguments: Vec<Value> =
        found.into_iter().map(|id| Value { id, ty: all[&id].clone() }).collect();
    let of = |values: &[Value]| values.iter().map(|value| value.ty.clone()).collect();
    let ty = Attribute::Type(Type::Function(of(&arguments), of(&op.results)));
    let name = Attribute::String(b"main".to_vec());
    let plain = |name: &str, attributes| Op {
        name: name.into(),
        operands: op.results.iter().map(|value| value.id).collect(),
        results: [].into_iter().collect(),
        attributes: Arc::new(Attributes(attributes)),
        regions: Vec::new(),
        location: None,
        span: None,
    };
    let ops = vec![op.clone(), plain("func.return", Vec::new())];
    let regions = vec![Region { arguments, ops }];
    let function =
        plain("func.func", vec![("function_type".into(), ty), ("sym_name".into(), name)]);
    let function = Op { operands: [].into_iter().collect(), regions, ..function };
    let mesh = program.ops.iter().find(|op| op.name == "sdy.mesh");
    let is_sharded = op.name.starts_with("sdy.");
    let ops = mesh.filter(|_| is_sharded).cloned().into_iter().chain([function]).collect();
    let locations = program.locations.clone();
    Program { ops, values: program.values, locations, ..Program::default() }
}

/// Every op of StableHLO in the files of forms, alone, for every version.
#[test]
fn each_op_is_written_for_every_version() {
    // The first version of each version of bytecode.
    let formats = [9, 10, 12, 14, 15].map(|minor| Version::new(0, minor, 0));
    let mut refused = BTreeSet::new();
    for file in ["forms.mlir", "generic.mlir"] {
        let program = parse(&std::fs::read_to_string(tests(file)).unwrap());
        let main = program.ops.last().unwrap();
        let mut all = FxHashMap::default();
        types(&program.ops, &mut all);
        for op in main.regions[0].ops.iter().filter(|op| op.name != "func.return") {
            let alone = alone(&program, &all, op);
            let error = match alone.needs() {
                Ok(needs) => {
                    let before = versions().take_while(|version| *version < needs).last();
                    let some = formats.into_iter().chain(before).chain([needs, Version::CURRENT]);
                    check_versions(&alone, some);
                    continue;
                }
                Err(error) => error,
            };
            assert_eq!(error.number(), "E0920");
            let (dialect, _) = op.name.split_once('.').unwrap();
            let is_known = ["func", "stablehlo"].contains(&dialect);
            refused.insert(if is_known { op.name.as_str() } else { dialect }.to_owned());
        }
    }
    let expected =
        ["arith", "check", "chlo", "flow", "interpreter", "mhlo", "sdy", "shape", "tensor", "util"];
    assert!(refused.iter().eq(expected), "{refused:?}");
}

#[test]
fn booleans_are_packed() {
    let constant = |text: &str| {
        let text = format!(
            "func.func @main() {{ %c = stablehlo.constant dense<[{text}]> : tensor<{}xi1> return }}",
            text.split(',').count()
        );
        parse(&text).to_bytecode(None).unwrap()
    };
    // The attribute: its code, the number of the type, the number of bytes, the bytes.
    let has = |bytes: &[u8], packed: &[u8]| {
        let count = u8::try_from(packed.len()).unwrap() * 2 + 1;
        bytes
            .windows(packed.len() + 3)
            .any(|window| window[0] == 15 * 2 + 1 && window[2] == count && window[3..] == *packed)
    };
    assert!(has(&constant("true"), &[1]));
    assert!(has(&constant("true, true"), &[0xff]));
    assert!(has(&constant("false, false, false"), &[0]));
    assert!(has(&constant("true, false, true"), &[0b101]));
    assert!(has(
        &constant("false, true, false, false, false, false, false, true, true"),
        &[0x82, 1]
    ));
}

#[test]
fn versions_outside_of_the_window_are_refused() {
    let program = parse("func.func @main() { return }");
    for (target, is_known) in
        [("0.8.9", false), ("0.9.0", true), ("1.20.7", true), ("1.21.0", false)]
    {
        let target: Version = target.parse().unwrap();
        match program.to_bytecode(Some(target)) {
            Ok(bytes) => {
                assert!(is_known);
                assert!(has_string(
                    &[b"\0", &bytes[5..]].concat(),
                    &format!("StableHLO_v{target}")
                ));
            }
            Err(error) => {
                assert!(!is_known);
                assert_eq!(error.number(), "E0913");
            }
        }
    }
    for text in ["", "1", "1.2.3.4", "1.x", "1.-2", "99999.0.0"] {
        assert_eq!(text.parse::<Version>().unwrap_err().number(), "E0913", "{text}");
    }
    assert_eq!("1.9".parse::<Version>().unwrap(), Version::new(1, 9, 0));
}

#[test]
fn what_cannot_be_written_is_named() {
    let error = |body: &str| {
        let text = format!("func.func @main(%x: tensor<2xf32>) {{\n  {body}\n  return\n}}");
        let error = parse(&text).to_bytecode(None).unwrap_err();
        assert!(error.span().is_some(), "{error}");
        format!("{}: {}", error.number(), error.code())
    };
    let cases = [
        (
            "%0 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>",
            "E0920: `chlo.erf` cannot be written as portable bytecode",
        ),
        (
            "%0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xsi8>",
            "E0920: `stablehlo.convert`: type `si8` cannot be written as portable bytecode",
        ),
        (
            "%0 = stablehlo.negate %x {a = #foo.bar} : tensor<2xf32>",
            "E0920: `stablehlo.negate`: `#foo.bar` cannot be written as portable bytecode",
        ),
        (
            "%0 = stablehlo.negate %x {a = dense<\"b\"> : tensor<1x!tf.string>} : tensor<2xf32>",
            "E0920: `stablehlo.negate`: a tensor of strings cannot be written as portable bytecode",
        ),
        (
            "%0 = stablehlo.custom_call @f(%x) {api_version = 5 : i32} : (tensor<2xf32>) -> tensor<2xf32>",
            "E0920: `stablehlo.custom_call`: another `api_version` than 0 to 4 cannot be written as \
             portable bytecode",
        ),
        (
            "%0 = \"stablehlo.transpose\"(%x) : (tensor<2xf32>) -> tensor<2xf32>",
            "E0907: `stablehlo.transpose` has no attribute `permutation`",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(error(body), expected);
    }
}

/// Checks the programs of a folder. Returns the number of those that are written, and why others are
/// refused.
fn check_folder(folder: &Path) -> (usize, BTreeSet<String>) {
    let (mut count, mut refused) = (0, BTreeSet::new());
    for path in
        walkdir::WalkDir::new(folder).into_iter().flatten().map(walkdir::DirEntry::into_path)
    {
        let texts: Vec<Vec<u8>> = match path.extension().and_then(|end| end.to_str()) {
            Some("mlir") => programs(&path).into_iter().map(String::into_bytes).collect(),
            Some("mlirbc") => vec![std::fs::read(&path).unwrap()],
            _ => continue,
        };
        for program in texts.iter().filter_map(|text| read(text).ok()) {
            match program.to_bytecode(None) {
                Ok(bytes) => {
                    let result = check(&program, &bytes, None);
                    result.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    count += 1;
                }
                Err(error) => _ = refused.insert(error.code().to_string()),
            }
        }
    }
    (count, refused)
}

#[test]
fn programs_of_the_tests_are_read_as_written() {
    let (count, refused) = check_folder(&tests("convert"));
    assert!(count > 70, "{count}");
    let dialects =
        ["arith", "check", "chlo", "flow", "foo", "interpreter", "linalg", "mhlo", "shape", "util"];
    let others: Vec<&String> = refused
        .iter()
        .filter(|message| !dialects.iter().any(|name| message.starts_with(&format!("`{name}."))))
        .collect();
    let suffix = "cannot be written as portable bytecode";
    let expected = [
        format!("`func.func`: type `i3` {suffix}"),
        format!("`sdy.all_reduce`: `#sdy.reduction_op` {suffix}"),
        format!("`sdy.propagation_barrier`: `#sdy.propagation_direction` {suffix}"),
        format!("`stablehlo.ad` {suffix}"),
        format!("`stablehlo.compare`: `#stablehlo<comparison_direction LX>` {suffix}"),
        "`stablehlo.transpose` has no attribute `permutation`".to_owned(),
    ];
    assert!(others.iter().copied().eq(&expected), "{others:#?}");
}

#[test]
fn programs_of_jax_are_read_as_written() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/stablehlo");
    let shared = std::env::var("ETALON_STABLEHLO").unwrap_or_else(|_| shared.to_owned());
    let (_, refused) = check_folder(Path::new(&shared));
    assert!(refused.iter().all(|message| message.starts_with("`chlo.")), "{refused:#?}");
}
