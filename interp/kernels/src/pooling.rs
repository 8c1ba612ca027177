//! Reductions over small windows, a row of results at a time.
use super::fold::first_value;
use super::fold_tiles::repeat;
use super::partial_sum::{ColumnSums, FEW, Partial, SumMethod, exact_sum, sum_without_errors};
use super::program_fold::Accumulators;
use super::reduce::have_types;
use super::window_rows::{WindowColumn, WindowRows};
use super::window_steps::steps;
use crate::Kernel;
use crate::function::writes_in;
use hlo::op::{Binary, ReduceWindow};
use hlo::{Array, ArrayShape, ElementType, Scalar};
use num::Arithmetic;
use num::index::saturating_count;
use num::loops::{AT_ONCE, VectorLoop, binary_loop};
use num::parallel::{parts, parts_with, threads};
use num::scalar_program::{BlockProgram, ScalarProgram};
use smallvec::SmallVec;

/// The method by which elements are folded.
enum PoolingMethod {
    /// By adding floats in f64, with a bound on the error where the arithmetic asks for one.
    Sum(SumMethod),
    /// By an op on arrays.
    Op(VectorLoop),
    /// By another computation.
    Program(BlockProgram),
}

struct Pooling {
    rows: WindowRows,
    method: PoolingMethod,
    from: Vec<ElementType>,
    to: Vec<ElementType>,
}

/// Memory of a thread, of the size of a segment.
struct PoolingScratch<'a> {
    parts: Vec<WindowColumn>,
    elements: Vec<Vec<u128>>,
    accumulators: Vec<u128>,
    sums: ColumnSums,
    program: Option<Accumulators<'a>>,
}

/// Returns the kernel of a reduction over windows, if its results lie in rows.
pub(super) fn kernel(
    op: &ReduceWindow,
    operands: &[&ArrayShape],
    results: &[&ArrayShape],
    applied: &ScalarProgram,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let (operands, inits) = operands.split_at(results.len());
    let (from, result) = (operands[0], results[0]);
    let rows = WindowRows::of(&op.window, &from.dims, &result.dims)?;
    let types = |shapes: &[&ArrayShape]| shapes.iter().map(|shape| shape.ty).collect::<Vec<_>>();
    let (from_types, to) = (types(operands), types(results));
    let method = if from.ty.is_float() && applied.as_binary() == Some(Binary::Add) {
        let method = SumMethod::of(from.ty, result.ty, arithmetic);
        PoolingMethod::Sum(method.filter(|_| applied.results() == to)?)
    } else if have_types(applied, operands, &to) {
        let binary = applied.as_binary_in_order().filter(|_| to.len() == 1);
        match binary.and_then(|(op, ty)| binary_loop(op, ty, Arithmetic::Exact)) {
            Some(function) => PoolingMethod::Op(function),
            None => PoolingMethod::Program(applied.results_in_blocks(arithmetic)?),
        }
    } else {
        return None;
    };
    let (window, shapes, count) = (op.window.clone(), (from.clone(), result.clone()), inits.len());
    let pooling = Pooling { rows, method, from: from_types, to };
    Some(writes_in(arithmetic, pooling.scratch(result), move |scope, inputs, outputs| {
        scope.spend(steps(&window, &shapes.0, &shapes.1))?;
        let (inputs, inits) = inputs.split_at(count);
        let first: Vec<Scalar> = match pooling.method {
            // The initial value takes part as it is.
            PoolingMethod::Sum(_) => vec![inits[0].get(0)],
            PoolingMethod::Op(_) | PoolingMethod::Program(_) => {
                inits.iter().zip(&pooling.to).map(first_value).collect()
            }
        };
        let inputs: SmallVec<[&[u8]; 2]> = inputs.iter().map(|input| input.bytes()).collect();
        pooling.run(&inputs, &first, outputs);
        Ok(())
    }))
}

