//! Ops that move elements, tuples and tokens.
use super::data::Domain;
use super::generator::{Generator, any, list};
use super::scope::{ArrayOperand, Scope};
use hlo::{ArrayShape, ElementType, Shape};

impl Generator {
    pub(super) fn broadcast(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 0)?;
        let (mut dims, mut kept) = (Vec::new(), Vec::new());
        let mut left = self.config.max_elements / x.shape.dims.iter().product::<i64>().max(1);
        for (i, &size) in x.shape.dims.iter().enumerate() {
            if dims.len() + x.shape.rank() - i < self.config.max_rank && self.chance(3) {
                dims.push(self.size().min(left));
                left /= dims.last().copied().unwrap_or(1).max(1);
            }
            kept.push(dims.len());
            dims.push(size);
        }
        if dims.len() < self.config.max_rank {
            dims.push(self.size().min(left));
        }
        let text = format!("broadcast({}), dimensions={}", x.name, list(kept));
        self.push(scope, ArrayShape::new(x.shape.ty, dims.as_slice()), &text);
        Some(())
    }
    /// Returns other dimensions of as many elements: some are merged, split, added or dropped.
    pub(super) fn regrouped(&mut self, dims: &[i64]) -> Vec<i64> {
        let mut dims = dims.to_vec();
        for _ in 0..2 {
            let at = self.pick(dims.len());
            match self.pick(4) {
                0 if at + 1 < dims.len() => {
                    let size = dims.remove(at + 1);
                    dims[at] *= size;
                }
                1 if at < dims.len() => {
                    let divisors: Vec<i64> =
                        (1..=dims[at].min(64)).filter(|d| dims[at] % d == 0).collect();
                    if !divisors.is_empty() {
                        let divisor = divisors[self.pick(divisors.len())];
                        dims[at] /= divisor;
                        dims.insert(at, divisor);
                    }
                }
                2 => dims.insert(at, 1),
                _ => dims.retain(|&size| size != 1),
            }
        }
        dims
    }
    pub(super) fn reshape(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 0)?;
        let dims = self.regrouped(&x.shape.dims);
        let shape = ArrayShape::new(x.shape.ty, dims.as_slice());
        self.push(scope, shape, &format!("reshape({})", x.name));
        Some(())
    }
    /// The default layout of other dimensions, or another type of the same width.
    pub(super) fn bitcast(&mut self, scope: &mut Scope) -> Option<()> {
        (!self.config.portable).then_some(())?;
        let x = self.operand(scope, any, 0)?;
        let dims = self.regrouped(&x.shape.dims);
        let from = x.shape.ty;
        // `pred` of other bits than 0 and 1 has no meaning.
        let whole = |ty: ElementType| ty.bits() >= 8 && ty != ElementType::Pred;
        let reinterprets = whole(from);
        let to =
            self.ty(|ty| ty == from || (reinterprets && whole(ty) && ty.bits() == from.bits()))?;
        let shape = ArrayShape::new(to, dims.as_slice());
        self.push(scope, shape, &format!("bitcast({})", x.name));
        Some(())
    }
    pub(super) fn bitcast_convert(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |ty| ty != ElementType::Pred, 0)?;
        let (from, last) = (x.shape.ty, x.shape.dims.last().copied());
        let to = self.ty(|ty| {
            let (wide, narrow) = (ty.bits().max(from.bits()), ty.bits().min(from.bits()));
            let fits = ty.bits() <= from.bits() || last == Some(i64::from(wide / narrow));
            ty != ElementType::Pred
                && ty.is_complex() == from.is_complex()
                && wide % narrow == 0
                && fits
        })?;
        let mut dims = x.shape.dims.to_vec();
        if to.bits() < from.bits() {
            dims.push(i64::from(from.bits() / to.bits()));
        } else if to.bits() > from.bits() {
            dims.pop();
        }
        let shape = ArrayShape::new(to, dims.as_slice());
        self.push(scope, shape, &format!("bitcast-convert({})", x.name));
        Some(())
    }
    pub(super) fn transpose(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let order = self.order(x.shape.rank());
        let dims: Vec<i64> = order.iter().map(|&d| x.shape.dims[d]).collect();
        let text = format!("transpose({}), dimensions={}", x.name, list(order));
        self.push(scope, ArrayShape::new(x.shape.ty, dims.as_slice()), &text);
        Some(())
    }
    /// Returns the numbers below `count` in a random order.
    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        self.rng.shuffle(&mut order);
        order
    }
    /// Returns some of the numbers below `count`, in ascending order.
    pub(super) fn some_of(&mut self, count: usize) -> Vec<usize> {
        (0..count).filter(|_| self.rng.bool()).collect()
    }
    pub(super) fn reverse(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let dims = self.some_of(x.shape.rank());
        self.push(scope, x.shape, &format!("reverse({}), dimensions={}", x.name, list(dims)));
        Some(())
    }
    pub(super) fn slice(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let (mut dims, mut ranges) = (Vec::new(), Vec::new());
        for &size in &x.shape.dims {
            let start = self.rng.i64(0..=size / 2);
            let limit = self.rng.i64(start..=size);
            let stride = if self.chance(3) { self.rng.i64(1..=3) } else { 1 };
            dims.push((limit - start + stride - 1) / stride);
            ranges.push(format!("[{start}:{limit}:{stride}]"));
        }
        let text = format!("slice({}), slice={{{}}}", x.name, ranges.join(", "));
        self.push(scope, ArrayShape::new(x.shape.ty, dims.as_slice()), &text);
        Some(())
    }
    pub(super) fn pad(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let value = self.array_of(scope, x.shape.ty, &[]).name;
        let (mut dims, mut padding) = (Vec::new(), Vec::new());
        for &size in &x.shape.dims {
            let (low, high) = (self.rng.i64(-1..=2), self.rng.i64(-1..=2));
            let interior = if self.chance(3) { self.rng.i64(0..=2) } else { 0 };
            let padded = size + low + high + (size - 1).max(0) * interior;
            let (low, high) = if padded < 0 { (0, 0) } else { (low, high) };
            dims.push(size + low + high + (size - 1).max(0) * interior);
            padding.push(format!("{low}_{high}_{interior}"));
        }
        let text = format!("pad({}, {value}), padding={}", x.name, padding.join("x"));
        self.push(scope, ArrayShape::new(x.shape.ty, dims.as_slice()), &text);
        Some(())
    }
    pub(super) fn concatenate(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 1)?;
        let at = self.pick(x.shape.rank());
        let (mut names, mut dims) = (vec![x.name], x.shape.dims.to_vec());
        for _ in 0..self.pick(4) {
            let mut other = x.shape.dims.to_vec();
            other[at] = if self.rng.bool() { other[at] } else { self.size() };
            dims[at] += other[at];
            names.push(self.array_of(scope, x.shape.ty, &other).name);
        }
        let text = format!("concatenate({}), dimensions={{{at}}}", names.join(", "));
        self.push(scope, ArrayShape::new(x.shape.ty, dims.as_slice()), &text);
        Some(())
    }
    pub(super) fn iota(&mut self, scope: &mut Scope) -> Option<()> {
        let ty = self.ty(|ty| ty != ElementType::Pred)?;
        let dims = self.dims(1);
        let dim = self.pick(dims.len());
        let shape = ArrayShape::new(ty, dims.as_slice());
        self.push(scope, shape, &format!("iota(), iota_dimension={dim}"));
        Some(())
    }

    /// Adds an op that gives the value of its operand.
    pub(super) fn forward(&mut self, scope: &mut Scope, text: &str) {
        let shape = match self.pick(4) {
            // Floats of several types in one operand.
            0 if !(self.config.portable && text.starts_with("copy")) => self.tuple_shape(scope),
            _ => self.shape(scope),
        };
        let x = self.value(scope, &shape);
        self.push(scope, shape, &text.replace('X', &x));
    }
    pub(super) fn copy_start(&mut self, scope: &mut Scope) -> Option<()> {
        (!self.config.portable).then_some(())?;
        let ArrayOperand { name, shape } = self.operand(scope, any, 0)?;
        let shape = Shape::from(shape);
        let context = Shape::scalar(ElementType::U32);
        let parts = Shape::Tuple(vec![shape.clone(), shape.clone(), context]);
        let start = self.push_hidden(scope, &parts, &format!("copy-start({name})"));
        self.push(scope, shape, &format!("copy-done({start})"));
        Some(())
    }
    /// An array that depends on tokens.
    pub(super) fn add_dependency(&mut self, scope: &mut Scope) -> Option<()> {
        (!scope.is_fused).then_some(())?;
        let ArrayOperand { name, shape } = self.operand(scope, any, 0)?;
        let tokens: Vec<String> =
            (0..self.pick(3)).map(|_| self.value(scope, &Shape::Token)).collect();
        let token = self.push(scope, Shape::Token, &format!("after-all({})", tokens.join(", ")));
        self.push(scope, shape, &format!("add-dependency({name}, {token})"));
        Some(())
    }
    /// Returns a tuple of the shapes of values, or of random ones.
    pub(super) fn tuple_shape(&mut self, scope: &mut Scope) -> Shape {
        let count = self.rng.usize(usize::from(scope.is_fused)..4);
        let parts = (0..count).map(|_| match self.pick(8) {
            0 => self.tuple_shape(scope),
            1 if !scope.is_fused => Shape::Token,
            _ => self.shape(scope),
        });
        Shape::Tuple(parts.collect())
    }
    /// Returns the shape of an array.
    pub(super) fn shape(&mut self, scope: &mut Scope) -> Shape {
        let open: Vec<&ArrayShape> = scope.values.iter().filter_map(|v| v.shape.array()).collect();
        let open: Vec<&ArrayShape> = open.into_iter().filter(|a| a.dynamic.is_none()).collect();
        if !open.is_empty() && !self.chance(4) {
            return open[self.rng.usize(..open.len())].clone().into();
        }
        let dims = if scope.is_scalar { Vec::new() } else { self.dims(0) };
        let ty = self.ty(any).unwrap_or(ElementType::F32);
        ArrayShape::new(ty, dims.as_slice()).into()
    }
    pub(super) fn tuple(&mut self, scope: &mut Scope) -> Option<()> {
        let shape = self.tuple_shape(scope);
        let parts: Vec<String> =
            shape.tuple()?.iter().map(|part| self.value(scope, part)).collect();
        self.push(scope, shape, &format!("tuple({})", parts.join(", ")));
        Some(())
    }
    pub(super) fn any_constant(&mut self, scope: &mut Scope) -> Option<()> {
        let ty = self.ty(any)?;
        let dims = if scope.is_scalar { Vec::new() } else { self.dims(0) };
        self.constant(scope, &ArrayShape::new(ty, dims.as_slice()), &Domain::Any);
        Some(())
    }
    pub(super) fn domain(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, any, 0)?;
        let sharding = "kind=\"sharding\", entry={maximal device=0}, exit={replicated}";
        self.push(scope, x.shape, &format!("domain({}), domain={{{sharding}}}", x.name));
        Some(())
    }
}
