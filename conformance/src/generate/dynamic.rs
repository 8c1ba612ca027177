//! Arrays smaller than their bounds. Sizes are values, so that two arrays of one shape may differ
//! in them: each inserter follows one array, and its results are only returned.
use super::data::Domain;
use super::generator::Generator;
use super::generator::list;
use super::scope::Scope;
use hlo::op::DynamicRule;
use hlo::{ArrayShape, ElementType, Opcode, Shape};

impl Generator {
    /// Returns a scalar from 0 to `most`.
    fn size_value(&mut self, scope: &mut Scope, most: i64) -> String {
        let scalar = ArrayShape::new(ElementType::S32, [].as_slice());
        self.leaf(scope, &scalar, &Domain::Sizes(most))
    }
    /// Sets sizes of an array, computes with it, and reads a size.
    pub(super) fn set_dimension_size(&mut self, scope: &mut Scope) -> Option<()> {
        (scope.depth == 0).then_some(())?;
        let x = self.operand(scope, |_| true, 1)?;
        let (mut shape, mut name) = (x.shape.clone(), x.name);
        for at in 0..=self.pick(shape.rank()) {
            let size = self.size_value(scope, shape.dims[at]);
            let mut flags: Vec<bool> = (0..shape.rank()).map(|d| shape.is_dynamic(d)).collect();
            flags[at] = true;
            shape.dynamic = Some(flags.into());
            let text = format!("set-dimension-size({name}, {size}), dimensions={{{at}}}");
            name = self.push_hidden(scope, &shape.clone().into(), &text);
        }
        for _ in 0..=self.pick(3) {
            (name, shape) = self.step(scope, &name, shape);
        }
        if self.rng.bool() && shape.rank() > 0 {
            let at = self.pick(shape.rank());
            let text = format!("get-dimension-size({name}), dimensions={{{at}}}");
            self.push(scope, Shape::scalar(ElementType::S32), &text);
        }
        self.end(scope, &name, shape);
        Some(())
    }
    /// Returns an array of a dynamic shape; in a portable module a reduction of it, since backends
    /// return sizes in their own ways.
    fn end(&mut self, scope: &mut Scope, name: &str, shape: ArrayShape) {
        if shape.dynamic.is_none() || !self.config.portable {
            self.push_closed(scope, shape, &format!("copy({name})"));
            return;
        }
        let all = (0..shape.rank()).collect();
        let (text, shape) = self.reduced(scope, name, &shape, all);
        self.push_closed(scope, shape, &text);
    }
    /// Adds an op on an array of a dynamic shape.
    fn step(&mut self, scope: &mut Scope, name: &str, shape: ArrayShape) -> (String, ArrayShape) {
        let fits = |op: &&Opcode| op.types().is_some_and(|types| types.contains(shape.ty));
        let ops: Vec<Opcode> = self.config.ops.iter().map(|(op, _)| *op).collect();
        let ops: Vec<&Opcode> = ops.iter().filter(fits).collect();
        let (text, shape) = match self.pick(6) {
            0 => self.reversed(name, shape),
            1 => self.transposed(name, &shape),
            2 => (format!("convert({name})"), shape.with_type(ElementType::F32)),
            3 => {
                let some = self.some_of(shape.rank());
                self.reduced(scope, name, &shape, some)
            }
            _ if !ops.is_empty() => {
                let op = *ops[self.pick(ops.len())];
                let operands = match op.arity() {
                    hlo::op::Arity::Fixed(2) => format!("{name}, {name}"),
                    hlo::op::Arity::Fixed(_) | hlo::op::Arity::Any => name.to_owned(),
                };
                debug_assert_eq!(op.dynamic_rule(), DynamicRule::Elementwise);
                match op.result_type(shape.ty) {
                    Some(ty) => (format!("{op}({operands})"), shape.with_type(ty)),
                    None => (format!("copy({name})"), shape),
                }
            }
            _ => (format!("copy({name})"), shape),
        };
        (self.push_hidden(scope, &shape.clone().into(), &text), shape)
    }
    fn reversed(&mut self, name: &str, shape: ArrayShape) -> (String, ArrayShape) {
        let dims = self.some_of(shape.rank());
        (format!("reverse({name}), dimensions={}", list(dims)), shape)
    }
    fn transposed(&mut self, name: &str, shape: &ArrayShape) -> (String, ArrayShape) {
        let order = self.order(shape.rank());
        let dims: Vec<i64> = order.iter().map(|&d| shape.dims[d]).collect();
        let dynamic: Vec<bool> = order.iter().map(|&d| shape.is_dynamic(d)).collect();
        let text = format!("transpose({name}), dimensions={}", list(order));
        (text, with_dynamic(shape.ty, &dims, dynamic))
    }
    fn reduced(
        &mut self,
        scope: &mut Scope,
        name: &str,
        shape: &ArrayShape,
        reduced: Vec<usize>,
    ) -> (String, ArrayShape) {
        let ty = shape.ty;
        let reducer = self.reducer(ty);
        let initial = self.initial(scope, &reducer, ty);
        let kept: Vec<usize> = (0..shape.rank()).filter(|d| !reduced.contains(d)).collect();
        let dims: Vec<i64> = kept.iter().map(|&d| shape.dims[d]).collect();
        let dynamic = kept.iter().map(|&d| shape.is_dynamic(d)).collect();
        let reduced = list(reduced);
        let text =
            format!("reduce({name}, {initial}), dimensions={reduced}, to_apply={}", reducer.name);
        (text, with_dynamic(ty, &dims, dynamic))
    }
    /// A reshape whose sizes are values.
    pub(super) fn dynamic_reshape(&mut self, scope: &mut Scope) -> Option<()> {
        (scope.depth == 0).then_some(())?;
        let x = self.operand(scope, |_| true, 1)?;
        let bound: i64 = x.shape.dims.iter().product();
        let size = self.integer(scope, bound);
        let shape = with_dynamic(x.shape.ty, &[bound], vec![true]);
        let name =
            self.push_hidden(scope, &shape.into(), &format!("dynamic-reshape({}, {size})", x.name));
        let scalar = Shape::scalar(ElementType::S32);
        self.push(scope, scalar, &format!("get-dimension-size({name}), dimensions={{0}}"));
        let shape = with_dynamic(x.shape.ty, &[bound], vec![true]);
        self.end(scope, &name, shape);
        Some(())
    }
    pub(super) fn get_dimension_size(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |_| true, 1)?;
        let at = self.pick(x.shape.rank());
        let text = format!("get-dimension-size({}), dimensions={{{at}}}", x.name);
        self.push(scope, Shape::scalar(ElementType::S32), &text);
        Some(())
    }
}

fn with_dynamic(ty: ElementType, dims: &[i64], dynamic: Vec<bool>) -> ArrayShape {
    let dynamic = dynamic.contains(&true).then(|| dynamic.into());
    ArrayShape { dynamic, ..ArrayShape::new(ty, dims) }
}
