//! Derivatives of the library's functions, found by the names of their composites.
//!
//! The instructions that compute such a function choose between formulas, each of which may be
//! infinite where another one is chosen, so that their derivatives would multiply 0 by infinity.
//! The derivative of the function itself is known.
use super::decompositions::{EigenRule, LuRule, QrRule, SingularValuesRule, SvdRule};
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use crate::arguments::cast;
use crate::math::special::slopes::{beta_density, gamma_density, zeta_slope};
use crate::ops::control::library_name;
use crate::{Result, Value};
use hlo::ElementType;
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Returns the rule of a composite that has one.
pub(super) fn rule(node: &Node<'_>) -> Result<Option<&'static dyn Derivative>> {
    node.result.look(|instruction, _| {
        let name = library_name(instruction)?;
        RULES.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
    })
}

const RULES: &[(&str, &dyn Derivative)] = &[
    ("bessel_i0", &ElementwiseFunction(&[By(bessel_i1)])),
    ("bessel_i0e", &ElementwiseFunction(&[By(|x| x[0].sign() * bessel_gap(x[0].abs()))])),
    ("bessel_i1e", &ElementwiseFunction(&[By(bessel_i1e)])),
    ("beta_density", &ElementwiseFunction(&[By(beta_by_a), By(beta_by_b), By(beta_by_x)])),
    ("digamma", &ElementwiseFunction(&[By(|x| x[0].full_like(1).polygamma(x[0]))])),
    ("eigh_lower", &EigenRule { lower: true }),
    ("eigh_upper", &EigenRule { lower: false }),
    ("erf_inv", &ElementwiseFunction(&[By(|x| x[0].erf_inv().square().exp() * (PI.sqrt() / 2.0))])),
    ("erfc", &ElementwiseFunction(&[By(|x| (-(x[0] * x[0])).exp() * -FRAC_2_SQRT_PI)])),
    ("gamma_density", &ElementwiseFunction(&[By(density_by_a), By(density_by_x)])),
    (
        "igamma",
        &ElementwiseFunction(&[
            By(|x| x[0].igamma_grad_a(x[1])),
            By(|x| gamma_density(x[0], x[1])),
        ]),
    ),
    ("igamma_grad_a", &ElementwiseFunction(&[UNKNOWN, By(density_by_a)])),
    (
        "igammac",
        &ElementwiseFunction(&[
            By(|x| -x[0].igamma_grad_a(x[1])),
            By(|x| -gamma_density(x[0], x[1])),
        ]),
    ),
    ("lgamma", &ElementwiseFunction(&[By(|x| x[0].digamma())])),
    ("lu", &LuRule),
    ("next_after", &ElementwiseFunction(&[JUMPS, JUMPS])),
    ("polygamma", &ElementwiseFunction(&[WHOLE, By(|x| (x[0] + 1).polygamma(x[1]))])),
    ("qr", &QrRule),
    ("random_gamma_grad", &ElementwiseFunction(&[UNKNOWN, UNKNOWN])),
    (
        "regularized_incomplete_beta",
        &ElementwiseFunction(&[UNKNOWN, UNKNOWN, By(|x| beta_density([x[0], x[1], x[2]]))]),
    ),
    ("singular_values", &SingularValuesRule),
    ("svd", &SvdRule),
    (
        "zeta",
        &ElementwiseFunction(&[
            By(|x| zeta_slope(x[0], x[1])),
            By(|x| -x[0] * (x[0] + 1).zeta(x[1])),
        ]),
    ),
];

/// A function of each element; its derivative with respect to each operand.
struct ElementwiseFunction(&'static [FunctionDerivative]);

enum FunctionDerivative {
    /// A function of the operands in f64.
    By(for<'b> fn(&[Value<'b>]) -> Value<'b>),
    /// There is none here; the text says why.
    Refused(&'static str),
}
use FunctionDerivative::{By, Refused};

const JUMPS: FunctionDerivative = Refused("is a function of the bits of numbers");
const UNKNOWN: FunctionDerivative = Refused("has no closed form of this derivative");
const WHOLE: FunctionDerivative = Refused("is a function of whole numbers");

impl ElementwiseFunction {
    /// Returns a tangent or cotangent times the derivative by operand `i`, which is rounded once to
    /// the operand's type.
    fn times<'b>(&self, node: &Node<'b>, i: usize, t: Value<'b>) -> Result<Value<'b>> {
        let slope = match self.0.get(i) {
            Some(By(slope)) => slope,
            Some(Refused(why)) => {
                let function = format!("has no derivative with respect to operand {i}: it {why}");
                return Err(node.refused(&function));
            }
            None => return Err(node.refused("has no derivative rule here")),
        };
        let wide = node.operands.iter().map(|&x| cast(x, ElementType::F64));
        let slope = slope(&wide.collect::<Result<Vec<_>>>()?);
        Ok(t * cast(slope, t.element_type()?)?)
    }
}
impl Derivative for ElementwiseFunction {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let mut sum = Tangent::Zero;
        for (i, tangent) in tangents.iter().enumerate() {
            if let Some(t) = tangent.array()? {
                sum = sum.plus(Tangent::Array(self.times(node, i, t)?))?;
            }
        }
        Ok(sum)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        node.each_needed(|i| self.times(node, i, c))
    }
}

/// Returns `i1e(x) - i0e(x)` of a magnitude; where the two are nearly equal, by their asymptotic
/// series (DLMF 10.40.1).
fn bessel_gap(x: Value<'_>) -> Value<'_> {
    const SERIES: [f64; 6] = [
        -1.0 / 2.0,
        -3.0 / 16.0,
        -45.0 / 256.0,
        -525.0 / 2048.0,
        -1_984_500.0 / 3_932_160.0,
        -235_758_600.0 / 188_743_680.0,
    ];
    const FAR: f64 = 500.0;
    // Bounded, since the series is infinite at 0, and so is its derivative.
    let far = x.max(FAR);
    let inverse = 1.0 / far;
    let sum = SERIES.iter().rev().fold(far.full_like(0), |sum, &term| (sum + term) * inverse);
    x.lt(FAR).select(x.bessel_i1e() - x.bessel_i0e(), sum / (far * (2.0 * PI)).sqrt())
}
/// Returns `i1(x)`, in two factors of the exponential, which overflows before the product does.
fn bessel_i1<'b>(x: &[Value<'b>]) -> Value<'b> {
    let half = (x[0].abs() * 0.5).exp();
    x[0].bessel_i1e() * half * half
}
/// Returns `i0e(x) - i1e(x) (1 + 1/x)` of a magnitude, at 0 its limit 1/2.
fn bessel_i1e<'b>(x: &[Value<'b>]) -> Value<'b> {
    let tiny = x[0].abs().lt(1e-300);
    let x = tiny.select(1.0, x[0].abs());
    tiny.select(0.5, -bessel_gap(x) - x.bessel_i1e() / x)
}
/// Returns `d (log(x) - digamma(a))`, where `d` is the density; 0 where that vanishes.
fn density_by_a<'b>(x: &[Value<'b>]) -> Value<'b> {
    let density = gamma_density(x[0], x[1]);
    density.eq(0).select(0, density * (x[1].log() - x[0].digamma()))
}
fn density_by_x<'b>(x: &[Value<'b>]) -> Value<'b> {
    let density = gamma_density(x[0], x[1]);
    density.eq(0).select(0, density * ((x[0] - 1) / x[1] - 1))
}
fn beta_by_a<'b>(x: &[Value<'b>]) -> Value<'b> {
    let (density, sum) = (beta_density([x[0], x[1], x[2]]), x[0] + x[1]);
    density.eq(0).select(0, density * (x[2].log() - x[0].digamma() + sum.digamma()))
}
fn beta_by_b<'b>(x: &[Value<'b>]) -> Value<'b> {
    let (density, sum) = (beta_density([x[0], x[1], x[2]]), x[0] + x[1]);
    density.eq(0).select(0, density * ((-x[2]).log1p() - x[1].digamma() + sum.digamma()))
}
fn beta_by_x<'b>(x: &[Value<'b>]) -> Value<'b> {
    let density = beta_density([x[0], x[1], x[2]]);
    density.eq(0).select(0, density * ((x[0] - 1) / x[2] - (x[1] - 1) / (-x[2] + 1)))
}
