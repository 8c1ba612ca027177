//! The ops that compute with floats, over elements.
use crate::arithmetic::{FewDigits, Field, rounded_to};
use crate::batch_norm::{gradient, inference, training};
use crate::coverage::Decided;
use crate::element::{Element, held, read, write};
use crate::factors::{cholesky, solve};
use crate::pair::{Pair, transformed};
use crate::rational::{digits, is_narrow};
use crate::unknown::unknown;
use crate::walk::{each_array, each_element};
use hlo::op::value::{Direction, FftType};
use hlo::op::{Binary, Convolution, Dot, Fft, ReduceWindow, TopK, Unary};
use hlo::{Array, ArrayShape, Class, Dims, ElementType, Literal, Op, Scalar, Shape};
use num::index::{count, offsets, others, strides, to_i64, to_usize};
use spec::window::under;
use spec::{indices, set};
use std::cmp::Ordering;

/// An op of floats, as the module states it, with the shapes that it has there.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    pub(crate) op: Op,
    pub(crate) operands: Vec<Shape>,
    pub(crate) shape: Shape,
    /// The function of two elements that a reduction folds with.
    pub(crate) folds: Option<Binary>,
    pub(crate) name: String,
}

impl Stated {
    /// Returns for each way that the op may decide for that it did not: false and true, or the
    /// branches of a conditional.
    pub(crate) fn ways(&self) -> Vec<bool> {
        let count = if let Op::Conditional(op) = &self.op { op.branches.len() } else { 2 };
        vec![false; count]
    }
}

/// What sums of products are of: elements, and pairs of them.
pub(crate) trait Number: Copy {
    const ZERO: Self;
    /// Returns the numbers of an array that holds them, in row-major order.
    fn read(array: &Array) -> Vec<Self>;
    /// Returns an array that holds numbers.
    fn write(shape: &ArrayShape, numbers: impl IntoIterator<Item = Self>) -> Array;
    /// Returns a real number.
    fn of_element(x: Element) -> Self;
    /// Returns the number of a literal.
    fn of_scalar(field: &Field, x: Scalar, ty: ElementType) -> Self;
    /// Returns the real part.
    fn real_part(self) -> Element;
    fn conjugate(self) -> Self;
    fn sum(self, other: Self) -> Self;
    fn difference(self, other: Self) -> Self;
    fn product(self, field: &Field, other: Self) -> Self;
    /// Returns a function of two numbers; `None` if it has none.
    fn binary(field: &Field, op: Binary, x: Self, y: Self) -> Option<Self>;
}

impl Number for Element {
    const ZERO: Self = Self::ZERO;

    fn read(array: &Array) -> Vec<Self> {
        read(array)
    }
    fn write(shape: &ArrayShape, numbers: impl IntoIterator<Item = Self>) -> Array {
        write(shape, numbers)
    }
    fn of_element(x: Element) -> Self {
        x
    }
    fn of_scalar(field: &Field, x: Scalar, ty: ElementType) -> Self {
        match x {
            Scalar::Pred(x) => Self::integer(i64::from(x)),
            Scalar::Signed(x) => Self::integer(x),
            Scalar::Unsigned(x) => Self::unsigned(x),
            Scalar::Float(x) | Scalar::Complex(x, _) if !x.is_finite() => Self::special(x).stated(),
            Scalar::Float(x) | Scalar::Complex(x, _) => field.literal(x, ty),
        }
    }
    fn real_part(self) -> Element {
        self
    }
    fn conjugate(self) -> Self {
        self
    }
    fn sum(self, other: Self) -> Self {
        Field::sum(self, other)
    }
    fn difference(self, other: Self) -> Self {
        Field::difference(self, other)
    }
    fn product(self, field: &Field, other: Self) -> Self {
        field.product(self, other)
    }
    fn binary(field: &Field, op: Binary, x: Self, y: Self) -> Option<Self> {
        field.binary(op, x, y)
    }
}

