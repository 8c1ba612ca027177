//! Elementwise ops fused: one pass over tiles that stay in the cache.
//!
//! Only operands from outside and results are arrays; the values between them are tiles. An operand may be an array with the
//! indices of the result, a scalar, or an array read by strides, as a broadcast or a slice is, and may be converted to a
//! larger type as it is read. Runs of elements of a value may be reduced, each within one tile.
use super::reduce_lines::{Method, RowFold};
use super::strided::Walk;
use crate::Result;
use crate::clock::Stop;
use crate::context::RunContext;
use crate::lower::scratch::threads;
use crate::num::loops::Loop;
use crate::plan::{Kernel, Reuse};
use hlo::{ElementType, Literal, Scalar};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// Elements of a tile. A dozen tiles stay in the first cache.
const TILE: usize = 512;
/// Elements of a part that one thread computes.
const PART: usize = 16 * TILE;
const WORD: usize = size_of::<u128>();
/// Tiles that a thread keeps.
const KEPT: usize = 8;

/// How an operand from outside is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Read {
    /// It has the indices of the result.
    Array,
    /// One element for all indices.
    Scalar,
    /// By strides.
    Walk(Walk),
}

impl Read {
    /// Returns how to read a walk.
    pub(crate) fn of(walk: Walk) -> Self {
        if walk.is_scalar() { Self::Scalar } else { Self::Walk(walk) }
    }
}

/// An operand from outside, with elements of `width` bytes; the loop that converts them, and their bytes then.
pub(crate) struct Operand {
    pub(crate) read: Read,
    pub(crate) width: usize,
    pub(crate) convert: Option<(Loop, usize)>,
}

impl Operand {
    /// Bytes of an element as the ops take it.
    fn converted(&self) -> usize {
        self.convert.as_ref().map_or(self.width, |(_, width)| *width)
    }
    /// Whether it is read where it is, if it is not in the memory of the result.
    fn is_direct(&self) -> bool {
        self.read == Read::Array && self.convert.is_none()
    }
}

/// The number of a value of a fused op: first those of the operands from outside, then one for each part.
pub(crate) type Register = usize;

/// An elementwise op of a fused one: its loop, its operands, and the bytes of an element of its result.
pub(crate) struct Part {
    pub(crate) function: Loop,
    pub(crate) operands: SmallVec<[Register; 3]>,
    pub(crate) width: usize,
}

/// A result of a fused op.
pub(crate) enum Output {
    /// All elements of a value.
    Array(Register),
    /// One element for each run of elements of a value, from a scalar of this type on.
    Rows { of: Register, first: (Register, ElementType), method: Arc<Method> },
}

/// Elementwise ops over one index space, as a kernel.
pub(crate) struct Fused {
    operands: Vec<Operand>,
    steps: Vec<FusedStep>,
    /// The bytes of an element of each output; those that are arrays come first.
    outputs: SmallVec<[usize; 2]>,
    /// Outputs that equal an earlier one.
    copies: Vec<(usize, usize)>,
    /// The reductions, whose results follow the arrays.
    rows: Vec<Rows>,
    /// Bytes of an element of the widest value in each tile. The first tiles hold operands that are not read in place, the
    /// last one elements before they are converted.
    tiles: Vec<usize>,
    /// Elements of each value.
    count: usize,
    /// Elements of a run that is reduced.
    inner: Option<usize>,
}

struct FusedStep {
    function: Loop,
    operands: SmallVec<[(Place, usize); 3]>,
    result: Place,
    width: usize,
}

/// A reduction of runs of elements.
struct Rows {
    of: (Place, usize),
    /// The operand from outside with the first value, and its type.
    first: (usize, ElementType),
    method: Arc<Method>,
}

/// Where the elements of a value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In operand `.0` from outside, or in its tile.
    Operand(usize),
    /// In a tile.
    Tile(usize),
    /// In an output.
    Output(usize),
}

/// The place and the element size of each value, found in the order of the parts.
struct Places {
    of: Vec<(Place, usize)>,
    tiles: Vec<usize>,
    free: Vec<usize>,
}

impl Places {
    /// Returns a tile for a value with elements of `width` bytes.
    fn tile(&mut self, width: usize) -> Place {
        let tile = self.free.pop().unwrap_or_else(|| {
            self.tiles.push(0);
            self.tiles.len() - 1
        });
        self.tiles[tile] = self.tiles[tile].max(width);
        Place::Tile(tile)
    }
}

