//! The allowed error of another backend's result, derived from the module.
//!
//! The bound of each array of the result follows from the operations that it depends on:
//! - Operations that only move, compare or select elements have one correct result: the comparison
//!   is bitwise.
//! - Integers and booleans must be equal.
//! - A single elementwise operation has an error relative to each element: none for an operation
//!   that IEEE 754 rounds once, `(2 n + 2) u` for a function with an error of up to `n` units in
//!   the last place, and `8 u` more for complex numbers, relative to the larger part.
//! - Other floats may differ by `u * K * scale` in each element, where `scale` is the largest
//!   finite magnitude of the expected array: where terms cancel, the error has the size of the
//!   terms, not of the result. `K = 8 + 2 p + 4 sqrt(t)`. `p` counts the float operations on the
//!   longest path to the result, at most [`PATH_LIMIT`](crate::error_model::PATH_LIMIT): each may round once, and backends may fuse
//!   `a*b+c` into one rounding or use another polynomial for a function. The body of a `while`
//!   counts as the limit, because its trip count is unknown. `t` is the largest number of terms
//!   that one operation sums (contracted elements of a dot, reduced elements, elements of a window,
//!   devices of a group): the error of a sum in another order grows as the square root of its
//!   terms.
//!
//! For an `fft`, `t` is the length of one transform, whatever the batch: its error is of the size
//! `u log(t) |result|`, spread over all elements, and `sqrt(t)` also allows one element that has
//! all of it. For `cholesky` and `triangular-solve` of size n, `t` is `n^2`: the error of a stable
//! solver is about `sqrt(n) u` times the condition number of the matrix (at worst `n u` times it),
//! so a bound of `4 n u` covers condition numbers up to about `4 sqrt(n)`. No bound for all
//! matrices could reject a wrong backend: results for matrices with a larger condition number may
//! differ by more and be correct. Batch normalization counts as the operations it consists of;
//! elements whose mean is much larger than their deviation may differ by more if a backend computes
//! the variance as a difference of squares.
//!
//! `u` is the unit roundoff (`2^-precision`: `2^-24` of f32, `2^-8` of bf16) of the *coarsest*
//! float type on the path: a value that was rounded to bf16 once does not become more accurate
//! afterwards.
//!
//! This is an estimate of how much correct backends may differ, not a proof: reports show the
//! measured error and the bound.
use crate::error_model::ErrorModel;
use hlo::Module;
use interp::Engine;

/// The allowed error of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// The bound of each array of the result, counting leaves of the tuple. Other arrays are
    /// compared bitwise.
    leaves: Vec<Bound>,
}

/// The allowed error of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// None: the comparison is bitwise, except that all NaNs are equal.
    Bits,
    /// The allowed error, relative to the element.
    Element(f64),
    /// The allowed error, relative to the largest magnitude of the array.
    Array(f64),
    /// The bound that a user states: `absolute + relative * |expected|`, or this many units in the
    /// last place.
    Stated { absolute: f64, relative: f64, ulps: u64 },
}

impl Bound {
    fn of(model: &ErrorModel) -> Self {
        let u = model.roundoff;
        if model.path == 0 {
            return Self::Bits;
        }
        if model.path == 1 && !model.sums {
            let ulps = if model.ulps == 0 { 0.0 } else { 2.0 * f64::from(model.ulps) + 2.0 };
            return Self::Element(u * (ulps + if model.complex { 8.0 } else { 0.0 }));
        }
        Self::Array(u * (8.0 + 2.0 * f64::from(model.path) + 4.0 * model.terms.sqrt()))
    }
    /// Returns the wider bound. A bound relative to the array is wider than one relative to the
    /// element.
    fn or(self, other: Self) -> Self {
        let most = self.relative().max(other.relative());
        match (self, other) {
            (Self::Bits, wider) | (wider, Self::Bits) => wider,
            (stated @ Self::Stated { .. }, _) | (_, stated @ Self::Stated { .. }) => stated,
            (Self::Element(_), Self::Element(_)) => Self::Element(most),
            (Self::Array(_), _) | (_, Self::Array(_)) => Self::Array(most),
        }
    }
    /// Returns whether numbers below the smallest normal one are equal.
    pub(crate) fn flushes(self) -> bool {
        match self {
            Self::Bits | Self::Stated { .. } => false,
            Self::Element(_) | Self::Array(_) => true,
        }
    }
    /// Returns the allowed error relative to the scale of the bound.
    pub(crate) fn relative(self) -> f64 {
        match self {
            Self::Bits => 0.0,
            Self::Element(error) | Self::Array(error) => error,
            Self::Stated { relative, .. } => relative,
        }
    }
}

