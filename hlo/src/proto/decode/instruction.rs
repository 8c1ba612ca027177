//! Instructions: operands by id, attributes, the shape.
use super::super::message::{self, Known, Payload};
use super::super::{bad, common, shape_of, wire};
use super::{Decoder, name};
use crate::diag::{Code, Site};
use crate::ir::{CommonAttrs, Computation, Instruction, InstructionId, InstructionSpans};
use crate::op::Op;
use crate::{Error, Opcode, Result, Shape};
use prost::Message;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Instructions by their id in the message.
pub(super) type Ids = FxHashMap<i64, InstructionId>;

impl Decoder<'_> {
    /// Adds the instructions to a computation: in the order of the schedule, or else in theirs.
    pub(super) fn instructions(
        &self,
        header: &message::Computation,
        computation: &mut Computation,
    ) -> Result<Ids> {
        let mut ids = Ids::default();
        let mut add = |bytes: &[u8], computation: &mut Computation| -> Result<()> {
            let (proto, unknown) =
                wire::decode::<message::Instruction>("HloInstructionProto", bytes)?;
            let name = proto.name.clone();
            self.instruction(proto, unknown, computation, &mut ids).map_err(|error| {
                let instruction = Some(format!("{}/{name}", computation.name));
                error.at(Site { instruction, ..Site::default() })
            })
        };
        let Some(sequence) = self.schedule.get(&header.id) else {
            header.instructions.iter().try_for_each(|bytes| add(bytes, computation))?;
            return Ok(ids);
        };
        let mut by_id = FxHashMap::default();
        for bytes in &header.instructions {
            let (proto, _) = wire::decode::<message::Instruction>("HloInstructionProto", bytes)?;
            by_id.insert(proto.id, bytes);
        }
        for id in sequence {
            let bytes = by_id.get(id).ok_or_else(|| {
                bad(format!("the schedule has an instruction {id}, the computation has not"))
            })?;
            add(bytes, computation)?;
        }
        if sequence.len() != header.instructions.len() {
            let (found, expected) = (sequence.len(), header.instructions.len());
            return Err(bad(format!("the schedule has {found} of the {expected} instructions")));
        }
        Ok(ids)
    }

    fn instruction(
        &self,
        mut proto: message::Instruction,
        unknown: Vec<u8>,
        within: &mut Computation,
        ids: &mut Ids,
    ) -> Result<()> {
        let written = std::mem::take(&mut proto.name);
        let name =
            name(&written).ok_or_else(|| bad(format!("instruction {} has no name", proto.id)))?;
        let id = std::mem::take(&mut proto.id);
        if let Some(&other) = ids.get(&id) {
            return Err(bad(format!("it has the id {id} of `{}`", within.name(other))));
        }
        let opcode = opcode(&mut proto)?;
        let shape = shape_of(&proto)?;
        let operands: SmallVec<[_; 3]> =
            references(&std::mem::take(&mut proto.operand_ids), "operand", ids)?;
        let control: Vec<_> = references(
            &std::mem::take(&mut proto.control_predecessor_ids),
            "control predecessor",
            ids,
        )?;
        for &used in operands.iter().chain(&control) {
            self.count_copy(within.name(used).len())?;
        }
        for callee in &mut proto.called_computation_ids {
            let found = self.ids.get(callee).ok_or_else(|| {
                bad(format!("it calls computation {callee}, which the module does not have"))
            })?;
            self.count_copy(self.name_bytes[found.index()])?;
            *callee = i64::try_from(found.index()).expect("an index fits i64");
        }
        self.resolve_payloads(&mut proto)?;
        opcode.check_arity(opcode.name(), operands.len())?;
        let shapes: SmallVec<[&Shape; 4]> =
            operands.iter().map(|&id| &within.instructions[id].shape).collect();
        let mut op = Op::decode(opcode, &mut proto, &shapes)?;
        op.complete(&shapes, Some(&shape))?;
        drop(shapes);
        proto.shape = None;
        let mut attributes = common::decode(&mut proto, &shape)?;
        attributes.control = (!control.is_empty()).then_some(control);
        attributes.unknown_fields = unknown;
        proto.prune();
        attributes.unknown_fields.extend(proto.encode_to_vec());
        let shape = if let Op::Constant(constant) = &op {
            shape_of_constant(constant.value.shape(), &shape)?
        } else {
            shape
        };
        crate::text::common::complete(&mut attributes, opcode, &shape)?;
        let common = (attributes != CommonAttrs::default()).then(|| Box::new(attributes));
        let instruction = Instruction { op, shape, operands, common };
        ids.insert(id, within.push(instruction, name, InstructionSpans::default()));
        Ok(())
    }

    /// Replaces indices of payloads by the bytes.
    fn resolve_payloads(&self, proto: &mut message::Instruction) -> Result<()> {
        let bytes = |payload: &Payload| -> Result<Vec<u8>> {
            let Some(id) = payload.id else { return Ok(payload.value.clone().unwrap_or_default()) };
            let found = usize::try_from(id).ok().and_then(|id| self.payloads.get(id));
            let found = found.ok_or_else(|| bad(format!("the module has no payload {id}")))?;
            self.count_copy(found.len())?;
            Ok(found.clone())
        };
        if let Some(payload) = proto.backend_config_payload.take() {
            proto.backend_config = bytes(&payload)?;
        }
        if let Some(payload) =
            proto.metadata.as_mut().and_then(|metadata| metadata.metadata_payload.as_mut())
        {
            *payload = Payload { value: Some(bytes(payload)?), id: None };
        }
        Ok(())
    }
}

/// Returns the shape of a literal, whose instruction has `shape`: only the layouts may differ.
fn shape_of_constant(literal: Shape, shape: &Shape) -> Result<Shape> {
    match literal.compatible(shape) {
        true => Ok(literal),
        false => Err(bad(format!("its literal has the shape {literal}, the instruction {shape}"))),
    }
}

/// Returns the opcode; attributes that an older name stands for are set.
fn opcode(proto: &mut message::Instruction) -> Result<Opcode> {
    let word = std::mem::take(&mut proto.opcode);
    let unknown = || Error::from(Code::UnknownOpcode { name: word.clone() });
    let spelling = Opcode::spelled(&word).ok_or_else(unknown)?;
    if let Some(direction) = spelling.implied.strip_prefix("direction=") {
        direction.clone_into(&mut proto.comparison_direction);
    }
    Ok(spelling.opcode)
}

/// Returns the instructions with these ids, which come before the one that names them.
fn references<C: FromIterator<InstructionId>>(list: &[i64], what: &str, ids: &Ids) -> Result<C> {
    let find = |id: &i64| {
        ids.get(id)
            .copied()
            .ok_or_else(|| bad(format!("its {what} {id} is not an earlier instruction")))
    };
    list.iter().map(find).collect()
}
