//! The Mandelbrot set as ASCII art: a loop over a state of three arrays, one of them complex.
//!
//! `cargo run -p etalon --example mandelbrot`
#![expect(clippy::print_stdout, reason = "an example shows something")]
use etalon::builder::{self, Builder};
use etalon::hlo::{ElementType, Literal, Verified};
use etalon::interp;
use std::error::Error;

const WIDTH: usize = 96;
const HEIGHT: usize = 32;
const STEPS: i32 = 200;

/// The number of steps after which each point leaves the circle of radius 2, at most `STEPS`.
fn module() -> Result<Verified, builder::Error> {
    let b = Builder::new("mandelbrot");
    let sizes = [i64::try_from(HEIGHT).unwrap_or(0), i64::try_from(WIDTH).unwrap_or(0)];
    let (left, step) = (b.parameter(0, "c64[]", "corner"), b.parameter(1, "c64[]", "step"));
    let column = b.iota((ElementType::F32, &sizes[..]), 1) * step.real();
    let row = b.iota((ElementType::F32, &sizes[..]), 0) * step.imag();
    let c = column.complex(row) + left;

    let zero = b.constant(0i32);
    let counts = zero.broadcast(&sizes);
    let start = b.tuple(&[zero, c, c, counts]);
    let end = start.while_loop(
        |state| state.get_tuple_element(0).lt(STEPS),
        |state| {
            let [i, c, z, counts] = [0, 1, 2, 3].map(|part| state.get_tuple_element(part));
            let near = z.abs().le(2);
            // A point outside the circle keeps its value, so that it does not overflow.
            let z = near.select(z * z + c, z);
            let counts = counts + near.convert_element_type(ElementType::S32);
            state.builder().tuple(&[i + 1, c, z, counts])
        },
    );
    b.build(end.get_tuple_element(3))
}

/// Prints the set. Returns the number of points in it.
pub fn run() -> Result<usize, Box<dyn Error>> {
    let module = module()?;
    let corner: Literal = "c64[] (-2.2, -1.2)".parse()?;
    let step: Literal = "c64[] (0.033, 0.075)".parse()?;
    let counts = interp::run(&module, &[corner, step])?;
    let counts = counts.as_slice::<i32>().ok_or("counts are s32")?;
    let shades: Vec<char> = " .,:;i1tfLCG08".chars().collect();
    for row in counts.chunks(WIDTH) {
        let line: String = (row.iter())
            .map(|&n| match n {
                STEPS => '@',
                n => shades[usize::try_from(n).unwrap_or(0).min(shades.len() - 1)],
            })
            .collect();
        println!("{}", line.trim_end());
    }
    Ok(counts.iter().filter(|&&n| n == STEPS).count())
}

#[allow(dead_code, reason = "the tests call `run` instead")]
fn main() -> Result<(), Box<dyn Error>> {
    let inside = run()?;
    println!("{inside} of {} points stay", WIDTH * HEIGHT);
    Ok(())
}
