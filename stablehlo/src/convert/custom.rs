//! `custom_call`: as such, or as the op that XLA's converter makes of it.
use super::attrs::{EnumWord, FromAttribute};
use super::emit::slice_of;
use super::scope::Scope;
use super::{chlo, dispatch, types};
use crate::error::{Code, Result};
use crate::ir::{Attribute, Attributes, Dense, Op};
use crate::ops;
use crate::text::print;
use hlo::ir::{BackendConfig, ComputationId, InstructionId};
use hlo::op::value::{ApiVersion, OutputOperandAlias, OutputOperandAliasing, ShapeIndex, Text};
use hlo::op::{CustomCall, RaggedAllToAll, RngBitGenerator, Sort};
use hlo::{Literal, Shape};
use smol_str::SmolStr;

/// Converts `stablehlo.custom_call`.
pub(crate) fn custom_call(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let target: String = scope.required(op, "call_target_name")?;
    match target.as_str() {
        "ApproxTopK" | "stablehlo.dynamic_approx_top_k" => approx_top_k(scope, op),
        "ragged_all_to_all" => ragged_all_to_all(scope, op),
        "shape_assertion" => shape_assertion(scope, op),
        "stablehlo.dynamic_reduce_window" => dynamic_reduce_window(scope, op),
        "stablehlo.dynamic_rng_bit_generator" => dynamic_rng_bit_generator(scope, op),
        "stablehlo.dynamic_top_k" => dynamic_top_k(scope, op),
        _ => match target.strip_prefix("mhlo.").and_then(known) {
            Some(name) => as_op(scope, op, name),
            None => plain(scope, op, &target),
        },
    }
}

/// Returns the op of CHLO with the meaning of an op of MHLO.
fn known(name: &str) -> Option<&'static str> {
    let name = if name == "topk" { "top_k" } else { name };
    let row = ops::find(&format!("chlo.{name}"))?;
    row.is_converted().then_some(row.name)
}
/// Converts a custom call that stands for an op; its attributes are those of the call or
/// `mhlo.attributes`.
fn as_op(scope: &mut Scope<'_, '_>, op: &Op, name: &'static str) -> Result<()> {
    let mut attributes = Attributes::clone(&op.attributes);
    if let Some(inner) = scope.optional::<&Attributes>(op, "mhlo.attributes")? {
        attributes.0.extend(inner.0.iter().cloned());
    }
    let known =
        Op { name: name.into(), attributes: attributes.into(), regions: Vec::new(), ..op.clone() };
    dispatch::convert_plain(scope, &known)
}

