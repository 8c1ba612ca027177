//! The interface of derivative rules, and the instruction that a rule is applied to.
use super::tangent::{Tangent, varies};
use crate::{Code, Error, Result, Value};
use hlo::{Op, Shape};

/// The derivatives of an op. The defaults are those of an op that is linear in its first operand
/// and has no others that vary.
pub(super) trait Derivative {
    /// Returns the tangent of the result from the tangents of the operands, of which at least one
    /// is not zero.
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        node.again_first(tangents)
    }
    /// Returns the cotangents of the operands from the cotangent of the result, which is not zero.
    /// Cotangents that [`Node::needs`] does not ask for may be zero.
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        match cotangent.array()? {
            Some(c) => self.vjp_array(node, c),
            None => Ok(node.zeros()),
        }
    }
    /// Returns [`Derivative::vjp`] of an op whose result is one array; the default applies the op
    /// to the cotangent.
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok(node.first_only(node.again(&[c])?))
    }
}

/// The derivative rule of an op.
pub(super) enum Rule<'a> {
    /// By its derivatives.
    By(&'a dyn Derivative),
    /// Its derivative is zero wherever it exists.
    Zero,
    /// It is not; the text says why.
    Refused(&'static str),
}
/// The table of rules. Sweeps take it as an argument, since some rules sweep over the computations
/// they call.
pub(super) type Rules = for<'a> fn(&'a Op) -> Rule<'a>;

/// An instruction of the computation that is differentiated.
#[derive(Debug, Clone)]
pub(super) struct Node<'b> {
    pub(super) result: Value<'b>,
    pub(super) op: Op,
    pub(super) operands: Vec<Value<'b>>,
    pub(super) rules: Rules,
    /// The operands whose cotangents are used.
    needed: Vec<bool>,
    /// The leaves of all operands whose cotangents are used.
    needed_leaves: Vec<bool>,
}

impl<'b> Node<'b> {
    /// Returns the instruction; derivatives flow through the operands for which `flows` is true.
    pub(super) fn on_path(
        result: Value<'b>,
        rules: Rules,
        flows: impl Fn(Value<'b>) -> Result<bool>,
    ) -> Result<Self> {
        let operands = result.operands()?;
        let needed = operands.iter().map(|&operand| flows(operand)).collect::<Result<_>>()?;
        let mut needed_leaves = Vec::new();
        for &operand in &operands {
            needed_leaves.extend(flowing_leaves(operand, &flows)?);
        }
        Ok(Self { result, op: result.op()?, operands, rules, needed, needed_leaves })
    }
    pub(super) fn operand(&self, i: usize) -> Result<Value<'b>> {
        self.operands.get(i).copied().ok_or_else(|| Code::Invalid {}.into())
    }
    /// Returns whether the cotangent of operand `i` is used.
    pub(super) fn needs(&self, i: usize) -> bool {
        self.needed.get(i).is_some_and(|&needed| needed)
    }
    /// Returns for each leaf of the operands whether its cotangent is used. Of an operand made by
    /// `tuple`, that is known element by element.
    pub(super) fn needed_leaves(&self) -> Vec<bool> {
        self.needed_leaves.clone()
    }
    pub(super) fn any_needed(&self) -> bool {
        self.needed.contains(&true)
    }
    /// Emits the same op on other operands, with the same result shape: the effect of a linear op
    /// on a tangent.
    pub(super) fn again(&self, operands: &[Value<'b>]) -> Result<Value<'b>> {
        self.result.builder().emit(self.op.clone(), operands, Some(self.result.shape()?))
    }
    /// Emits the same op on the tangent of the first operand and the other operands themselves.
    pub(super) fn again_first(&self, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        let rest = self.operands.get(1..).unwrap_or_default();
        Ok(Tangent::Array(self.again(&[&[t], rest].concat())?))
    }
    /// Emits the same op on the tangents of all operands.
    pub(super) fn again_all(&self, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        Ok(Tangent::Array(self.again(&self.filled(tangents)?)?))
    }
    /// Returns the tangents of all operands as values, with zeros where nothing flows.
    pub(super) fn filled(&self, tangents: &[Tangent<'b>]) -> Result<Vec<Value<'b>>> {
        tangents.iter().zip(&self.operands).map(|(t, &operand)| t.filled(operand)).collect()
    }
    /// Returns the error of an op without a derivative rule.
    pub(super) fn refused(&self, why: &str) -> Error {
        let message = format!("`{}` {why}", self.op.opcode());
        at_op(Error::from(Code::NotDifferentiable { message }), self.result, None)
    }
    /// Returns zero for every operand.
    pub(super) fn zeros(&self) -> Vec<Tangent<'b>> {
        vec![Tangent::Zero; self.operands.len()]
    }
    /// Returns the cotangents of all operands where only the first has one.
    pub(super) fn first_only(&self, cotangent: Value<'b>) -> Vec<Tangent<'b>> {
        let mut cotangents = self.zeros();
        if let Some(first) = cotangents.first_mut() {
            *first = Tangent::Array(cotangent);
        }
        cotangents
    }
    /// Returns the cotangents that `make` computes for the needed operands, and zero for the
    /// others.
    pub(super) fn each_needed(
        &self,
        mut make: impl FnMut(usize) -> Result<Value<'b>>,
    ) -> Result<Vec<Tangent<'b>>> {
        let of = |i| if self.needs(i) { make(i).map(Tangent::Array) } else { Ok(Tangent::Zero) };
        (0..self.operands.len()).map(of).collect()
    }
}

/// Returns the tangent of the first operand.
pub(super) fn first<'b>(tangents: &[Tangent<'b>]) -> Result<Option<Value<'b>>> {
    tangents.first().map_or(Ok(None), Tangent::array)
}

/// Returns for each leaf of a value whether derivatives flow through it.
fn flowing_leaves<'b>(
    value: Value<'b>,
    flows: &impl Fn(Value<'b>) -> Result<bool>,
) -> Result<Vec<bool>> {
    let shape = value.shape()?;
    if shape.tuple().is_some() && value.opcode()? == hlo::Opcode::Tuple {
        let elements = value.operands()?.into_iter().map(|element| flowing_leaves(element, flows));
        return Ok(elements.collect::<Result<Vec<_>>>()?.concat());
    }
    let all = flows(value)?;
    Ok(shape.leaves().into_iter().map(|leaf: &Shape| all && varies(leaf)).collect())
}

/// Places an error at the line of an instruction; the help names the line that asks for the
/// derivative.
pub(super) fn at_op(error: Error, op: Value<'_>, help: Option<&str>) -> Error {
    let state = op.builder().state.borrow();
    let made = op
        .mark()
        .zip(op.id())
        .and_then(|(mark, id)| state.marked(mark)?.callers.get(id.index()).copied());
    let asked = state.call.map(|(caller, _)| caller).filter(|&caller| Some(caller) != made);
    let asked = asked.map(|caller| format!("the derivative is requested at {caller}"));
    let lines: Vec<&str> = asked.as_deref().into_iter().chain(help).collect();
    let error = if lines.is_empty() { error } else { error.with_help(lines.join("; ")) };
    match made {
        Some(line) => error.at(line),
        None => error,
    }
}
