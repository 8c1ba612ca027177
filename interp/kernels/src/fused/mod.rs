//! Elementwise ops fused: one pass over tiles that stay in the cache.
//!
//! Only operands from outside and results are arrays; the values between them are tiles. An operand
//! may be an array with the indices of the result, a scalar, or an array read by strides, as a
//! broadcast or a slice is, and may be converted to a larger type as it is read. Runs of elements
//! of a value may be reduced, each within one tile.
mod build;
mod chain;
mod tile;

use super::reduce_lines::Method;
use super::strided::Walk;
use crate::cost_model::FUSED;
use crate::{Kernel, Reuse};
use hlo::{Array, ElementType};
use num::clock::Stop;
use num::loops::{VectorLoop, WriteElements};
use num::parallel::threads;
use num::{Result, Scope};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of a tile. A dozen tiles stay in the first cache.
const TILE: usize = 1024;
/// Elements of a line within which tiles stay. For shorter ones the work of a tile takes longer
/// than to copy its operands.
const SHORTEST_LINE: usize = TILE / 4;
/// Steps that are a few: with more, a thread computes fewer elements.
const FEW_STEPS: usize = 4;

/// The access to an operand from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// It has the indices of the result.
    Array,
    /// One element for all indices.
    Scalar,
    /// By strides.
    Walk(Walk),
}

impl Read {
    /// Returns how to read a walk.
    pub fn of(walk: Walk) -> Self {
        if walk.is_scalar() { Self::Scalar } else { Self::Walk(walk) }
    }
}

/// An operand from outside, with elements of `width` bytes; the loop that converts them, and their
/// bytes then.
pub struct FusedOperand {
    /// How elements are found.
    pub read: Read,
    /// Bytes of an element.
    pub width: usize,
    /// A conversion of what is read, and the bytes of its operand.
    pub convert: Option<(VectorLoop, usize)>,
}

impl FusedOperand {
    /// Returns the bytes of an element as the ops take it.
    fn converted(&self) -> usize {
        self.convert.as_ref().map_or(self.width, |(_, width)| *width)
    }
}

/// The access to a tile of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    /// Where it is, if it is not in the memory of the result: no tile is filled.
    is_direct: bool,
    /// As one element for all of the tile.
    is_one: bool,
    /// From the place of its first element on: a run of elements, or the same one.
    is_line: bool,
}

/// The number of a value of a fused op: first those of the operands from outside, then one for each
/// part.
pub type Register = usize;

/// The function of an elementwise op: from its operands, or from the indices of its elements.
#[derive(Clone)]
pub enum FusedFn {
    /// A loop over elements.
    Loop(VectorLoop),
    /// Elements that follow from their indices.
    Numbers(WriteElements),
}

/// An elementwise op of a fused one: its function, its operands, and the bytes of an element of its
/// result.
pub struct FusedPart {
    /// The function.
    pub function: FusedFn,
    /// The registers that it reads.
    pub operands: SmallVec<[Register; 3]>,
    /// Bytes of an element.
    pub width: usize,
}

/// A result of a fused op.
pub enum Output {
    /// All elements of a value.
    Array(Register),
    /// One element for each run of elements of a value, from a scalar of this type on.
    /// A reduction of each row.
    Rows {
        /// The register that is reduced.
        of: Register,
        /// The register of the first value, and its type.
        first: (Register, ElementType),
        /// The reduction.
        method: Arc<Method>,
    },
}

/// Elementwise ops over one index space, as a kernel.
pub struct Fused {
    operands: Vec<FusedOperand>,
    access: Vec<Access>,
    steps: Vec<FusedStep>,
    /// The bytes of an element of each output; those that are arrays come first.
    outputs: SmallVec<[usize; 2]>,
    /// Outputs that equal an earlier one.
    copies: Vec<(usize, usize)>,
    /// The reductions, whose results follow the arrays.
    rows: Vec<FusedRows>,
    /// Bytes of an element of the widest value in each tile. The first tiles hold operands that are
    /// not read in place, the last one elements before they are converted.
    tiles: Vec<usize>,
    /// Whether a tile has whole runs of elements, since it is reduced.
    is_whole: Vec<bool>,
    /// Elements of each value.
    count: usize,
    /// Elements of a run that is reduced.
    inner: Option<usize>,
    line: Lines,
}

