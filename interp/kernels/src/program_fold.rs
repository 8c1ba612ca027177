//! Folds by any computation, of many results at once: each step of the computation is a loop over
//! an element of each.
//!
//! Where the computation is associative, few results with many elements each are folds of parts of
//! their elements, which are computed as if they were results, and combined in their order.
use super::fold_tiles::repeat;
use super::lanes::{DEPTH, LANES, LaneTile, RUN, Starts, rows};
use hlo::{Array, ElementType, Scalar};
use num::clock::Stop;
use num::index::Grid;
use num::parallel::{parts_with, threads};
use num::scalar_program::{BLOCK, BlockProgram};
use std::ops::Range;

const _: () = assert!(LANES <= BLOCK, "a block of a program has an element of each line");

/// Elements of the shortest parts of a result.
pub(super) const SHORTEST: usize = 64;
/// Elements that a thread folds in a row, if the computation is associative.
const SHARE: usize = 1 << 16;

/// The bytes of a value for each line.
type Lane = Vec<u128>;

/// Accumulators beside one another, which a program folds elements into.
pub(super) struct Accumulators<'a> {
    program: &'a BlockProgram,
    types: &'a [ElementType],
    now: Vec<Lane>,
    next: Vec<Lane>,
    registers: Vec<[u128; BLOCK]>,
}

impl<'a> Accumulators<'a> {
    /// Returns `count` accumulators of each type.
    pub(super) fn new(program: &'a BlockProgram, types: &'a [ElementType], count: usize) -> Self {
        let words = |ty: &ElementType| (count * ty.storage_bytes()).div_ceil(size_of::<u128>());
        let lanes: Vec<Lane> = types.iter().map(|ty| vec![0; words(ty)]).collect();
        Self { program, types, now: lanes.clone(), next: lanes, registers: program.registers() }
    }
    /// Returns the bytes of the accumulators of a program, and of those that are folded into them.
    pub(super) fn bytes(program: &BlockProgram, types: &[ElementType], count: usize) -> usize {
        program.bytes() + 4 * types.len() * count * size_of::<u128>()
    }
    /// Returns the first `count` accumulators of operand `k`.
    pub(super) fn get(&self, k: usize, count: usize) -> &[u8] {
        &bytemuck::cast_slice(&self.now[k])[..count * self.types[k].storage_bytes()]
    }
    pub(super) fn set(&mut self, k: usize, values: &[u8]) {
        bytemuck::cast_slice_mut(&mut self.now[k])[..values.len()].copy_from_slice(values);
    }
    pub(super) fn fill(&mut self, values: &[Scalar], count: usize) {
        for ((now, &ty), &value) in self.now.iter_mut().zip(self.types).zip(values) {
            repeat(value, ty, &mut bytemuck::cast_slice_mut(now)[..count * ty.storage_bytes()]);
        }
    }
    /// Folds `count` elements of each operand into the first accumulators.
    pub(super) fn fold<'e>(&mut self, count: usize, element: impl Fn(usize) -> &'e [u8]) {
        let Self { program, types, now, next, registers } = self;
        let argument = |i: usize| match i.checked_sub(types.len()) {
            None => bytemuck::cast_slice(&now[i]),
            Some(k) => element(k),
        };
        program.run(registers, argument, count);
        for (k, (next, ty)) in next.iter_mut().zip(*types).enumerate() {
            let result = program.result(k, registers, argument, count);
            bytemuck::cast_slice_mut(next)[..count * ty.storage_bytes()].copy_from_slice(result);
        }
        std::mem::swap(now, next);
    }
    /// Folds elements of each operand into the accumulators in a range.
    pub(super) fn fold_at<'e>(&mut self, range: Range<usize>, element: impl Fn(usize) -> &'e [u8]) {
        let Self { program, types, now, next, registers } = self;
        for start in range.clone().step_by(BLOCK) {
            let count = BLOCK.min(range.end - start);
            let bytes = |k: usize, start: usize| start * types[k].storage_bytes();
            let argument = |i: usize| match i.checked_sub(types.len()) {
                None => &bytemuck::cast_slice(&now[i])[bytes(i, start)..],
                Some(k) => &element(k)[bytes(k, start - range.start)..],
            };
            program.run(registers, argument, count);
            for (k, next) in next.iter_mut().enumerate() {
                let result = program.result(k, registers, argument, count);
                bytemuck::cast_slice_mut(next)[..bytes(k, count)].copy_from_slice(result);
            }
            for (k, (now, next)) in now.iter_mut().zip(&*next).enumerate() {
                let now: &mut [u8] = bytemuck::cast_slice_mut(now);
                let next: &[u8] = bytemuck::cast_slice(next);
                now[bytes(k, start)..][..bytes(k, count)].copy_from_slice(&next[..bytes(k, count)]);
            }
        }
    }
    /// Folds the upper half of `2 * count` accumulators into the lower one.
    fn halve(&mut self, count: usize) {
        let upper: Vec<Lane> = self.now.clone();
        let types = self.types;
        self.fold(count, |k| {
            let bytes = count * types[k].storage_bytes();
            &bytemuck::cast_slice(&upper[k])[bytes..2 * bytes]
        });
    }
}

