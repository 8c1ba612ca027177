//! Lines of elements that are computed with beside one another, one element of each at a time.
use crate::squares::{self, SIDE, is_fast};
use crate::strided::{copy_short, with_half};
use bytemuck::Pod;
use num::index::Grid;
use smallvec::SmallVec;
use std::ops::Range;

/// Lines beside one another, at most.
pub(super) const LANES: usize = 256;
/// Elements of each line that are brought beside those of the others together: those of a line of
/// the cache, for the most frequent types.
pub(super) const DEPTH: usize = 16;
/// Neighbors that are read where they are; fewer are brought beside others.
pub(super) const RUN: usize = 64;

/// The offsets of the first elements of lines.
#[derive(Clone)]
pub(super) enum Starts {
    /// As many neighbors, from an offset on.
    Run(usize, usize),
    /// So many neighbors from each offset on.
    Runs(Vec<usize>, usize),
    List(Vec<usize>),
}

impl Starts {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Run(_, count) => *count,
            Self::Runs(list, run) => list.len() * run,
            Self::List(list) => list.len(),
        }
    }
    /// Returns the offset of the first element of a line.
    pub(super) fn get(&self, lane: usize) -> usize {
        match self {
            Self::Run(first, _) => first + lane,
            Self::Runs(list, run) => list[lane / run] + lane % run,
            Self::List(list) => list[lane],
        }
    }
}

/// Memory for elements that are brought beside one another.
#[derive(Default)]
pub(super) struct LaneTile(Vec<u128>);

impl LaneTile {
    /// Bytes of the memory for the widest elements.
    pub(super) const BYTES: usize = DEPTH * LANES * size_of::<u128>();

    /// Returns so many bytes.
    pub(super) fn bytes(&mut self, count: usize) -> &mut [u8] {
        self.0.resize(count.div_ceil(size_of::<u128>()).max(self.0.len()), 0);
        &mut bytemuck::cast_slice_mut(&mut self.0)[..count]
    }
}

/// Elements of lines beside one another, one of each line in a row.
pub(super) struct LaneRows<'a> {
    elements: &'a [u8],
    /// Bytes of a row.
    row: usize,
    /// The rows in memory, if they are read where they are.
    at: SmallVec<[usize; DEPTH]>,
}

impl LaneRows<'_> {
    pub(super) fn row(&self, i: usize) -> &[u8] {
        let at = self.at.get(i).copied().unwrap_or(i * self.row);
        &self.elements[at..at + self.row]
    }
}

/// Returns up to [`DEPTH`] elements of each line, those in `positions`: the element at a position
/// lies that far from the first one of its line as `steps` says.
pub(super) fn rows<'a>(
    from: &'a [u8],
    width: usize,
    starts: &Starts,
    (steps, positions): (&Grid, Range<usize>),
    tile: &'a mut LaneTile,
) -> LaneRows<'a> {
    let row = starts.len() * width;
    let at: SmallVec<[usize; DEPTH]> = positions.map(|position| steps.offset(position)).collect();
    match starts {
        Starts::Run(first, _) => {
            LaneRows { elements: from, row, at: at.iter().map(|at| (first + at) * width).collect() }
        }
        Starts::Runs(list, run) => {
            let (elements, bytes) = (tile.bytes(at.len() * row), run * width);
            with_half!(bytes, N => for (at, to) in at.iter().zip(elements.chunks_exact_mut(row)) {
                for (start, to) in list.iter().zip(to.chunks_exact_mut(bytes)) {
                    copy_short::<N>(&from[(start + at) * width..][..bytes], to);
                }
            });
            LaneRows { elements, row, at: SmallVec::new() }
        }
        Starts::List(list) => {
            let elements = tile.bytes(at.len() * row);
            let range = at.first().copied().unwrap_or(0)..at.last().map_or(0, |last| last + 1);
            if range.len() == at.len() && at.is_sorted() {
                match width {
                    1 => transpose::<u8>(from, list, range, elements),
                    2 => transpose::<u16>(from, list, range, elements),
                    4 => transpose::<u32>(from, list, range, elements),
                    8 => transpose::<u64>(from, list, range, elements),
                    _ => transpose::<u128>(from, list, range, elements),
                }
                return LaneRows { elements, row, at: SmallVec::new() };
            }
            for (at, to) in at.iter().zip(elements.chunks_exact_mut(row)) {
                gather(from, width, list, *at, to);
            }
            LaneRows { elements, row, at: SmallVec::new() }
        }
    }
}