impl Fused {
    /// Returns a kernel over `count` elements, with runs of `inner` if it reduces any. Operands from outside that are arrays
    /// come first, and so do outputs that are arrays.
    pub(crate) fn new(
        (count, inner): (usize, Option<usize>),
        operands: Vec<Operand>,
        parts: Vec<Part>,
        results: Vec<Output>,
    ) -> Self {
        let first = operands.len();
        let mut last_read = vec![0; first + parts.len()];
        for (number, part) in parts.iter().enumerate() {
            part.operands.iter().for_each(|&register| last_read[register] = number);
        }
        let (mut arrays, mut reduced) = (SmallVec::<[Register; 2]>::new(), Vec::new());
        for result in results {
            match result {
                Output::Array(register) => arrays.push(register),
                Output::Rows { of, first, method } => {
                    last_read[of] = usize::MAX;
                    reduced.push((of, first, method));
                }
            }
        }
        let widths: Vec<usize> = operands.iter().map(Operand::converted).collect();
        let of = widths.iter().enumerate().map(|(k, &width)| (Place::Operand(k), width)).collect();
        let mut places = Places { of, tiles: widths, free: Vec::new() };
        let mut steps = Vec::with_capacity(parts.len());
        for (number, Part { function, operands, width }) in parts.into_iter().enumerate() {
            let register = first + number;
            let result = match arrays.iter().position(|&output| output == register) {
                Some(output) => Place::Output(output),
                None => places.tile(width),
            };
            // A tile is free for the next step once its value has been read for the last time.
            for (k, &operand) in operands.iter().enumerate() {
                let is_dead = last_read[operand] == number && !operands[..k].contains(&operand);
                if let (true, Place::Tile(tile)) = (is_dead, places.of[operand].0) {
                    places.free.push(tile);
                }
            }
            let operands = operands.iter().map(|&operand| places.of[operand]).collect();
            steps.push(FusedStep { function, operands, result, width });
            places.of.push((result, width));
        }
        let Places { of: places, mut tiles, .. } = places;
        let before = operands.iter().filter(|x| x.convert.is_some()).map(|x| x.width).max();
        tiles.push(before.unwrap_or(0));
        let original = |&output: &Register| arrays.iter().position(|&other| other == output);
        let copies = arrays.iter().map(original).enumerate();
        let copies = copies.filter_map(|(to, from)| Some((from.filter(|&from| from != to)?, to)));
        let copies = copies.collect();
        let rows: Vec<Rows> = (reduced.into_iter())
            .map(|(of, first, method)| Rows { of: places[of], first, method })
            .collect();
        let outputs = arrays.iter().map(|&register| places[register].1);
        let outputs = outputs.chain(rows.iter().map(|rows| rows.method.width())).collect();
        Self { operands, steps, outputs, copies, rows, tiles, count, inner }
    }

    /// Elements of a tile: whole runs, if runs are reduced.
    fn length(&self) -> usize {
        let most = match self.inner {
            Some(inner) => (TILE / inner).max(1) * inner,
            None => TILE,
        };
        most.min(self.count)
    }
    /// Elements of a part that one thread computes: whole tiles.
    fn shared(&self) -> usize {
        let length = self.length().max(1);
        (PART / length).max(1) * length
    }
    /// Whether threads share the work.
    fn is_shared(&self) -> bool {
        self.count > 2 * self.shared()
    }
    /// Elements of output `k` for so many elements of the index space.
    fn length_of(&self, k: usize, elements: usize) -> usize {
        match self.inner {
            Some(inner) if k >= self.outputs.len() - self.rows.len() => elements / inner,
            Some(_) | None => elements,
        }
    }