/// Converts a custom call that stays one.
fn plain(scope: &mut Scope<'_, '_>, op: &Op, target: &str) -> Result<()> {
    let operands = scope.operands(op)?;
    let mut made = CustomCall::new(Text(target.into()));
    // The result of a check is not used.
    let is_check = target.starts_with(super::testing::CHECKS);
    made.custom_call_has_side_effect = is_check || scope.flag(op, "has_side_effect")?;
    made.api_version = api_version(scope, op)?;
    made.output_to_operand_aliasing = aliasing(scope, op)?;
    let literal = scope.optional::<&Dense>(op, "mhlo.literal")?;
    made.literal = literal.map(|dense| literal_of(scope, op, dense)).transpose()?;
    for name in scope.optional::<&[Attribute]>(op, "called_computations")?.unwrap_or_default() {
        let called = called(scope, op, name)?;
        made.called_computations.push(called);
    }
    let mut shapes =
        (0..op.results.len()).map(|i| scope.stated(op, i)).collect::<Result<Vec<_>>>()?;
    let layouts = (layouts(scope, op, "operand_layouts")?, layouts(scope, op, "result_layouts")?);
    if let (Some(inputs), Some(results)) = layouts {
        let mut constraints: Vec<Shape> =
            operands.iter().map(|&id| scope.shape(id).clone()).collect();
        lay_out(scope, op, &mut constraints, &inputs)?;
        lay_out(scope, op, &mut shapes, &results)?;
        made.operand_layout_constraints = Some(constraints);
    }
    let shape = if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) };
    let config = backend_config(scope, op)?;
    let id = scope.emit_as(op, made, &operands, shape)?;
    if let Some(config) = config {
        scope.common_of(id).backend_config = Some(BackendConfig(config));
    }
    match op.results.len() {
        1 => scope.bind(op, id),
        _ => scope.bind_tuple(op, id),
    }
}
fn api_version(scope: &Scope<'_, '_>, op: &Op) -> Result<ApiVersion> {
    if op.attributes.get("mhlo.backend_config").is_some() {
        return Ok(ApiVersion::TypedFfi);
    }
    let number: i64 = scope.optional(op, "api_version")?.unwrap_or(1);
    Ok(match number {
        0 | 1 => ApiVersion::Original,
        2 => ApiVersion::StatusReturning,
        3 => ApiVersion::StatusReturningUnified,
        4 => ApiVersion::TypedFfi,
        _ => {
            return Err(
                scope.unsupported(op, format!("`api_version` is {number}, expected 1 to 4"))
            );
        }
    })
}
/// Returns the configuration: a string, or the text of a dictionary.
fn backend_config(scope: &Scope<'_, '_>, op: &Op) -> Result<Option<String>> {
    let text = |name| match op.attributes.get(name) {
        Some(Attribute::Dictionary(fields)) => Ok(Some(print::dictionary(fields))),
        Some(Attribute::String(bytes)) => Ok(Some(BackendConfig::from_bytes(bytes.clone()).0)),
        Some(_) => scope.required::<String>(op, name).map(Some),
        None => Ok(None),
    };
    let found = match text("mhlo.backend_config")? {
        Some(found) => Some(found),
        None => text("backend_config")?,
    };
    Ok(found.filter(|config| !config.is_empty()))
}
fn aliasing(scope: &Scope<'_, '_>, op: &Op) -> Result<OutputOperandAliasing> {
    let all = scope.optional::<&[Attribute]>(op, "output_operand_aliases")?.unwrap_or_default();
    let one = |attribute: &Attribute| {
        let Some(fields) = <&Attributes>::from_attribute(attribute) else {
            return Err(scope.missing(op, "output_operand_aliases"));
        };
        let index = |name| scope.field_list(op, fields, name).map(|list| ShapeIndex(list.into()));
        Ok(OutputOperandAlias {
            output_index: index("output_tuple_indices")?,
            operand: scope.field(op, fields, "operand_index")?.unwrap_or(0),
            operand_index: index("operand_tuple_indices")?,
        })
    };
    Ok(OutputOperandAliasing(all.iter().map(one).collect::<Result<_>>()?))
}
/// Returns layouts, from the fastest dimension to the slowest.
fn layouts(scope: &Scope<'_, '_>, op: &Op, name: &str) -> Result<Option<Vec<Vec<i64>>>> {
    let Some(all) = scope.optional::<&[Attribute]>(op, name)? else { return Ok(None) };
    let one =
        |attribute| Vec::<i64>::from_attribute(attribute).ok_or_else(|| scope.missing(op, name));
    all.iter().map(one).collect::<Result<_>>().map(Some)
}
fn lay_out(
    scope: &Scope<'_, '_>,
    op: &Op,
    shapes: &mut [Shape],
    layouts: &[Vec<i64>],
) -> Result<()> {
    // Those of a tuple are the layouts of its elements.
    let shapes = match shapes {
        [Shape::Tuple(elements)] => elements.as_mut_slice(),
        all => all,
    };
    if shapes.len() != layouts.len() {
        let (found, expected) = (layouts.len(), shapes.len());
        return Err(
            scope.malformed(op, format!("`{}` has {found} layouts, expected {expected}", op.name))
        );
    }
    for (shape, layout) in shapes.iter_mut().zip(layouts) {
        if let Shape::Array(array) = shape {
            array.layout.minor_to_major = layout.iter().copied().collect();
        }
    }
    Ok(())
}
pub(super) fn literal_of(scope: &Scope<'_, '_>, op: &Op, dense: &Dense) -> Result<Literal> {
    let shape = types::array(&dense.ty).map_err(|error| scope.cx.placed(op, error))?;
    let bytes = match dense.splat {
        true => dense.bytes.repeat(shape.element_count().unwrap_or(0)),
        false => dense.bytes.clone(),
    };
    Literal::from_bytes(shape, &bytes).ok_or_else(|| scope.missing(op, "mhlo.literal"))
}
/// Converts a function that a custom call names.
fn called(scope: &mut Scope<'_, '_>, op: &Op, name: &Attribute) -> Result<ComputationId> {
    let Some(path) = <&[SmolStr]>::from_attribute(name) else {
        return Err(scope.missing(op, "called_computations"));
    };
    let name = path.last().map_or("", |name| name);
    let function = scope.cx.function(op, name)?;
    let arguments = scope.cx.body(function)?.arguments.iter();
    let shapes = arguments.map(|argument| types::shape(&argument.ty)).collect::<Result<Vec<_>>>();
    let shapes = shapes.map_err(|error| scope.cx.placed(function, error))?;
    let unknown = vec![None; shapes.len()];
    Ok(scope.cx.instantiate(op, name, shapes, unknown)?.computation)
}