impl Tolerance {
    /// Bitwise comparison, except that all NaNs are equal.
    pub const EXACT: Self = Self { leaves: Vec::new() };

    /// Returns the tolerance for one array that allows an error of
    /// `absolute + relative * |expected|`, or of `ulps` units in the last place of its type.
    pub fn stated(absolute: f64, relative: f64, ulps: u64) -> Self {
        Self { leaves: vec![Bound::Stated { absolute, relative, ulps }] }
    }
    /// Returns the tolerance for array `i` of the result alone.
    #[must_use]
    pub fn array(&self, i: usize) -> Self {
        Self { leaves: vec![self.leaf(i)] }
    }
    /// Returns the tolerance for the result of another backend.
    pub fn of(module: &Module) -> Self {
        Self { leaves: ErrorModel::of(module).iter().map(Bound::of).collect() }
    }
    /// Returns the same tolerance, relative to each element instead of the largest of an array.
    #[must_use]
    pub(crate) fn of_each_element(self) -> Self {
        let leaf = |bound: Bound| match bound {
            Bound::Array(error) => Bound::Element(error),
            Bound::Bits | Bound::Element(_) | Bound::Stated { .. } => bound,
        };
        Self { leaves: self.leaves.into_iter().map(leaf).collect() }
    }
    /// Returns the tolerance for the result of an engine of Etalon.
    pub fn of_engine(engine: Engine, module: &Module) -> Self {
        match engine.rounds_correctly() {
            true => Self::of_reference(module),
            false => Self::of_accuracy(module),
        }
    }
    /// Returns the tolerance for a result within the accuracy of each op. It is bitwise if all
    /// operations are exact, as those of complex numbers are not.
    fn of_accuracy(module: &Module) -> Self {
        let is_exact = |model: &ErrorModel| model.exact && model.ulps == 0 && !model.complex;
        let bound =
            |model: &ErrorModel| if is_exact(model) { Bound::Bits } else { Bound::of(model) };
        Self { leaves: ErrorModel::of(module).iter().map(bound).collect() }
    }
    /// Returns the tolerance for the result of an engine that rounds correctly. It is bitwise
    /// unless an operation has more than one correct result: sums in another order, complex
    /// functions.
    pub fn of_reference(module: &Module) -> Self {
        let bound = |model: &ErrorModel| if model.exact { Bound::Bits } else { Bound::of(model) };
        Self { leaves: ErrorModel::of(module).iter().map(bound).collect() }
    }
    /// Returns the tolerance for the result of one of Etalon's engines that round correctly by that
    /// of the other. It is bitwise unless an operation is one that the engines compute in different
    /// orders.
    pub(crate) fn between_engines(module: &Module) -> Self {
        let bound =
            |model: &ErrorModel| if model.same_bits { Bound::Bits } else { Bound::of(model) };
        Self { leaves: ErrorModel::of(module).iter().map(bound).collect() }
    }
    /// Returns the wider bound of each array, for a result that may be computed in either of two
    /// ways.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let count = self.leaves.len().max(other.leaves.len());
        Self { leaves: (0..count).map(|i| self.leaf(i).or(other.leaf(i))).collect() }
    }
    /// Returns the bound of a leaf.
    pub(crate) fn leaf(&self, leaf: usize) -> Bound {
        self.leaves.get(leaf).copied().unwrap_or(Bound::Bits)
    }
}

