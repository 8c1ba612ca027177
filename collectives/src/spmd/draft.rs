//! A computation that is made out of another one, and modules that are made of such.
//!
//! New instructions carry the names and the places in the text of those they stand for, so that errors point into the text
//! the user wrote.
use super::calls::{called, reached};
use crate::{Code, Error, Result};
use hlo::ir::{CommonAttrs, Computation, ComputationId, Instruction, InstructionId};
use hlo::op::value::Text;
use hlo::op::{CustomCall, GetTupleElement, Parameter, Tuple};
use hlo::{Arena, Module, Op, SecondaryMap, Shape, Verified};
use std::collections::BTreeMap;

/// A computation in the making.
#[derive(Debug)]
pub(super) struct Draft<'m> {
    from: &'m Computation,
    made: Computation,
    /// What stands for each instruction.
    map: SecondaryMap<Instruction, Option<InstructionId>>,
    /// What must be waited for where an instruction that nothing stands for is a control predecessor.
    after: SecondaryMap<Instruction, Option<InstructionId>>,
}

impl<'m> Draft<'m> {
    /// An empty computation with the name of `from`.
    pub(super) fn of(from: &'m Computation) -> Self {
        let mut made = Computation::new(from.name.clone());
        made.execution_thread = from.execution_thread.clone();
        made.span = from.span;
        let none = || SecondaryMap::filled(from.instructions.len(), None);
        Self { from, made, map: none(), after: none() }
    }
    /// The computation that it is made of.
    pub(super) fn from(&self) -> &'m Computation {
        self.from
    }
    /// What stands for an instruction.
    ///
    /// # Errors
    /// `E0599` if nothing does.
    pub(super) fn get(&self, id: InstructionId) -> Result<InstructionId> {
        self.map[id].ok_or_else(|| {
            let (computation, name) = (&self.from.name, self.from.name(id));
            let message = format!("`{computation}/{name}` is used before it is made");
            Code::Internal { message }.into()
        })
    }
    /// Whether something stands for an instruction.
    pub(super) fn has(&self, id: InstructionId) -> bool {
        self.map[id].is_some()
    }
    /// Lets `made` stand for an instruction.
    pub(super) fn set(&mut self, id: InstructionId, made: InstructionId) {
        self.map[id] = Some(made);
    }
    /// Lets those wait for `made` that wait for an instruction which nothing stands for.
    pub(super) fn set_after(&mut self, id: InstructionId, made: InstructionId) {
        self.after[id] = Some(made);
    }

    /// Adds an instruction under the name and at the place of another one.
    pub(super) fn push(
        &mut self,
        like: InstructionId,
        op: impl Into<Op>,
        shape: Shape,
        operands: Vec<InstructionId>,
    ) -> InstructionId {
        let metadata = self.from.instructions[like].common.as_deref();
        let metadata = metadata.and_then(|common| common.metadata.clone());
        let common =
            metadata.map(|m| Box::new(CommonAttrs { metadata: Some(m), ..CommonAttrs::default() }));
        let operands = operands.into_iter().collect();
        self.add(like, Instruction { op: op.into(), shape, operands, common })
    }
    fn add(&mut self, like: InstructionId, instruction: Instruction) -> InstructionId {
        self.made.push(instruction, self.from.name(like).clone(), self.from.spans(like))
    }
    /// Adds a copy of an instruction.
    ///
    /// # Errors
    /// `E0599` if nothing stands for one of its operands.
    pub(super) fn copy(&mut self, id: InstructionId) -> Result<()> {
        let mut instruction = self.from.instructions[id].clone();
        for operand in &mut instruction.operands {
            *operand = self.get(*operand)?;
        }
        if let Some(common) = &mut instruction.common
            && let Some(control) = &mut common.control
        {
            let known = |&before: &InstructionId| self.map[before].or(self.after[before]);
            *control = control.iter().filter_map(known).collect();
        }
        let made = self.add(id, instruction);
        self.set(id, made);
        Ok(())
    }
    /// Adds a custom call.
    pub(super) fn call(
        &mut self,
        like: InstructionId,
        target: &str,
        shape: Shape,
        operands: Vec<InstructionId>,
    ) -> InstructionId {
        self.push(like, custom_call(target), shape, operands)
    }
    /// Adds a parameter.
    pub(super) fn parameter(
        &mut self,
        like: InstructionId,
        i: usize,
        shape: Shape,
    ) -> InstructionId {
        let number = i64::try_from(i).unwrap_or(i64::MAX);
        self.push(like, Parameter { number }, shape, Vec::new())
    }
    /// Adds an element of a tuple.
    pub(super) fn element(
        &mut self,
        like: InstructionId,
        tuple: InstructionId,
        i: usize,
        shape: Shape,
    ) -> InstructionId {
        let index = i64::try_from(i).unwrap_or(i64::MAX);
        self.push(like, GetTupleElement { index }, shape, vec![tuple])
    }
    /// Adds a tuple.
    pub(super) fn tuple(
        &mut self,
        like: InstructionId,
        parts: Vec<InstructionId>,
    ) -> InstructionId {
        let shapes = parts.iter().map(|&part| self.made.instructions[part].shape.clone());
        let shape = Shape::Tuple(shapes.collect());
        self.push(like, Tuple {}, shape, parts)
    }
    /// Ends it; the computations it calls are still named by their ids in the module it comes from.
    pub(super) fn finish(mut self, root: InstructionId) -> Computation {
        self.made.root = root;
        self.made
    }
}

