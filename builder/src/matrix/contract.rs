//! Einstein sums: contractions of arrays with labeled dimensions.
use super::einsum::{EinsumDims, Label, parse_einsum, shown};
use crate::arguments::{first, size};
use crate::options::{DotDimensionNumbers, DotOptions};
use crate::{Builder, Error, Result, Value};
use hlo::ElementType;
use std::collections::BTreeMap;

/// An array and the labels of its dimensions.
#[derive(Debug, Clone)]
struct Labeled<'b> {
    value: Value<'b>,
    labels: Vec<Label>,
}

impl Builder {
    /// Sums of products over labeled dimensions: XLA's `Einsum`, of any number of operands.
    ///
    /// Each letter is a dimension; a letter that is not in the result is summed over. A letter that
    /// one operand has twice takes the diagonal, one that the result has twice fills a diagonal of
    /// zeros. `...` stands for all dimensions that are not named, lined up at the right. A
    /// dimension of size 1 is repeated. Without `->` the result has the letters that occur once, in
    /// alphabetical order. Operands are contracted from left to right.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2], [3, 4]]);
    /// let y = b.constant([10i32, 1]);
    /// assert_eq!(interp::run(&b.build(b.einsum("ij,j->i", &[x, y]))?, &[])?.to_string(), "s32[2]{0} {12, 34}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` as [`parse_einsum`]; if a letter has two sizes.
    #[track_caller]
    pub fn einsum<'b>(&'b self, config: &str, operands: &[Value<'b>]) -> Value<'b> {
        self.record(|_| {
            let ranks: Result<Vec<usize>> = operands.iter().map(|x| x.rank()).collect();
            let dims = parse_einsum(config, &ranks?)?;
            sizes(config, &dims, operands)?;
            einsum(&dims, operands)
        })
    }
    /// As [`Builder::einsum`], of labels: XLA's `Einsum` of lists of numbers.
    #[track_caller]
    pub fn einsum_dims<'b>(&'b self, dims: &EinsumDims, operands: &[Value<'b>]) -> Value<'b> {
        self.record(|_| {
            let ranks: Result<Vec<usize>> = operands.iter().map(|x| x.rank()).collect();
            if !ranks?.iter().copied().eq(dims.operands.iter().map(Vec::len)) {
                let message = "an einsum takes one label for each dimension of each operand";
                return Err(Error::argument(message));
            }
            if let Some(unknown) = dims
                .output
                .iter()
                .find(|label| !dims.operands.iter().flatten().any(|l| l == *label))
            {
                let message = format!("the result has label {unknown}, which no operand has");
                return Err(Error::argument(message));
            }
            sizes(&format!("{:?}->{:?}", dims.operands, dims.output), dims, operands)?;
            einsum(dims, operands)
        })
    }
}

impl Value<'_> {
    /// Products of matrices: XLA's `BatchDot`. `x[.., m, k]` and `y[.., k, n]` give `[.., m, n]`.
    ///
    /// Dimensions in front count matrices; they are lined up at the right, and one of size 1 is
    /// repeated.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[8,2,3]", "x"), b.parameter(1, "f32[8,3,4]", "y"));
    /// assert_eq!(x.batch_dot(y).dims()?, [8, 2, 4]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[doc(alias = "matmul")]
    #[doc(alias = "bmm")]
    #[track_caller]
    pub fn batch_dot(self, rhs: Self) -> Self {
        self.batch_dot_transposed(false, rhs, false)
    }
    /// As [`Value::batch_dot`], of matrices that are transposed first: XLA's `BatchDot` with
    /// `transpose_x`, `transpose_y`.
    #[track_caller]
    pub fn batch_dot_transposed(self, transpose: bool, rhs: Self, transpose_rhs: bool) -> Self {
        let left = if transpose { "km" } else { "mk" };
        let right = if transpose_rhs { "nk" } else { "kn" };
        self.builder().einsum(&format!("...{left},...{right}->...mn"), &[self, rhs])
    }
}

/// Returns the size of each label; 1 gives way to others.
fn sizes(config: &str, dims: &EinsumDims, operands: &[Value<'_>]) -> Result<()> {
    let mut sizes: BTreeMap<Label, i64> = BTreeMap::new();
    for (labels, operand) in dims.operands.iter().zip(operands) {
        for (label, size) in labels.iter().zip(operand.dims()?) {
            let known = sizes.entry(*label).or_insert(size);
            if *known == 1 {
                *known = size;
            }
            if size != 1 && *known != size {
                let message = format!(
                    "`{}` has the sizes {known} and {size}, in the einsum `{config}`",
                    shown(*label)
                );
                return Err(Error::argument(message)
                    .with_help("dimensions of one letter have one size, or size 1"));
            }
        }
    }
    Ok(())
}

fn einsum<'b>(dims: &EinsumDims, operands: &[Value<'b>]) -> Result<Value<'b>> {
    let mut rest = dims.operands.iter().zip(operands).map(|(labels, &value)| (labels, value));
    let (labels, value) =
        rest.next().ok_or_else(|| Error::argument("an einsum takes at least one operand"))?;
    let mut product = diagonal(value, labels)?;
    let mut later: Vec<&Vec<Label>> = dims.operands.iter().skip(1).collect();
    for (labels, value) in rest {
        later.remove(0);
        let kept = |label: &Label| {
            dims.output.contains(label) || later.iter().any(|labels| labels.contains(label))
        };
        product = contract(product, diagonal(value, labels)?, kept)?;
    }
    let product = summed(product, |label| dims.output.contains(label));
    arranged(&product, &dims.output)
}