#[cfg(test)]
impl From<Bound> for Tolerance {
    fn from(bound: Bound) -> Self {
        Self { leaves: vec![bound] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_model::PATH_LIMIT;

    const U: f64 = 1.0 / 16_777_216.0;

    fn of(body: &str) -> Tolerance {
        Tolerance::of(&Module::parse(&format!("HloModule m\n{body}")).unwrap())
    }

    #[test]
    fn movement_is_exact() {
        let text = "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] reverse(p), dimensions={0} }";
        assert_eq!(of(text), Bound::Bits.into());
        let text = "ENTRY e { p = c64[4] parameter(0) ROOT r = f32[4] abs(p) }";
        assert_eq!(of(text), Bound::Element(8.0 * U).into());
    }

    #[test]
    fn the_bound_of_one_operation_is_relative_to_the_element() {
        let text = "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] add(p, p) }";
        assert_eq!(of(text), Bound::Element(0.0).into());
        let text = "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] tanh(p) }";
        assert_eq!(of(text), Bound::Element(12.0 * U).into());
    }

    #[test]
    fn the_wider_bound_of_each_leaf() {
        let tolerance = |bounds: &[Bound]| Tolerance { leaves: bounds.to_vec() };
        let one = tolerance(&[Bound::Bits, Bound::Element(2.0), Bound::Element(3.0)]);
        let other = tolerance(&[Bound::Array(1.0), Bound::Element(1.0), Bound::Array(2.0)]);
        let expected = [Bound::Array(1.0), Bound::Element(2.0), Bound::Array(3.0)];
        assert_eq!(one.or(&other), tolerance(&expected));
    }

    #[test]
    fn a_path_and_a_sum_widen_the_bound() {
        let text = "ENTRY e { p = f32[16] parameter(0) q = f32[16] add(p, p)
            ROOT r = f32[] dot(q, q), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
        assert_eq!(of(text), Bound::Array((8.0 + 2.0 * 2.0 + 4.0 * 4.0) * U).into());
    }

    #[test]
    fn batches_add_no_terms() {
        let text = "ENTRY e { p = c64[9,16] parameter(0)
            ROOT r = c64[9,16] fft(p), fft_type=FFT, fft_length={16} }";
        assert_eq!(of(text), Bound::Array((8.0 + 2.0 + 4.0 * 4.0) * U).into());
        let text = "ENTRY e { p = f32[9,3,3] parameter(0) ROOT r = f32[9,3,3] cholesky(p) }";
        assert_eq!(of(text), Bound::Array((8.0 + 2.0 + 4.0 * 3.0) * U).into());
        let text = "ENTRY e { x = f32[16,5] parameter(0) s = f32[5] parameter(1)
            ROOT r = (f32[16,5], f32[5], f32[5]) batch-norm-training(x, s, s), epsilon=1, feature_index=1 }";
        let bound = Bound::Array((8.0 + 2.0 * 9.0 + 4.0 * 4.0) * U);
        assert_eq!(of(text), Tolerance { leaves: vec![bound; 3] });
    }

    #[test]
    fn the_coarsest_type_counts_where_it_feeds_the_result() {
        let text = "ENTRY e { p = f32[2] parameter(0) q = bf16[2] convert(p) r = f32[2] convert(q)
            s = f32[2] tanh(p) ROOT t = (f32[2], (f32[2], f32[2])) tuple(r, u)  }";
        let text = text.replace("ROOT", "u = (f32[2], f32[2]) tuple(s, p) ROOT");
        let leaves = vec![Bound::Array(12.0 / 256.0), Bound::Element(12.0 * U), Bound::Bits];
        assert_eq!(of(&text), Tolerance { leaves });
        let text = text
            .replace("ROOT t", "t")
            .replace("  }", " ROOT g = (f32[2], f32[2]) get-tuple-element(t), index=1 }");
        assert_eq!(of(&text), Tolerance { leaves: vec![Bound::Element(12.0 * U), Bound::Bits] });
    }

    #[test]
    fn a_loop_counts_as_the_limit() {
        let text = "b { p = f32[] parameter(0) ROOT r = f32[] multiply(p, p) }
            c { p = f32[] parameter(0) ROOT r = pred[] compare(p, p), direction=LT }
            ENTRY e { p = f32[] parameter(0) ROOT w = f32[] while(p), condition=c, body=b }";
        assert_eq!(of(text), Bound::Array((8.0 + 2.0 * f64::from(PATH_LIMIT)) * U).into());
    }

    #[test]
    fn the_engines_are_exact_on_exact_ops() {
        let of = |op: &str| {
            let text =
                format!("HloModule m\nENTRY e {{ p = f32[] parameter(0) ROOT r = f32[] {op}(p) }}");
            Tolerance::of_reference(&Module::parse(&text).unwrap())
        };
        assert_eq!(of("floor"), Bound::Bits.into());
        assert_eq!(of("tanh"), Bound::Bits.into());
    }

    #[test]
    fn a_sum_over_devices_has_a_term_for_each_member() {
        let of = |groups: &str| {
            let text = format!(
                "HloModule m, replica_count=4\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}\n\
                 ENTRY e {{ p = f32[100] parameter(0) ROOT r = f32[100] all-reduce(p), replica_groups={groups}, to_apply=add }}"
            );
            Tolerance::of_reference(&Module::parse(&text).unwrap())
        };
        // K = 8 + 2 * 2 + 4 sqrt(t): the reducer's addition and the op itself are two operations.
        let u = (-24f64).exp2();
        assert_eq!(of("{}"), Bound::Array(u * (12.0 + 4.0 * 2.0)).into());
        assert_eq!(of("{{0},{1},{2},{3}}"), Bound::Array(u * (12.0 + 4.0)).into());
    }
}
