//! Data-parallel training on four replicas: each has a quarter of the points, and an all-reduce averages the gradients.
//! Training on one device with all points gives the same weights.
//!
//! `cargo run --release -p etalon --example data_parallel`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use etalon::Session;
use etalon::builder::{self, Builder, CollectiveOptions, Value};
use etalon::hlo::{Literal, Verified};
use etalon::interp::{self, CompileOptions, RunOptions};
use std::error::Error;

const POINTS: usize = 64;
const REPLICAS: usize = 4;
const STEPS: i32 = 200;

/// Weights and biases of two layers, as shapes.
const PARAMETERS: [&str; 4] = ["f32[1,8]", "f32[8]", "f32[8,1]", "f32[1]"];

/// The mean squared error of the network on some points.
fn loss<'b>(parameters: &[Value<'b>], x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let hidden = (x.dot(parameters[0]) + parameters[1].along(&[1])).tanh();
    let error = hidden.dot(parameters[2]) + parameters[3].along(&[1]) - y;
    (error * error).mean(&[0, 1])
}

/// All steps of one replica: takes its part of the points and the first weights, returns the last weights and loss.
///
/// With one replica the all-reduce returns its operand.
pub fn training(replicas: usize) -> Result<Verified, builder::Error> {
    let count = i32::try_from(replicas).unwrap_or(i32::MAX);
    let b = Builder::new("data_parallel");
    b.set_replica_count(i64::from(count));
    let points = format!("f32[{},1]", POINTS / replicas);
    let (x, y) = (b.input("x", points.as_str()), b.input("y", points.as_str()));
    let parameters: Vec<Value<'_>> =
        PARAMETERS.iter().map(|shape| b.input("parameter", *shape)).collect();

    let start = [vec![b.constant(0i32), x, y], parameters].concat();
    let end = b.tuple(&start).while_loop(
        |state| state.get_tuple_element(0).lt(STEPS),
        |state| {
            let b = state.builder();
            let part = |i| state.get_tuple_element(i);
            let (step, x, y) = (part(0), part(1), part(2));
            let parameters = [3, 4, 5, 6].map(part);
            let gradients = b.grad(loss(&parameters, x, y), &parameters);
            let moved = parameters.iter().zip(gradients).map(|(&parameter, gradient)| {
                let sum = gradient.all_reduce(|a, c| a + c, &CollectiveOptions::default());
                parameter - sum / count * 0.2
            });
            let moved: Vec<Value<'_>> = moved.collect();
            b.tuple(&[vec![step + 1, x, y], moved].concat())
        },
    );
    let trained = [3, 4, 5, 6].map(|i| end.get_tuple_element(i));
    let last = loss(&trained, x, y);
    b.build(b.tuple(&[&trained[..], &[last]].concat()))
}

/// The result of training.
#[derive(Debug)]
pub struct Outcome {
    /// The mean squared error of the first weights, and of the last ones.
    pub losses: [f32; 2],
    /// Whether the weights of all replicas are bitwise equal.
    pub agree: bool,
    /// The largest difference between the weights of the replicas and of the single device.
    pub apart: f32,
}

/// The points of `replica` of `replicas`, on a sine wave, and the first weights.
fn arguments(replica: usize, replicas: usize) -> Vec<Literal> {
    let own = (0u8..).take(POINTS).skip(replica * POINTS / replicas).take(POINTS / replicas);
    let x: Vec<f32> = own.map(|i| f32::from(i) / 16.0 - 2.0).collect();
    let y: Vec<f32> = x.iter().map(|x| (1.5 * x).sin()).collect();
    let first: Vec<f32> = (0u8..8).map(|i| f32::from(i) / 2.0 - 1.7).collect();
    let second: Vec<f32> = (0u8..8).map(|i| f32::from(i % 3) / 3.0 - 0.3).collect();
    let rows = i64::try_from(x.len()).unwrap_or(i64::MAX);
    vec![
        Literal::from_slice(&[rows, 1], &x),
        Literal::from_slice(&[rows, 1], &y),
        Literal::from_slice(&[1, 8], &first),
        Literal::from_slice(&[8], &[0.1f32; 8]),
        Literal::from_slice(&[8, 1], &second),
        Literal::from_slice(&[1], &[0f32]),
    ]
}

/// The weights, one after another.
fn weights(result: &Literal) -> Vec<f32> {
    let parts = result.elements().unwrap_or_default().iter().take(PARAMETERS.len());
    parts.filter_map(|part| part.as_slice::<f32>()).flatten().copied().collect()
}

/// The mean squared error of weights on all points.
fn error_of(weights: &[f32]) -> f32 {
    let all = arguments(0, 1);
    let (Some(x), Some(y)) = (all[0].as_slice::<f32>(), all[1].as_slice::<f32>()) else {
        return f32::NAN;
    };
    let network = |x: f32| {
        let unit = |i: usize| (x * weights[i] + weights[8 + i]).tanh() * weights[16 + i];
        (0..8).map(unit).sum::<f32>() + weights[24]
    };
    let squares = x.iter().zip(y).map(|(&x, &y)| (network(x) - y) * (network(x) - y));
    squares.sum::<f32>() / f32::from(u8::try_from(POINTS).unwrap_or(u8::MAX))
}

/// Trains on four replicas and on one device.
pub fn run() -> Result<Outcome, Box<dyn Error>> {
    let session = Session::compile(training(REPLICAS)?, &CompileOptions::default())?;
    let inputs: Vec<Vec<Literal>> = (0..REPLICAS).map(|r| arguments(r, REPLICAS)).collect();
    let output = session.run(&inputs, &RunOptions::default())?;
    let replicas: Vec<Vec<f32>> = output.results.iter().map(weights).collect();

    let module = training(1)?;
    let alone = weights(&interp::run(&module, &arguments(0, 1))?);
    let apart = replicas[0].iter().zip(&alone).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let first: Vec<f32> = arguments(0, 1)[2..]
        .iter()
        .filter_map(|part| part.as_slice::<f32>())
        .flatten()
        .copied()
        .collect();
    Ok(Outcome {
        losses: [error_of(&first), error_of(&replicas[0])],
        agree: replicas.iter().all(|weights| {
            weights.iter().map(|w| w.to_bits()).eq(replicas[0].iter().map(|w| w.to_bits()))
        }),
        apart,
    })
}

#[allow(dead_code, reason = "the tests call `run` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let Outcome { losses: [before, after], agree, apart } = run()?;
    println!("{REPLICAS} replicas, {STEPS} steps: mean squared error {before:.4} -> {after:.4}");
    println!("the replicas {} in every bit", if agree { "agree" } else { "do not agree" });
    println!("one device with all points: weights differ by {apart:.1e} at most");
    Ok(())
}
