//! Elementwise ops: those of the table, and those with attributes.
use super::generator::Generator;
use super::scope::{ArrayOperand, Scope};
use hlo::op::Arity;
use hlo::{ArrayShape, Class, ElementType, Opcode};

impl Generator {
    /// Adds an elementwise op, as its row describes it.
    pub(super) fn elementwise(&mut self, scope: &mut Scope, op: Opcode) -> Option<()> {
        let types = op.types()?;
        let fits = |ty: ElementType| types.contains(ty) && op.result_type(ty).is_some();
        let first = self.operand(scope, fits, 0)?;
        self.elementwise_of(scope, op, first).map(drop)
    }
    fn elementwise_of(
        &mut self,
        scope: &mut Scope,
        op: Opcode,
        first: ArrayOperand,
    ) -> Option<String> {
        let result = first.shape.with_type(op.result_type(first.shape.ty)?);
        let count = match op.arity() {
            Arity::Fixed(count) => count,
            Arity::Any => 1,
        };
        let mut names = vec![first.name];
        for _ in 1..count {
            names.push(self.array(scope, &first.shape));
        }
        self.rng.shuffle(&mut names);
        Some(self.push(scope, result, &format!("{op}({})", names.join(", "))))
    }
    /// Returns an array of this shape that is computed from others, if that is easy.
    pub(super) fn derive(&mut self, scope: &mut Scope, shape: &ArrayShape) -> Option<String> {
        match self.pick(4) {
            0 => self.converted(scope, shape),
            1 if shape.rank() > 0 => {
                let fits = |a: &ArrayShape| a.ty == shape.ty && a.rank() == 0;
                let scalar = self.existing(scope, fits)?;
                let text = format!("broadcast({}), dimensions={{}}", scalar.name);
                Some(self.push(scope, shape.clone(), &text))
            }
            2 if shape.rank() > 0 => {
                let count = shape.element_count();
                let fits = |a: &ArrayShape| a.ty == shape.ty && a.element_count() == count;
                let other = self.existing(scope, fits)?;
                Some(self.push(scope, shape.clone(), &format!("reshape({})", other.name)))
            }
            _ => {
                let op = self.config.ops[self.rng.usize(..self.config.ops.len())].0;
                op.types().filter(|types| types.contains(shape.ty))?;
                (op.result_type(shape.ty)? == shape.ty).then_some(())?;
                let first = ArrayOperand { name: self.array(scope, shape), shape: shape.clone() };
                self.elementwise_of(scope, op, first)
            }
        }
    }
    fn converted(&mut self, scope: &mut Scope, shape: &ArrayShape) -> Option<String> {
        let other = self.existing(scope, |a| a.dims == shape.dims && a.ty != shape.ty)?;
        Some(self.push(scope, shape.clone(), &format!("convert({})", other.name)))
    }

    pub(super) fn compare(&mut self, scope: &mut Scope) -> Option<()> {
        let portable = self.config.portable;
        let lhs = self.operand(scope, |ty| !(portable && ty.is_complex()), 0)?;
        let rhs = self.array(scope, &lhs.shape);
        let direction = self.choose(&["EQ", "NE", "LT", "LE", "GT", "GE"]);
        let total = lhs.shape.ty.is_float() && self.chance(4);
        let order = if total { ", type=TOTALORDER" } else { "" };
        let text = format!("compare({}, {rhs}), direction={direction}{order}", lhs.name);
        self.push(scope, lhs.shape.with_type(ElementType::Pred), &text);
        Some(())
    }
    pub(super) fn select(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |_| true, 0)?;
        let y = self.array(scope, &x.shape);
        let dims: &[i64] = if self.chance(4) { &[] } else { &x.shape.dims };
        let pred = self.array_of(scope, ElementType::Pred, dims).name;
        self.push(scope, x.shape, &format!("select({pred}, {}, {y})", x.name));
        Some(())
    }
    pub(super) fn clamp(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |ty| !ty.is_complex() && ty != ElementType::Pred, 0)?;
        let dims: &[i64] = if self.rng.bool() { &[] } else { &x.shape.dims };
        let bound = ArrayShape::new(x.shape.ty, dims);
        let (low, high) = (self.array(scope, &bound), self.array(scope, &bound));
        self.push(scope, x.shape, &format!("clamp({low}, {}, {high})", x.name));
        Some(())
    }
    pub(super) fn convert(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |_| true, 0)?;
        let to = self.ty(|ty| ty != x.shape.ty)?;
        self.push(scope, x.shape.with_type(to), &format!("convert({})", x.name));
        Some(())
    }
    pub(super) fn reduce_precision(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, ElementType::is_float, 0)?;
        let (exponent, mantissa) = (self.rng.u8(1..=8), self.rng.u8(0..=12));
        let text = format!(
            "reduce-precision({}), exponent_bits={exponent}, mantissa_bits={mantissa}",
            x.name
        );
        self.push(scope, x.shape, &text);
        Some(())
    }
    pub(super) fn stochastic_convert(&mut self, scope: &mut Scope) -> Option<()> {
        let bits = |ty: ElementType| {
            let same = |other: &&ElementType| {
                other.class() == Class::Unsigned && other.bits() == ty.bits()
            };
            ElementType::ALL.iter().find(same).copied().filter(|_| ty.is_float())
        };
        let x = self.operand(scope, |ty| bits(ty).is_some() && ty.bits() >= 16, 0)?;
        let random = self.array(scope, &x.shape.with_type(bits(x.shape.ty)?));
        let to = self.ty(|ty| ty.class() == Class::Signed)?;
        let text = format!("stochastic-convert({}, {random})", x.name);
        self.push(scope, x.shape.with_type(to), &text);
        Some(())
    }
}
