//! A small network that classifies two spirals, trained to an accuracy of at least 95 %.
//!
//! `cargo run --release -p etalon --example mlp`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use etalon::builder::{self, Builder, Value};
use etalon::hlo::{self, Literal, Verified};
use etalon::interp::{CompileOptions, Executable, RunOptions};
use std::error::Error;

const POINTS: usize = 256;
const HIDDEN: usize = 32;
const STEPS: usize = 1500;

/// Weights and biases, as shapes.
const PARAMETERS: [&str; 6] =
    ["f32[2,32]", "f32[32]", "f32[32,32]", "f32[32]", "f32[32,1]", "f32[1]"];

/// The logit of each point: positive for the second spiral.
fn network<'b>(p: &[Value<'b>], x: Value<'b>) -> Value<'b> {
    let b = x.builder();
    let layer =
        |x: Value<'b>, weights: Value<'b>, bias: Value<'b>| x.dot(weights) + bias.along(&[1]);
    let first = {
        let _scope = b.scope("first");
        layer(x, p[0], p[1]).tanh()
    };
    let second = {
        let _scope = b.scope("second");
        layer(first, p[2], p[3]).tanh()
    };
    let _scope = b.scope("logits");
    layer(second, p[4], p[5])
}

/// One step of gradient descent with momentum: new parameters, new velocities, the loss and the accuracy.
fn step() -> Result<Verified, builder::Error> {
    let b = Builder::new("mlp_step");
    let parameters: Vec<Value<'_>> = PARAMETERS.iter().map(|shape| b.input("w", *shape)).collect();
    let velocities: Vec<Value<'_>> = PARAMETERS.iter().map(|shape| b.input("v", *shape)).collect();
    let x = b.input("x", "f32[256,2]");
    let label = b.input("label", "f32[256,1]");

    let logits = network(&parameters, x);
    // log(1 + exp(-z)) for the second spiral, log(1 + exp(z)) for the first, without overflow.
    let sign = label * 2 - 1;
    let margin = sign * logits;
    let loss =
        ((-margin.abs()).exp().log1p() + (-margin).max(0.0)).reduce(0.0, |a, c| a + c, &[0, 1])
            / i32::try_from(POINTS).unwrap_or(1);
    let right = margin.gt(0.0).convert_element_type(hlo::ElementType::F32);
    let accuracy = right.reduce(0.0, |a, c| a + c, &[0, 1]) / i32::try_from(POINTS).unwrap_or(1);

    let gradients = b.grad(loss, &parameters);
    let velocities: Vec<Value<'_>> =
        velocities.iter().zip(&gradients).map(|(v, g)| *v * 0.9 - *g * 0.05).collect();
    let moved: Vec<Value<'_>> = parameters.iter().zip(&velocities).map(|(p, v)| *p + *v).collect();
    b.build(b.tuple(&[moved, velocities, vec![loss, accuracy]].concat()))
}

/// Points on two interleaved spirals.
fn spirals() -> (Literal, Literal) {
    let (mut x, mut label) = (Vec::new(), Vec::new());
    for i in 0..u16::try_from(POINTS).unwrap_or(0) {
        let (arm, at) = (f32::from(i % 2), f32::from(i / 2) / 128.0);
        let angle = at * 6.0 + arm * std::f32::consts::PI;
        let radius = 0.2 + at;
        x.extend([radius * angle.cos() * 2.0, radius * angle.sin() * 2.0]);
        label.push(arm);
    }
    let count = i64::try_from(POINTS).unwrap_or(0);
    (Literal::from_slice(&[count, 2], &x), Literal::from_slice(&[count, 1], &label))
}

/// Small pseudorandom numbers: the middle bits of a linear congruential generator.
fn start() -> Vec<Literal> {
    let mut seed = 12345u32;
    let mut draw = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from(u16::try_from(seed >> 16).unwrap_or(0)) / 32768.0 - 1.0
    };
    let widths = [2, HIDDEN, HIDDEN, 1];
    let mut parameters = Vec::new();
    for pair in widths.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let reach = 1.5 / f32::from(u16::try_from(from).unwrap_or(1)).sqrt();
        let weights: Vec<f32> = (0..from * to).map(|_| draw() * reach).collect();
        let size = |n: usize| i64::try_from(n).unwrap_or(0);
        parameters.push(Literal::from_slice(&[size(from), size(to)], &weights));
        parameters.push(Literal::from_slice(&[size(to)], &vec![0f32; to]));
    }
    let still: Vec<Literal> =
        parameters.iter().filter_map(|p| p.array_shape().cloned().map(Literal::zeros)).collect();
    parameters.into_iter().chain(still).collect()
}

/// Trains to an accuracy of at least 95 %. Returns the accuracy of the last step.
pub fn run(show: impl Fn(usize, f32, f32)) -> Result<f32, Box<dyn Error>> {
    let executable = Executable::compile(step()?, &CompileOptions::default())?;
    let options = RunOptions::default();
    let (x, label) = spirals();
    let mut state = start();
    let mut share = 0.0;
    for step in 0..STEPS {
        let arguments = [state, vec![x.clone(), label.clone()]].concat();
        let result = executable.execute(&arguments, &options)?;
        let parts = result.elements().ok_or("the result is a tuple")?;
        let (kept, metrics) = parts.split_at(2 * PARAMETERS.len());
        let number = |i: usize| metrics[i].as_slice::<f32>().map_or(f32::NAN, |x| x[0]);
        share = number(1);
        if step % 100 == 0 || share >= 0.99 {
            show(step, number(0), share);
        }
        if share >= 0.99 {
            break;
        }
        state = kept.to_vec();
    }
    Ok(share)
}

#[allow(dead_code, reason = "the tests call `run` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let share = run(|step, loss, share| {
        println!("step {step:4}   loss {loss:.4}   {:5.1} % accuracy", 100.0 * share);
    })?;
    println!("{}", if share >= 0.95 { "the spirals are distinguished" } else { "not good enough" });
    Ok(())
}