/// A fold of each result, over elements at the same distances from its first one.
pub(super) struct ProgramFold {
    pub(super) program: BlockProgram,
    /// The types of the accumulators, which are those of the elements.
    pub(super) types: Vec<ElementType>,
    /// The distances of the results' first elements, and of the elements of each.
    pub(super) results: Grid,
    pub(super) elements: Grid,
    /// Results that are neighbors in the operands.
    pub(super) run: usize,
    /// Whether elements may be folded in parts.
    pub(super) is_associative: bool,
}

impl ProgramFold {
    /// Returns the bytes of a result.
    fn width(&self) -> usize {
        self.types.iter().map(|ty| ty.storage_bytes()).sum()
    }
    /// Returns the results that are computed together, at most, and the elements of each.
    fn sizes(&self) -> (usize, usize) {
        let (results, elements) = (self.results.count(), self.elements.count());
        let row = if self.run >= RUN { self.run } else { results };
        let together = row.div_ceil(row.div_ceil(LANES));
        let is_shared = self.is_associative && results < 4 * LANES;
        let share = if is_shared { (SHARE / together).max(SHORTEST) } else { elements };
        (together, share.min(elements).max(1))
    }
    fn groups(&self) -> usize {
        let row = if self.run >= RUN { self.run } else { self.results.count() };
        self.results.count() / row * row.div_ceil(self.sizes().0)
    }
    pub(super) fn scratch(&self) -> usize {
        let shares = self.elements.count().div_ceil(self.sizes().1);
        let tiles = self.types.len() * LaneTile::BYTES;
        let accumulators = Accumulators::bytes(&self.program, &self.types, LANES);
        let folds = self.groups() * shares * LANES * self.width();
        folds + threads() * (accumulators + tiles) + accumulators
    }

    /// Computes the results, of which `first` has the initial values.
    pub(super) fn run(&self, inputs: &[&[u8]], first: &[Scalar], outputs: &mut [Array]) {
        let (together, share) = self.sizes();
        let shares = self.elements.count().div_ceil(share);
        let per_row = if self.run >= RUN { self.run } else { self.results.count() };
        let groups_of_row = per_row.div_ceil(together);
        let range = |group: usize| {
            let (row, start) = (group / groups_of_row, group % groups_of_row * together);
            row * per_row + start..row * per_row + per_row.min(start + together)
        };
        let words = LANES * self.width() / size_of::<u128>();
        let mut folds = vec![0_u128; self.groups() * shares * words];
        let state = || {
            let tiles = self.types.iter().map(|_| LaneTile::default()).collect::<Vec<_>>();
            (Accumulators::new(&self.program, &self.types, LANES), tiles)
        };
        let work = together * share;
        let least = super::cost_model::FOLDED / work.max(1);
        parts_with(&mut folds, (words, least), state, |(accumulators, tiles), task, to| {
            let (results, share_number) = (range(task / shares), task % shares);
            let start = share_number * share;
            let elements = start..self.elements.count().min(start + share);
            let count = results.len();
            let starts = if self.run >= RUN {
                Starts::Run(self.results.offset(results.start), count)
            } else {
                Starts::List(results.map(|result| self.results.offset(result)).collect())
            };
            if self.is_associative {
                self.fold_parts(inputs, &starts, elements, accumulators, tiles);
            } else {
                accumulators.fill(first, count);
                self.fold(inputs, &starts, elements, accumulators, tiles);
            }
            self.store(accumulators, count, bytemuck::cast_slice_mut(to));
        });
        let mut accumulators =
            self.is_associative.then(|| Accumulators::new(&self.program, &self.types, LANES));
        let folds: &[u8] = bytemuck::cast_slice(&folds);
        for (group, folds) in folds.chunks_exact(shares * words * size_of::<u128>()).enumerate() {
            let results = range(group);
            let count = results.len();
            let parts = folds.chunks_exact(words * size_of::<u128>());
            if let Some(accumulators) = &mut accumulators {
                accumulators.fill(first, count);
                parts.for_each(|fold| accumulators.fold(count, |k| self.part(fold, k, count)));
            }
            for (k, output) in outputs.iter_mut().enumerate() {
                let width = self.types[k].storage_bytes();
                let values = match &accumulators {
                    Some(accumulators) => accumulators.get(k, count),
                    None => self.part(folds, k, count),
                };
                output.bytes_mut()[results.start * width..results.end * width]
                    .copy_from_slice(values);
            }
        }
    }

