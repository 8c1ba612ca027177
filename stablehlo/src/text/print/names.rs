//! The names of values, as MLIR chooses them: `%arg0` for arguments, `%c` and `%cst` for constants,
//! `%iterArg` in loops, numbers for all others.
use crate::ir::{Attribute, Op, Program, Region, Type, Value, ValueId};
use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};

/// The names of the results of ops, where each has its own.
const RESULTS: [(&str, &[&str]); 4] = [
    ("chlo.top_k", &["values", "indices"]),
    ("stablehlo.batch_norm_grad", &["grad_operand", "grad_scale", "grad_offset"]),
    ("stablehlo.batch_norm_training", &["output", "batch_mean", "batch_var"]),
    ("stablehlo.rng_bit_generator", &["output_state", "output"]),
];

/// The name and the type of each value.
#[derive(Default)]
pub(super) struct Names {
    names: Vec<SmolStr>,
    types: Vec<Type>,
}

impl Names {
    pub(super) fn of(program: &Program) -> Self {
        let values = usize::try_from(program.values).unwrap_or(0);
        let names =
            Self { names: vec![SmolStr::default(); values], types: vec![Type::Index; values] };
        let mut namer = Namer { names, used: FxHashSet::default(), order: Vec::new() };
        namer.nested(&program.ops, Next::default());
        namer.names
    }
    /// Returns the name of a value without the `%`.
    pub(super) fn get(&self, id: ValueId) -> &str {
        usize::try_from(id.0).ok().and_then(|i| self.names.get(i)).map_or("", SmolStr::as_str)
    }
    /// Returns the type of a value.
    pub(super) fn ty(&self, id: ValueId) -> &Type {
        let found = usize::try_from(id.0).ok().and_then(|i| self.types.get(i));
        found.unwrap_or(&Type::Index)
    }
}

/// The next numbers of names. A region goes on from those of the ops around it.
#[derive(Clone, Copy, Default)]
struct Next {
    value: u32,
    argument: u32,
    conflict: u32,
}

/// How the arguments of a region are named.
#[derive(Clone, Copy)]
enum Arguments {
    /// By numbers.
    Numbered,
    /// As those of a loop.
    Loop,
    /// As those of a scan, of which so many are inputs.
    Scan(usize),
}

/// Returns the number of inputs of a scan.
fn scanned(op: &Op) -> usize {
    match op.attributes.get("operandSegmentSizes") {
        Some(Attribute::Integers(sizes)) => {
            sizes.first().and_then(|&count| usize::try_from(count).ok()).unwrap_or(0)
        }
        _ => 0,
    }
}

struct Namer {
    names: Names,
    used: FxHashSet<SmolStr>,
    /// The used names of the open regions, in order.
    order: Vec<SmolStr>,
}

impl Namer {
    /// Names the values in the regions of ops.
    fn nested(&mut self, ops: &[Op], next: Next) {
        for op in ops {
            let argument = match op.name.as_str() {
                "stablehlo.while" => Arguments::Loop,
                "chlo.scan" => Arguments::Scan(scanned(op)),
                _ => Arguments::Numbered,
            };
            for region in &op.regions {
                let outer = self.order.len();
                let next = if op.name == "func.func" { Next::default() } else { next };
                self.region(region, argument, next);
                for name in self.order.drain(outer..) {
                    self.used.remove(&name);
                }
            }
        }
    }
    fn region(&mut self, region: &Region, arguments: Arguments, mut next: Next) {
        for (i, argument) in region.arguments.iter().enumerate() {
            let name = match arguments {
                Arguments::Loop => self.unique("iterArg", &mut next),
                Arguments::Scan(inputs) if i < inputs => self.unique("input", &mut next),
                Arguments::Scan(_) => self.unique("carry", &mut next),
                Arguments::Numbered => {
                    next.argument += 1;
                    format_smolstr!("arg{}", next.argument - 1)
                }
            };
            self.set(argument, name);
        }
        for op in &region.ops {
            let Some(first) = op.results.first() else { continue };
            let own = RESULTS.iter().find(|(known, _)| *known == op.name).map(|(_, names)| names);
            if let Some(own) = own.filter(|own| own.len() == op.results.len()) {
                for (result, name) in op.results.iter().zip(*own) {
                    let name = self.unique(name, &mut next);
                    self.set(result, name);
                }
                continue;
            }
            let name = match (op.name.as_str(), &first.ty) {
                ("stablehlo.constant", Type::Tensor(tensor)) => {
                    let element = tensor.element.as_ref();
                    let counts = element.is_ok_and(|ty| !ty.is_float() && !ty.is_complex());
                    self.unique(if counts { "c" } else { "cst" }, &mut next)
                }
                _ => {
                    next.value += 1;
                    format_smolstr!("{}", next.value - 1)
                }
            };
            if op.results.len() == 1 {
                self.set(first, name);
                continue;
            }
            for (i, result) in op.results.iter().enumerate() {
                self.set(result, format_smolstr!("{name}#{i}"));
            }
        }
        self.nested(&region.ops, next);
    }
    fn unique(&mut self, name: &str, next: &mut Next) -> SmolStr {
        let mut found = SmolStr::new(name);
        while !self.used.insert(found.clone()) {
            found = format_smolstr!("{name}_{}", next.conflict);
            next.conflict += 1;
        }
        self.order.push(found.clone());
        found
    }
    fn set(&mut self, value: &Value, name: SmolStr) {
        let Ok(i) = usize::try_from(value.id.0) else { return };
        let Names { names, types } = &mut self.names;
        if let (Some(known), Some(ty)) = (names.get_mut(i), types.get_mut(i)) {
            (*known, *ty) = (name, value.ty.clone());
        }
    }
}
