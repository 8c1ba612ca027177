//! The instructions of a module in the order in which they run, those of calls and fusions in the
//! place of these.
use super::At;
use field::fingerprint::{Fingerprints, attributes, hashed};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::Kind;
use hlo::{Module, Op, Opcode};
use std::collections::HashMap;
use std::ops::Range;

/// An instruction.
pub(super) struct Node {
    pub(super) at: At,
    pub(super) name: String,
    pub(super) opcode: Opcode,
    /// Its shape without layouts.
    pub(super) shape: String,
    /// The name that the frontend gave; empty if none.
    pub(super) op_name: String,
    pub(super) operands: Vec<usize>,
    /// The instruction that computes its value: another one for what only renames a value, such as a
    /// parameter of a fusion, the fusion, or an element of a tuple.
    pub(super) source: usize,
    /// Equal for instructions of the same attributes, whatever their shapes and what they call.
    pub(super) own: u64,
    /// Equal for instructions that compute the same by the same instructions.
    pub(super) hash: u64,
    /// Whether it is computed from constants only. Compilers copy such values.
    pub(super) is_constant: bool,
}

/// The instructions of a module.
pub(super) struct List<'m> {
    pub(super) module: &'m Module,
    pub(super) nodes: Vec<Node>,
    /// The instructions of each computation that is in the list.
    pub(super) computations: HashMap<ComputationId, Vec<usize>>,
    fingerprints: Fingerprints<'m>,
}

impl<'m> List<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let fingerprints = Fingerprints::new(module);
        Self { module, nodes: Vec::new(), computations: HashMap::new(), fingerprints }
    }

    pub(super) fn has(&self, id: ComputationId) -> bool {
        self.computations.contains_key(&id)
    }

    /// Adds a computation with those of its calls and fusions, and returns what was added.
    pub(super) fn add(&mut self, id: ComputationId) -> Range<usize> {
        let start = self.nodes.len();
        self.expand(id, None);
        start..self.nodes.len()
    }

    /// Returns the number of the result of a computation of the list.
    pub(super) fn root(&self, id: ComputationId) -> usize {
        self.computations[&id][self.module.computations[id].root.index()]
    }

    /// Adds the instructions of a computation, whose parameters have these values.
    fn expand(&mut self, id: ComputationId, parameters: Option<&[usize]>) {
        let module = self.module;
        let owner = &module.computations[id];
        self.computations.insert(id, Vec::new());
        let mut numbers: Vec<usize> = Vec::with_capacity(owner.instructions.len());
        for (instruction_id, instruction) in owner.instructions.iter() {
            let operands: Vec<usize> =
                instruction.operands.iter().map(|operand| numbers[operand.index()]).collect();
            let other = self.other_source(instruction, &operands, parameters);
            let node = self.node((id, instruction_id), instruction, operands, other);
            numbers.push(self.nodes.len());
            self.nodes.push(node);
        }
        self.computations.insert(id, numbers);
    }

    /// Returns the instruction that computes the value of one that only renames it.
    fn other_source(
        &mut self,
        instruction: &Instruction,
        operands: &[usize],
        parameters: Option<&[usize]>,
    ) -> Option<usize> {
        if let Some(callee) = instruction.op.called_once()
            && !self.has(callee)
        {
            self.expand(callee, Some(operands));
            return Some(self.nodes[self.root(callee)].source);
        }
        let index = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let found = if let Op::Parameter(op) = &instruction.op {
            parameters?.get(index(op.number)).copied()
        } else if let Op::GetTupleElement(op) = &instruction.op {
            let tuple = &self.nodes[self.nodes[*operands.first()?].source];
            (tuple.opcode == Opcode::Tuple).then(|| tuple.operands.get(index(op.index)).copied())?
        } else {
            None
        };
        found.map(|number| self.nodes[number].source)
    }

    fn node(
        &mut self,
        at: At,
        instruction: &Instruction,
        operands: Vec<usize>,
        other: Option<usize>,
    ) -> Node {
        let (id, instruction_id): (ComputationId, InstructionId) = at;
        let own = attributes(&instruction.op);
        let shape = format!("{:#}", instruction.shape);
        let hash = match other {
            Some(number) => self.nodes[number].hash,
            None => {
                let mut callees = Vec::new();
                instruction
                    .op
                    .each_callee(&mut |id| callees.push(self.fingerprints.computation(id)));
                let values: Vec<u64> =
                    operands.iter().map(|&number| self.nodes[number].hash).collect();
                hashed(&(own, &shape, callees, values))
            }
        };
        let takes_constants = operands.iter().all(|&number| self.nodes[number].is_constant);
        let is_constant = match instruction.opcode().kind() {
            Kind::Value => instruction.opcode() != Opcode::Parameter && takes_constants,
            Kind::Array => takes_constants,
            Kind::Control
            | Kind::Asynchronous
            | Kind::Collective
            | Kind::Transfer
            | Kind::Host
            | Kind::Device
            | Kind::Random
            | Kind::Custom => false,
        };
        Node {
            at,
            name: self.module.computations[id].name(instruction_id).to_string(),
            opcode: instruction.opcode(),
            shape,
            op_name: instruction.metadata().map(|of| of.op_name.to_string()).unwrap_or_default(),
            operands,
            source: other.unwrap_or(self.nodes.len()),
            own,
            hash,
            is_constant,
        }
    }
}
