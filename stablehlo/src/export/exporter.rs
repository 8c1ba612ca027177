//! The program under construction: values, ops, functions and regions.
use super::ExportOptions;
use super::location::Locations;
use super::types;
use crate::error::{Error, Result};
use crate::ir::{Attribute, Attributes, LocationId, Op, Region, Type, Value, ValueId};
use crate::normal;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::{ArrayShape, Module, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use smol_str::SmolStr;

/// A function on arrays.
pub(crate) type Expansion = for<'b> fn(&[builder::Value<'b>]) -> builder::Value<'b>;

/// The leaves of a value of HLO.
pub(super) type Leaves = SmallVec<[ValueId; 1]>;

/// The program under construction.
pub(super) struct Exporter<'m> {
    pub(super) module: &'m Module,
    pub(super) options: ExportOptions,
    /// The shape of each value.
    shapes: Vec<Shape>,
    /// The names of the functions that computations have become.
    pub(super) functions: FxHashMap<ComputationId, SmolStr>,
    pub(super) names: FxHashSet<SmolStr>,
    /// The finished functions.
    pub(super) finished: Vec<Op>,
    /// The ops of the current block.
    pub(super) body: Vec<Op>,
    pub(super) locations: Locations<'m>,
    /// What the ops of the current instruction have in common.
    pub(super) common: Common,
}

/// The location of an instruction, and its attributes that are not those of its op.
#[derive(Default)]
pub(super) struct Common {
    pub(super) location: Option<LocationId>,
    pub(super) attributes: Vec<(SmolStr, Attribute)>,
}

/// A computation that is walked, with the values of its parameters and instructions.
pub(super) struct Frame<'f> {
    pub(super) module: &'f Module,
    pub(super) computation: &'f Computation,
    pub(super) arguments: Vec<Leaves>,
    pub(super) values: Vec<Leaves>,
}

/// An instruction that is converted.
#[derive(Clone, Copy)]
pub(super) struct At<'a, 'f> {
    pub(super) frame: &'a Frame<'f>,
    pub(super) instruction: &'f Instruction,
}

impl<'f> At<'_, 'f> {
    /// Returns the leaves of operand `i`.
    pub(super) fn leaves(&self, i: usize) -> &Leaves {
        &self.frame.values[self.instruction.operands[i].index()]
    }
    /// Returns the shape of operand `i`.
    pub(super) fn shape(&self, i: usize) -> &'f Shape {
        &self.frame.computation.instructions[self.instruction.operands[i]].shape
    }
    /// Returns the array that operand `i` is.
    pub(super) fn array(&self, i: usize) -> Result<&'f ArrayShape> {
        array(self.shape(i))
    }
    /// Returns the array that the result is.
    pub(super) fn result(&self) -> Result<&'f ArrayShape> {
        array(&self.instruction.shape)
    }
    /// Returns the leaves of all operands.
    pub(super) fn operands(&self) -> Leaves {
        self.operands_from(0)
    }
    /// Returns the leaves of the operands from number `first` on.
    pub(super) fn operands_from(&self, first: usize) -> Leaves {
        let count = self.instruction.operands.len();
        (first..count).flat_map(|i| self.leaves(i)).copied().collect()
    }
    /// Returns operand `i`, an array or a token.
    pub(super) fn operand(&self, i: usize) -> Result<ValueId> {
        self.leaves(i).first().copied().ok_or_else(|| self.unsupported("of a tuple"))
    }
    /// Returns the error of an instruction that StableHLO cannot express.
    pub(super) fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("`{}` {what}", self.instruction.opcode().name()))
    }
    /// Fails if the instruction has a property that StableHLO cannot express.
    pub(super) fn refuse(&self, is_so: bool, what: &str) -> Result<()> {
        if is_so { Err(self.unsupported(what)) } else { Ok(()) }
    }
    /// Fails if an array has a dynamic size, which the expansion of an op of CHLO does not take.
    pub(super) fn refuse_dynamic_without_chlo(&self, arrays: &[&ArrayShape]) -> Result<()> {
        let is_static = arrays.iter().all(|array| array.dynamic.is_none());
        if is_static {
            return Ok(());
        }
        let error = self.unsupported("of a dynamic size without an op of CHLO");
        Err(error.with_help("convert the module with static sizes"))
    }
    /// Returns whether the instruction is one of the module that is converted, not of the
    /// expansion of one.
    pub(super) fn is_original(&self, exporter: &Exporter<'_>) -> bool {
        std::ptr::eq(self.frame.module, exporter.module)
    }
}

/// Returns the array that a shape is.
pub(super) fn array(shape: &Shape) -> Result<&ArrayShape> {
    shape.array().ok_or_else(|| Error::unsupported(format!("an op on `{shape:#}`, not an array")))
}
/// Returns the shapes of the leaves of a shape.
pub(super) fn leaf_shapes(shape: &Shape) -> Vec<Shape> {
    shape.leaves().into_iter().cloned().collect()
}