/// Returns the diagonal along dimensions of one label.
fn diagonal<'b>(value: Value<'b>, labels: &[Label]) -> Result<Labeled<'b>> {
    let mut x = Labeled { value, labels: labels.to_vec() };
    let repeated = |x: &Labeled<'_>| {
        (0..x.labels.len()).find_map(|later| {
            let earlier = x.labels[..later].iter().position(|label| *label == x.labels[later]);
            earlier.map(|earlier| (earlier, later))
        })
    };
    while let Some((earlier, later)) = repeated(&x) {
        let dims = x.value.dims()?;
        if dims[earlier] == 1 || dims[later] == 1 {
            let one = if dims[later] == 1 { later } else { earlier };
            x = dropped(x, one)?;
            continue;
        }
        // The two become the last ones, as rows and columns.
        let mut order: Vec<usize> =
            (0..dims.len()).filter(|d| ![earlier, later].contains(d)).collect();
        let mut left: Vec<Label> = order.iter().map(|&d| x.labels[d]).collect();
        left.push(x.labels[earlier]);
        order.extend([earlier, later]);
        let order: Vec<i64> = order.into_iter().map(size).collect();
        x = Labeled { value: x.value.transpose(&order).matrix_diagonal(0), labels: left };
    }
    Ok(x)
}
/// Returns the array without a dimension of size 1.
fn dropped(x: Labeled<'_>, dim: usize) -> Result<Labeled<'_>> {
    let (mut dims, mut labels) = (x.value.dims()?, x.labels);
    dims.remove(dim);
    labels.remove(dim);
    Ok(Labeled { value: x.value.reshape(&dims), labels })
}
/// Returns the sum over the labels that are not kept.
fn summed(x: Labeled<'_>, kept: impl Fn(&Label) -> bool) -> Labeled<'_> {
    let places = || x.labels.iter().zip(0i64..);
    let dims: Vec<i64> = places().filter(|(label, _)| !kept(label)).map(|(_, d)| d).collect();
    if dims.is_empty() {
        return x;
    }
    let labels = x.labels.iter().copied().filter(&kept).collect();
    Labeled { value: x.value.reduce_sum(&dims), labels }
}

/// Returns the product of two, summed over labels that are not kept.
fn contract<'b>(
    x: Labeled<'b>,
    y: Labeled<'b>,
    kept: impl Fn(&Label) -> bool,
) -> Result<Labeled<'b>> {
    let (mut x, mut y) = (x, y);
    // Of a shared label one side may have size 1: that side does without it.
    for label in x.labels.clone() {
        let place = |side: &Labeled<'_>| side.labels.iter().position(|l| *l == label);
        let (Some(left), Some(right)) = (place(&x), place(&y)) else { continue };
        let (l, r) = (x.value.dims()?[left], y.value.dims()?[right]);
        if l == 1 && r != 1 {
            x = dropped(x, left)?;
        } else if r == 1 && l != 1 {
            y = dropped(y, right)?;
        }
    }
    let (in_x, in_y) = (x.labels.clone(), y.labels.clone());
    let x = summed(x, |label| kept(label) || in_y.contains(label));
    let y = summed(y, |label| kept(label) || in_x.contains(label));
    let mut pairs = DotDimensionNumbers::default();
    let (mut batch, mut free) = (Vec::new(), Vec::new());
    for (label, left) in x.labels.iter().zip(0i64..) {
        let right = y.labels.iter().zip(0i64..).find(|(l, _)| *l == label).map(|(_, right)| right);
        match right {
            None => free.push(*label),
            Some(right) if kept(label) => {
                batch.push(*label);
                pairs.lhs_batch_dimensions.push(left);
                pairs.rhs_batch_dimensions.push(right);
            }
            Some(right) => {
                pairs.lhs_contracting_dimensions.push(left);
                pairs.rhs_contracting_dimensions.push(right);
            }
        }
    }
    let shared = |label: &&Label| !x.labels.contains(label);
    let labels = batch.into_iter().chain(free).chain(y.labels.iter().filter(shared).copied());
    let labels = labels.collect();
    Ok(Labeled { value: x.value.dot_general(y.value, &pairs, &DotOptions::default()), labels })
}

/// Returns the dimensions in the order of the result, those named twice spread out along a
/// diagonal.
fn arranged<'b>(x: &Labeled<'b>, output: &[Label]) -> Result<Value<'b>> {
    let place = |label: &Label| size(x.labels.iter().position(|l| l == label).unwrap_or(0));
    let mut unique: Vec<Label> = Vec::new();
    for label in output {
        if !unique.contains(label) {
            unique.push(*label);
        }
    }
    let order: Vec<i64> = unique.iter().map(place).collect();
    let ordered = order == first(order.len());
    let value = if ordered { x.value } else { x.value.transpose(&order) };
    if unique.len() == output.len() {
        return Ok(value);
    }
    let shape = value.array()?;
    let at = |label: &Label| unique.iter().position(|l| l == label).unwrap_or(0);
    let dims: Vec<i64> = output.iter().map(|label| shape.dims[at(label)]).collect();
    let first_place = |label: &Label| output.iter().position(|l| l == label).unwrap_or(0);
    let along: Vec<i64> = unique.iter().map(|label| size(first_place(label))).collect();
    let (b, mut spread) = (value.builder(), value.broadcast_in_dim(&dims, &along));
    for (label, later) in output.iter().zip(0i64..) {
        let earlier = size(first_place(label));
        if earlier != later {
            let count = |dim| b.iota((ElementType::S32, &dims), dim);
            let on = count(earlier).eq(count(later));
            spread = on.select(spread, b.zero(shape.ty));
        }
    }
    Ok(spread)
}
