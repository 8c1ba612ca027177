//! The instructions of a computation and of those that it calls, with their values.
use crate::blame::sides::etalon;
use crate::program::{Values, arrays, rebuilt, watching};
use field::fingerprint::{Fingerprints, hashed};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::{Module, Op, Opcode, Shape};
use interp::DeviceGrid;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An instruction that runs: those of calls and fusions are expanded, tuples and their elements are
/// resolved.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The way to it.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) opcode: Opcode,
    pub(super) shape: Shape,
    /// The computation and the id.
    pub(super) computation: ComputationId,
    pub(super) id: InstructionId,
    pub(super) operands: Vec<usize>,
    pub(super) value: Values,
    /// The name that the frontend gave; empty if none.
    pub(super) op_name: String,
    /// Equal for nodes that compute the same by the same instructions.
    pub(super) hash: u64,
    /// Equal for nodes of the same instruction, whatever its operands.
    pub(super) own: u64,
}

/// A value: one of a node, or a tuple.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Node(usize),
    Tuple(Vec<Value>),
}

/// The nodes of a computation, operands first.
pub(super) struct Nodes<'a> {
    module: &'a Module,
    fuel: u64,
    fingerprints: Fingerprints<'a>,
    pub(super) list: Vec<Node>,
}

impl Nodes<'_> {
    /// Runs a computation on its arguments; returns its nodes and its result.
    pub(super) fn of<'a>(
        module: &'a Module,
        computation: ComputationId,
        arguments: &[Values],
        fuel: u64,
    ) -> Result<(Nodes<'a>, Value), String> {
        let fingerprints = Fingerprints::new(module);
        let mut nodes = Nodes { module, fuel, fingerprints, list: Vec::new() };
        let owner = &module.computations[computation];
        let mut values = Vec::new();
        for (number, (&id, value)) in owner.parameters().iter().zip(arguments).enumerate() {
            let path = format!("{}/{}", owner.name, owner.name(id));
            let hash = hashed(&("parameter", number));
            values.push(nodes.push((computation, id), path, &[], value.clone(), [hash; 2]));
        }
        let path = owner.name.to_string();
        let root = nodes.expand(computation, &values, arguments, &path)?;
        Ok((nodes, root))
    }

    fn push(
        &mut self,
        (computation, id): (ComputationId, InstructionId),
        path: String,
        operands: &[Value],
        value: Values,
        [own, hash]: [u64; 2],
    ) -> Value {
        let owner = &self.module.computations[computation];
        let instruction = &owner.instructions[id];
        let mut nodes = Vec::new();
        for operand in operands {
            operand.nodes(&mut nodes);
        }
        let metadata = instruction.common.as_ref().and_then(|common| common.metadata.as_ref());
        self.list.push(Node {
            path,
            name: owner.name(id).to_string(),
            opcode: instruction.opcode(),
            shape: instruction.shape.clone(),
            computation,
            id,
            operands: nodes,
            value,
            op_name: metadata.map(|metadata| metadata.op_name.to_string()).unwrap_or_default(),
            hash,
            own,
        });
        Value::Node(self.list.len() - 1)
    }

    /// Adds the instructions of a computation; returns its result.
    fn expand(
        &mut self,
        computation: ComputationId,
        parameters: &[Value],
        arguments: &[Values],
        path: &str,
    ) -> Result<Value, String> {
        let module = self.module;
        let owner = &module.computations[computation];
        let recorded = self.record(computation, arguments)?;
        let mut values: HashMap<InstructionId, Value> = HashMap::new();
        for (&id, value) in owner.parameters().iter().zip(parameters) {
            values.insert(id, value.clone());
        }
        for (id, instruction) in owner.instructions.iter() {
            if values.contains_key(&id) {
                continue;
            }
            let operands: Vec<Value> =
                instruction.operands.iter().map(|operand| values[operand].clone()).collect();
            let path = format!("{path}/{}", owner.name(id));
            let value = if let Some(called) = instruction.op.called_once() {
                let arguments = instruction.operands.iter().map(|id| recorded.get(id).cloned());
                let arguments: Option<Vec<Values>> = arguments.collect();
                let arguments = arguments.ok_or("an operand has no value")?;
                self.expand(called, &operands, &arguments, &path)?
            } else if let Op::Tuple(_) = instruction.op {
                Value::Tuple(operands)
            } else if let Op::GetTupleElement(op) = &instruction.op
                && let Some(Value::Tuple(parts)) = operands.first()
            {
                parts[usize::try_from(op.index).unwrap_or_default()].clone()
            } else {
                let value = recorded.get(&id).cloned().unwrap_or_default();
                let hashes = self.hashes(instruction, &operands);
                self.push((computation, id), path, &operands, value, hashes)
            };
            values.insert(id, value);
        }
        Ok(values[&owner.root].clone())
    }

    /// Runs a computation as an entry, with all its values that are arrays as results.
    fn record(
        &self,
        computation: ComputationId,
        arguments: &[Values],
    ) -> Result<HashMap<InstructionId, Values>, String> {
        let owner = &self.module.computations[computation];
        let is_array = |shape: &&Shape| shape.array().is_some_and(|array| array.dynamic.is_none());
        let has_value = |(_, instruction): &(InstructionId, &Instruction)| {
            let leaves = instruction.shape.leaves();
            instruction.opcode().async_role().is_none() && leaves.iter().all(is_array)
        };
        let watched: Vec<InstructionId> =
            owner.instructions.iter().filter(has_value).map(|(id, _)| id).collect();
        let devices = arguments.first().map_or(1, Vec::len);
        let lists: Vec<Values> = (0..devices)
            .map(|d| arguments.iter().map(|values| values[d].clone()).collect())
            .collect();
        let program = watching(self.module, computation, &lists, &watched)?;
        let results = etalon(&program, DeviceGrid::of(&self.module.config), self.fuel)?;
        let mut devices: Vec<_> = results.iter().map(|result| arrays(result).into_iter()).collect();
        let mut recorded = HashMap::new();
        for id in watched {
            let shape = &owner.instructions[id].shape;
            let value: Option<Values> =
                devices.iter_mut().map(|list| rebuilt(shape, list)).collect();
            recorded.insert(id, value.ok_or("a value is missing")?);
        }
        Ok(recorded)
    }

    /// Returns the hash of an instruction, and the one with its operands.
    fn hashes(&mut self, instruction: &Instruction, operands: &[Value]) -> [u64; 2] {
        let mut hasher = DefaultHasher::new();
        let own = self.fingerprints.instruction(instruction);
        own.hash(&mut hasher);
        for operand in operands {
            operand.hash(&self.list, &mut hasher);
        }
        [own, hasher.finish()]
    }
}

impl Value {
    pub(super) fn nodes(&self, out: &mut Vec<usize>) {
        match self {
            Self::Node(node) => out.push(*node),
            Self::Tuple(parts) => parts.iter().for_each(|part| part.nodes(out)),
        }
    }
    fn hash(&self, list: &[Node], hasher: &mut DefaultHasher) {
        match self {
            Self::Node(node) => list[*node].hash.hash(hasher),
            Self::Tuple(parts) => {
                parts.len().hash(hasher);
                for part in parts {
                    part.hash(list, hasher);
                }
            }
        }
    }
}