    /// Returns the values of operand `k` in the folds of some results.
    fn part<'f>(&self, folds: &'f [u8], k: usize, count: usize) -> &'f [u8] {
        let before: usize = self.types[..k].iter().map(|ty| ty.storage_bytes()).sum();
        &folds[before * LANES..][..count * self.types[k].storage_bytes()]
    }
    fn store(&self, accumulators: &Accumulators<'_>, count: usize, to: &mut [u8]) {
        let mut to = to;
        for (k, ty) in self.types.iter().enumerate() {
            let values = accumulators.get(k, count);
            to[..values.len()].copy_from_slice(values);
            to = &mut to[LANES * ty.storage_bytes()..];
        }
    }

    /// Folds elements of each line into the accumulators.
    fn fold(
        &self,
        inputs: &[&[u8]],
        starts: &Starts,
        elements: Range<usize>,
        accumulators: &mut Accumulators<'_>,
        tiles: &mut [LaneTile],
    ) {
        let stop = Stop::current();
        let end = elements.end;
        for first in elements.step_by(DEPTH).take_while(|_| !stop.is_set()) {
            let range = first..end.min(first + DEPTH);
            let rows: Vec<_> = (inputs.iter().zip(tiles.iter_mut()).zip(&self.types))
                .map(|((from, tile), ty)| {
                    rows(from, ty.storage_bytes(), starts, (&self.elements, range.clone()), tile)
                })
                .collect();
            for i in 0..range.len() {
                accumulators.fold(starts.len(), |k| rows[k].row(i));
            }
        }
    }

    /// Folds some elements of each result, without the initial values, in parts if there are many.
    fn fold_parts(
        &self,
        inputs: &[&[u8]],
        starts: &Starts,
        elements: Range<usize>,
        accumulators: &mut Accumulators<'_>,
        tiles: &mut [LaneTile],
    ) {
        let count = starts.len();
        let mut rest = elements;
        let mut folded: Option<Vec<Lane>> = None;
        while !rest.is_empty() {
            let fitting = (LANES / count).min(rest.len() / SHORTEST).max(1);
            let parts = 1 << fitting.ilog2();
            // An odd number of lines of the cache: lines that are a power of two apart would not
            // stay there.
            let lines = rest.len() / parts / DEPTH;
            let length = if parts == 1 { rest.len() } else { ((lines - 1) | 1) * DEPTH };
            let part = |number: usize| self.elements.offset(rest.start + number * length);
            // The halves of these are neighbors of one another, and so are the halves of those.
            let order = (0..parts).map(|i: usize| match parts.ilog2() {
                0 => 0,
                bits => i.reverse_bits() >> (usize::BITS - bits),
            });
            let lanes = match parts {
                1 => starts.clone(),
                _ => Starts::List(
                    order
                        .flat_map(|number| (0..count).map(move |lane| (number, lane)))
                        .map(|(number, lane)| starts.get(lane) + part(number) - part(0))
                        .collect(),
                ),
            };
            for (k, (from, tile)) in inputs.iter().zip(tiles.iter_mut()).enumerate() {
                let width = self.types[k].storage_bytes();
                let first = rest.start..rest.start + 1;
                let rows = rows(from, width, &lanes, (&self.elements, first), tile);
                accumulators.set(k, rows.row(0));
            }
            let others = rest.start + 1..rest.start + length;
            self.fold(inputs, &lanes, others, accumulators, tiles);
            let mut lanes = lanes.len();
            while lanes > count {
                lanes /= 2;
                accumulators.halve(lanes);
            }
            if let Some(before) = folded.take() {
                let last = std::mem::replace(&mut accumulators.now, before);
                accumulators.fold(count, |k| bytemuck::cast_slice(&last[k]));
            }
            rest.start += parts * length;
            if !rest.is_empty() {
                folded = Some(accumulators.now.clone());
            }
        }
    }
}