/// Converts `ApproxTopK`: the best elements along a dimension, here the exact ones. The operands
/// are the arrays, then an initial value for each.
fn approx_top_k(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let count = op.results.len();
    let operands = scope.operands(op)?;
    let Some(arrays) = operands.get(..count).filter(|arrays| !arrays.is_empty()) else {
        return Err(scope.malformed(op, "`ApproxTopK` needs as many arrays as it has results"));
    };
    let config: &Attributes = match scope.optional(op, "mhlo.backend_config")? {
        Some(config) => config,
        None => scope.required(op, "backend_config")?,
    };
    let dim: Option<i64> = scope.field(op, config, "reduction_dim")?;
    let dim = dim.ok_or_else(|| scope.missing(op, "reduction_dim"))?;
    let names = scope.required::<&[Attribute]>(op, "called_computations")?;
    let [name] = names else {
        return Err(scope.malformed(op, "`ApproxTopK` needs one called computation"));
    };
    let to_apply = Some(called(scope, op, name)?);
    let made = Sort { dimensions: Some(vec![dim]), is_stable: true, to_apply };
    let sorted = scope.emit(op, made, arrays)?;
    for i in 0..count {
        let whole = if count == 1 { sorted } else { scope.element(op, sorted, i)? };
        let (shape, result) = (scope.array(op, whole)?, scope.stated_array(op, i)?);
        let limits: Vec<i64> = match result.dims.contains(&hlo::ArrayShape::UNBOUNDED) {
            true => return Err(scope.unsupported(op, "`ApproxTopK` of an unknown size")),
            false => result.dims.to_vec(),
        };
        let (zeros, ones) = (vec![0; shape.rank()], vec![1; shape.rank()]);
        let best = slice_of(scope, op, whole, &zeros, &limits, &ones)?;
        scope.define(op.results[i].id, best);
    }
    Ok(())
}

fn ragged_all_to_all(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let config: &Attributes = match scope.optional(op, "mhlo.backend_config")? {
        Some(config) => config,
        None => scope.required(op, "backend_config")?,
    };
    let channel_id = scope.field(op, config, "channel_id")?.filter(|&id| id > 0);
    let mut made = RaggedAllToAll { channel_id, ..RaggedAllToAll::default() };
    if let Some(Attribute::Dense(dense)) = config.get("replica_groups") {
        let rows = super::collective::rows(scope, op, "replica_groups", dense)?;
        made.replica_groups = rows.into();
    }
    let shape = scope.stated(op, 0)?;
    let id = scope.emit_as(op, made, &operands, shape)?;
    scope.bind(op, id)
}

