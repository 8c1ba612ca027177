//! Linear regression: a loss, its gradient and gradient descent in one module.
//!
//! `cargo run -p etalon --example linear_regression`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use etalon::builder::{self, Builder};
use etalon::hlo::{Literal, Verified};
use etalon::interp;
use std::error::Error;

const POINTS: usize = 64;
const STEPS: i32 = 400;

/// Takes `STEPS` steps of gradient descent from slope 0 and intercept 0. Returns both, and the mean squared error.
fn module() -> Result<Verified, builder::Error> {
    let b = Builder::new("linear_regression");
    let x = b.parameter(0, "f32[64]", "x");
    let y = b.parameter(1, "f32[64]", "y");
    let rate = b.parameter(2, "f32[]", "rate");

    let loss = b.computation("loss", &["f32[]", "f32[]", "f32[64]", "f32[64]"], |p| {
        let error = p[0] * p[2] + p[1] - p[3];
        (error * error).reduce(0.0, |a, c| a + c, &[0]) / 64
    });
    let zero = b.constant(0f32);
    let start = b.tuple(&[b.constant(0i32), zero, zero, x, y, rate]);
    let end = start.while_loop(
        |state| state.get_tuple_element(0).lt(STEPS),
        |state| {
            let b = state.builder();
            let [i, slope, intercept, x, y, rate] =
                [0, 1, 2, 3, 4, 5].map(|part| state.get_tuple_element(part));
            let error = loss.inline(&[slope, intercept, x, y]);
            let gradient = b.grad(error, &[slope, intercept]);
            let (slope, intercept) = (slope - rate * gradient[0], intercept - rate * gradient[1]);
            b.tuple(&[i + 1, slope, intercept, x, y, rate])
        },
    );
    let (slope, intercept) = (end.get_tuple_element(1), end.get_tuple_element(2));
    let error = b.call(loss, &[slope, intercept, x, y]);
    b.build(b.tuple(&[slope, intercept, error]))
}

/// Fits the line. Returns slope, intercept and mean squared error.
pub fn run() -> Result<[f32; 3], Box<dyn Error>> {
    // Points near y = 3x - 1, with a deterministic pattern as noise.
    let x: Vec<f32> = (0u8..64).map(|i| f32::from(i) / 32.0 - 1.0).collect();
    let noise = |i: u8| f32::from((i * 37) % 41) / 100.0 - 0.2;
    let y: Vec<f32> = x.iter().zip(0u8..).map(|(x, i)| 3.0 * x - 1.0 + noise(i % 7)).collect();
    let size = [i64::try_from(POINTS)?];
    let arguments = [
        Literal::from_slice(&size, &x),
        Literal::from_slice(&size, &y),
        Literal::from_slice(&[], &[0.1f32]),
    ];
    let module = module()?;
    let result = interp::run(&module, &arguments)?;
    let parts = result.elements().ok_or("the result is a tuple")?;
    let number = |i: usize| parts[i].as_slice::<f32>().map_or(f32::NAN, |x| x[0]);
    Ok([number(0), number(1), number(2)])
}

#[allow(dead_code, reason = "the tests call `run` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let [slope, intercept, error] = run()?;
    println!("y = {slope:.3} x + {intercept:.3}   (mean squared error {error:.5})");
    Ok(())
}
