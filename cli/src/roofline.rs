//! The roofline: the least time that operations and bytes take on a machine.
use collectives::Session;
use hlo::{Literal, Module};
use interp::cost::Cost;
use interp::{CompileOptions, Engine, RunOptions};
use std::time::Instant;

/// The most operations and bytes in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Roofline {
    pub(crate) flops: f64,
    pub(crate) bytes: f64,
}

impl Roofline {
    /// Parses `GFLOPS:GBS`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (flops, bytes) = text.split_once(':')?;
        let number = |text: &str| text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
        Some(Self { flops: 1e9 * number(flops)?, bytes: 1e9 * number(bytes)? })
    }

    /// Measures what the engine `fast` reaches: the operations of a product of matrices, the bytes of a negation of an array that
    /// no cache holds.
    pub(crate) fn measured() -> Option<Self> {
        let product = "x = f32[768,768] parameter(0) ROOT r = f32[768,768] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        let negation = "x = f32[16777216] parameter(0) ROOT r = f32[16777216] negate(x)";
        Some(Self {
            flops: 2.0 * 768f64.powi(3) / seconds(product)?,
            bytes: 2.0 * 4.0 * 16_777_216.0 / seconds(negation)?,
        })
    }

    /// Returns the least time of a cost, in seconds.
    pub(crate) fn seconds(self, cost: Cost) -> f64 {
        (cost.flops / self.flops).max(cost.bytes / self.bytes)
    }
}

/// Returns the shortest time of three runs.
fn seconds(body: &str) -> Option<f64> {
    let text = format!("HloModule m\nENTRY e {{ {body} }}");
    let module = Module::parse(&text).ok()?.verify().ok()?;
    let shape = module.module().entry().program_shape().parameters[0].array()?.clone();
    let options = CompileOptions::default().engine(Engine::Fast);
    let session = Session::compile(module, &options).ok()?;
    let arguments = [vec![Literal::zeros(shape)]];
    let run = |_| {
        let start = Instant::now();
        session.run(&arguments, &RunOptions::default()).ok()?;
        Some(start.elapsed().as_secs_f64())
    };
    (0..3).map(run).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_part_decides() {
        let roofline = Roofline::parse("100:10").unwrap();
        let milliseconds = |flops, bytes| (1e3 * roofline.seconds(Cost { flops, bytes })).round();
        assert!(milliseconds(1e11, 1e9).total_cmp(&1000.0).is_eq());
        assert!(milliseconds(1e9, 2e10).total_cmp(&2000.0).is_eq());
        for text in ["", "1", "0:1", "1:nan", "-1:1"] {
            assert_eq!(Roofline::parse(text), None, "{text}");
        }
    }
}
