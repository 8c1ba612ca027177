//! Why a derivative is zero.
use super::{rules, sweep, tangent};
use crate::{Code, Error, Result, Value};

/// The error of an output whose derivative by an input is zero: `E0809` if nothing leads from one to the other, `E0808` with
/// the op that is in the way if something does.
pub(super) fn zero(output: Value<'_>, input: Value<'_>) -> Result<Error> {
    let (of, by) = (named(output)?, named(input)?);
    let help = "leave it out, or ask for zeros: `GradOptions { disconnected: Disconnected::Zero }`";
    let Some(op) = obstacle(output, input)? else {
        let message = format!("{of} does not depend on {by}");
        return Ok(Error::from(Code::Disconnected { message }).with_help(help));
    };
    let opcode = op.opcode()?;
    let why = match rules::is_flat(&op.op()?) || tangent::varies(&op.shape()?) {
        true => "whose derivative is zero wherever it has one".to_owned(),
        false => format!("which gives {:#}", op.shape()?),
    };
    let message = format!("{of} depends on {by} only through `{opcode}`, {why}");
    let error = Error::from(Code::NotDifferentiable { message });
    Ok(at_op(error, op, Some(help)))
}

/// The first instruction that takes what varies with the input and does not give on how.
fn obstacle<'b>(output: Value<'b>, input: Value<'b>) -> Result<Option<Value<'b>>> {
    let b = output.builder();
    let (last, from) = (sweep::index(output)?, sweep::index(input)?);
    let live = sweep::live(b, last + 1, &[from])?;
    let state = b.state.borrow();
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let mut leads = vec![false; last + 1];
    leads[last] = true;
    for (id, instruction) in open.instructions.iter().take(last + 1).rev() {
        if leads[id.index()] {
            instruction.operands.iter().for_each(|operand| leads[operand.index()] = true);
        }
    }
    let stops = open.instructions.iter().take(last + 1).find(|(id, instruction)| {
        let led = instruction.operands.iter().any(|operand| live[operand.index()]);
        leads[id.index()] && led && !live[id.index()]
    });
    Ok(stops.map(|(id, _)| Value::new(b, open.mark, id)))
}

/// `` `x` (f32[3]) ``
fn named(value: Value<'_>) -> Result<String> {
    let name = value.name()?;
    Ok(format!("`{name}` ({:#})", value.shape()?))
}

/// The error at the line of an instruction; the help names the line that asks for the derivative.
pub(super) fn at_op(error: Error, op: Value<'_>, help: Option<&str>) -> Error {
    let state = op.builder().state.borrow();
    let made = op
        .mark()
        .zip(op.id())
        .and_then(|(mark, id)| state.marked(mark)?.callers.get(id.index()).copied());
    let asked = state.call.map(|(caller, _)| caller).filter(|&caller| Some(caller) != made);
    let asked = asked.map(|caller| format!("the derivative is asked for at {caller}"));
    let lines: Vec<&str> = asked.as_deref().into_iter().chain(help).collect();
    let error = match lines.is_empty() {
        true => error,
        false => error.with_help(lines.join("; ")),
    };
    match made {
        Some(line) => error.at(line),
        None => error,
    }
}