/// Returns whether an array is one of floats.
pub(crate) fn is_float(shape: &Shape) -> bool {
    shape.array().is_some_and(|array| array.ty.is_float())
}

/// Returns whether numbers of a type are elements, or pairs of them.
pub(crate) fn is_number(ty: ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}

/// The operands of an op.
pub(crate) struct Operands<'a> {
    pub(crate) stated: &'a Stated,
    pub(crate) values: &'a [&'a Literal],
}

impl Operands<'_> {
    pub(crate) fn numbers<N: Number>(&self, field: &Field, i: usize) -> Vec<N> {
        let (array, ty) = (self.array(i), self.shape(i).ty);
        match ty.class() {
            Class::Complex => N::read(array),
            Class::Float => read(array).into_iter().map(N::of_element).collect(),
            Class::Pred | Class::Signed | Class::Unsigned => {
                (0..array.len()).map(|at| N::of_scalar(field, array.get(at), ty)).collect()
            }
        }
    }
    pub(crate) fn of_numbers<N: Number>(&self, numbers: impl IntoIterator<Item = N>) -> Literal {
        Literal::from(N::write(self.result(), numbers))
    }
    fn array(&self, i: usize) -> &Array {
        self.values[i].array().expect("verified: the operand is an array")
    }
    pub(crate) fn elements(&self, i: usize) -> Vec<Element> {
        read(self.array(i))
    }
    pub(crate) fn shape(&self, i: usize) -> &ArrayShape {
        self.stated.operands[i].array().expect("verified: the operand is an array")
    }
    pub(crate) fn result(&self) -> &ArrayShape {
        self.stated.shape.array().expect("verified: the result is an array")
    }
    pub(crate) fn written(&self, elements: impl IntoIterator<Item = Element>) -> Literal {
        Literal::from(write(self.result(), elements))
    }
}

/// Returns the result of an op of floats; `None` if it has none over the field.
pub(crate) fn evaluate(
    field: &Field,
    stated: &Stated,
    values: &[&Literal],
    seen: &mut Decided,
) -> Option<Literal> {
    let mut value = computed(field, stated, values, seen)?;
    if field.rules().few_digits == FewDigits::Rounded
        && stated.shape.leaves().iter().any(|leaf| has_few_digits(leaf))
    {
        value = each_array(&stated.shape, &value, &|shape, held| {
            each_element(shape, held, |x| field.rounded_constant(x, shape.ty))
        });
    }
    Some(if field.is_shaken() { shaken(field, &stated.shape, &value) } else { value })
}

/// Returns whether an array has floats of few digits.
pub(crate) fn has_few_digits(shape: &Shape) -> bool {
    shape.array().is_some_and(|array| array.ty.is_float() && is_narrow(array.ty))
}

