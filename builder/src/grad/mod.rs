//! Differentiation: tangents pushed forward, cotangents pulled back, through the instructions of one computation.
//!
//! Each op has two rules. [`push`] gives the tangent of its result from those of its operands; [`pull`] gives the cotangents
//! of its operands from that of its result. The two are transposes of each other, which is how they are tested:
//! `<push(t), c> = <t, pull(c)>`. New instructions go where the others are, so that derivatives of derivatives need nothing
//! of their own; called computations get derivative computations.
//!
//! Complex numbers: functions are differentiated as holomorphic ones, and the gradient of a real function of `z = x + iy`
//! is `df/dx - i df/dy`, as JAX has it.
mod elementwise;
mod node;
mod rules;
mod tangent;

pub(crate) use node::Node;
pub(crate) use tangent::Tangent;

use crate::{Builder, Code, Error, Result, Value};
use hlo::ir::InstructionId;
use hlo::{Id, Literal};

impl Builder {
    /// The gradient of a scalar by each of `wrt`, shaped like them: reverse mode.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[3]", "x");
    /// let loss = (x * x).reduce(0.0, |a, c| a + c, &[0]);
    /// let gradient = b.grad(loss, &[x]);
    /// let module = b.build(gradient[0])?;
    /// let result = interp::Interpreter::new(&module).run(&["f32[3] {1, 2, 3}".parse()?])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {2, 4, 6}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the output is no real scalar; as [`Builder::vjp`].
    #[track_caller]
    pub fn grad<'b>(&'b self, output: Value<'b>, wrt: &[Value<'b>]) -> Vec<Value<'b>> {
        self.record_or(vec![Value::invalid(self); wrt.len()], |b| {
            let shape = output.array()?;
            if shape.rank() != 0 || !shape.ty.is_float() {
                let message = format!("`grad` differentiates a real scalar, this is {shape:#}");
                return Err(Error::argument(message)
                    .with_help("reduce it to a scalar, or use `vjp` with a cotangent"));
            }
            let one = Literal::scalar(shape.ty, hlo::Scalar::Float(1.0));
            let one = b.make_constant(one)?;
            connected(&pullback(b, output, wrt, Tangent::Array(one))?, output, wrt)
        })
    }
    /// The cotangents of `wrt` from that of `output`: the vector-Jacobian product, reverse mode.
    ///
    /// # Errors
    /// Kept by the builder: `E0808` if an op on the way has no derivative; `E0809` if the output does not depend on one of
    /// `wrt`.
    #[track_caller]
    pub fn vjp<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        cotangent: Value<'b>,
    ) -> Vec<Value<'b>> {
        self.record_or(vec![Value::invalid(self); wrt.len()], |b| {
            let cotangent = seed(output, cotangent)?;
            connected(&pullback(b, output, wrt, cotangent)?, output, wrt)
        })
    }
    /// The tangent of `output` from those of `wrt`: the Jacobian-vector product, forward mode.
    ///
    /// # Errors
    /// As [`Builder::vjp`].
    #[track_caller]
    pub fn jvp<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        tangents: &[Value<'b>],
    ) -> Value<'b> {
        self.record(|b| {
            if wrt.len() != tangents.len() {
                let message = format!("{} values have {} tangents", wrt.len(), tangents.len());
                return Err(Error::argument(message));
            }
            let seeds: Result<Vec<_>> =
                wrt.iter().zip(tangents).map(|(&value, &tangent)| seed(value, tangent)).collect();
            let tangent = pushforward(b, output, wrt, &seeds?)?;
            if tangent.is_zero() {
                return Err(unconnected(output, wrt.first().copied().unwrap_or(output)));
            }
            tangent.filled(output)
        })
    }
}

/// A tangent given by the user, which must be shaped like its value.
fn seed<'b>(value: Value<'b>, tangent: Value<'b>) -> Result<Tangent<'b>> {
    let (wanted, found) = (value.shape()?, tangent.shape()?);
    if !wanted.compatible(&found) {
        let message = format!("the tangent of {wanted:#} is given as {found:#}");
        return Err(Error::argument(message).with_help("a tangent has the shape of its value"));
    }
    Tangent::of(tangent)
}

