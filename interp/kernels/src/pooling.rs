//! Reductions over small windows, a row of results at a time.
use super::pad;
use super::partial_sum::Partial;
use super::window_rows::{WindowColumn, WindowRows};
use super::window_steps::steps;
use crate::Kernel;
use crate::function::writes_in;
use hlo::op::{Binary, ReduceWindow};
use hlo::{ArrayShape, ElementType, Scalar};
use num::Arithmetic;
use num::accumulator::ExactSum;
use num::loops::{SumLoops, VectorLoop, binary_loop};
use num::parallel::{parts, parts_with, threads};
use num::scalar_program::ScalarProgram;

/// The method by which elements are folded.
enum PoolingMethod {
    /// By adding floats in f64, with a bound on the error where the arithmetic asks for one.
    Sum(SumLoops),
    /// By an op on arrays.
    Op(VectorLoop),
}

struct Pooling {
    rows: WindowRows,
    method: PoolingMethod,
    from: ElementType,
    to: ElementType,
}

/// Memory of a thread, of the size of a segment.
struct PoolingScratch {
    parts: Vec<WindowColumn>,
    elements: Vec<u128>,
    accumulators: Vec<u128>,
    sums: Vec<f64>,
    magnitudes: Vec<f64>,
}

/// Returns the kernel of a reduction over windows, if its results lie in rows.
pub(super) fn kernel(
    op: &ReduceWindow,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    applied: &ScalarProgram,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let &[from, init] = operands else { return None };
    let rows = WindowRows::of(&op.window, &from.dims, &result.dims)?;
    let is_rounded_once = from.ty.is_float() || from.ty.is_complex();
    let method = if is_rounded_once && applied.as_binary() == Some(Binary::Add) {
        let is_narrow = applied.results() == [result.ty] && result.ty.bits() <= 32;
        PoolingMethod::Sum(SumLoops::of(from.ty, arithmetic).filter(|_| is_narrow)?)
    } else {
        let (op, ty) = applied.as_binary_in_order()?;
        let fits = (ty, ty) == (from.ty, result.ty);
        PoolingMethod::Op(binary_loop(op, ty).filter(|_| fits)?)
    };
    let (window, shapes, init) = (op.window.clone(), (from.clone(), result.clone()), init.ty);
    let pooling = Pooling { rows, method, from: from.ty, to: result.ty };
    Some(writes_in(arithmetic, pooling.scratch(), move |scope, inputs, outputs| {
        scope.spend(steps(&window, &shapes.0, &shapes.1))?;
        let first = match pooling.method {
            // The initial value takes part as it is.
            PoolingMethod::Sum(_) => inputs[1].get(0),
            PoolingMethod::Op(_) => inputs[1].get(0).convert(init, pooling.to),
        };
        pooling.run(inputs[0].bytes(), first, outputs[0].bytes_mut());
        Ok(())
    }))
}

/// Fills an array with an element.
pub(super) fn repeat(element: Scalar, ty: ElementType, to: &mut [u8]) {
    let mut bytes = [0; 16];
    let bytes = &mut bytes[..ty.storage_bytes()];
    element.write(ty, bytes);
    pad::repeat(bytes, to);
}

impl Pooling {
    /// Returns the bytes of a segment, in words.
    fn words(&self) -> usize {
        (self.rows.segment() * self.from.storage_bytes()).div_ceil(size_of::<u128>())
    }
    fn scratch(&self) -> usize {
        let sums = match self.method {
            PoolingMethod::Sum(_) => self.rows.segment().saturating_mul(2 * size_of::<f64>()),
            PoolingMethod::Op(_) => self.words().saturating_mul(size_of::<u128>()),
        };
        let elements = self.words().saturating_mul(size_of::<u128>());
        sums.saturating_add(elements).saturating_mul(threads().min(self.rows.segments()))
    }
    fn space(&self) -> PoolingScratch {
        let (words, sums) = match self.method {
            PoolingMethod::Sum(_) => (0, self.rows.segment()),
            PoolingMethod::Op(_) => (self.words(), 0),
        };
        PoolingScratch {
            parts: Vec::new(),
            elements: vec![0; self.words()],
            accumulators: vec![0; words],
            sums: vec![0.0; sums],
            magnitudes: vec![0.0; sums],
        }
    }

    fn run(&self, from: &[u8], first: Scalar, to: &mut [u8]) {
        let width = self.to.storage_bytes();
        parts(to, (self.rows.len() * width, 1), |row, to| {
            parts_with(
                to,
                (self.rows.segment() * width, 1),
                || self.space(),
                |space, segment, to| {
                    self.rows.parts(row, segment, &mut space.parts);
                    match &self.method {
                        PoolingMethod::Sum(loops) => self.sum(*loops, from, first, space, to),
                        PoolingMethod::Op(function) => self.fold(function, from, first, space, to),
                    }
                },
            );
        });
    }

    fn fold(
        &self,
        function: &VectorLoop,
        from: &[u8],
        first: Scalar,
        space: &mut PoolingScratch,
        to: &mut [u8],
    ) {
        let width = self.to.storage_bytes();
        repeat(first, self.to, to);
        for &part in &space.parts {
            let elements = bytemuck::cast_slice_mut(&mut space.elements);
            let elements = self.rows.elements(part, from, width, elements);
            let to = &mut to[part.first * self.rows.run() * width..][..elements.len()];
            let accumulators: &mut [u8] = bytemuck::cast_slice_mut(&mut space.accumulators);
            let accumulators = &mut accumulators[..to.len()];
            accumulators.copy_from_slice(to);
            function(&[accumulators, elements], to);
        }
    }

    fn sum(
        &self,
        loops: SumLoops,
        from: &[u8],
        first: Scalar,
        space: &mut PoolingScratch,
        to: &mut [u8],
    ) {
        let run = self.rows.run();
        // -0 is the neutral element of addition.
        space.sums.fill(-0.0);
        space.magnitudes.fill(0.0);
        for &part in &space.parts {
            let elements = bytemuck::cast_slice_mut(&mut space.elements);
            let elements = self.rows.elements(part, from, self.from.storage_bytes(), elements);
            let columns = part.first * run..part.end * run;
            let magnitudes = &mut space.magnitudes[columns.clone()];
            (loops.columns)(&[elements], &mut space.sums[columns], magnitudes);
        }
        let sums = space.sums.iter().zip(&space.magnitudes);
        let slots = to.chunks_exact_mut(self.to.storage_bytes());
        for (i, ((&sum, &magnitude), slot)) in sums.zip(slots).enumerate() {
            let mut partial = Partial::new(first.as_f64());
            partial.add((sum, magnitude));
            let value = partial.rounded(self.to);
            value
                .unwrap_or_else(|| self.exact_sum(from, first, &space.parts, i))
                .write(self.to, slot);
        }
    }

    /// Computes the exact sum of result number `i` of a row.
    fn exact_sum(&self, from: &[u8], first: Scalar, parts: &[WindowColumn], i: usize) -> Scalar {
        let width = self.from.storage_bytes();
        let mut sum = ExactSum::new(first.as_f64());
        let window = i / self.rows.run();
        for &part in parts.iter().filter(|part| (part.first..part.end).contains(&window)) {
            let at = self.rows.offset(part, i) * width;
            sum.add(Scalar::read(self.from, &from[at..at + width]).as_f64());
        }
        Scalar::Float(sum.rounded(self.to)).round_to(self.to)
    }
}