/// Converts `shape_assertion`: a condition on sizes, which must be known to hold.
fn shape_assertion(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let Ok(holds) = scope.sizes(op, 0) else {
        let message = "the condition of `shape_assertion` depends on data: it is not known when the program is converted";
        let error = scope.error(op, Code::DynamicShape { message: message.to_owned() });
        return Err(error.with_help("compare constants and the sizes of arrays only"));
    };
    if holds.iter().all(|&holds| holds != 0) {
        return Ok(());
    }
    let mut message = scope.optional::<String>(op, "error_message")?.unwrap_or_default();
    for i in 1..op.operands.len() {
        let size = scope.sizes(op, i)?.first().map_or_else(String::new, i64::to_string);
        message = message.replace(&format!("{{{}}}", i - 1), &size);
    }
    Err(scope
        .error(op, Code::DynamicShape { message: format!("the shapes do not fit: {message}") }))
}
/// Converts a `reduce_window` whose window is given by operands: n arrays, n initial values, then
/// sizes, strides, dilations and padding.
fn dynamic_reduce_window(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let Some(n) = op.operands.len().checked_sub(5).filter(|n| n % 2 == 0) else {
        return Err(scope.malformed(op, "`stablehlo.dynamic_reduce_window` has too few operands"));
    };
    let operands: Vec<InstructionId> = scope.operands(op)?[..n].to_vec();
    let list = |i: usize| scope.sizes(op, n + i);
    let (sizes, strides, base, dilations) = (list(0)?, list(1)?, list(2)?, list(3)?);
    let padding = list(4)?;
    let rank = sizes.len();
    if [&strides, &base, &dilations].iter().any(|list| list.len() != rank)
        || padding.len() != 2 * rank
    {
        return Err(scope.malformed(op, "the lists of a window have different lengths"));
    }
    let dims = (0..rank).map(|i| hlo::op::value::WindowDim {
        stride: strides[i],
        lhs_dilation: base[i],
        rhs_dilation: dilations[i],
        pad_low: padding[2 * i],
        pad_high: padding[2 * i + 1],
        ..hlo::op::value::WindowDim::new(sizes[i])
    });
    let window = hlo::op::value::Window { dims: dims.collect() };
    let [name] = scope.required::<&[Attribute]>(op, "called_computations")? else {
        return Err(scope.malformed(op, "a window needs one called computation"));
    };
    let to_apply = called(scope, op, name)?;
    let id = scope.emit(op, hlo::op::ReduceWindow { window, to_apply }, &operands)?;
    scope.bind_all(op, id)
}
/// Converts an `rng_bit_generator` whose shape is given by an operand.
fn dynamic_rng_bit_generator(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let state = scope.operand(op, 0)?;
    let sizes = scope.sizes(op, 1)?;
    let algorithm = match scope.required::<EnumWord<'_>>(op, "rng_algorithm")?.0 {
        "DEFAULT" => hlo::op::value::RandomAlgorithm::Default,
        "THREE_FRY" => hlo::op::value::RandomAlgorithm::ThreeFry,
        _ => hlo::op::value::RandomAlgorithm::Philox,
    };
    let bits = scope.stated_array(op, 1)?.ty;
    let bits = hlo::ArrayShape::new(bits, hlo::Dims::from_vec(sizes));
    let shape = Shape::Tuple(vec![scope.shape(state).clone(), bits.into()]);
    let id = scope.emit_as(op, RngBitGenerator { algorithm }, &[state], shape)?;
    scope.bind_tuple(op, id)
}
/// Converts a `top_k` whose number of elements is an operand.
fn dynamic_top_k(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let x = scope.operand(op, 0)?;
    let k = scope.sizes(op, 1)?.first().copied().unwrap_or(0);
    chlo::top_k_of(scope, op, x, k)
}
