//! Covariance: arrays of `ndarray` are the arguments of a module, and a view of its result is compared with `ndarray`'s.
//!
//! `cargo run -p etalon --example covariance`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use etalon::hlo::{Literal, Module};
use etalon::interp;
use ndarray::{Array2, Axis, array};
use std::error::Error;

const MODULE: &str = "HloModule covariance
add {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT sum = f64[] add(a, b)
}
ENTRY main {
  samples = f64[5,3] parameter(0)
  zero = f64[] constant(0)
  sums = f64[3] reduce(samples, zero), dimensions={0}, to_apply=add
  count = f64[] constant(5)
  counts = f64[3] broadcast(count), dimensions={}
  means = f64[3] divide(sums, counts)
  mean = f64[5,3] broadcast(means), dimensions={1}
  centered = f64[5,3] subtract(samples, mean)
  products = f64[3,3] dot(centered, centered), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  degrees = f64[] constant(4)
  divisor = f64[3,3] broadcast(degrees), dimensions={}
  ROOT covariance = f64[3,3] divide(products, divisor)
}";

/// Returns the covariance of the columns that the module computes, and its largest difference from that of `ndarray`.
pub fn run() -> Result<(Array2<f64>, f64), Box<dyn Error>> {
    let samples = array![
        [4.0, 2.0, 0.60],
        [4.2, 2.1, 0.59],
        [3.9, 2.0, 0.58],
        [4.3, 2.1, 0.62],
        [4.1, 2.2, 0.63]
    ];
    let mean = samples.mean_axis(Axis(0)).ok_or("there are samples")?;
    let centered = &samples - &mean;
    let expected = centered.t().dot(&centered) / 4.0;

    let module = Module::parse(MODULE)?.verify()?;
    // The literal takes the memory of the array.
    let result = interp::run(&module, &[Literal::from(samples)])?;
    let covariance = result.view::<f64>()?.into_dimensionality()?;
    let difference = (&covariance - &expected).fold(0f64, |most, x| most.max(x.abs()));
    Ok((covariance.to_owned(), difference))
}

#[allow(dead_code, reason = "the tests call `run` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let (covariance, difference) = run()?;
    println!("{covariance:.5}\nlargest difference from ndarray: {difference:e}");
    Ok(())
}
