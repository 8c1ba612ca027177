//! Algebraic rewrites that compilers make everywhere: an instruction has the legal values of both
//! forms.
//!
//! | form | rewritten |
//! |---|---|
//! | `(x * c) * d`, `(x + c) + d` of constants | `x * (c * d)`, `x + (c + d)` |
//! | `a * b + a * c` | `a * (b + c)` |
//! | `(a / b) / c`, `a / (b / c)` | `a / (b * c)`, `(a * c) / b` |
//! | `a / sqrt(b)` | `a * rsqrt(b)` |
//! | `a / exp(b)` | `a * exp(-b)` |
//! | `exp(a) * exp(b)` | `exp(a + b)` |
//! | `power(x, n)` of 2, 3, 0.5, -0.5, -1 | products, roots, quotients |
//! | `log(exp(x))`, `log(power(a, b))` | `x`, `b * log(a)` |
//!
//! Source: XLA's algebraic simplifier.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops are not rewritten")]
use super::elementwise::{for_each_choice, real_binary, real_unary};
use super::evaluate::{Evaluator, Leaves};
use super::interval::Interval;
use super::range::Range;
use super::site::Site;
use hlo::ir::InstructionId;
use hlo::op::{Binary, Op, Unary};
use hlo::{ArrayShape, Class};
use std::convert::Infallible;

/// The values of the instructions of a computation so far.
pub(super) type Values<'a> = &'a dyn Fn(InstructionId) -> Option<&'a Leaves>;

/// Returns the legal values of an instruction of floats in another form; `None` if there is none.
pub(super) fn rewritten(ev: &Evaluator<'_>, site: Site<'_>, values: Values<'_>) -> Option<Range> {
    let shape = site.shape().ok().filter(|shape| shape.ty.class() == Class::Float)?;
    let form = Form { ev, site, values, shape };
    let [x, rest @ ..] = &*site.instruction().operands else { return None };
    let results = match (&site.instruction().op, rest) {
        (Op::Unary(Unary::Log), []) => form.log(*x),
        (Op::Binary(op), [y]) => form.binary(*op, *x, *y),
        _ => Vec::new(),
    };
    (!results.is_empty()).then(|| Range::any_of(&results))
}

/// An instruction in the computation that it is in.
struct Form<'a, 'e, 'm> {
    ev: &'e Evaluator<'m>,
    site: Site<'e>,
    values: Values<'a>,
    shape: ArrayShape,
}