/// What tiles have in common.
struct Lines {
    /// Elements of a line, whose end no tile crosses.
    length: Option<usize>,
    /// Elements of a tile where there are neither lines nor runs: as many periods as fit.
    tile: usize,
    /// Whether an operand is the same in each tile, which is then filled once.
    is_periodic: Vec<bool>,
}

struct FusedStep {
    function: FusedFn,
    operands: SmallVec<[(FusedLocation, usize); 4]>,
    result: FusedLocation,
    width: usize,
}

/// A reduction of runs of elements.
struct FusedRows {
    of: (FusedLocation, usize),
    /// The operand from outside with the first value, and its type.
    first: (usize, ElementType),
    method: Arc<Method>,
}

/// The location of the elements of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FusedLocation {
    /// In operand `.0` from outside, or in its tile.
    Operand(usize),
    /// In a tile.
    Tile(usize),
    /// In an output.
    Output(usize),
}

impl Fused {
    /// Elements of a tile.
    fn tile_of(&self, k: usize) -> usize {
        match self.access.get(k) {
            Some(Access { is_one: true, .. }) => 1,
            _ if self.is_whole[k] => self.length(),
            _ => TILE.min(self.count),
        }
    }
    /// Returns whether nothing is computed but the reductions of operands where they are.
    fn is_in_place(&self) -> bool {
        let is_array =
            |operand: &FusedOperand| operand.read == Read::Array && operand.convert.is_none();
        let is_first = |k| self.rows.iter().any(|rows| rows.first.0 == k);
        let mut operands = self.operands.iter().enumerate();
        self.outputs.len() == self.rows.len()
            && self.steps.is_empty()
            && operands.all(|(k, operand)| is_array(operand) || is_first(k))
    }
    /// Elements that are computed tile by tile before their runs are reduced: whole runs, and whole
    /// lines.
    fn length(&self) -> usize {
        let most = match self.inner.or(self.line.length) {
            Some(inner) if self.is_in_place() => (FUSED / inner).max(1) * inner,
            Some(inner) => (TILE / inner).max(1) * inner,
            None => self.line.tile,
        };
        most.min(self.count)
    }
    /// Elements of a part that one thread computes: whole tiles, in small arrays the fewer the more
    /// steps there are.
    fn shared(&self) -> usize {
        let length = self.length().max(1);
        let least = FUSED / (self.steps.len() / FEW_STEPS).max(1);
        let part = (self.count / (2 * threads())).clamp(least, FUSED);
        (part / length).max(1) * length
    }
    /// Returns whether threads share the work.
    fn is_shared(&self) -> bool {
        threads() > 1 && self.count >= 2 * self.shared()
    }
    /// Elements of output `k` for so many elements of the index space.
    fn length_of(&self, k: usize, elements: usize) -> usize {
        match self.inner {
            Some(inner) if k >= self.outputs.len() - self.rows.len() => elements / inner,
            Some(_) | None => elements,
        }
    }
}

impl Fused {
    /// Computes the outputs, on this thread alone.
    pub fn compute_alone(&self, inputs: &[Option<&[u8]>], outputs: &mut [&mut [u8]]) {
        self.part(inputs, (0, self.count), outputs, &Stop::current());
    }
}

impl Kernel for Fused {
    fn run(
        &self,
        _context: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let inputs: SmallVec<[Option<&[u8]>; 8]> =
            inputs.iter().map(|&input| input.map(Array::bytes)).collect();
        let mut outputs: SmallVec<[&mut [u8]; 2]> =
            outputs.iter_mut().map(Array::bytes_mut).collect();
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
        let is_direct = |k: &usize| self.access.get(*k).is_some_and(|access| access.is_direct);
        let tiles = |is: bool| (0..self.tiles.len()).filter(move |k| is_direct(k) == is);
        let bytes = |k| self.tiles[k] * self.tile_of(k);
        let in_place = tiles(true).map(bytes).max().unwrap_or(0);
        let tiles = tiles(false).map(bytes).sum::<usize>() + in_place;
        let folds: usize = self.rows.iter().map(|rows| rows.method.scratch()).sum();
        let each = tiles + folds;
        each * if self.is_shared() { threads() } else { 1 }
    }
}