impl Pooling {
    /// Returns the bytes of a result of each operand.
    fn width(&self) -> usize {
        self.to.iter().map(|ty| ty.storage_bytes()).sum()
    }
    /// Returns the number of lists of elements of an operand that are read at once.
    fn at_once(&self) -> usize {
        if matches!(self.method, PoolingMethod::Sum(_)) { AT_ONCE } else { 1 }
    }
    /// Returns the words of memory that the elements of a segment take.
    fn words(&self, ty: ElementType) -> usize {
        (self.rows.segment() * ty.storage_bytes()).div_ceil(size_of::<u128>())
    }
    fn scratch(&self, result: &ArrayShape) -> usize {
        let segment = self.rows.segment();
        let elements: usize = self.from.iter().map(|&ty| self.words(ty) * size_of::<u128>()).sum();
        let elements = elements * self.at_once();
        let each = match &self.method {
            PoolingMethod::Sum(_) => ColumnSums::bytes(segment),
            PoolingMethod::Op(_) => elements,
            PoolingMethod::Program(program) => Accumulators::bytes(program, &self.to, segment),
        };
        let all = if self.to.len() == 1 { 0 } else { self.width() };
        let all = all.saturating_mul(saturating_count(&result.dims));
        let each = each.saturating_add(elements).saturating_add(self.rows.parts_bytes());
        each.saturating_mul(threads().min(self.rows.segments())).saturating_add(all)
    }
    fn space(&self) -> PoolingScratch<'_> {
        let segment = self.rows.segment();
        let (words, program) = match &self.method {
            PoolingMethod::Sum(_) => (0, None),
            PoolingMethod::Op(_) => (self.words(self.to[0]), None),
            PoolingMethod::Program(program) => {
                (0, Some(Accumulators::new(program, &self.to, segment)))
            }
        };
        PoolingScratch {
            parts: Vec::new(),
            elements: (self.from.iter())
                .flat_map(|&ty| vec![vec![0; self.words(ty)]; self.at_once()])
                .collect(),
            accumulators: vec![0; words],
            sums: ColumnSums::default(),
            program,
        }
    }

    fn run(&self, from: &[&[u8]], first: &[Scalar], outputs: &mut [Array]) {
        if let [output] = outputs {
            return self.segments(from, first, output.bytes_mut());
        }
        // Each segment has the values of one result after those of another.
        let width = self.width();
        let mut all = vec![0; outputs[0].len() * width];
        self.segments(from, first, &mut all);
        let mut at = 0;
        for row in all.chunks_exact(self.rows.len() * width) {
            for mut segment in row.chunks(self.rows.segment() * width) {
                let count = segment.len() / width;
                for (output, ty) in outputs.iter_mut().zip(&self.to) {
                    let bytes = ty.storage_bytes();
                    let (values, rest) = segment.split_at(count * bytes);
                    output.bytes_mut()[at * bytes..][..values.len()].copy_from_slice(values);
                    segment = rest;
                }
                at += count;
            }
        }
    }

    /// Computes the segments of all rows.
    fn segments(&self, from: &[&[u8]], first: &[Scalar], to: &mut [u8]) {
        let [row, segment] = [self.rows.len(), self.rows.segment()].map(|n| n * self.width());
        if segment < row {
            return parts(to, (row, 1), |row, to| {
                parts_with(
                    to,
                    (segment, 1),
                    || self.space(),
                    |space, segment, to| self.segment(from, first, (row, segment), space, to),
                );
            });
        }
        parts_with(
            to,
            (row, 1),
            || self.space(),
            |space, row, to| self.segment(from, first, (row, 0), space, to),
        );
    }

    /// Computes a segment of a row.
    fn segment(
        &self,
        from: &[&[u8]],
        first: &[Scalar],
        (row, segment): (usize, usize),
        space: &mut PoolingScratch<'_>,
        to: &mut [u8],
    ) {
        self.rows.parts(row, segment, &mut space.parts);
        match &self.method {
            PoolingMethod::Sum(method) => self.sum(method, from[0], first[0], space, to),
            PoolingMethod::Op(function) => self.fold(function, from[0], first[0], space, to),
            PoolingMethod::Program(_) => self.call(from, first, space, to),
        }
    }

    fn fold(
        &self,
        function: &VectorLoop,
        from: &[u8],
        first: Scalar,
        space: &mut PoolingScratch<'_>,
        to: &mut [u8],
    ) {
        let width = self.to[0].storage_bytes();
        repeat(first, self.to[0], to);
        for &part in &space.parts {
            let elements = bytemuck::cast_slice_mut(&mut space.elements[0]);
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
        method: &SumMethod,
        from: &[u8],
        first: Scalar,
        space: &mut PoolingScratch<'_>,
        to: &mut [u8],
    ) {
        let (run, loops) = (self.rows.run(), method.loops);
        let count = to.len() / method.to.storage_bytes();
        match space.parts.len() <= FEW {
            true => space.sums.restart_few(first, count, loops),
            false => space.sums.restart(first, count),
        }
        // Sums may have any order: those of the same windows are added together.
        space.parts.sort_by_key(|part| (part.first, part.end));
        let parts = &space.parts;
        for parts in parts.chunk_by(|a, b| (a.first, a.end) == (b.first, b.end)) {
            for parts in parts.chunks(AT_ONCE) {
                let elements = space.elements.iter_mut().zip(parts).map(|(elements, part)| {
                    let elements = bytemuck::cast_slice_mut(elements);
                    self.rows.elements(*part, from, loops.width, elements)
                });
                let elements: SmallVec<[&[u8]; AT_ONCE]> = elements.collect();
                space.sums.add(loops, &elements, parts[0].first * run);
            }
        }
        space.sums.finish(method, parts.len(), to, |open: &[(usize, Partial)]| {
            let exact = |&(i, _): &(usize, Partial)| {
                let elements = parts
                    .iter()
                    .filter(|part| (part.first..part.end).contains(&(i / run)))
                    .map(|part| &from[self.rows.offset(*part, i) * loops.width..][..loops.width]);
                // Short sums are often halfway between two numbers, and few of them round.
                let numbers = elements.clone().map(|x| Scalar::read(self.from[0], x).as_f64());
                let sum = sum_without_errors(first.as_f64(), numbers).map(Scalar::Float);
                let sum = sum.unwrap_or_else(|| exact_sum(loops, first, elements, method.to));
                sum.round_to(method.to)
            };
            open.iter().map(exact).collect()
        });
    }

    /// Folds the elements of several operands; their results lie one after another in `to`.
    fn call(
        &self,
        from: &[&[u8]],
        first: &[Scalar],
        space: &mut PoolingScratch<'_>,
        to: &mut [u8],
    ) {
        let PoolingScratch { parts, elements, program, .. } = space;
        let Some(program) = program else { return };
        let count = to.len() / self.width();
        program.fill(first, count);
        for &part in &*parts {
            let columns = (from.iter().zip(elements.iter_mut()).zip(&self.from))
                .map(|((from, space), ty)| {
                    let space = bytemuck::cast_slice_mut(space);
                    self.rows.elements(part, from, ty.storage_bytes(), space)
                })
                .collect::<SmallVec<[&[u8]; 2]>>();
            let run = self.rows.run();
            program.fold_at(part.first * run..part.end * run, |k| columns[k]);
        }
        let mut to = to;
        for k in 0..self.to.len() {
            let values = program.get(k, count);
            let (now, rest) = to.split_at_mut(values.len());
            now.copy_from_slice(values);
            to = rest;
        }
    }
}