/// The cotangents as values; an error for one that is zero because nothing connects it with the output.
fn connected<'b>(
    cotangents: &[Tangent<'b>],
    output: Value<'b>,
    wrt: &[Value<'b>],
) -> Result<Vec<Value<'b>>> {
    cotangents
        .iter()
        .zip(wrt)
        .map(|(cotangent, &value)| match cotangent.is_zero() {
            true => Err(unconnected(output, value)),
            false => cotangent.filled(value),
        })
        .collect()
}

/// Why no derivative of `output` by `input` flows.
fn unconnected(output: Value<'_>, input: Value<'_>) -> Error {
    rules::why_zero(output, input).unwrap_or_else(|error| error)
}

/// The instructions between, in order: those that `wrt` leads to, up to `output`.
fn active<'b>(b: &'b Builder, output: Value<'b>, wrt: &[Value<'b>]) -> Result<Vec<Value<'b>>> {
    wrt.iter().chain([&output]).try_for_each(|&value| b.owns(value))?;
    let last = output.id().ok_or(Code::Invalid {})?;
    let state = b.state.borrow();
    let open = state.open.last().ok_or(Code::Invalid {})?;
    let mut reached = vec![false; last.index() + 1];
    for value in wrt {
        let at = value.id().ok_or(Code::Invalid {})?;
        if let Some(slot) = reached.get_mut(at.index()) {
            *slot = true;
        }
    }
    let mut found = Vec::new();
    for (id, instruction) in open.instructions.iter().take(reached.len()) {
        let led = instruction.operands.iter().any(|operand| reached[operand.index()]);
        if led {
            reached[id.index()] = true;
        }
        if reached[id.index()] {
            found.push(Value::new(b, open.mark, id));
        }
    }
    Ok(found)
}

fn index(id: Option<InstructionId>) -> Result<usize> {
    id.map(Id::index).ok_or(Code::Invalid {}.into())
}

/// Cotangents of `wrt` from that of `output`.
pub(crate) fn pullback<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    cotangent: Tangent<'b>,
) -> Result<Vec<Tangent<'b>>> {
    let nodes = active(b, output, wrt)?;
    let mut cotangents = vec![Tangent::Zero; index(output.id())? + 1];
    cotangents[index(output.id())?] = cotangent;
    let inputs: Result<Vec<usize>> = wrt.iter().map(|value| index(value.id())).collect();
    let inputs = inputs?;
    let is_active: rustc_hash::FxHashSet<usize> =
        nodes.iter().map(|node| index(node.id())).collect::<Result<_>>()?;
    for value in nodes.into_iter().rev() {
        let at = index(value.id())?;
        if cotangents[at].is_zero() || inputs.contains(&at) {
            continue;
        }
        let node = Node::of(value)?;
        let pulled = rules::pull(&node, &cotangents[at].clone())?;
        for (operand, cotangent) in node.operands.iter().zip(pulled) {
            let to = index(operand.id())?;
            if is_active.contains(&to) {
                let so_far = std::mem::replace(&mut cotangents[to], Tangent::Zero);
                cotangents[to] = so_far.plus(cotangent)?;
            }
        }
    }
    Ok(inputs.into_iter().map(|at| cotangents.get(at).cloned().unwrap_or(Tangent::Zero)).collect())
}

/// The tangent of `output` from those of `wrt`.
pub(crate) fn pushforward<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    seeds: &[Tangent<'b>],
) -> Result<Tangent<'b>> {
    let nodes = active(b, output, wrt)?;
    let mut tangents = vec![Tangent::Zero; index(output.id())? + 1];
    let mut inputs = Vec::new();
    for (value, seed) in wrt.iter().zip(seeds) {
        let at = index(value.id())?;
        inputs.push(at);
        if let Some(slot) = tangents.get_mut(at) {
            *slot = seed.clone();
        }
    }
    for value in nodes {
        let at = index(value.id())?;
        if inputs.contains(&at) {
            continue;
        }
        let node = Node::of(value)?;
        let given: Result<Vec<_>> = node
            .operands
            .iter()
            .map(|operand| Ok(tangents[index(operand.id())?].clone()))
            .collect();
        tangents[at] = rules::push(&node, &given?)?;
    }
    Ok(tangents.pop().unwrap_or(Tangent::Zero))
}
