//! Tokens, the host, other devices, and the ids of devices.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::ir::{FrontendAttributes, InstructionId};
use hlo::op::value::Text;
use hlo::op::{AfterAll, Infeed, Outfeed, PartitionId, Recv, RecvDone, ReplicaId, Send, SendDone};
use hlo::{ElementType, Shape};

/// Converts `stablehlo.after_all`, `stablehlo.create_token`.
pub(crate) fn after_all(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let id = scope.emit(op, AfterAll {}, &operands)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.partition_id`.
pub(crate) fn partition_id(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let id = scope.emit(op, PartitionId {}, &[])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.replica_id`.
pub(crate) fn replica_id(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let id = scope.emit(op, ReplicaId {}, &[])?;
    scope.bind(op, id)
}

/// Returns the shapes of the results without the token, which is the last.
fn data(scope: &Scope<'_, '_>, op: &Op) -> Result<Vec<Shape>> {
    let count = op.results.len().saturating_sub(1);
    (0..count).map(|i| scope.stated(op, i)).collect()
}
/// Makes the parts of `data` and the token the results of an op.
fn bind_data(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    done: InstructionId,
    is_tuple: bool,
) -> Result<()> {
    let count = op.results.len().saturating_sub(1);
    let data = scope.element(op, done, 0)?;
    for (i, result) in op.results.iter().take(count).enumerate() {
        let id = if is_tuple { scope.element(op, data, i)? } else { data };
        scope.define(result.id, id);
    }
    let token = scope.element(op, done, 1)?;
    if let Some(result) = op.results.last() {
        scope.define(result.id, token);
    }
    Ok(())
}

/// Converts `stablehlo.infeed`.
pub(crate) fn infeed(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 1] = scope.exactly(op)?;
    let infeed_config =
        Text(scope.optional::<String>(op, "infeed_config")?.unwrap_or_default().into());
    let shape = Shape::Tuple(vec![Shape::Tuple(data(scope, op)?), Shape::Token]);
    let id = scope.emit_as(op, Infeed { infeed_config }, &operands, shape)?;
    scope.place(op, id)?;
    bind_data(scope, op, id, true)
}
/// Converts `stablehlo.outfeed`.
pub(crate) fn outfeed(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let (data, token) = data_and_token(scope, op)?;
    let outfeed_config =
        Text(scope.optional::<String>(op, "outfeed_config")?.unwrap_or_default().into());
    let data = scope.tuple(op, &data)?;
    let outfeed_shape = Some(scope.shape(data).clone());
    let made = Outfeed { outfeed_shape, outfeed_config };
    let id = scope.emit_as(op, made, &[data, token], Shape::Token)?;
    scope.bind(op, id)
}
fn data_and_token(scope: &Scope<'_, '_>, op: &Op) -> Result<(Vec<InstructionId>, InstructionId)> {
    let mut operands = scope.operands(op)?;
    let token = operands.pop().filter(|&id| *scope.shape(id) == Shape::Token);
    let message = || format!("the last operand of `{}` must be a token", op.name);
    Ok((operands, token.ok_or_else(|| scope.malformed(op, message()))?))
}

/// Adds the pairs of devices of a transfer as the frontend attribute in which XLA keeps them.
fn keep_pairs(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let pairs = scope.list(op, "source_target_pairs")?;
    if pairs.is_empty() {
        return Ok(());
    }
    let shown: Vec<_> =
        pairs.chunks_exact(2).map(|pair| format!("{{{},{}}}", pair[0], pair[1])).collect();
    let mut common = scope.cx.common(op);
    let attributes = common.frontend_attributes.get_or_insert_with(FrontendAttributes::default);
    let pair = ("_xla_send_recv_source_target_pairs".into(), format!("{{{}}}", shown.join(",")));
    attributes.0.push(pair);
    attributes.0.sort();
    scope.set_common(common);
    Ok(())
}

/// Converts `stablehlo.send`.
pub(crate) fn send(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let (data, token) = data_and_token(scope, op)?;
    let channel_id = scope.channel(op)?;
    let is_host_transfer = scope.flag(op, "is_host_transfer")?;
    keep_pairs(scope, op)?;
    let data = match data.as_slice() {
        [one] => *one,
        _ => scope.tuple(op, &data)?,
    };
    let parts = vec![scope.shape(data).clone(), Shape::scalar(ElementType::U32), Shape::Token];
    let made = Send { channel_id, is_host_transfer };
    let sent = scope.emit_as(op, made, &[data, token], Shape::Tuple(parts))?;
    let made = SendDone { channel_id, is_host_transfer };
    let id = scope.emit_as(op, made, &[sent], Shape::Token)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.recv`.
pub(crate) fn recv(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 1] = scope.exactly(op)?;
    let channel_id = scope.channel(op)?;
    let is_host_transfer = scope.flag(op, "is_host_transfer")?;
    keep_pairs(scope, op)?;
    let shapes = data(scope, op)?;
    let (is_tuple, shape) = match <[Shape; 1]>::try_from(shapes) {
        Ok([one]) => (false, one),
        Err(shapes) => (true, Shape::Tuple(shapes)),
    };
    let parts = vec![shape.clone(), Shape::scalar(ElementType::U32), Shape::Token];
    let made = Recv { channel_id, is_host_transfer };
    let started = scope.emit_as(op, made, &operands, Shape::Tuple(parts))?;
    let made = RecvDone { channel_id, is_host_transfer };
    let parts = Shape::Tuple(vec![shape, Shape::Token]);
    let done = scope.emit_as(op, made, &[started], parts)?;
    bind_data(scope, op, done, is_tuple)
}
