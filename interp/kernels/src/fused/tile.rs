//! Execution: the tiles of a part, one after another.
use super::{Access, Fused, FusedFn, FusedLocation, FusedOperand, FusedRows, Read, TILE};
use crate::row_fold::RowFold;
use bytemuck::Zeroable;
use hlo::Scalar;
use num::clock::Stop;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;

/// A line of the cache, at which tiles begin: loads of vectors then do not cross lines.
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// The memory of a tile.
type TileMemory = Vec<CacheLine>;

/// No elementwise op has more operands, nor a rotation.
const MOST: usize = 4;
/// Tiles that a thread keeps, each of at most so many lines.
const KEPT: usize = 32;
const KEPT_LINES: usize = 1 << 9;

thread_local! {
    /// Tiles kept for the next part: for small arrays, allocating takes longer than computing.
    static TILES: Cell<Vec<TileMemory>> = const { Cell::new(Vec::new()) };
}

impl Fused {
    /// Computes `count` elements from `first` on, and the outputs that follow from them.
    pub(super) fn part(
        &self,
        inputs: &[Option<&[u8]>],
        (first, count): (usize, usize),
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        if self.count == 1 && self.rows.is_empty() {
            return self.single(inputs, outputs);
        }
        let mut tiles = TILES.take();
        tiles.resize_with(self.tiles.len().max(tiles.len()), Vec::new);
        for (k, (tile, width)) in tiles.iter_mut().zip(&self.tiles).enumerate() {
            let is_direct = self.access.get(k).is_some_and(|access| access.is_direct);
            if !is_direct || inputs[k].is_none() {
                let lines = (self.tile_of(k) * width).div_ceil(size_of::<CacheLine>());
                tile.resize(lines.max(tile.len()), Zeroable::zeroed());
            }
        }
        for (k, operand) in self.operands.iter().enumerate() {
            let bytes = self.tile_of(k) * self.tiles[k];
            if let (Read::Scalar, Some(input), 1..) = (&operand.read, inputs[k], bytes) {
                scalar(operand, input, &mut bytemuck::cast_slice_mut(&mut tiles[k])[..bytes]);
            }
        }
        let mut folds: SmallVec<[RowFold<'_>; 2]> =
            self.rows.iter().map(|rows| rows.fold(inputs, self.inner.unwrap_or(1))).collect();
        let mut places = SmallVec::new();
        for start in (0..count).step_by(self.length()).take_while(|_| !stop.is_set()) {
            let length = self.length().min(count - start);
            let line = self.line.length.unwrap_or(length);
            let tile = line.div_ceil(line.div_ceil(TILE)).max(1);
            let lines = if self.is_in_place() { 0 } else { length };
            for within in (0..lines).step_by(line.max(1)) {
                for column in (0..line.min(length - within)).step_by(tile) {
                    let at = At {
                        first,
                        start,
                        within: within + column,
                        length: tile.min(line - column),
                    };
                    self.tile(inputs, &mut tiles, at, outputs, &mut places);
                }
            }
            if !self.rows.is_empty() {
                let at = At { first, start, within: 0, length };
                self.reduce(inputs, &tiles, at, outputs, &mut folds);
            }
        }
        tiles.retain(|tile| tile.len() <= KEPT_LINES);
        tiles.truncate(KEPT);
        TILES.set(tiles);
    }

    /// Computes values of one element, each in a word: chains of scalars have many.
    fn single(&self, inputs: &[Option<&[u8]>], outputs: &mut [&mut [u8]]) {
        let word = |place: FusedLocation| match place {
            FusedLocation::Operand(k) | FusedLocation::Tile(k) => k,
            FusedLocation::Output(k) => self.tiles.len() + k,
        };
        let mut words: SmallVec<[u128; 64]> =
            SmallVec::from_elem(0, self.tiles.len() + outputs.len());
        for (k, (operand, input)) in self.operands.iter().zip(inputs).enumerate() {
            let start = match &operand.read {
                Read::Walk(walk) => walk.index(0) * operand.width,
                Read::Array | Read::Scalar => 0,
            };
            let input = &input.unwrap_or(&*outputs[0])[start..][..operand.width];
            let to = &mut bytemuck::bytes_of_mut(&mut words[k])[..operand.converted()];
            match &operand.convert {
                Some((convert, _)) => convert(&[input], to),
                None => to.copy_from_slice(input),
            }
        }
        for step in &self.steps {
            let (mut operands, mut result) = ([Default::default(); MOST], 0u128);
            for (slot, &(place, width)) in operands.iter_mut().zip(&step.operands) {
                *slot = &bytemuck::bytes_of(&words[word(place)])[..width];
            }
            let to = &mut bytemuck::bytes_of_mut(&mut result)[..step.width];
            match &step.function {
                FusedFn::Loop(function) => function(&operands[..step.operands.len()], to),
                FusedFn::Numbers(function) => function(0, to),
            }
            words[word(step.result)] = result;
        }
        for &(from, to) in &self.copies {
            words[word(FusedLocation::Output(to))] = words[word(FusedLocation::Output(from))];
        }
        for (output, word) in outputs.iter_mut().zip(&words[self.tiles.len()..]) {
            let bytes = output.len();
            output.copy_from_slice(&bytemuck::bytes_of(word)[..bytes]);
        }
    }

    /// Reduces the runs of elements that have been computed.
    fn reduce(
        &self,
        inputs: &[Option<&[u8]>],
        tiles: &[TileMemory],
        at: At,
        outputs: &mut [&mut [u8]],
        folds: &mut [RowFold<'_>],
    ) {
        let inner = self.inner.unwrap_or(1);
        let arrays = self.outputs.len() - self.rows.len();
        for ((rows, fold), k) in self.rows.iter().zip(folds).zip(arrays..) {
            let output = std::mem::take(&mut outputs[k]);
            let runs = self.elements(rows.of, inputs, &[], tiles, outputs, at);
            let count = runs.len() / (inner * rows.of.1);
            let to = &mut output[at.start / inner * self.outputs[k]..][..count * self.outputs[k]];
            fold.rows(runs, inner, to);
            outputs[k] = output;
        }
    }

    /// Returns the elements of a value in the current tile.
    fn elements<'t>(
        &self,
        (place, width): (FusedLocation, usize),
        inputs: &[Option<&'t [u8]>],
        places: &[usize],
        tiles: &'t [TileMemory],
        outputs: &'t [&mut [u8]],
        at: At,
    ) -> &'t [u8] {
        match place {
            FusedLocation::Operand(k) => {
                let Access { is_direct, is_one, is_line } = self.access[k];
                match inputs[k] {
                    Some(input) if is_direct && is_line => {
                        let count = if is_one { 1 } else { at.length };
                        &input[places[k] * width..(places[k] + count) * width]
                    }
                    Some(input) if is_direct => &input[at.input(width)],
                    Some(_) | None if is_one => &bytemuck::cast_slice(&tiles[k])[..width],
                    Some(_) | None => {
                        &bytemuck::cast_slice(&tiles[k])[at.tile(self.is_whole[k], width)]
                    }
                }
            }
            FusedLocation::Tile(k) => {
                &bytemuck::cast_slice(&tiles[k])[at.tile(self.is_whole[k], width)]
            }
            FusedLocation::Output(k) => &outputs[k][at.output(width)],
        }
    }

    /// Computes one tile.
    fn tile(
        &self,
        inputs: &[Option<&[u8]>],
        tiles: &mut [TileMemory],
        at: At,
        outputs: &mut [&mut [u8]],
        places: &mut SmallVec<[usize; 8]>,
    ) {
        places.clear();
        for (k, (input, operand)) in inputs.iter().zip(&self.operands).enumerate() {
            places.push(match &operand.read {
                Read::Walk(walk) if self.access[k].is_line => walk.index(at.element()),
                Read::Array | Read::Scalar | Read::Walk(_) => 0,
            });
            self.read(k, *input, places[k], tiles, at, &*outputs);
        }
        for step in &self.steps {
            // The place of the result is taken out while the operands are borrowed.
            let (mut tile, mut output) = (Vec::new(), Default::default());
            match step.result {
                FusedLocation::Output(k) => output = std::mem::take(&mut outputs[k]),
                FusedLocation::Operand(k) | FusedLocation::Tile(k) => {
                    tile = std::mem::take(&mut tiles[k]);
                }
            }
            let mut operands = [Default::default(); MOST];
            for (slot, &value) in operands.iter_mut().zip(&step.operands) {
                *slot = self.elements(value, inputs, places, tiles, outputs, at);
            }
            let result = match step.result {
                FusedLocation::Output(_) => &mut output[at.output(step.width)],
                FusedLocation::Operand(k) | FusedLocation::Tile(k) => {
                    &mut bytemuck::cast_slice_mut(&mut tile)[at.tile(self.is_whole[k], step.width)]
                }
            };
            match &step.function {
                FusedFn::Loop(function) => function(&operands[..step.operands.len()], result),
                FusedFn::Numbers(function) => function(at.element(), result),
            }
            match step.result {
                FusedLocation::Output(k) => outputs[k] = output,
                FusedLocation::Operand(k) | FusedLocation::Tile(k) => tiles[k] = tile,
            }
        }
        for &(from, to) in &self.copies {
            let bytes = at.output(self.outputs[to]);
            let output = std::mem::take(&mut outputs[to]);
            output[bytes.clone()].copy_from_slice(&outputs[from][bytes]);
            outputs[to] = output;
        }
    }

    /// Reads a tile of operand `k`, if it is not read in place; a line of it from element `place`
    /// on.
    fn read(
        &self,
        k: usize,
        input: Option<&[u8]>,
        place: usize,
        tiles: &mut [TileMemory],
        at: At,
        outputs: &[&mut [u8]],
    ) {
        let FusedOperand { read, width, convert } = &self.operands[k];
        let is_read = match read {
            Read::Scalar => true,
            Read::Walk(_) => {
                let is_filled = self.line.is_periodic[k] && at.start > 0;
                self.access[k].is_direct || is_filled || input.is_none()
            }
            Read::Array => input.is_some() && convert.is_none(),
        };
        if is_read {
            return;
        }
        let mut tile = std::mem::take(&mut tiles[k]);
        let is_one = self.access[k].is_one;
        let bytes = match is_one {
            true => 0..self.operands[k].converted(),
            false => at.tile(self.is_whole[k], self.operands[k].converted()),
        };
        let to: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut tile)[bytes];
        match (read, input, convert) {
            (Read::Scalar, ..) | (Read::Walk(_), None, _) | (Read::Array, Some(_), None) => {}
            (Read::Walk(_), Some(input), Some((convert, _))) if self.access[k].is_line => {
                let count = if is_one { 1 } else { at.length };
                convert(&[&input[place * width..(place + count) * width]], to);
            }
            (Read::Walk(walk), Some(input), None) => walk.read(input, *width, at.element(), to),
            (Read::Walk(walk), Some(input), Some((convert, _))) => {
                let before: &mut [u8] = bytemuck::cast_slice_mut(&mut tiles[self.tiles.len() - 1]);
                let before = &mut before[..at.length * width];
                walk.read(input, *width, at.element(), before);
                convert(&[before], to);
            }
            (Read::Array, Some(input), Some((convert, _))) => {
                convert(&[&input[at.input(*width)]], to);
            }
            // The operand is in the memory of the first output.
            (Read::Array, None, None) => to.copy_from_slice(&outputs[0][at.output(*width)]),
            (Read::Array, None, Some((convert, _))) => {
                convert(&[&outputs[0][at.output(*width)]], to);
            }
        }
        tiles[k] = tile;
    }
}