/// Returns a result with other last digits, which differ by more than what arrays round.
fn shaken(field: &Field, shape: &Shape, value: &Literal) -> Literal {
    const OF_ELEMENTS: f64 = 1.0 / 536_870_912.0;
    const OF_PAIRS: f64 = 1.0 / 16_384.0;
    each_array(shape, value, &|shape, held| {
        let part = if shape.ty.is_complex() { OF_PAIRS } else { OF_ELEMENTS };
        each_element(shape, held, |x| field.shake(x, part))
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "`rewrite` names the ops that come here")]
fn computed(
    field: &Field,
    stated: &Stated,
    values: &[&Literal],
    seen: &mut Decided,
) -> Option<Literal> {
    field.begin();
    let with = Operands { stated, values };
    let mut shapes = stated.operands.iter().chain([&stated.shape]);
    if shapes.any(|shape| shape.leaves().iter().any(|leaf| is_complex(leaf))) {
        return of_pairs(field, &with, seen);
    }
    Some(match &stated.op {
        Op::Unary(Unary::IsFinite) => {
            predicates(&with, with.elements(0).iter().map(|x| field.is_finite(x)))
        }
        Op::Unary(op) => unary(field, *op, &with, seen)?,
        Op::Binary(op) => {
            let pairs = with.elements(0).into_iter().zip(with.elements(1));
            let results: Option<Vec<_>> = pairs.map(|(x, y)| field.binary(*op, x, y)).collect();
            with.written(results?)
        }
        Op::Compare(op) => {
            let pairs = with.elements(0).into_iter().zip(with.elements(1));
            let holds = pairs.map(|(x, y)| {
                let holds = holds(op.direction, field.compare(&x, &y));
                seen.way(usize::from(holds));
                seen.numbers(&x, &y);
                holds
            });
            predicates(&with, holds)
        }
        Op::Clamp(_) => {
            let bound = |i: usize| {
                let all = with.elements(i);
                move |at: usize| if all.len() == 1 { all[0] } else { all[at] }
            };
            let (low, high) = (bound(0), bound(2));
            let x = with.elements(1).into_iter().enumerate();
            with.written(x.map(|(i, x)| field.minimum(field.maximum(low(i), x), high(i))))
        }
        Op::Convert(_) => convert(field, &with),
        Op::Bitcast(_) | Op::BitcastConvert(_) => bitcast(field, &with)?,
        Op::ReducePrecision(_) => with.written(with.elements(0)),
        Op::Iota(op) => {
            let along = op.iota_dimension.map_or(0, to_usize);
            let (index, ty) = (indices(&with.result().dims), with.result().ty);
            let place = |i: Dims| i.get(along).copied().unwrap_or(0);
            with.written(index.map(|i| field.converted(Element::integer(place(i)), ty)))
        }
        Op::Dot(op) => dot::<Element>(field, op, &with),
        Op::Convolution(op) if op.sparsity_config.is_none() => {
            convolution::<Element>(field, op, &with)
        }
        Op::Reduce(op) => reduce::<Element>(field, &op.dimensions, &with)?,
        Op::ReduceWindow(op) => reduce_window::<Element>(field, op, &with)?,
        Op::BatchNormTraining(op) => training(field, op, &with),
        Op::BatchNormInference(op) => inference(field, op, &with),
        Op::BatchNormGrad(op) => gradient(field, op, &with),
        Op::Cholesky(op) => cholesky::<Element>(field, op, &with)?,
        Op::TriangularSolve(op) => solve::<Element>(field, op, &with)?,
        Op::TopK(op) => topk(field, op, &with, seen)?,
        Op::CustomCall(call) => unknown(field, call, &with)?,
        // The index of the branch.
        Op::Conditional(op) => {
            let last = op.branches.len() - 1;
            seen.way(
                match with.array(0).get(0) {
                    Scalar::Pred(is_first) => usize::from(!is_first),
                    index @ (Scalar::Signed(_)
                    | Scalar::Unsigned(_)
                    | Scalar::Float(_)
                    | Scalar::Complex(..)) => usize::try_from(index.as_wrapping()).unwrap_or(last),
                }
                .min(last),
            );
            values[0].clone()
        }
        _ => return None,
    })
}

fn unary(field: &Field, op: Unary, with: &Operands<'_>, seen: &mut Decided) -> Option<Literal> {
    let (elements, ty) = (with.elements(0), with.shape(0).ty);
    if op == Unary::Sign {
        for x in &elements {
            seen.numbers(x, &Element::ZERO);
        }
    }
    let results: Option<Vec<_>> = elements.into_iter().map(|x| field.unary(op, x, ty)).collect();
    Some(with.written(results?))
}

fn is_complex(shape: &Shape) -> bool {
    shape.array().is_some_and(|array| array.ty.is_complex())
}

/// Returns the result of an op with complex numbers; `None` if it has none over the field.
#[expect(clippy::wildcard_enum_match_arm, reason = "`rewrite` names the ops that come here")]
fn of_pairs(field: &Field, with: &Operands<'_>, seen: &mut Decided) -> Option<Literal> {
    let pairs = |i: usize| with.numbers::<Pair>(field, i);
    Some(match &with.stated.op {
        Op::Unary(Unary::Abs) => with.written(pairs(0).into_iter().map(|x| field.magnitude(x))),
        Op::Unary(Unary::Real) => with.written(pairs(0).into_iter().map(|x| x.0)),
        Op::Unary(Unary::Imag) => with.written(pairs(0).into_iter().map(|x| x.1)),
        Op::Unary(op) => {
            let results = pairs(0).into_iter().map(|x| field.pair_unary(*op, x));
            with.of_numbers(results.collect::<Option<Vec<_>>>()?)
        }
        Op::Binary(Binary::Complex) => {
            let parts = with.elements(0).into_iter().zip(with.elements(1));
            with.of_numbers(parts.map(|(re, im)| Pair(re, im)))
        }
        Op::Binary(op) => {
            let both = pairs(0).into_iter().zip(pairs(1));
            let results = both.map(|(x, y)| field.pair_binary(*op, x, y));
            with.of_numbers(results.collect::<Option<Vec<_>>>()?)
        }
        Op::Compare(op) => {
            let both = pairs(0).into_iter().zip(pairs(1));
            let holds = both.map(|(x, y)| {
                let holds = x.is(&y) == (op.direction == Direction::Eq);
                seen.way(usize::from(holds));
                holds
            });
            predicates(with, holds)
        }
        Op::Convert(_) => match with.result().ty.class() {
            Class::Complex => with.of_numbers(pairs(0)),
            Class::Float => with.written(pairs(0).into_iter().map(|x| x.0)),
            Class::Pred | Class::Signed | Class::Unsigned => return None,
        },
        Op::Dot(op) => dot::<Pair>(field, op, with),
        Op::Convolution(op) if op.sparsity_config.is_none() => convolution::<Pair>(field, op, with),
        Op::Reduce(op) => reduce::<Pair>(field, &op.dimensions, with)?,
        Op::ReduceWindow(op) => reduce_window::<Pair>(field, op, with)?,
        Op::Fft(op) => transform(field, op, with),
        Op::Cholesky(op) => cholesky::<Pair>(field, op, with)?,
        Op::TriangularSolve(op) => solve::<Pair>(field, op, with)?,
        _ => return None,
    })
}

/// Returns a transform of the last dimensions, line by line.
fn transform(field: &Field, op: &Fft, with: &Operands<'_>) -> Literal {
    let is_inverse = matches!(op.fft_type, FftType::Ifft | FftType::Irfft);
    let mut numbers = with.numbers::<Pair>(field, 0);
    let mut dims = with.shape(0).dims.clone();
    let last = dims.len() - 1;
    let first = dims.len() - op.fft_length.len();
    let along = |numbers: &mut Vec<Pair>, dims: &Dims, dim: usize| {
        let (size, step) = (to_usize(dims[dim]), count(&dims[dim + 1..]));
        for start in (0..numbers.len()).filter(|at| at / step % size.max(1) == 0) {
            let line: Vec<Pair> = (0..size).map(|k| numbers[start + k * step]).collect();
            let line = transformed(field, &line, is_inverse);
            line.into_iter().enumerate().for_each(|(k, x)| numbers[start + k * step] = x);
        }
    };
    for dim in first..last {
        along(&mut numbers, &dims, dim);
    }
    let full = to_usize(*op.fft_length.last().expect("verified: a transform has a length"));
    if op.fft_type == FftType::Irfft {
        // The other half has the conjugates. The imaginary parts of the first number and of the
        // middle one have no influence.
        let halves = numbers.chunks(to_usize(dims[last]).max(1));
        let line = |half: &[Pair], k: usize| match (k, 2 * k == full) {
            (0, _) | (_, true) => Pair(half[k].0, Element::ZERO),
            _ if 2 * k < full => half[k],
            _ => Pair(half[full - k].0, Field::negated(half[full - k].1)),
        };
        numbers = halves.flat_map(|half| (0..full).map(move |k| line(half, k))).collect();
        dims[last] = to_i64(full);
    }
    along(&mut numbers, &dims, last);
    match op.fft_type {
        FftType::Irfft => with.written(numbers.into_iter().map(|x| x.0)),
        FftType::Rfft => {
            let kept = to_usize(with.result().dims[last]);
            let rows = numbers.chunks(full.max(1));
            with.of_numbers(rows.flat_map(|row| row.iter().copied().take(kept)))
        }
        FftType::Fft | FftType::Ifft => with.of_numbers(numbers),
    }
}

fn predicates(with: &Operands<'_>, values: impl IntoIterator<Item = bool>) -> Literal {
    let mut array = Array::zeros(with.result().clone());
    for (slot, value) in array.bytes_mut().iter_mut().zip(values) {
        *slot = u8::from(value);
    }
    Literal::from(array)
}

fn holds(direction: Direction, order: Option<Ordering>) -> bool {
    match direction {
        Direction::Eq => order == Some(Ordering::Equal),
        Direction::Ne => order != Some(Ordering::Equal),
        Direction::Ge => order.is_some_and(Ordering::is_ge),
        Direction::Gt => order.is_some_and(Ordering::is_gt),
        Direction::Le => order.is_some_and(Ordering::is_le),
        Direction::Lt => order.is_some_and(Ordering::is_lt),
    }
}

fn convert(field: &Field, with: &Operands<'_>) -> Literal {
    let (from, to) = (with.shape(0).ty, with.result().ty);
    if from.is_float() && to.is_float() {
        // Compilers round constants.
        let is_rounded = digits(to) < digits(from) && !is_narrow(to);
        let converted = |x: Element| match is_rounded && x.is_constant() && x.is_finite() {
            true => field.literal(rounded_to(x.real, to), to),
            false => x,
        };
        return with.written(with.elements(0).into_iter().map(converted));
    }
    if to.is_float() {
        let numbers = with.numbers(field, 0).into_iter();
        return with.written(numbers.map(|x| field.converted(x, to)));
    }
    let mut result = Array::zeros(with.result().clone());
    for (i, x) in with.elements(0).iter().enumerate() {
        let value = match to.class() {
            Class::Pred => f64::from(u8::from(!x.is_zero())),
            Class::Signed | Class::Unsigned | Class::Float | Class::Complex => field.truncated(x),
        };
        result.set(i, Scalar::Float(value).convert(ElementType::F64, to));
    }
    Literal::from(result)
}

fn bitcast(field: &Field, with: &Operands<'_>) -> Option<Literal> {
    let (from, to) = (with.shape(0).ty, with.result().ty);
    if from.bits() != to.bits() {
        return None;
    }
    if from.is_float() && to.is_float() {
        let bits = with.elements(0).into_iter().map(|x| field.bits(&x, from));
        return Some(match from == to {
            true => with.written(with.elements(0)),
            false => with.written(bits.map(|bits| field.of_bits(bits, to))),
        });
    }
    if to.is_float() {
        let array = with.array(0);
        let bits = |i: usize| array.get(i).to_bits(from);
        return Some(with.written((0..array.len()).map(|i| field.of_bits(bits(i), to))));
    }
    let mut result = Array::zeros(with.result().clone());
    for (i, x) in with.elements(0).iter().enumerate() {
        result.set(i, Scalar::from_bits(to, field.bits(x, from)));
    }
    Some(Literal::from(result))
}

/// The numbers of an operand, with the offset of each index.
struct View<N> {
    elements: Vec<N>,
    strides: Dims,
}

impl<N: Number> View<N> {
    fn new(field: &Field, with: &Operands<'_>, i: usize) -> Self {
        Self { elements: with.numbers(field, i), strides: strides(&with.shape(i).dims) }
    }
    fn at(&self, index: &[i64]) -> N {
        let offset: i64 = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
        self.elements[to_usize(offset)]
    }
    /// Returns the offsets of the elements along some dimensions.
    fn along(&self, dims: &[i64], shape: &ArrayShape) -> Vec<usize> {
        let sizes: Dims = dims.iter().map(|&d| shape.dims[to_usize(d)]).collect();
        let steps: Dims = dims.iter().map(|&d| self.strides[to_usize(d)]).collect();
        let mut all = Vec::with_capacity(count(&sizes));
        offsets(&sizes, 0, &steps, |at| all.push(to_usize(at)));
        all
    }
}

fn dot<N: Number>(field: &Field, op: &Dot, with: &Operands<'_>) -> Literal {
    let (lhs, rhs) = (View::<N>::new(field, with, 0), View::<N>::new(field, with, 1));
    let (left, right) = (with.shape(0), with.shape(1));
    let free = |shape: &ArrayShape, batch: &[i64], contracting: &[i64]| {
        others(shape.dims.len(), &[batch, contracting].concat())
    };
    let batch = lhs.along(&op.lhs_batch_dims, left);
    let right_batch = rhs.along(&op.rhs_batch_dims, right);
    let rows = lhs.along(&free(left, &op.lhs_batch_dims, &op.lhs_contracting_dims), left);
    let columns = rhs.along(&free(right, &op.rhs_batch_dims, &op.rhs_contracting_dims), right);
    let terms = lhs.along(&op.lhs_contracting_dims, left);
    let right_terms = rhs.along(&op.rhs_contracting_dims, right);
    let mut results = Vec::with_capacity(batch.len() * rows.len() * columns.len());
    for (b, c) in batch.iter().zip(&right_batch) {
        for row in &rows {
            for column in &columns {
                let pairs = terms.iter().zip(&right_terms);
                let products = pairs.map(|(k, l)| {
                    lhs.elements[b + row + k].product(field, rhs.elements[c + column + l])
                });
                results.push(products.fold(N::ZERO, N::sum));
            }
        }
    }
    with.of_numbers(results)
}

fn convolution<N: Number>(field: &Field, op: &Convolution, with: &Operands<'_>) -> Literal {
    let dims = &op.dim_labels;
    let (lhs, rhs) = (View::<N>::new(field, with, 0), View::<N>::new(field, with, 1));
    let (left, right) = (with.shape(0), with.shape(1));
    let window = op.forward_window();
    let size = |shape: &ArrayShape, dim: i64| shape.dims[to_usize(dim)];
    let (inputs, outputs) =
        (size(right, dims.rhs_input_feature), size(right, dims.rhs_output_feature));
    let batch_group_size = size(left, dims.lhs_batch) / op.batch_group_count;
    let sizes: Dims = dims.lhs_spatial.iter().map(|&dim| size(left, dim)).collect();
    with.of_numbers(indices(&with.result().dims).map(|index| {
        let output = index[to_usize(dims.out_feature)];
        let first_input = output / (outputs / op.feature_group_count) * inputs;
        let batch_group = output / (outputs / op.batch_group_count);
        let batch = index[to_usize(dims.out_batch)] + batch_group * batch_group_size;
        let x: Dims = dims.out_spatial.iter().map(|&dim| index[to_usize(dim)]).collect();
        let mut sum = N::ZERO;
        for (mut k, element) in under(&window.dims, &x, &sizes) {
            for (k, dim) in k.iter_mut().zip(&window.dims) {
                *k = if dim.reversal { dim.size - 1 - *k } else { *k };
            }
            let mut l = Dims::from_elem(0, left.dims.len());
            set(&mut l, &[dims.lhs_batch], &[batch]);
            set(&mut l, &dims.lhs_spatial, &element);
            let mut r = Dims::from_elem(0, right.dims.len());
            set(&mut r, &[dims.rhs_output_feature], &[output]);
            set(&mut r, &dims.rhs_spatial, &k);
            for input in 0..inputs {
                l[to_usize(dims.lhs_feature)] = first_input + input;
                r[to_usize(dims.rhs_input_feature)] = input;
                sum = sum.sum(lhs.at(&l).product(field, rhs.at(&r)));
            }
        }
        sum
    }))
}

fn reduce<N: Number>(field: &Field, dimensions: &[i64], with: &Operands<'_>) -> Option<Literal> {
    let folds = with.stated.folds?;
    let (array, initial) = (View::<N>::new(field, with, 0), N::read(with.array(1))[0]);
    let shape = with.shape(0);
    let kept = array.along(&others(shape.dims.len(), dimensions), shape);
    let mut sorted = dimensions.to_vec();
    sorted.sort_unstable();
    let reduced = array.along(&sorted, shape);
    let fold = |base: &usize| {
        let mut elements = reduced.iter().map(|at| array.elements[base + at]);
        elements.try_fold(initial, |sum, x| N::binary(field, folds, sum, x))
    };
    Some(with.of_numbers(kept.iter().map(fold).collect::<Option<Vec<_>>>()?))
}

fn reduce_window<N: Number>(
    field: &Field,
    op: &ReduceWindow,
    with: &Operands<'_>,
) -> Option<Literal> {
    let folds = with.stated.folds?;
    let (array, initial) = (View::<N>::new(field, with, 0), N::read(with.array(1))[0]);
    let sizes = &with.shape(0).dims;
    let fold = |index: Dims| {
        let mut elements = under(&op.window.dims, &index, sizes).map(|(_, at)| array.at(&at));
        elements.try_fold(initial, |sum, x| N::binary(field, folds, sum, x))
    };
    let results: Option<Vec<_>> = indices(&with.result().dims).map(fold).collect();
    Some(with.of_numbers(results?))
}

fn topk(field: &Field, op: &TopK, with: &Operands<'_>, seen: &mut Decided) -> Option<Literal> {
    let Shape::Tuple(results) = &with.stated.shape else { return None };
    let [values, places] = &**results else { return None };
    let (values, places) = (values.array()?, places.array()?);
    let row = to_usize(*with.shape(0).dims.last()?);
    let (mut best, mut indices) = (Vec::new(), Array::zeros(places.clone()));
    for elements in with.elements(0).chunks(row.max(1)) {
        let mut order: Vec<usize> = (0..elements.len()).collect();
        order.sort_by(|&i, &j| {
            let order = field.rank(elements, i, j);
            if op.largest { order.reverse() } else { order }
        });
        for both in order.windows(2).take(to_usize(op.k)) {
            seen.numbers(&elements[both[0]], &elements[both[1]]);
        }
        for &i in order.iter().take(to_usize(op.k)) {
            indices.set(best.len(), Scalar::Signed(to_i64(i)));
            best.push(elements[i]);
        }
    }
    Some(Literal::tuple(vec![Literal::from(write(values, best)), Literal::from(indices)]))
}

/// Returns the array that holds a constant.
pub(crate) fn constant(field: &Field, value: &Array) -> Array {
    let ty = value.shape().ty;
    match ty.is_complex() {
        true => lifted::<Pair>(field, value),
        false => lifted::<Element>(field, value),
    }
}

fn lifted<N: Number>(field: &Field, value: &Array) -> Array {
    let ty = value.shape().ty;
    let numbers = (0..value.len()).map(|i| N::of_scalar(field, value.get(i), ty));
    N::write(value.shape(), numbers)
}

/// Returns the shape that holds the elements of floats; others are kept.
pub(crate) fn held_shape(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(array) if is_number(array.ty) => Shape::Array(held(array)),
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(held_shape).collect()),
        Shape::Buffer(array) if is_number(array.ty) => Shape::Buffer(Box::new(held(array))),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}