/// An op before it is added.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) name: SmolStr,
    pub(super) operands: SmallVec<[ValueId; 4]>,
    pub(super) attributes: Vec<(SmolStr, Attribute)>,
    pub(super) regions: Vec<Region>,
}

impl Draft {
    pub(super) fn new(
        name: impl Into<SmolStr>,
        operands: impl IntoIterator<Item = ValueId>,
    ) -> Self {
        let operands = operands.into_iter().collect();
        Self { name: name.into(), operands, ..Self::default() }
    }
    /// Sets an attribute.
    #[must_use]
    pub(super) fn set(mut self, name: &'static str, value: Attribute) -> Self {
        self.attributes.push((SmolStr::new_static(name), value));
        self
    }
    /// Sets attributes.
    #[must_use]
    pub(super) fn set_all(self, all: impl IntoIterator<Item = (&'static str, Attribute)>) -> Self {
        all.into_iter().fold(self, |draft, (name, value)| draft.set(name, value))
    }
    /// Adds a region.
    #[must_use]
    pub(super) fn region(mut self, region: Region) -> Self {
        self.regions.push(region);
        self
    }
    /// Adds the attributes of the instruction that are not those of its op.
    #[must_use]
    pub(super) fn with_common(mut self, exporter: &mut Exporter<'_>) -> Self {
        self.attributes.append(&mut exporter.common.attributes);
        self
    }
}

impl<'m> Exporter<'m> {
    pub(super) fn new(module: &'m Module, options: ExportOptions) -> Self {
        Self {
            module,
            options,
            shapes: Vec::new(),
            functions: FxHashMap::default(),
            names: std::iter::once(SmolStr::new_static("main")).collect(),
            finished: Vec::new(),
            body: Vec::new(),
            locations: Locations::new(module),
            common: Common::default(),
        }
    }
    /// Returns the number of values.
    pub(super) fn value_count(&self) -> u32 {
        u32::try_from(self.shapes.len()).expect("memory holds fewer values")
    }
    /// Returns the shape of a value.
    pub(super) fn shape(&self, id: ValueId) -> &Shape {
        &self.shapes[usize::try_from(id.0).expect("an index")]
    }
    /// Returns a new value.
    pub(super) fn define(&mut self, shape: &Shape) -> Result<Value> {
        let ty = types::of_shape(shape)?;
        let id = ValueId(self.value_count());
        self.shapes.push(shape.clone());
        Ok(Value { id, ty })
    }
    /// Adds an op; returns its results.
    pub(super) fn emit(&mut self, draft: Draft, results: &[Shape]) -> Result<Leaves> {
        let results: SmallVec<[Value; 1]> =
            results.iter().map(|shape| self.define(shape)).collect::<Result<_>>()?;
        let ids = results.iter().map(|value| value.id).collect();
        let mut attributes = Attributes(draft.attributes);
        normal::normalize(&draft.name, &mut attributes);
        self.body.push(Op {
            name: draft.name,
            operands: draft.operands,
            results,
            attributes: attributes.into(),
            regions: draft.regions,
            location: self.common.location,
            span: None,
        });
        Ok(ids)
    }
    /// Adds an op with one result.
    pub(super) fn emit_one(&mut self, draft: Draft, result: impl Into<Shape>) -> Result<ValueId> {
        Ok(self.emit(draft, &[result.into()])?[0])
    }
    /// Adds the op of an instruction's name, with these attributes and the instruction's operands
    /// and results.
    pub(super) fn plain(
        &mut self,
        at: At<'_, '_>,
        attributes: impl IntoIterator<Item = (&'static str, Attribute)>,
    ) -> Result<Leaves> {
        let name = format!("stablehlo.{}", at.instruction.opcode().name().replace('-', "_"));
        self.named(at, &name, attributes)
    }
    /// Adds the op of this name likewise.
    pub(super) fn named(
        &mut self,
        at: At<'_, '_>,
        name: &str,
        attributes: impl IntoIterator<Item = (&'static str, Attribute)>,
    ) -> Result<Leaves> {
        let draft = Draft::new(name, at.operands()).set_all(attributes).with_common(self);
        self.emit(draft, &leaf_shapes(&at.instruction.shape))
    }

    /// Walks a computation: adds its ops to the current block, and returns the leaves of its
    /// result.
    pub(super) fn computation(
        &mut self,
        module: &Module,
        id: ComputationId,
        arguments: Vec<Leaves>,
    ) -> Result<Leaves> {
        let computation = &module.computations[id];
        let mut frame = Frame { module, computation, arguments, values: Vec::new() };
        for (id, instruction) in computation.instructions.iter() {
            let outer = std::mem::take(&mut self.common);
            let is_original = std::ptr::eq(module, self.module);
            self.common = match is_original {
                true => self.common_of(instruction),
                // The ops of an expansion come from the instruction that is expanded.
                false => Common { location: outer.location, attributes: Vec::new() },
            };
            let value = self.instruction(At { frame: &frame, instruction });
            let value = value.map_err(|error| match is_original {
                true => error.at(computation.site(id)),
                false => error,
            })?;
            frame.values.push(value);
            self.common = outer;
        }
        Ok(frame.values.swap_remove(computation.root.index()))
    }
    /// Walks the entry of a module that is an expansion.
    pub(super) fn inline(&mut self, module: &Module, arguments: Vec<Leaves>) -> Result<Leaves> {
        self.computation(module, module.entry, arguments)
    }

    /// Converts a computation to a region with arguments of these shapes, or else with captured
    /// values, and with results of these shapes.
    pub(super) fn region(
        &mut self,
        module: &Module,
        id: ComputationId,
        given: Given<'_>,
        results: &[Shape],
    ) -> Result<Region> {
        let (shapes, captured) = match given {
            Given::Arguments(shapes) => (shapes, None),
            Given::Captured(values) => (&[][..], Some(values)),
        };
        self.region_of(shapes, |exporter, arguments| {
            let values = captured.as_deref().unwrap_or(arguments);
            let parameters = exporter.split(&module.computations[id], values)?;
            let found = exporter.computation(module, id, parameters)?;
            let returned = found.into_iter().zip(results);
            returned.map(|(value, shape)| exporter.converted(value, shape)).collect()
        })
    }
    /// Returns a region with arguments of these shapes, that returns what `make` makes of them.
    pub(super) fn region_of(
        &mut self,
        shapes: &[Shape],
        make: impl FnOnce(&mut Self, &[ValueId]) -> Result<Leaves>,
    ) -> Result<Region> {
        let (body, common) = (std::mem::take(&mut self.body), std::mem::take(&mut self.common));
        let arguments =
            shapes.iter().map(|shape| self.define(shape)).collect::<Result<Vec<_>>>()?;
        let values: Leaves = arguments.iter().map(|value| value.id).collect();
        let returned = make(self, &values)?;
        self.emit(Draft::new("stablehlo.return", returned), &[])?;
        self.common = common;
        Ok(Region { arguments, ops: std::mem::replace(&mut self.body, body) })
    }
    /// Divides leaves into the parameters of a computation, each converted to its element type.
    pub(super) fn split(
        &mut self,
        computation: &Computation,
        values: &[ValueId],
    ) -> Result<Vec<Leaves>> {
        let mut rest = values.iter();
        let parameters: Vec<InstructionId> = computation.parameters();
        let mut all = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let mut leaves = Leaves::new();
            for shape in computation.instructions[parameter].shape.leaves() {
                let value = *rest.next().ok_or_else(|| {
                    Error::unsupported("a computation is not given all of its parameters")
                })?;
                leaves.push(self.converted(value, shape)?);
            }
            all.push(leaves);
        }
        Ok(all)
    }
    /// Returns a value converted to the element type of a shape.
    pub(super) fn converted(&mut self, value: ValueId, to: &Shape) -> Result<ValueId> {
        let (Shape::Array(from), Shape::Array(to)) = (self.shape(value), to) else {
            return Ok(value);
        };
        if from.ty == to.ty {
            return Ok(value);
        }
        let shape = from.with_type(to.ty);
        self.emit_one(Draft::new("stablehlo.convert", [value]), shape)
    }
}

/// The values of the parameters of a region's computation.
pub(super) enum Given<'a> {
    /// Arguments of the region, of these shapes.
    Arguments(&'a [Shape]),
    /// Values from around it.
    Captured(Leaves),
}

/// Returns the attributes of a function.
pub(super) fn function(
    name: &SmolStr,
    visibility: &str,
    region: Region,
    results: Vec<Type>,
    attributes: Vec<(SmolStr, Attribute)>,
) -> Op {
    let types = region.arguments.iter().map(|value| value.ty.clone()).collect();
    let mut all = Attributes(attributes);
    let mut set = |name, value| all.0.push((SmolStr::new_static(name), value));
    set("sym_name", crate::attributes::string(name));
    set("sym_visibility", crate::attributes::string(visibility));
    set("function_type", Attribute::Type(Type::Function(types, results)));
    normal::normalize("func.func", &mut all);
    Op {
        name: SmolStr::new_static("func.func"),
        operands: SmallVec::new(),
        results: SmallVec::new(),
        attributes: all.into(),
        regions: vec![region],
        location: None,
        span: None,
    }
}
