//! Regions as computations.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::{Op, Region, ValueId};
use hlo::Shape;
use hlo::diag::quantity;
use hlo::ir::{CommonAttrs, ComputationId, InstructionId};
use hlo::op::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the values that a region uses and does not define, in the order of their first use.
pub(super) fn captures(region: &Region) -> Vec<ValueId> {
    let mut defined: FxHashSet<ValueId> = region.arguments.iter().map(|value| value.id).collect();
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    // Ids are unique in the program, so that definitions need no scopes; ops are visited in program
    // order.
    let mut open: Vec<&Op> = region.ops.iter().rev().collect();
    while let Some(op) = open.pop() {
        let outside = |value: &&ValueId| !defined.contains(value);
        for &value in op.operands.iter().filter(outside) {
            if seen.insert(value) {
                found.push(value);
            }
        }
        defined.extend(op.results.iter().map(|value| value.id));
        for inner in &op.regions {
            defined.extend(inner.arguments.iter().map(|value| value.id));
        }
        open.extend(op.regions.iter().rev().flat_map(|inner| inner.ops.iter().rev()));
    }
    found
}

/// The form of the parameters that a computation has for the arguments of its region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentForm {
    /// One parameter each.
    Each,
    /// One parameter: a tuple, unless there is one value.
    Together,
}

/// A region, and the values from outside that its computation takes.
pub(super) struct RegionBody<'p, 'a> {
    pub(super) region: &'p Region,
    pub(super) take: ArgumentForm,
    /// The shapes of the region's arguments.
    pub(super) arguments: &'a [Shape],
    /// Values from outside, as further arguments.
    pub(super) captured: &'a [ValueId],
    /// Whether it also returns those.
    pub(super) returns_captured: bool,
}

