//! The module under construction: its functions, computations and locations.
use super::fold::Folded;
use super::location::Locations;
use super::scope::Scope;
use super::sharding::Meshes;
use super::{dispatch, sharding, types};
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Op, Program};
use hlo::Shape;
use hlo::id::Arena;
use hlo::ir::{
    CommonAttrs, Computation, ComputationId, FrontendAttributes, ProgramShape, Sharding,
};
use hlo::op::Callees;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The module under construction.
pub(super) struct Converter<'p> {
    pub(super) program: &'p Program,
    pub(super) functions: FxHashMap<SmolStr, &'p Op>,
    pub(super) computations: Arena<Computation>,
    pub(super) lowered: FxHashMap<Signature, Lowered>,
    /// The functions that are being converted, the outermost first.
    pub(super) active: Vec<SmolStr>,
    /// The number of computations made from regions.
    pub(super) regions: usize,
    /// Whether some array has a size that follows from the arguments, so that functions are
    /// converted for each call.
    pub(super) is_dynamic: bool,
    /// Whether the program has shardings, and so computes with whole arrays.
    pub(super) is_sharded: bool,
    pub(super) locations: Locations<'p>,
    pub(super) meshes: Meshes,
    /// The functions of the library that the program has used, by their names.
    pub(super) library: FxHashMap<SmolStr, ComputationId>,
}

/// A function, and what its conversion depends on in a program of unknown sizes: the shapes of its
/// arguments, and those of their values that are known.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Signature {
    pub(super) name: SmolStr,
    pub(super) shapes: Vec<Shape>,
    pub(super) folded: Vec<Option<Folded>>,
}

/// A converted function.
#[derive(Clone)]
pub(super) struct Lowered {
    pub(super) computation: ComputationId,
    /// The values of its results that are known.
    pub(super) folded: Vec<Option<Folded>>,
}

impl Callees for Converter<'_> {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        self.computations.get(id).map(Computation::program_shape)
    }
}

impl<'p> Converter<'p> {
    pub(super) fn new(program: &'p Program) -> Result<Self> {
        let mut converter = Self {
            program,
            functions: FxHashMap::default(),
            computations: Arena::default(),
            lowered: FxHashMap::default(),
            active: Vec::new(),
            regions: 0,
            is_dynamic: program.ops.iter().any(|op| any(op, is_dynamic)),
            is_sharded: is_sharded(program),
            locations: Locations::new(program),
            meshes: Meshes::default(),
            library: FxHashMap::default(),
        };
        for op in &program.ops {
            converter.declare(op)?;
        }
        Ok(converter)
    }

    /// Makes a function or a mesh known.
    fn declare(&mut self, op: &'p Op) -> Result<()> {
        let name = match op.attributes.get("sym_name") {
            Some(Attribute::String(bytes)) => SmolStr::from(String::from_utf8_lossy(bytes)),
            _ => {
                let message = format!("`{}` has no attribute `sym_name`", op.name);
                return Err(self.error(op, Code::AttributeValue { message }));
            }
        };
        match op.name.as_str() {
            "func.func" => {
                if self.functions.insert(name.clone(), op).is_some() {
                    let message = format!("two functions have the name `@{name}`");
                    let help = "a program is one module: split the file at `// -----`, or rename a function";
                    return Err(self.error(op, Code::Symbol { message }).with_help(help));
                }
                Ok(())
            }
            "sdy.mesh" => self.meshes.declare(name, op).map_err(|error| self.placed(op, error)),
            // Another symbol; an op that uses it has no conversion.
            _ => Ok(()),
        }
    }

    /// Returns the error of an op, with its place.
    pub(super) fn error(&self, op: &Op, code: Code) -> Error {
        self.placed(op, code.into())
    }
    /// Returns an error with the place of an op: its span in the text or, in a program that was not
    /// read from a text, the location in the user's program.
    pub(super) fn placed(&self, op: &Op, error: Error) -> Error {
        if let Some(span) = op.span {
            return error.at(span);
        }
        let Some((file, line, _)) = op.location.and_then(|id| self.locations.file(id)) else {
            return error;
        };
        let placed = Error::from(error.code().clone().with_location(&format!(" ({file}:{line})")));
        match error.help() {
            Some(help) => placed.with_help(help),
            None => placed,
        }
    }

    /// Returns what all instructions of an op have in common.
    pub(super) fn common(&mut self, op: &Op) -> CommonAttrs {
        let metadata = op.location.map(|id| self.locations.metadata(id));
        let metadata = metadata.filter(hlo::ir::Metadata::is_printed);
        let frontend_attributes = Self::frontend_attributes(op);
        CommonAttrs { metadata, frontend_attributes, ..CommonAttrs::default() }
    }
    /// Returns the attributes of the frontend.
    fn frontend_attributes(op: &Op) -> Option<FrontendAttributes> {
        let mut pairs = match op.attributes.get("mhlo.frontend_attributes") {
            Some(Attribute::Dictionary(fields)) => super::attrs::frontend_pairs(fields),
            _ => Vec::new(),
        };
        pairs.sort();
        (!pairs.is_empty()).then_some(FrontendAttributes(pairs))
    }
    /// Returns the sharding of an op's result.
    pub(super) fn sharding_of(&self, op: &Op) -> Result<Option<Sharding>> {
        let found = sharding::of_attributes(&self.meshes, &op.attributes);
        found.map_err(|error| self.placed(op, error))
    }

    /// Adds a computation.
    pub(super) fn finish(&mut self, computation: Computation) -> ComputationId {
        self.computations.push(computation)
    }
}

/// Returns whether a program has shardings, and so computes with whole arrays.
pub(crate) fn is_sharded(program: &Program) -> bool {
    program.ops.iter().any(|op| any(op, sharding::is_sharded))
}
/// Returns whether an op, or one in its regions, has a property.
fn any(op: &Op, has: impl Fn(&Op) -> bool) -> bool {
    let mut open = vec![op];
    while let Some(op) = open.pop() {
        if has(op) {
            return true;
        }
        open.extend(op.regions.iter().flat_map(|region| &region.ops));
    }
    false
}
/// Returns whether a value has a size that follows from operands.
fn is_dynamic(op: &Op) -> bool {
    let arguments = op.regions.iter().flat_map(|region| &region.arguments);
    let mut types = op.results.iter().chain(arguments).map(|value| &value.ty);
    types.any(types::is_unbounded) || op.name.starts_with("shape.")
}

impl<'p> Scope<'_, 'p> {
    /// Converts ops; returns the terminator.
    pub(super) fn ops(&mut self, ops: &'p [Op]) -> Result<Option<&'p Op>> {
        for op in ops {
            if matches!(
                op.name.as_str(),
                "func.return" | "stablehlo.return" | "sdy.return" | "shape.assuming_yield"
            ) {
                return Ok(Some(op));
            }
            let common = self.cx.common(op);
            self.set_common(common);
            dispatch::convert(self, op)?;
            self.fold(op);
        }
        Ok(None)
    }
}
