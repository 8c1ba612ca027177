//! A training step on two replicas: each has half of the data, and an all-reduce makes their gradients one.
//!
//! `cargo run -p etalon-builder --example data_parallel`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use builder::{Builder, CollectiveOptions};
use hlo::Verified;
use std::error::Error;

/// The step of a replica: its part of the data in, the same new weights out on both.
pub fn module() -> Result<Verified, builder::Error> {
    let b = Builder::new("data_parallel");
    b.set_replica_count(2);
    let weights = b.parameter(0, "f32[4]", "weights");
    let x = b.parameter(1, "f32[16,4]", "x");
    let y = b.parameter(2, "f32[16]", "y");
    let error = x.dot(weights) - y;
    let loss = (error * error).mean(&[0]);
    let gradient = b.grad(loss, &[weights])[0];
    let both = gradient.all_reduce(|a, c| a + c, &CollectiveOptions::default()) / 2;
    b.build(weights - both * 0.1)
}

#[allow(dead_code, reason = "the tests call `module` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", module()?.module().print(hlo::Style::Short));
    Ok(())
}