impl<'p> Scope<'_, 'p> {
    /// Returns the region with this number.
    pub(super) fn region(&self, op: &'p Op, i: usize) -> Result<&'p Region> {
        op.regions.get(i).filter(|region| !region.ops.is_empty()).ok_or_else(|| {
            let found = op.regions.len();
            self.malformed(
                op,
                format!(
                    "`{}` has {found}, expected more",
                    op.name,
                    found = quantity(found, "region")
                ),
            )
        })
    }

    /// Converts a region that is applied to elements: it uses nothing from outside but constants.
    pub(super) fn applied(&mut self, op: &'p Op, i: usize) -> Result<ComputationId> {
        let region = self.region(op, i)?;
        let mut shapes = Vec::with_capacity(region.arguments.len());
        for argument in &region.arguments {
            let shape = super::types::shape(&argument.ty).map_err(|e| self.cx.placed(op, e))?;
            shapes.push(shape);
        }
        let body = RegionBody {
            region,
            take: ArgumentForm::Each,
            arguments: &shapes,
            captured: &[],
            returns_captured: false,
        };
        self.computation_of(op, &body)
    }

    /// Divides the values that regions use from outside into those that a computation can make
    /// itself and the others.
    pub(super) fn captured(&self, op: &Op, regions: &[&Region]) -> Result<Vec<ValueId>> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        for value in regions.iter().flat_map(|region| captures(region)) {
            let id = self.value(op, value)?;
            if seen.insert(value) && self.constant(id).is_none() {
                found.push(value);
            }
        }
        Ok(found)
    }

    /// Returns the instructions of a constant, operands first; `None` if the value is not one.
    fn constant(&self, id: InstructionId) -> Option<Vec<InstructionId>> {
        let is_constant = |id| self.opcode(id) == Opcode::Constant;
        let operands = &self.computation.instructions[id].operands;
        match operands.as_slice() {
            _ if is_constant(id) => Some(vec![id]),
            &[of] if self.opcode(id) == Opcode::Broadcast && is_constant(of) => Some(vec![of, id]),
            _ => None,
        }
    }

    /// Converts a region.
    pub(super) fn computation_of(
        &mut self,
        op: &'p Op,
        body: &RegionBody<'p, '_>,
    ) -> Result<ComputationId> {
        let number = self.cx.regions;
        self.cx.regions += 1;
        let mut constants = Vec::new();
        let mut folded = FxHashMap::default();
        let mut shapes = body.arguments.to_vec();
        for value in captures(body.region) {
            let id = self.value(op, value)?;
            folded.extend(self.folded.get(&value).map(|known| (value, known.clone())));
            match self.constant(id) {
                Some(steps) => {
                    let clones = steps.iter().map(|&id| self.computation.instructions[id].clone());
                    constants.push((value, clones.collect::<Vec<_>>()));
                }
                None if body.captured.contains(&value) => {}
                None => {
                    let message = format!(
                        "a region of `{}` uses a value from outside that is not a constant",
                        op.name
                    );
                    let help = "pass the value as an operand: HLO's computations see only their parameters";
                    return Err(self.unsupported(op, message).with_help(help));
                }
            }
        }
        for &value in body.captured {
            shapes.push(self.shape(self.value(op, value)?).clone());
        }
        self.cx.enter_region(op)?;
        let mut inner = Scope::new(self.cx, format!("region_{number}"));
        inner.folded = folded;
        let values = body.region.arguments.iter().map(|value| value.id);
        let values: Vec<ValueId> = values.chain(body.captured.iter().copied()).collect();
        if values.len() != shapes.len() {
            let (expected, found) = (shapes.len(), values.len());
            return Err(inner.malformed(
                op,
                format!(
                    "a region of `{}` has {found}, expected {expected}",
                    op.name,
                    found = quantity(found, "argument")
                ),
            ));
        }
        inner.take(op, &values, shapes, body.take)?;
        for (value, steps) in constants {
            let mut last = None;
            for mut instruction in steps {
                if let Some(last) = last {
                    instruction.operands = [last].as_slice().into();
                }
                last = Some(inner.copy(instruction));
            }
            if let Some(id) = last {
                inner.define(value, id);
            }
        }
        let root = inner.results(op, body)?;
        let mut computation = inner.computation;
        computation.root = root;
        self.cx.active.pop();
        Ok(self.cx.finish(computation))
    }

    /// Adds the parameters.
    fn take(
        &mut self,
        op: &Op,
        values: &[ValueId],
        shapes: Vec<Shape>,
        take: ArgumentForm,
    ) -> Result<()> {
        match (take, values) {
            (ArgumentForm::Together, [value]) => {
                let [shape] = <[Shape; 1]>::try_from(shapes).expect("as many shapes as values");
                let id = self.parameter(0, shape, "Arg_0");
                self.define(*value, id);
            }
            (ArgumentForm::Together, _) => {
                let tuple = self.parameter(0, Shape::Tuple(shapes), "arg_tuple");
                for (i, &value) in values.iter().enumerate() {
                    let id = self.element(op, tuple, i)?;
                    self.define(value, id);
                }
            }
            (ArgumentForm::Each, _) => {
                for (i, (&value, shape)) in values.iter().zip(shapes).enumerate() {
                    let id = self.parameter(i, shape, &format!("Arg_{i}"));
                    self.define(value, id);
                }
            }
        }
        Ok(())
    }

    /// Converts the ops of a region; returns its result.
    fn results(&mut self, op: &Op, body: &RegionBody<'p, '_>) -> Result<InstructionId> {
        let Some(end) = self.ops(&body.region.ops)? else {
            return Err(self.malformed(op, format!("a region of `{}` has no `return`", op.name)));
        };
        let mut results = self.operands(end)?;
        if body.returns_captured {
            for &value in body.captured {
                results.push(self.value(end, value)?);
            }
        }
        self.set_common(CommonAttrs::default());
        match results.as_slice() {
            [one] => Ok(*one),
            _ => self.tuple(end, &results),
        }
    }
}
