//! The gradient of a transformer block with respect to its weights, and a check: a step against the gradient lowers the loss
//! as the gradient predicts.
//!
//! `cargo run -p etalon --example transformer_block`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use etalon::builder::{self, Builder, Value, nn};
use etalon::hlo::{self, Literal, Verified};
use etalon::interp::{CompileOptions, Executable, RunOptions};
use std::error::Error;

/// Name and shape of each weight: 8 positions, width 16, 2 heads, hidden width 32.
const WEIGHTS: [(&str, &[i64]); 8] = [
    ("norm_1", &[16]),
    ("queries", &[16, 16]),
    ("keys", &[16, 16]),
    ("values", &[16, 16]),
    ("output", &[16, 16]),
    ("norm_2", &[16]),
    ("widen", &[16, 32]),
    ("narrow", &[32, 16]),
];

/// `[8,16]` as two heads of `[8,8]`: `[2,8,8]`.
fn heads(x: Value<'_>) -> Value<'_> {
    x.reshape(&[8, 2, 8]).transpose(&[1, 0, 2])
}

/// A transformer block: attention and a two-layer network, each with a residual connection.
fn block<'b>(x: Value<'b>, w: &[Value<'b>]) -> Value<'b> {
    let b = x.builder();
    let attended = {
        let _scope = b.scope("attention");
        let normed = nn::layer_norm(x, Some(w[0]), None, 1e-5);
        let [q, k, v] = [w[1], w[2], w[3]].map(|weights| heads(normed.dot(weights)));
        let options = nn::Attention { causal: true, ..Default::default() };
        let joined = nn::attention(q, k, v, options).transpose(&[1, 0, 2]).reshape(&[8, 16]);
        x + joined.dot(w[4])
    };
    let _scope = b.scope("mlp");
    let normed = nn::layer_norm(attended, Some(w[5]), None, 1e-5);
    attended + normed.dot(w[6]).gelu().dot(w[7])
}

/// The loss, and its gradient with respect to every weight.
fn module() -> Result<Verified, builder::Error> {
    let b = Builder::new("transformer_block");
    let x = b.input("x", "f64[8,16]");
    let weights: Vec<Value<'_>> = (WEIGHTS.iter())
        .map(|(name, dims)| b.input(name, (hlo::ElementType::F64, *dims)))
        .collect();
    let y = block(x, &weights);
    let loss = (y * y).mean(&[0, 1]);
    let gradients = b.grad(loss, &weights);
    b.build(b.tuple(&[vec![loss], gradients].concat()))
}

/// Pseudorandom numbers from -1 to 1.
fn drawn(dims: &[i64], seed: &mut u32) -> Literal {
    let count = dims.iter().product::<i64>();
    let numbers: Vec<f64> = (0..count)
        .map(|_| {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(*seed >> 8) / f64::from(1u32 << 23) - 1.0
        })
        .collect();
    Literal::from_slice(dims, &numbers)
}

fn numbers(literal: &Literal) -> &[f64] {
    literal.as_slice().unwrap_or_default()
}

/// Prints the norm of each gradient. Returns the decrease of the loss relative to the prediction of the gradient.
pub fn run(show: impl Fn(&str, f64)) -> Result<f64, Box<dyn Error>> {
    let executable = Executable::compile(module()?, &CompileOptions::default())?;
    let options = RunOptions::default();
    let mut seed = 7;
    let mut arguments = vec![drawn(&[8, 16], &mut seed)];
    arguments.extend(WEIGHTS.iter().map(|(_, dims)| drawn(dims, &mut seed)));
    let result = executable.execute(&arguments, &options)?;
    let parts = result.elements().ok_or("the result is a tuple")?;

    let rate = 1e-6;
    let mut promised = 0.0;
    for (i, (name, dims)) in WEIGHTS.iter().enumerate() {
        let gradient = numbers(&parts[i + 1]);
        let square: f64 = gradient.iter().map(|g| g * g).sum();
        show(name, square.sqrt());
        promised += rate * square;
        let moved: Vec<f64> =
            numbers(&arguments[i + 1]).iter().zip(gradient).map(|(w, g)| w - rate * g).collect();
        arguments[i + 1] = Literal::from_slice(dims, &moved);
    }
    let after = executable.execute(&arguments, &options)?;
    let after = after.elements().ok_or("the result is a tuple")?;
    Ok((numbers(&parts[0])[0] - numbers(&after[0])[0]) / promised)
}

#[allow(dead_code, reason = "the tests call `run` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let share = run(|name, norm| println!("{name:8}  |gradient| = {norm:.6}"))?;
    println!("a small step down lowers the loss by {share:.4} of what the gradient says");
    Ok(())
}