/// Fills a tile with a scalar.
fn scalar(operand: &FusedOperand, input: &[u8], tile: &mut [u8]) {
    let (mut narrow, mut element) = ([0u128], [0u128]);
    let narrow: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut narrow)[..operand.width];
    narrow.copy_from_slice(&input[..operand.width]);
    let element: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut element)[..operand.converted()];
    match &operand.convert {
        Some((convert, _)) => convert(&[narrow], element),
        None => element.copy_from_slice(narrow),
    }
    match element.len() {
        1 => fill::<u8>(element, tile),
        2 => fill::<u16>(element, tile),
        4 => fill::<u32>(element, tile),
        8 => fill::<u64>(element, tile),
        _ => fill::<u128>(element, tile),
    }
}

/// Fills memory with an element.
fn fill<T: bytemuck::Pod>(element: &[u8], to: &mut [u8]) {
    bytemuck::cast_slice_mut(to).fill(bytemuck::pod_read_unaligned::<T>(element));
}

/// Elements that are computed: `length` elements from `start + within` on of the outputs, which
/// begin at element `first` of the arrays. Tiles with whole runs have them from `within` on, the
/// others from their start.
#[derive(Clone, Copy)]
struct At {
    first: usize,
    start: usize,
    within: usize,
    length: usize,
}

impl At {
    /// Returns the first element, in the arrays.
    fn element(self) -> usize {
        self.first + self.start + self.within
    }
    /// Returns the bytes in the operands.
    fn input(self, width: usize) -> Range<usize> {
        self.element() * width..(self.element() + self.length) * width
    }
    /// Returns the bytes in the outputs.
    fn output(self, width: usize) -> Range<usize> {
        let start = self.start + self.within;
        start * width..(start + self.length) * width
    }
    /// Returns the bytes in a tile.
    fn tile(self, is_whole: bool, width: usize) -> Range<usize> {
        let start = if is_whole { self.within } else { 0 };
        start * width..(start + self.length) * width
    }
}

impl FusedRows {
    fn fold(&self, inputs: &[Option<&[u8]>], inner: usize) -> RowFold<'_> {
        let (operand, ty) = self.first;
        let bytes = inputs[operand].expect("a scalar is not in the memory of the result");
        RowFold::of_rows(&self.method, Scalar::read(ty, &bytes[..ty.storage_bytes()]), inner)
    }
}