impl Form<'_, '_, '_> {
    fn value(&self, id: InstructionId) -> Option<Range> {
        match (self.values)(id)?.as_slice() {
            [range] if range.shape().is_some_and(|s| s.dims == self.shape.dims) => {
                Some(range.clone())
            }
            _ => None,
        }
    }
    /// Returns the operands of an instruction, if it is this op of numbers of the same type.
    fn operands(&self, id: InstructionId, op: &Op) -> Option<Vec<InstructionId>> {
        let instruction = &self.site.computation.instructions[id];
        let same = instruction.op == *op && instruction.shape.element_type() == Some(self.shape.ty);
        same.then(|| instruction.operands.to_vec())
    }
    fn pair(&self, id: InstructionId, op: Binary) -> Option<[InstructionId; 2]> {
        self.operands(id, &op.into())?.try_into().ok()
    }
    fn of(&self, id: InstructionId, op: Unary) -> Option<InstructionId> {
        self.operands(id, &op.into())?.first().copied()
    }
    /// Returns whether a value is a constant, perhaps repeated.
    fn is_constant(&self, id: InstructionId) -> bool {
        let instruction = &self.site.computation.instructions[id];
        match &instruction.op {
            Op::Constant(_) => true,
            Op::Broadcast(_) | Op::Convert(_) | Op::Copy(_) | Op::Reshape(_) => {
                self.is_constant(instruction.operands[0])
            }
            _ => false,
        }
    }
    fn apply(&self, op: Binary, x: &Range, y: &Range) -> Range {
        self.computed(&[x, y], false, |operands| {
            real_binary(self.ev, op, &self.shape, operands, false)
        })
    }
    fn function(&self, op: Unary, x: &Range) -> Range {
        self.computed(&[x], false, |operands| real_unary(self.ev, op, &self.shape, operands[0]))
    }
    /// Returns the values of an op that may flush denormals of its operands and of its result.
    fn computed(&self, operands: &[&Range], same: bool, op: impl Fn(&[&Range]) -> Range) -> Range {
        let flushed = |range: &Range| range.flushed(self.shape.ty, self.ev.modes, true);
        let read: Vec<Range> =
            operands.iter().map(|&x| flushed(x).unwrap_or_else(|| x.clone())).collect();
        let read: Vec<&Range> = read.iter().collect();
        let range = for_each_choice(&read, same, |chosen| Ok::<_, Infallible>(op(chosen)));
        let Ok(range) = range;
        flushed(&range).unwrap_or(range)
    }
    /// Returns an op of three values: `outer(x, inner(y, z))`.
    fn nested(
        &self,
        outer: Binary,
        x: InstructionId,
        inner: Binary,
        y: InstructionId,
        z: InstructionId,
    ) -> Option<Range> {
        let [x, y, z] = [self.value(x)?, self.value(y)?, self.value(z)?];
        Some(self.apply(outer, &x, &self.apply(inner, &y, &z)))
    }

    fn log(&self, x: InstructionId) -> Vec<Range> {
        let inverse = self.of(x, Unary::Exponential).and_then(|x| self.value(x));
        let power = self.pair(x, Binary::Power).and_then(|[a, b]| {
            // XLA takes the logarithm of the magnitude.
            let magnitude = self.function(Unary::Abs, &self.value(a)?);
            let log = self.function(Unary::Log, &magnitude);
            Some(self.apply(Binary::Multiply, &self.value(b)?, &log))
        });
        [inverse, power].into_iter().flatten().collect()
    }

    fn binary(&self, op: Binary, x: InstructionId, y: InstructionId) -> Vec<Range> {
        let all = match op {
            Binary::Add | Binary::Subtract => vec![
                self.reassociated(op, x, y),
                self.reassociated(op, y, x),
                self.factored(op, x, y),
            ],
            Binary::Multiply => vec![
                self.reassociated(op, x, y),
                self.reassociated(op, y, x),
                self.exponentials(x, y),
            ],
            Binary::Divide => self.quotients(x, y),
            Binary::Power => vec![self.power(x, y)],
            _ => Vec::new(),
        };
        all.into_iter().flatten().collect()
    }

    /// Returns `a op (b op y)` for `(a op b) op y`, of which `b` and `y` are constants.
    fn reassociated(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        if op == Binary::Subtract || !self.is_constant(y) {
            return None;
        }
        let [a, b] = self.pair(x, op)?;
        match (self.is_constant(a), self.is_constant(b)) {
            (_, true) => self.nested(op, a, op, b, y),
            (true, _) => self.nested(op, b, op, a, y),
            (false, false) => None,
        }
    }
    /// Returns `a * (b + c)` for `a * b + a * c`.
    fn factored(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Range> {
        let ([a, b], [c, d]) = (self.pair(x, Binary::Multiply)?, self.pair(y, Binary::Multiply)?);
        let [factor, one, other] = [[a, b, c, d], [a, b, d, c], [b, a, c, d], [b, a, d, c]]
            .into_iter()
            .find_map(|[f, one, g, other]| (f == g).then_some([f, one, other]))?;
        self.nested(Binary::Multiply, factor, op, one, other)
    }
    fn exponentials(&self, x: InstructionId, y: InstructionId) -> Option<Range> {
        let [a, b] = [self.of(x, Unary::Exponential)?, self.of(y, Unary::Exponential)?];
        let sum = self.apply(Binary::Add, &self.value(a)?, &self.value(b)?);
        Some(self.function(Unary::Exponential, &sum))
    }
    fn quotients(&self, x: InstructionId, y: InstructionId) -> Vec<Option<Range>> {
        let times = |f: Unary, of: Option<Range>| {
            Some(self.apply(Binary::Multiply, &self.value(x)?, &self.function(f, &of?)))
        };
        let root = self.of(y, Unary::Sqrt).and_then(|b| self.value(b));
        let exponent = self.of(y, Unary::Exponential).and_then(|b| self.value(b));
        let exponent = exponent.map(|b| self.function(Unary::Negate, &b));
        let outer = self
            .pair(x, Binary::Divide)
            .and_then(|[a, b]| self.nested(Binary::Divide, a, Binary::Multiply, b, y));
        let inner = self.pair(y, Binary::Divide).and_then(|[b, c]| {
            let product = self.apply(Binary::Multiply, &self.value(x)?, &self.value(c)?);
            Some(self.apply(Binary::Divide, &product, &self.value(b)?))
        });
        vec![times(Unary::Rsqrt, root), times(Unary::Exponential, exponent), outer, inner]
    }
    /// Returns the power of the same constant for all elements as a product, root or quotient.
    fn power(&self, x: InstructionId, y: InstructionId) -> Option<Range> {
        let (base, exponent) = (self.value(x)?, self.value(y)?);
        let exponents: Vec<Interval> = exponent.intervals().collect();
        let first = *exponents.first()?;
        if !first.is_point() || !exponents.iter().all(|other| other.same(first)) {
            return None;
        }
        let square = || {
            self.computed(&[&base, &base], true, |operands| {
                real_binary(self.ev, Binary::Multiply, &self.shape, operands, true)
            })
        };
        let one = || {
            let ones = vec![Interval::point(1.0); exponents.len()];
            Range::given(&self.shape, &ones)
        };
        if first.lo == 2.0 {
            Some(square())
        } else if first.lo == 3.0 {
            Some(self.apply(Binary::Multiply, &square(), &base))
        } else if first.lo == 0.5 {
            Some(self.function(Unary::Sqrt, &base))
        } else if first.lo == -0.5 {
            Some(self.function(Unary::Rsqrt, &base))
        } else if first.lo == -1.0 {
            Some(self.apply(Binary::Divide, &one(), &base))
        } else {
            None
        }
    }
}
