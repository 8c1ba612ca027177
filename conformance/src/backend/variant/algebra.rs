//! Algebraic rewrites that compilers make: one op in place of two, quotients as products.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops are not rewritten")]
#![expect(clippy::float_cmp, reason = "exponents are these numbers or others")]
use super::edit::Edit;
use hlo::ir::InstructionId;
use hlo::literal::ConstantValue;
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Op};

/// A value of the original computation, which a rewrite computes.
type Form = Box<dyn Fn(&mut Edit<'_>) -> InstructionId>;

fn form(value: impl Fn(&mut Edit<'_>) -> InstructionId + 'static) -> Form {
    Box::new(value)
}

/// Rewrites an instruction as XLA's algebraic simplifier does, if it has another form.
pub(super) fn rewritten(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays().filter(|shape| shape.ty.is_float()) else { return false };
    let operands = edit.operands();
    let pattern = Pattern { edit, ty: shape.ty };
    let mut forms = match (&edit.instruction().op, operands.as_slice()) {
        (Op::Unary(Unary::Log), &[x]) => pattern.log(x),
        (Op::Binary(op), &[x, y]) => pattern.binary(*op, x, y),
        _ => Vec::new(),
    };
    if forms.is_empty() {
        return false;
    }
    let form = forms.swap_remove(edit.random.usize(..forms.len()));
    let value = form(edit);
    edit.set(value)
}

/// Computes a quotient as the product with the reciprocal.
pub(super) fn by_reciprocal(edit: &mut Edit<'_>) -> bool {
    let quotient = edit.instruction().op == Op::from(Binary::Divide);
    let Some(shape) = edit.arrays().filter(|shape| quotient && shape.ty.is_float()) else {
        return false;
    };
    // A value that is read twice is the same value, flushed or not.
    let [x, y] = edit.operands()[..] else { return false };
    if x == y || edit.ty(y) != shape.ty {
        return false;
    }
    let one = edit.filled(y, 1.0);
    let reciprocal = edit.binary(Binary::Divide, one, y);
    let product = edit.binary(Binary::Multiply, x, reciprocal);
    edit.set(product)
}

/// The original instructions around one.
struct Pattern<'a, 'e> {
    edit: &'a Edit<'e>,
    ty: ElementType,
}

impl Pattern<'_, '_> {
    /// Returns the operands of an instruction, if it was this op of numbers of the same type.
    fn operands(&self, id: InstructionId, op: &Op) -> Option<Vec<InstructionId>> {
        let instruction = self.edit.original.get(id)?;
        let same = instruction.op == *op && instruction.shape.element_type() == Some(self.ty);
        same.then(|| instruction.operands.to_vec())
    }
    fn pair(&self, id: InstructionId, op: Binary) -> Option<[InstructionId; 2]> {
        self.operands(id, &op.into())?.try_into().ok()
    }
    fn of(&self, id: InstructionId, op: Unary) -> Option<InstructionId> {
        self.operands(id, &op.into())?.first().copied()
    }
    fn is_constant(&self, id: InstructionId) -> bool {
        let Some(instruction) = self.edit.original.get(id) else { return false };
        match &instruction.op {
            Op::Constant(_) => true,
            Op::Broadcast(_) | Op::Convert(_) | Op::Copy(_) | Op::Reshape(_) => {
                self.is_constant(instruction.operands[0])
            }
            _ => false,
        }
    }
    /// Returns the number that all elements of a constant are.
    fn number(&self, id: InstructionId) -> Option<f64> {
        let instruction = self.edit.original.get(id)?;
        match &instruction.op {
            Op::Constant(constant) => match &*constant.value {
                ConstantValue::Literal(literal) if literal.len() == 1 => {
                    Some(literal.get(0).as_f64())
                }
                ConstantValue::Literal(_) | ConstantValue::Elided(_) => None,
            },
            Op::Broadcast(_) | Op::Copy(_) | Op::Reshape(_) => self.number(instruction.operands[0]),
            _ => None,
        }
    }

    fn log(&self, x: InstructionId) -> Vec<Form> {
        let inverse = self.of(x, Unary::Exponential).map(|x| form(move |_| x));
        let power = self.pair(x, Binary::Power).map(|[a, b]| {
            form(move |edit| {
                let magnitude = edit.unary(Unary::Abs, a);
                let log = edit.unary(Unary::Log, magnitude);
                edit.binary(Binary::Multiply, b, log)
            })
        });
        inverse.into_iter().chain(power).collect()
    }

    fn binary(&self, op: Binary, x: InstructionId, y: InstructionId) -> Vec<Form> {
        match op {
            Binary::Add => [self.reassociated(op, x, y), self.factored(op, x, y)]
                .into_iter()
                .flatten()
                .collect(),
            Binary::Subtract => self.factored(op, x, y).into_iter().collect(),
            Binary::Multiply => {
                [self.reassociated(op, x, y), self.reassociated(op, y, x), self.exponentials(x, y)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            Binary::Divide => self.quotients(x, y),
            Binary::Power => self.power(x, y).into_iter().collect(),
            _ => Vec::new(),
        }
    }
    /// Returns `a op (b op y)` for `(a op b) op y`, of which `b` and `y` are constants.
    fn reassociated(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Form> {
        let [a, b] = self.pair(x, op).filter(|_| self.is_constant(y))?;
        let [a, b] = match (self.is_constant(a), self.is_constant(b)) {
            (_, true) => [a, b],
            (true, _) => [b, a],
            (false, false) => return None,
        };
        Some(form(move |edit| {
            let constant = edit.binary(op, b, y);
            edit.binary(op, a, constant)
        }))
    }
    /// Returns `a * (b + c)` for `a * b + a * c`.
    fn factored(&self, op: Binary, x: InstructionId, y: InstructionId) -> Option<Form> {
        let ([a, b], [c, d]) = (self.pair(x, Binary::Multiply)?, self.pair(y, Binary::Multiply)?);
        let mut orders = [[a, b, c, d], [a, b, d, c], [b, a, c, d], [b, a, d, c]].into_iter();
        let [factor, one, other] =
            orders.find_map(|[f, one, g, other]| (f == g).then_some([f, one, other]))?;
        Some(form(move |edit| {
            let sum = edit.binary(op, one, other);
            edit.binary(Binary::Multiply, factor, sum)
        }))
    }
    /// Returns `exp(a + b)` for `exp(a) * exp(b)`.
    fn exponentials(&self, x: InstructionId, y: InstructionId) -> Option<Form> {
        let [a, b] = [self.of(x, Unary::Exponential)?, self.of(y, Unary::Exponential)?];
        Some(form(move |edit| {
            let sum = edit.binary(Binary::Add, a, b);
            edit.unary(Unary::Exponential, sum)
        }))
    }
    fn quotients(&self, x: InstructionId, y: InstructionId) -> Vec<Form> {
        let mut forms = Vec::new();
        if let Some(b) = self.of(y, Unary::Sqrt) {
            forms.push(form(move |edit| {
                let root = edit.unary(Unary::Rsqrt, b);
                edit.binary(Binary::Multiply, x, root)
            }));
        }
        if let Some(b) = self.of(y, Unary::Exponential) {
            forms.push(form(move |edit| {
                let negative = edit.unary(Unary::Negate, b);
                let exponential = edit.unary(Unary::Exponential, negative);
                edit.binary(Binary::Multiply, x, exponential)
            }));
        }
        if let Some([a, b]) = self.pair(x, Binary::Divide) {
            forms.push(form(move |edit| {
                let product = edit.binary(Binary::Multiply, b, y);
                edit.binary(Binary::Divide, a, product)
            }));
        }
        if let Some([b, c]) = self.pair(y, Binary::Divide) {
            forms.push(form(move |edit| {
                let product = edit.binary(Binary::Multiply, x, c);
                edit.binary(Binary::Divide, product, b)
            }));
        }
        forms
    }
    /// Returns a power of a constant as a product, root or quotient.
    fn power(&self, x: InstructionId, y: InstructionId) -> Option<Form> {
        let exponent = self.number(y)?;
        if ![2.0, 3.0, 0.5, -0.5, -1.0].contains(&exponent) {
            return None;
        }
        Some(form(move |edit| {
            if exponent == 0.5 {
                edit.unary(Unary::Sqrt, x)
            } else if exponent == -0.5 {
                edit.unary(Unary::Rsqrt, x)
            } else if exponent == -1.0 {
                let one = edit.filled(x, 1.0);
                edit.binary(Binary::Divide, one, x)
            } else {
                let square = edit.binary(Binary::Multiply, x, x);
                if exponent == 2.0 { square } else { edit.binary(Binary::Multiply, square, x) }
            }
        }))
    }
}