    /// Computes `count` elements from `first` on, and the outputs that follow from them.
    fn part(
        &self,
        inputs: &[Option<&[u8]>],
        (first, count): (usize, usize),
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        let mut tiles = TILES.take();
        tiles.resize_with(self.tiles.len().max(tiles.len()), Vec::new);
        for (k, (tile, width)) in tiles.iter_mut().zip(&self.tiles).enumerate() {
            let is_read = self.operands.get(k).is_some_and(Operand::is_direct);
            if !is_read || inputs[k].is_none() {
                tile.resize((self.length() * width).div_ceil(WORD).max(tile.len()), 0);
            }
        }
        for (k, operand) in self.operands.iter().enumerate() {
            if let (Read::Scalar, Some(input)) = (&operand.read, inputs[k]) {
                self.scalar(operand, input, &mut tiles[k]);
            }
        }
        let mut folds: SmallVec<[RowFold<'_>; 2]> =
            self.rows.iter().map(|rows| rows.fold(inputs, self.inner.unwrap_or(1))).collect();
        for start in (0..count).step_by(self.length()).take_while(|_| !stop.is_set()) {
            let length = self.length().min(count - start);
            self.tile(inputs, &mut tiles, (first + start, start, length), outputs);
            for (number, (rows, fold)) in self.rows.iter().zip(&mut folds).enumerate() {
                let k = self.outputs.len() - self.rows.len() + number;
                let output = std::mem::take(&mut outputs[k]);
                let inner = self.inner.unwrap_or(1);
                let at = (first + start, start, length);
                let elements = self.elements(rows.of, inputs, &tiles, outputs, at);
                let slots =
                    output[start / inner * self.outputs[k]..].chunks_exact_mut(self.outputs[k]);
                let runs = elements.chunks_exact(inner * rows.of.1);
                runs.zip(slots).for_each(|(run, slot)| fold.row(run, slot));
                outputs[k] = output;
            }
        }
        tiles.truncate(KEPT);
        TILES.set(tiles);
    }

    /// Fills a tile with a scalar.
    fn scalar(&self, operand: &Operand, input: &[u8], tile: &mut [u128]) {
        let mut element = [0u128];
        let element: &mut [u8] = bytemuck::cast_slice_mut(&mut element);
        let width = operand.converted();
        match &operand.convert {
            Some((convert, _)) => {
                let mut narrow = [0u128];
                let narrow: &mut [u8] = bytemuck::cast_slice_mut(&mut narrow);
                narrow[..operand.width].copy_from_slice(&input[..operand.width]);
                convert(&[&narrow[..operand.width]], &mut element[..width]);
            }
            None => element[..width].copy_from_slice(&input[..width]),
        }
        let tile: &mut [u8] = bytemuck::cast_slice_mut(tile);
        let elements = tile[..self.length() * width].chunks_exact_mut(width);
        elements.for_each(|to| to.copy_from_slice(&element[..width]));
    }

    /// Returns the elements of a value in the current tile.
    fn elements<'t>(
        &self,
        (place, width): (Place, usize),
        inputs: &[Option<&'t [u8]>],
        tiles: &'t [Vec<u128>],
        outputs: &'t [&mut [u8]],
        (at, start, length): (usize, usize, usize),
    ) -> &'t [u8] {
        match place {
            Place::Operand(k) => match inputs[k] {
                Some(input) if self.operands[k].is_direct() => {
                    &input[at * width..][..length * width]
                }
                Some(_) | None => &bytemuck::cast_slice(&tiles[k])[..length * width],
            },
            Place::Tile(k) => &bytemuck::cast_slice(&tiles[k])[..length * width],
            Place::Output(k) => &outputs[k][start * width..][..length * width],
        }
    }

    /// Computes one tile: `length` elements from `at` on, which are those of the outputs from `start` on.
    fn tile(
        &self,
        inputs: &[Option<&[u8]>],
        tiles: &mut [Vec<u128>],
        (at, start, length): (usize, usize, usize),
        outputs: &mut [&mut [u8]],
    ) {
        for (k, operand) in self.operands.iter().enumerate() {
            self.read(operand, (k, inputs[k]), tiles, (at, start, length), &*outputs);
        }
        for step in &self.steps {
            // The place of the result is taken out while the operands are borrowed.
            let (mut tile, mut output) = (Vec::new(), Default::default());
            match step.result {
                Place::Output(k) => output = std::mem::take(&mut outputs[k]),
                Place::Operand(k) | Place::Tile(k) => tile = std::mem::take(&mut tiles[k]),
            }
            let operands = step.operands.iter();
            let operands: SmallVec<[&[u8]; 3]> = operands
                .map(|&value| self.elements(value, inputs, tiles, outputs, (at, start, length)))
                .collect();
            let bytes = length * step.width;
            let result = match step.result {
                Place::Output(_) => &mut output[start * step.width..][..bytes],
                Place::Operand(_) | Place::Tile(_) => {
                    &mut bytemuck::cast_slice_mut(&mut tile)[..bytes]
                }
            };
            (step.function)(&operands, result);
            drop(operands);
            match step.result {
                Place::Output(k) => outputs[k] = output,
                Place::Operand(k) | Place::Tile(k) => tiles[k] = tile,
            }
        }
        for &(from, to) in &self.copies {
            let bytes = start * self.outputs[to]..(start + length) * self.outputs[to];
            let output = std::mem::take(&mut outputs[to]);
            output[bytes.clone()].copy_from_slice(&outputs[from][bytes]);
            outputs[to] = output;
        }
    }

