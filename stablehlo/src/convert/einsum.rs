//! `einsum`, `unary_einsum`: sums of products by labels of dimensions, `ab,bc->ac`.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::ir::InstructionId;
use hlo::op::{Binary, Dot, Reduce, Transpose};

/// Converts `stablehlo.einsum`.
pub(crate) fn einsum(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let (inputs, output) = labels(scope, op)?;
    let [left, right] = inputs.as_slice() else {
        return Err(scope.malformed(op, "`stablehlo.einsum` needs labels for two operands"));
    };
    let used = |label: &char, other: &[char]| other.contains(label) || output.contains(label);
    let (x, left) = sum_out(scope, op, operands[0], left, |label| used(label, right))?;
    let (y, right) = sum_out(scope, op, operands[1], right, |label| used(label, &left))?;
    let places = |labels: &[char], wanted: &[char]| -> Vec<i64> {
        let place = |label: &char| (0i64..).zip(labels).find(|(_, l)| *l == label).map(|(i, _)| i);
        wanted.iter().filter_map(place).collect()
    };
    let shared: Vec<char> = left.iter().copied().filter(|label| right.contains(label)).collect();
    let (batch, contracted): (Vec<char>, Vec<char>) =
        shared.iter().partition(|label| output.contains(label));
    let made = Dot {
        lhs_batch_dims: places(&left, &batch),
        lhs_contracting_dims: places(&left, &contracted),
        rhs_batch_dims: places(&right, &batch),
        rhs_contracting_dims: places(&right, &contracted),
        operand_precision: super::product::precision(scope, op)?,
        ..Dot::default()
    };
    let free = left.iter().chain(&right).copied().filter(|label| !shared.contains(label));
    let found: Vec<char> = batch.iter().copied().chain(free).collect();
    let id = scope.emit(op, made, &[x, y])?;
    let id = ordered(scope, op, id, &found, &output)?;
    scope.bind(op, id)
}

/// Converts `stablehlo.unary_einsum`.
pub(crate) fn unary_einsum(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let (inputs, output) = labels(scope, op)?;
    let [labels] = inputs.as_slice() else {
        return Err(scope.malformed(op, "`stablehlo.unary_einsum` needs labels for one operand"));
    };
    let (x, found) = sum_out(scope, op, x, labels, |label| output.contains(label))?;
    let id = ordered(scope, op, x, &found, &output)?;
    scope.bind(op, id)
}

/// Returns the labels of the operands and of the result.
fn labels(scope: &Scope<'_, '_>, op: &Op) -> Result<(Vec<Vec<char>>, Vec<char>)> {
    let config: String = scope.required(op, "einsum_config")?;
    let letters = |part: &str| -> Option<Vec<char>> {
        let labels: Vec<char> = part.trim().chars().collect();
        let distinct = (1..labels.len()).all(|i| !labels[..i].contains(&labels[i]));
        (distinct && labels.iter().all(char::is_ascii_alphabetic)).then_some(labels)
    };
    let parsed = config.split_once("->").and_then(|(inputs, output)| {
        Some((inputs.split(',').map(letters).collect::<Option<_>>()?, letters(output)?))
    });
    parsed.ok_or_else(|| {
        let message =
            format!("`{config}` is not a sum of products with one letter for each dimension");
        scope.unsupported(op, message).with_help("write distinct letters, as in `ab,bc->ac`")
    })
}

/// Sums over the dimensions whose label is not kept.
fn sum_out(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    x: InstructionId,
    labels: &[char],
    keep: impl Fn(&char) -> bool,
) -> Result<(InstructionId, Vec<char>)> {
    let shape = scope.array(op, x)?;
    if shape.rank() != labels.len() {
        let message = format!("{shape:#} has {} labels, expected {}", labels.len(), shape.rank());
        return Err(scope.malformed(op, message));
    }
    let numbered = || (0i64..).zip(labels);
    let dimensions: Vec<i64> =
        numbered().filter(|(_, label)| !keep(label)).map(|(dim, _)| dim).collect();
    if dimensions.is_empty() {
        return Ok((x, labels.to_vec()));
    }
    let zero = scope.full(op, &hlo::ArrayShape::new(shape.ty, hlo::Dims::new()), 0.0)?;
    let to_apply = scope.binary(op, Binary::Add, shape.ty)?;
    let id = scope.emit(op, Reduce { dimensions, to_apply }, &[x, zero])?;
    Ok((id, labels.iter().copied().filter(keep).collect()))
}

/// Transposes to the order of the result.
fn ordered(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    x: InstructionId,
    found: &[char],
    wanted: &[char],
) -> Result<InstructionId> {
    let place = |label: &char| (0i64..).zip(found).find(|(_, l)| *l == label).map(|(i, _)| i);
    let dimensions = wanted.iter().map(place).collect::<Option<Vec<_>>>();
    match dimensions.filter(|dimensions| dimensions.len() == found.len()) {
        Some(dimensions) if dimensions.is_sorted() => Ok(x),
        Some(dimensions) => scope.emit(op, Transpose { dimensions }, &[x]),
        None => Err(scope.malformed(op, "a label of the result is not one of an operand")),
    }
}
