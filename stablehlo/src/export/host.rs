//! The host, and transfers between devices. StableHLO has one op for a transfer, not its start and
//! its end: a `send` stands where it starts, and a `recv` where it ends, so that the devices of a
//! ring do not wait for each other.
use super::exporter::{At, Draft, Exporter, Frame, Leaves, leaf_shapes};
use super::instruction::element;
use crate::attributes::{integer, named, string};
use crate::error::Result;
use crate::ir::Attribute;
use hlo::ir::{Instruction, InstructionId};
use hlo::op::{Infeed, Outfeed, Recv, RecvDone, Send};
use hlo::{ArrayShape, ElementType, Literal, Op, Shape};

impl Exporter<'_> {
    pub(super) fn infeed(&mut self, at: At<'_, '_>, op: &Infeed) -> Result<Leaves> {
        at.refuse(at.instruction.operands.len() != 1, "without a token")?;
        self.plain(at, [("infeed_config", string(&op.infeed_config.0))])
    }
    pub(super) fn outfeed(&mut self, at: At<'_, '_>, op: &Outfeed) -> Result<Leaves> {
        at.refuse(at.instruction.operands.len() != 2, "without a token")?;
        let Outfeed { outfeed_shape: _, outfeed_config } = op;
        self.plain(at, [("outfeed_config", string(&outfeed_config.0))])
    }
    pub(super) fn send(&mut self, at: At<'_, '_>, op: &Send) -> Result<Leaves> {
        let Send { channel_id, is_host_transfer } = op;
        let kind = if *is_host_transfer { 2 } else { 1 };
        at.refuse(at.instruction.operands.len() != 2, "without a token")?;
        let draft = transfer("stablehlo.send", at.operands(), (*channel_id, kind));
        let draft = draft.with_common(self);
        let token = self.emit(draft, &[Shape::Token])?;
        // The data, a context, and the token.
        self.with_context(at.leaves(0).clone(), token)
    }
    fn with_context(&mut self, mut data: Leaves, token: Leaves) -> Result<Leaves> {
        data.extend(
            self.constant(&Literal::zeros(ArrayShape::new(ElementType::U32, [].as_slice())))?,
        );
        data.extend(token);
        Ok(data)
    }
    pub(super) fn recv(&mut self, at: At<'_, '_>, op: &Recv) -> Result<Leaves> {
        let parts = leaf_shapes(&at.instruction.shape);
        at.refuse(at.instruction.operands.len() != 1, "without a token")?;
        if ends_here(at) {
            return Ok(Leaves::new());
        }
        let (context, token) = (parts.len() - 2, parts.len() - 1);
        let shapes = [&parts[..context], &parts[token..]].concat();
        let Recv { channel_id, is_host_transfer } = op;
        let mut data = self.receive(at.operands(), &shapes, (*channel_id, *is_host_transfer))?;
        let token = data.drain(context..).collect();
        self.with_context(data, token)
    }
    pub(super) fn recv_done(&mut self, at: At<'_, '_>, op: &RecvDone) -> Result<Leaves> {
        let start = &at.frame.computation.instructions[at.instruction.operands[0]];
        let leaves = at.leaves(0);
        if !leaves.is_empty() {
            let mut all = element(at.shape(0), leaves, 0);
            all.extend(element(at.shape(0), leaves, 2));
            return Ok(all);
        }
        let RecvDone { channel_id, is_host_transfer } = op;
        let token = operands_of(at.frame, start);
        self.common = self.common_of(start);
        let shapes = leaf_shapes(&at.instruction.shape);
        self.receive(token, &shapes, (*channel_id, *is_host_transfer))
    }
    fn receive(
        &mut self,
        token: Leaves,
        results: &[Shape],
        (channel_id, from_host): (Option<i64>, bool),
    ) -> Result<Leaves> {
        let kind = if from_host { 3 } else { 1 };
        let draft = transfer("stablehlo.recv", token, (channel_id, kind)).with_common(self);
        self.emit(draft, results)
    }
}

/// Returns a transfer over a channel of this kind: 1 between devices, 2 to the host, 3 from it.
fn transfer(name: &str, operands: Leaves, (id, kind): (Option<i64>, i64)) -> Draft {
    let fields = named([("handle", integer(id.unwrap_or(0))), ("type", integer(kind))]);
    Draft::new(name, operands)
        .set("channel_handle", Attribute::Dialect("stablehlo.channel_handle".into(), fields))
        .set("is_host_transfer", Attribute::Bool(kind != 1))
}
/// Returns whether only a `recv-done` of the same computation uses a `recv`.
fn ends_here(at: At<'_, '_>) -> bool {
    let computation = at.frame.computation;
    let id = InstructionId::new(at.frame.values.len());
    let mut users = computation.instructions.iter().filter(|(_, user)| user.operands.contains(&id));
    let ends = users.next().is_some_and(|(_, user)| matches!(user.op, Op::RecvDone(_)));
    ends && users.next().is_none() && computation.root != id
}
/// Returns the values of an instruction's operands.
fn operands_of(frame: &Frame<'_>, instruction: &Instruction) -> Leaves {
    instruction.operands.iter().flat_map(|id| &frame.values[id.index()]).copied().collect()
}