/// Stores elements of lines beside one another, one of each, `at` after the first ones.
pub(super) fn store(values: &[u8], width: usize, starts: &Starts, at: usize, to: &mut [u8]) {
    match starts {
        Starts::Run(first, count) => {
            to[(first + at) * width..][..count * width].copy_from_slice(values);
        }
        Starts::Runs(list, run) => {
            for (start, values) in list.iter().zip(values.chunks_exact(run * width)) {
                to[(start + at) * width..][..run * width].copy_from_slice(values);
            }
        }
        Starts::List(list) => match width {
            1 => scatter::<1>(values, list, at, to),
            2 => scatter::<2>(values, list, at, to),
            4 => scatter::<4>(values, list, at, to),
            8 => scatter::<8>(values, list, at, to),
            _ => scatter::<16>(values, list, at, to),
        },
    }
}
fn scatter<const W: usize>(values: &[u8], list: &[usize], at: usize, to: &mut [u8]) {
    let to = &mut to.as_chunks_mut::<W>().0[at..];
    for (value, &start) in values.as_chunks::<W>().0.iter().zip(list) {
        to[start] = *value;
    }
}

/// Brings neighbors beside one another, those in `range` after the first ones of a list: in squares
/// if enough lines and elements make them, else in blocks of four of four lines.
fn transpose<T: Pod>(from: &[u8], list: &[usize], range: Range<usize>, to: &mut [u8]) {
    let (from, to): (&[T], &mut [T]) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
    let (lanes, count) = (list.len(), range.len());
    // Elements behind the last one of a line make columns that are not written.
    let is_square = |starts: &[usize; SIDE]| {
        starts.iter().all(|start| start + range.start + SIDE <= from.len())
    };
    let has_squares = is_fast::<T>() && (SIDE / 2..=SIDE).contains(&count);
    let squares = if has_squares { list.as_chunks().0 } else { &[] };
    let squares = squares.iter().take_while(|starts| is_square(starts)).enumerate();
    let done = squares.fold(0, |_, (k, starts)| {
        let starts = starts.map(|start| start + range.start);
        squares::transpose(from, starts, &mut to[k * SIDE..], lanes);
        (k + 1) * SIDE
    });
    let others = &list[done..];
    let (fours, others) = others.as_chunks::<4>();
    for (k, starts) in fours.iter().enumerate() {
        let first = done + 4 * k;
        let lines = starts.map(|start| &from[start + range.start..][..count]);
        for (i, row) in to.chunks_mut(4 * lanes).enumerate() {
            let blocks = lines.map(|line| line[4 * i..].first_chunk::<4>());
            if let [Some(a), Some(b), Some(c), Some(d)] = blocks {
                for j in 0..4 {
                    row[j * lanes + first..][..4].copy_from_slice(&[a[j], b[j], c[j], d[j]]);
                }
                continue;
            }
            for (j, row) in row.chunks_mut(lanes).enumerate() {
                row[first..][..4].copy_from_slice(&lines.map(|line| line[4 * i + j]));
            }
        }
    }
    for (lane, start) in (lanes - others.len()..).zip(others) {
        let line = &from[start + range.start..][..count];
        line.iter().zip(to.chunks_mut(lanes)).for_each(|(element, row)| row[lane] = *element);
    }
}

/// Brings the elements beside one another that lie `at` after those of a list.
fn gather(from: &[u8], width: usize, list: &[usize], at: usize, to: &mut [u8]) {
    fn of<const W: usize>(from: &[u8], list: &[usize], at: usize, to: &mut [u8]) {
        let from = &from.as_chunks::<W>().0[at..];
        for (to, &start) in to.as_chunks_mut::<W>().0.iter_mut().zip(list) {
            *to = from[start];
        }
    }
    match width {
        1 => of::<1>(from, list, at, to),
        2 => of::<2>(from, list, at, to),
        4 => of::<4>(from, list, at, to),
        8 => of::<8>(from, list, at, to),
        _ => of::<16>(from, list, at, to),
    }
}
