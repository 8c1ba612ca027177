//! The error of a derivative that is zero everywhere.
use super::node::{Rule, at_op};
use super::rules::rule_of;
use super::sweep;
use super::tangent::varies;
use crate::{Code, Error, Result, Value};

/// Returns the error of an output whose derivative with respect to an input is zero: `E0809` if the
/// output does not depend on the input, `E0808` with the op that blocks the derivative if it does.
pub(super) fn error(output: Value<'_>, input: Value<'_>) -> Result<Error> {
    let (of, by) = (named(output)?, named(input)?);
    let help = "leave it out, or ask for zeros: `GradOptions { disconnected: Disconnected::Zero }`";
    let Some(op) = obstacle(output, input)? else {
        let message = format!("{of} does not depend on {by}");
        return Ok(Error::from(Code::Disconnected { message }).with_help(help));
    };
    let opcode = op.opcode()?;
    let why = match matches!(rule_of(&op.op()?), Rule::Zero) || varies(&op.shape()?) {
        true => "whose derivative is zero wherever it exists".to_owned(),
        false => format!("which gives {:#}", op.shape()?),
    };
    let message = format!("{of} depends on {by} only through `{opcode}`, {why}");
    let error = Error::from(Code::NotDifferentiable { message });
    Ok(at_op(error, op, Some(help)))
}

/// Returns the first instruction that depends on the input, and whose derivative with respect to it
/// is zero.
fn obstacle<'b>(output: Value<'b>, input: Value<'b>) -> Result<Option<Value<'b>>> {
    let b = output.builder();
    let (last, from) = (sweep::index(output)?, sweep::index(input)?);
    let live = sweep::live(b, rule_of, last + 1, &[from])?;
    let state = b.state.borrow();
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let leads = open.reached(output.id().ok_or(Code::Invalid {})?, |_| false);
    let stops = open.instructions.iter().take(last + 1).find(|(id, instruction)| {
        let led = instruction.operands.iter().any(|operand| live[operand.index()]);
        leads[id.index()] && led && !live[id.index()]
    });
    Ok(stops.map(|(id, _)| Value::new(b, open.mark, id)))
}

/// Returns the name and shape of a value: `` `x` (f32[3]) ``
fn named(value: Value<'_>) -> Result<String> {
    let name = value.name()?;
    Ok(format!("`{name}` ({:#})", value.shape()?))
}