/// A call of a target without any attributes.
fn custom_call(target: &str) -> CustomCall {
    use hlo::op::value::{
        ApiVersion, CustomCallSchedule, Ignored, OperandPrecision, OutputOperandAliasing,
        PaddingType, Window,
    };
    CustomCall {
        window: Window::default(),
        dim_labels: None,
        feature_group_count: 1,
        batch_group_count: 1,
        operand_precision: OperandPrecision::default(),
        padding_type: PaddingType::Invalid,
        custom_call_target: Text(target.into()),
        operand_layout_constraints: None,
        custom_call_has_side_effect: true,
        literal: None,
        output_to_operand_aliasing: OutputOperandAliasing::default(),
        schedule: CustomCallSchedule::None,
        api_version: ApiVersion::Original,
        called_computations: Vec::new(),
        to_apply: None,
        opaque: None,
        channel_name: Ignored,
        cost_estimate_ns: Ignored,
    }
}

/// A verified module of an entry computation and all that it calls. `get` gives a computation by the id it has in the module
/// that everything comes from.
///
/// # Errors
/// `E0514` if it breaks a rule that does not depend on where an instruction stands, as groups that do not fit the number of
/// devices.
pub(super) fn module<'a>(
    from: &Module,
    entry: Computation,
    partitions: usize,
    get: impl Fn(ComputationId) -> &'a Computation,
) -> Result<Verified> {
    let mut computations = Arena::default();
    let mut ids = BTreeMap::new();
    for id in reached(called(&entry), |id| called(get(id))) {
        let made = computations.push(renamed(get(id).clone(), &ids));
        ids.insert(id.index(), made);
    }
    let entry = computations.push(renamed(entry, &ids));
    let mut config = from.config.clone();
    config.replica_count = 1;
    config.num_partitions = i64::try_from(partitions).unwrap_or(i64::MAX);
    let name = from.name.clone();
    let module = Module { name, computations, entry, config, frames: from.frames.clone() };
    module.verify().map_err(|errors| match errors.0.into_iter().next() {
        Some(error) => error.into(),
        None => Error::from(Code::Internal { message: "nothing is wrong".to_owned() }),
    })
}

/// The computation with the ids that the computations it calls have now.
fn renamed(mut computation: Computation, ids: &BTreeMap<usize, ComputationId>) -> Computation {
    for (_, instruction) in computation.instructions.iter_mut() {
        instruction.op.each_callee_mut(&mut |id| {
            if let Some(&made) = ids.get(&id.index()) {
                *id = made;
            }
        });
    }
    computation
}