    /// Reads a tile of operand `k`, if it is not read in place.
    fn read(
        &self,
        operand: &Operand,
        (k, input): (usize, Option<&[u8]>),
        tiles: &mut [Vec<u128>],
        (at, start, length): (usize, usize, usize),
        outputs: &[&mut [u8]],
    ) {
        let width = operand.width;
        let mut tile = std::mem::take(&mut tiles[k]);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut tile);
        let before: &mut [u8] = bytemuck::cast_slice_mut(&mut tiles[self.tiles.len() - 1]);
        match (&operand.read, input, &operand.convert) {
            (Read::Scalar, ..) | (Read::Walk(_), None, _) | (Read::Array, Some(_), None) => {}
            (Read::Walk(walk), Some(input), None) => {
                walk.read(input, width, at, &mut bytes[..length * width]);
            }
            (Read::Walk(walk), Some(input), Some((convert, to))) => {
                walk.read(input, width, at, &mut before[..length * width]);
                convert(&[&before[..length * width]], &mut bytes[..length * to]);
            }
            (Read::Array, Some(input), Some((convert, to))) => {
                convert(&[&input[at * width..][..length * width]], &mut bytes[..length * to]);
            }
            // The operand is in the memory of the first output.
            (Read::Array, None, None) => {
                bytes[..length * width]
                    .copy_from_slice(&outputs[0][start * width..][..length * width]);
            }
            (Read::Array, None, Some((convert, to))) => {
                let narrow = &outputs[0][start * width..][..length * width];
                convert(&[narrow], &mut bytes[..length * to]);
            }
        }
        tiles[k] = tile;
    }
}

impl Rows {
    fn fold(&self, inputs: &[Option<&[u8]>], inner: usize) -> RowFold<'_> {
        let (operand, ty) = self.first;
        let bytes = inputs[operand].expect("a scalar is not in the memory of the result");
        RowFold::new(&self.method, Scalar::read(ty, &bytes[..ty.storage_bytes()]), inner)
    }
}

thread_local! {
    /// Tiles kept for the next part: for small arrays, allocating takes longer than computing.
    static TILES: Cell<Vec<Vec<u128>>> = const { Cell::new(Vec::new()) };
}

impl Kernel for Fused {
    fn run(
        &self,
        _context: &RunContext,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        let inputs: SmallVec<[Option<&[u8]>; 8]> = (inputs.iter())
            .map(|&input| input.array_shape().is_some().then(|| input.bytes()))
            .collect();
        let mut outputs: SmallVec<[&mut [u8]; 2]> =
            outputs.iter_mut().map(Literal::bytes_mut).collect();
        let stop = Stop::current();
        if !self.is_shared() {
            self.part(&inputs, (0, self.count), &mut outputs, &stop);
            return Ok(());
        }
        let shared = self.shared();
        let mut cut: Vec<_> = (outputs.into_iter().enumerate())
            .map(|(k, output)| output.chunks_mut(self.length_of(k, shared) * self.outputs[k]))
            .collect();
        let parts: Vec<SmallVec<[&mut [u8]; 2]>> =
            std::iter::from_fn(|| cut.iter_mut().map(Iterator::next).collect()).collect();
        parts.into_par_iter().enumerate().for_each(|(number, mut outputs)| {
            let first = number * shared;
            let count = shared.min(self.count - first);
            self.part(&inputs, (first, count), &mut outputs, &stop);
        });
        Ok(())
    }
    fn reuse(&self) -> Reuse {
        if self.outputs.len() == self.rows.len() {
            return Reuse::None;
        }
        let arrays = self.operands.iter().take_while(|operand| operand.read == Read::Array);
        Reuse::SameIndex(arrays.count())
    }
    fn scratch(&self) -> usize {
        let is_direct = |k: &usize| self.operands.get(*k).is_some_and(Operand::is_direct);
        let widths = |is: bool| (0..self.tiles.len()).filter(move |k| is_direct(k) == is);
        let in_place = widths(true).map(|k| self.tiles[k]).max().unwrap_or(0);
        let tiles = widths(false).map(|k| self.tiles[k]).sum::<usize>() + in_place;
        let folds: usize = self.rows.iter().map(|rows| rows.method.scratch()).sum();
        let each = tiles * self.length() + folds;
        each * if self.is_shared() { threads() } else { 1 }
    }
}
