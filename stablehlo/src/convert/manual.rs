//! Shardy's ops: `manual_computation`, in which devices compute with their shards, and those that
//! say how whole arrays are sharded.
use super::region::{ArgumentForm, RegionBody};
use super::scope::Scope;
use super::sharding;
use crate::error::Result;
use crate::ir::{Attributes, Op};
use hlo::Shape;
use hlo::ir::{FrontendAttributes, InstructionId};
use hlo::op::value::Text;
use hlo::op::{Call, CustomCall};

/// Converts `sdy.manual_computation`: a call between the custom calls that XLA has for the change
/// of shapes.
pub(crate) fn manual_computation<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let region = scope.region(op, 0)?;
    let mut local = Vec::with_capacity(region.arguments.len());
    for argument in &region.arguments {
        local.push(super::types::shape(&argument.ty).map_err(|error| scope.cx.placed(op, error))?);
    }
    let captured = scope.captured(op, &[region])?;
    if !captured.is_empty() {
        return Err(scope.unsupported(
            op,
            "a manual computation uses a value from outside: pass it as an operand",
        ));
    }
    let text = |name, print: fn(&Attributes) -> Result<String>| -> Result<String> {
        let fields = scope.required(op, name)?;
        print(fields).map_err(|error| scope.cx.placed(op, error))
    };
    let axes = ("xla.sdy.manual_axes".into(), text("manual_axes", sharding::manual_axes)?);
    let inputs = ("xla.sdy.in_shardings".into(), text("in_shardings", sharding::per_value)?);
    let outputs = ("xla.sdy.out_shardings".into(), text("out_shardings", sharding::per_value)?);

    let body = RegionBody {
        region,
        take: ArgumentForm::Each,
        arguments: &local,
        captured: &[],
        returns_captured: false,
    };
    let to_apply = scope.computation_of(op, &body)?;
    scope.cx.computations[to_apply].name = "xla.sdy.manual_computation_body".into();
    let parts = if operands.is_empty() {
        Vec::new()
    } else {
        attributes(scope, op, vec![inputs, axes.clone()]);
        let changed = boundary(scope, op, "xla.sdy.GlobalToLocalShape", &operands, local)?;
        attributes(scope, op, Vec::new());
        parts(scope, op, changed, operands.len())?
    };
    attributes(scope, op, vec![("inlineable".into(), "false".into())]);
    let call = scope.emit(op, Call::new(to_apply), &parts)?;
    if op.results.is_empty() {
        return Ok(());
    }
    attributes(scope, op, Vec::new());
    let results = self::parts(scope, op, call, op.results.len())?;
    let global = (0..op.results.len()).map(|i| scope.stated(op, i)).collect::<Result<_>>()?;
    attributes(scope, op, vec![axes, outputs]);
    let changed = boundary(scope, op, "xla.sdy.LocalToGlobalShape", &results, global)?;
    attributes(scope, op, Vec::new());
    scope.bind_all(op, changed)
}

/// Gives the next instructions these frontend attributes.
fn attributes(scope: &mut Scope<'_, '_>, op: &Op, pairs: Vec<(smol_str::SmolStr, String)>) {
    let mut common = scope.cx.common(op);
    common.frontend_attributes = (!pairs.is_empty()).then_some(FrontendAttributes(pairs));
    scope.set_common(common);
}
/// Returns the elements of a tuple, or the only value.
fn parts(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    id: InstructionId,
    count: usize,
) -> Result<Vec<InstructionId>> {
    match count {
        1 => Ok(vec![id]),
        _ => (0..count).map(|i| scope.element(op, id, i)).collect(),
    }
}
/// Adds a change between the shapes of whole values and of shards.
fn boundary(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    target: &'static str,
    operands: &[InstructionId],
    mut shapes: Vec<Shape>,
) -> Result<InstructionId> {
    let shape = if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) };
    let mut made = CustomCall::new(Text(target.into()));
    made.custom_call_has_side_effect = true;
    scope.emit_as(op, made, operands, shape)
}

/// Converts `sdy.named_computation`: a call.
pub(crate) fn named_computation<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let region = scope.region(op, 0)?;
    let arguments: Vec<Shape> = operands.iter().map(|&id| scope.shape(id).clone()).collect();
    let body = RegionBody {
        region,
        take: ArgumentForm::Each,
        arguments: &arguments,
        captured: &[],
        returns_captured: false,
    };
    let to_apply = scope.computation_of(op, &body)?;
    let name: String = scope.required(op, "name")?;
    let shardings = |scope: &Scope<'_, '_>, name| match scope.optional(op, name)? {
        Some(fields) => {
            let each = sharding::each(&scope.cx.meshes, fields);
            each.map(Some).map_err(|error| scope.cx.placed(op, error))
        }
        None => Ok(None),
    };
    let inputs = shardings(scope, "in_shardings")?.unwrap_or_default();
    let computation = &mut scope.cx.computations[to_apply];
    computation.name = super::names::clean(&name);
    for (_, instruction) in computation.instructions.iter_mut() {
        if let hlo::Op::Parameter(parameter) = &instruction.op {
            let number = usize::try_from(parameter.number).unwrap_or(usize::MAX);
            if let Some(found) = inputs.get(number) {
                instruction.common.get_or_insert_default().sharding = Some(found.clone());
            }
        }
    }
    let id = scope.emit(op, Call::new(to_apply), &operands)?;
    scope.bind_all(op, id)?;
    if let Some(outputs) = shardings(scope, "out_shardings")? {
        scope.common_of(id).sharding = sharding::together(outputs);
    }
    Ok(())
}

/// Converts `sdy.sharding_constraint`, `sdy.reshard`, and the collectives, which change how the
/// same whole array is sharded: a custom call with the sharding.
pub(crate) fn sharding_constraint(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let name =
        ["sharding", "out_sharding"].into_iter().find(|name| op.attributes.get(name).is_some());
    let fields = scope.required(op, name.unwrap_or("sharding"))?;
    let found = sharding::tiled(&scope.cx.meshes, fields).map_err(|e| scope.cx.placed(op, e))?;
    let text = sharding::text(fields).map_err(|error| scope.cx.placed(op, error))?;
    let text = format!("#sdy.sharding_per_value<[{text}]>");
    attributes(scope, op, vec![("xla.sdy.sharding".into(), text)]);
    let shape = scope.shape(x).clone();
    let id = scope.emit_as(op, CustomCall::new(Text("Sharding".into())), &[x], shape)?;
    scope.common_of(id).sharding = Some(found);
    scope.bind(op, id)
}
/// Converts `sdy.sharding_group`: a custom call, from which the propagation of shardings learns what
/// is sharded alike.
pub(crate) fn sharding_group(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let group: i64 = scope.required(op, "group_id")?;
    attributes(scope, op, vec![("xla.sdy.sharding_group_id".into(), format!("{group} : i64"))]);
    boundary(scope, op, "xla.sdy.ShardingGroup", &[x], Vec::new())?;
    attributes(scope, op, Vec::new());
    Ok(())
}
/// Converts `sdy.propagation_barrier`, `sdy.data_flow_edge`: guides of the propagation of shardings.
pub(crate) fn guide(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    super::dynamic::alias(scope, op, x);
    Ok(())
}
