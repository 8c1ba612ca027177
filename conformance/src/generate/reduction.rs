//! Reductions: `reduce`, `reduce-window`, `select-and-scatter`, `scan`, batch normalization.
use super::data::Domain;
use super::generator::Generator;
use super::generator::list;
use super::scalar::least;
use super::scope::{ArrayOperand, Scope};
use hlo::{ArrayShape, ElementType, Shape};
use std::fmt::Write as _;

impl Generator {
    pub(super) fn reduce(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |_| true, 0)?;
        let reduced = self.some_of(x.shape.rank());
        // Backends may leave out the initial value where nothing is combined.
        let combines = reduced.iter().any(|&d| x.shape.dims[d] != 1);
        (combines || !self.config.portable).then_some(())?;
        let kept = |(d, &size): (usize, &i64)| (!reduced.contains(&d)).then_some(size);
        let dims: Vec<i64> = x.shape.dims.iter().enumerate().filter_map(kept).collect();
        if self.chance(5) {
            return self.reduce_several(scope, &x, &list(reduced), &dims);
        }
        let reducer = self.reducer(x.shape.ty);
        let initial = self.initial(scope, &reducer, x.shape.ty);
        let (x, ty, reduced) = (x.name, x.shape.ty, list(reduced));
        let text =
            format!("reduce({x}, {initial}), dimensions={reduced}, to_apply={}", reducer.name);
        self.push(scope, ArrayShape::new(ty, dims.as_slice()), &text);
        Some(())
    }
    /// The greatest element and its index, as `argmax` in the frameworks.
    fn reduce_several(
        &mut self,
        scope: &mut Scope,
        x: &ArrayOperand,
        reduced: &str,
        dims: &[i64],
    ) -> Option<()> {
        let ty = x.shape.ty;
        (!ty.is_complex()).then_some(())?;
        let indices = self.array(scope, &x.shape.with_type(ElementType::S32));
        let name = self.name("fn");
        let (total, pred) = (if ty.is_float() { ", type=TOTALORDER" } else { "" }, "pred[]");
        let _ = writeln!(
            self.text,
            "{name} {{
  {name}.a = {ty}[] parameter(0)
  {name}.i = s32[] parameter(1)
  {name}.b = {ty}[] parameter(2)
  {name}.j = s32[] parameter(3)
  {name}.gt = {pred} compare({name}.a, {name}.b), direction=GT{total}
  {name}.eq = {pred} compare({name}.a, {name}.b), direction=EQ{total}
  {name}.lt = {pred} compare({name}.i, {name}.j), direction=LT
  {name}.tie = {pred} and({name}.eq, {name}.lt)
  {name}.keep = {pred} or({name}.gt, {name}.tie)
  {name}.c = {ty}[] select({name}.keep, {name}.a, {name}.b)
  {name}.k = s32[] select({name}.keep, {name}.i, {name}.j)
  ROOT {name}.r = ({ty}[], s32[]) tuple({name}.c, {name}.k)
}}"
        );
        let initial = match self.config.portable {
            true => self.number(scope, ty, least(ty)),
            false => self.array_of(scope, ty, &[]).name,
        };
        let first = self.integer(scope, 0);
        let parts = [ty, ElementType::S32].map(|ty| Shape::from(ArrayShape::new(ty, dims)));
        let text = format!(
            "reduce({}, {indices}, {initial}, {first}), dimensions={reduced}, to_apply={name}",
            x.name
        );
        self.push(scope, Shape::Tuple(parts.to_vec()), &text);
        Some(())
    }
    pub(super) fn reduce_window(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |_| true, 1)?;
        let windows = self.windows(&x.shape.dims, true, false);
        scope.execute_each(&[&windows.positions(), &windows.sizes()]);
        let reducer = self.reducer(x.shape.ty);
        let initial = self.initial(scope, &reducer, x.shape.ty);
        let text =
            format!("reduce-window({}, {initial}){windows}, to_apply={}", x.name, reducer.name);
        self.push(scope, ArrayShape::new(x.shape.ty, windows.positions().as_slice()), &text);
        Some(())
    }
    pub(super) fn select_and_scatter(&mut self, scope: &mut Scope) -> Option<()> {
        let x = self.operand(scope, |ty| !ty.is_complex(), 1)?;
        let windows = self.windows(&x.shape.dims, false, false);
        let (ty, positions) = (x.shape.ty, windows.positions());
        scope.execute_each(&[&positions, &windows.sizes()]);
        let source = self.array_of(scope, ty, &positions).name;
        let directions: &[&str] =
            if self.config.portable { &["GE"] } else { &["GE", "GT", "LE", "LT"] };
        let select = self.comparator(&[ty], directions);
        let scatter = self.reducer(ty);
        let initial = self.initial(scope, &scatter, ty);
        let text = format!(
            "select-and-scatter({}, {source}, {initial}){windows}, select={select}, scatter={}",
            x.name, scatter.name
        );
        self.push(scope, x.shape, &text);
        Some(())
    }
    pub(super) fn scan(&mut self, scope: &mut Scope) -> Option<()> {
        self.may_nest(scope)?;
        let x = self.operand(scope, |_| true, 1)?;
        let (dim, ty) = (self.pick(x.shape.rank()), x.shape.ty);
        let mut slice = x.shape.dims.to_vec();
        let steps = slice.remove(dim);
        let slice = Shape::from(ArrayShape::new(ty, slice.as_slice()));
        let carry = self.shape(scope);
        let carried = carry.element_type()?;
        (!self.mixes(ty, carried)).then_some(())?;
        let initial = self.value(scope, &carry);
        let mut stacked = self.shape(scope).array()?.clone();
        let output = Shape::from(stacked.clone());
        (dim <= stacked.rank()).then_some(())?;
        stacked.dims.insert(dim, steps);
        let parameters = [slice, carry.clone()];
        let result = Shape::Tuple(vec![output, carry.clone()]);
        let body = self.function(&parameters, &result, scope.depth + 1, scope.communicates);
        scope.execute(u64::try_from(steps).unwrap_or(0), self.steps_of(&body));
        let stacked = ArrayShape::new(stacked.ty, stacked.dims);
        let reverse = if self.rng.bool() { ", is_reverse=true" } else { "" };
        let text = format!(
            "scan({}, {initial}), dimensions={{{dim}}}, num_carries=1{reverse}, to_apply={body}",
            x.name
        );
        self.push(scope, Shape::Tuple(vec![stacked.into(), carry]), &text);
        Some(())
    }

    /// `batch-norm-training`, with 3 operands, `-inference` and `-grad`, with 5.
    pub(super) fn batch_norm(
        &mut self,
        scope: &mut Scope,
        op: &str,
        statistics: bool,
    ) -> Option<()> {
        let x = self.operand(scope, ElementType::is_float, 1)?;
        let at = self.pick(x.shape.rank());
        let feature = ArrayShape::new(x.shape.ty, [x.shape.dims[at]].as_slice());
        let mut names = vec![x.name, self.array(scope, &feature), self.array(scope, &feature)];
        if op != "batch-norm-training" {
            let variance = self.leaf(scope, &feature, &Domain::Variance);
            names.push(variance);
            if op == "batch-norm-grad" {
                names.push(self.array(scope, &x.shape));
            } else {
                names.insert(3, self.array(scope, &feature));
            }
        }
        let text = format!("{op}({}), epsilon=0.125, feature_index={at}", names.join(", "));
        let shape = Shape::from(x.shape);
        let shape = match statistics {
            true => Shape::Tuple(vec![shape, feature.clone().into(), feature.into()]),
            false => shape,
        };
        self.push(scope, shape, &text);
        Some(())
    }
}
