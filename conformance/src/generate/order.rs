//! `sort`, `topk`, random bits.
use super::generator::Generator;
use super::generator::any;
use super::scope::Scope;
use hlo::{ArrayShape, Class, ElementType, Scalar, Shape};

impl Generator {
    pub(super) fn sort(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |ty| !ty.is_complex(), 1)?;
        let dim = self.pick(x.shape.rank());
        let (mut names, mut types) = (vec![x.name], vec![x.shape.ty]);
        for _ in 0..self.pick(3) {
            let ty = self.ty(any)?;
            names.push(self.array(scope, &x.shape.with_type(ty)));
            types.push(ty);
        }
        let is_strange = !self.config.portable && self.chance(6);
        let comparator = if is_strange {
            let twice: Vec<ElementType> = types.iter().flat_map(|&ty| [ty, ty]).collect();
            self.scalar_function(&twice, ElementType::Pred)
        } else {
            self.comparator(&types, &["LT", "GT"])
        };
        let mut shapes: Vec<Shape> = types.iter().map(|&ty| x.shape.with_type(ty).into()).collect();
        let shape = if shapes.len() == 1 { shapes.remove(0) } else { Shape::Tuple(shapes) };
        let stable = if self.config.portable || self.rng.bool() { ", is_stable=true" } else { "" };
        let names = names.join(", ");
        let text = format!("sort({names}), dimensions={{{dim}}}{stable}, to_apply={comparator}");
        self.push(scope, shape, &text);
        Some(())
    }
    fn top(&mut self, scope: &mut Scope) -> Option<(String, ArrayShape, Shape)> {
        let x = self.operand(scope, |ty| !ty.is_complex(), 1)?;
        let mut values = x.shape.clone();
        let last = values.dims.last_mut()?;
        *last = self.rng.i64(0..=*last);
        let indices = values.with_type(ElementType::S32);
        let shape = Shape::Tuple(vec![values.clone().into(), indices.into()]);
        Some((x.name, values, shape))
    }
    pub(super) fn topk(&mut self, scope: &mut Scope) -> Option<()> {
        let (x, values, shape) = self.top(scope)?;
        let (k, largest) = (values.dims.last()?, self.rng.bool());
        self.push(scope, shape, &format!("topk({x}), k={k}, largest={largest}"));
        Some(())
    }
    pub(super) fn custom_call(&mut self, scope: &mut Scope) -> Option<()> {
        if self.config.portable || self.rng.bool() {
            let (x, values, shape) = self.top(scope)?;
            // XLA makes this call itself, of matrices of f32 only.
            let is_known = values.ty == ElementType::F32 && values.rank() <= 2;
            (is_known || !self.config.portable).then_some(())?;
            self.push(scope, shape, &format!("custom-call({x}), custom_call_target=\"TopK\""));
            return Some(());
        }
        let x = self.operand(scope, any, 0)?;
        let target = self.choose(&["Sharding", "annotate_device_placement"]);
        self.push(
            scope,
            x.shape,
            &format!("custom-call({}), custom_call_target=\"{target}\"", x.name),
        );
        Some(())
    }
    pub(super) fn rng_bit_generator(&mut self, scope: &mut Scope) -> Option<()> {
        let (algorithm, size) = match self.pick(3) {
            0 => ("rng_philox", 3),
            1 => ("rng_philox", 2),
            _ => ("rng_three_fry", 2),
        };
        let state = self.array_of(scope, ElementType::U64, &[size]);
        let portable = self.config.portable;
        let ty = self.ty(|ty| match ty.class() {
            Class::Unsigned => !portable || ty.bits() >= 32,
            Class::Pred | Class::Signed | Class::Float | Class::Complex => false,
        })?;
        let dims = self.dims(0);
        let bits = ArrayShape::new(ty, dims.as_slice());
        let shape = Shape::Tuple(vec![state.shape.into(), bits.into()]);
        let text = format!("rng-bit-generator({}), algorithm={algorithm}", state.name);
        self.push(scope, shape, &text);
        Some(())
    }
    /// Random numbers of the device: only engines of Etalon have the same.
    pub(super) fn random(&mut self, scope: &mut Scope, is_state: bool) -> Option<()> {
        (!self.config.portable && scope.depth == 0).then_some(())?;
        if is_state {
            let delta = self.rng.u8(1..9);
            let shape = ArrayShape::new(ElementType::U64, [2].as_slice());
            self.push_closed(scope, shape, &format!("rng-get-and-update-state(), delta={delta}"));
            return Some(());
        }
        let is_normal = self.rng.bool();
        let ty =
            self.ty(|ty| ty.bits() > 2 && (ty.is_float() || (ty.is_integral() && !is_normal)))?;
        // A uniform distribution needs a bound above the other one.
        let [a, b] = [1, 3].map(|bound| {
            let bound = Scalar::Signed(bound).convert(ElementType::S64, ty);
            self.number(scope, ty, bound)
        });
        let dims = self.dims(0);
        let distribution = if is_normal { "rng_normal" } else { "rng_uniform" };
        let text = format!("rng({a}, {b}), distribution={distribution}");
        self.push_closed(scope, ArrayShape::new(ty, dims.as_slice()), &text);
        Some(())
    }
}
