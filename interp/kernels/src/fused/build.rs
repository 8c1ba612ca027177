//! Construction: which values share a tile, and which are computed in the outputs.
use super::chain::chained;
use super::{
    Access, Fused, FusedFn, FusedLocation, FusedOperand, FusedPart, FusedRows, FusedStep, Lines,
    Output, Read, Register, SHORTEST_LINE, TILE,
};
use smallvec::SmallVec;

/// The place and the element size of each value, found in the order of the parts.
struct FusedLocations {
    of: Vec<(FusedLocation, usize)>,
    tiles: Vec<usize>,
    free: Vec<usize>,
}

impl FusedLocations {
    /// Returns a tile for this value alone.
    fn own_tile(&mut self, width: usize) -> FusedLocation {
        self.tiles.push(width);
        FusedLocation::Tile(self.tiles.len() - 1)
    }
    /// Returns a tile for a value with elements of `width` bytes.
    fn tile(&mut self, width: usize) -> FusedLocation {
        let Some(tile) = self.free.pop() else { return self.own_tile(width) };
        self.tiles[tile] = self.tiles[tile].max(width);
        FusedLocation::Tile(tile)
    }
}

impl Fused {
    /// Returns a kernel over `count` elements, with runs of `inner` if it reduces any. Operands
    /// from outside that are arrays come first, and so do outputs that are arrays.
    pub fn new(
        (count, inner): (usize, Option<usize>),
        operands: Vec<FusedOperand>,
        parts: &[FusedPart],
        results: Vec<Output>,
    ) -> Self {
        let first = operands.len();
        let (parts, results) = chained(first, parts, results);
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
        let widths: Vec<usize> = operands.iter().map(FusedOperand::converted).collect();
        let of = widths
            .iter()
            .enumerate()
            .map(|(k, &width)| (FusedLocation::Operand(k), width))
            .collect();
        // A scalar from which a reduction starts, and nothing else, takes no tile.
        let mut tiles = vec![0; first];
        let read = parts.iter().flat_map(|part| &part.operands).chain(&arrays);
        for &register in read.chain(reduced.iter().map(|(of, ..)| of)).filter(|&&k| k < first) {
            tiles[register] = widths[register];
        }
        let line @ Lines { length, .. } = Lines::of(&operands, inner);
        let kept = |k: Register| arrays.contains(&k) || reduced.iter().any(|(of, ..)| *of == k);
        let access: Vec<Access> = (operands.iter().enumerate())
            .map(|(k, operand)| {
                Access::of(operand, length.filter(|_| !kept(k)), !kept(k) && take_one(&parts, k))
            })
            .collect();
        for (tile, access) in tiles.iter_mut().zip(&access) {
            // An array may be in the memory of a result.
            if access.is_direct && access.is_line {
                *tile = 0;
            }
        }
        let mut places = FusedLocations { of, tiles, free: Vec::new() };
        let mut steps = Vec::with_capacity(parts.len());
        for (number, FusedPart { function, operands, width }) in parts.into_iter().enumerate() {
            let register = first + number;
            let result = match arrays.iter().position(|&output| output == register) {
                Some(output) => FusedLocation::Output(output),
                // Runs are kept while later tiles are computed, which must not write there.
                None if last_read[register] == usize::MAX => places.own_tile(width),
                None => places.tile(width),
            };
            // A tile is free for the next step once its value has been read for the last time.
            for (k, &operand) in operands.iter().enumerate() {
                let is_dead = last_read[operand] == number && !operands[..k].contains(&operand);
                if let (true, FusedLocation::Tile(tile)) = (is_dead, places.of[operand].0) {
                    places.free.push(tile);
                }
            }
            let operands = operands.iter().map(|&operand| places.of[operand]).collect();
            steps.push(FusedStep { function, operands, result, width });
            places.of.push((result, width));
        }
        let FusedLocations { of: places, mut tiles, .. } = places;
        let mut is_whole = vec![false; tiles.len() + 1];
        for (of, ..) in &reduced {
            if let (FusedLocation::Operand(tile) | FusedLocation::Tile(tile), _) = places[*of] {
                is_whole[tile] = true;
            }
        }
        let before = operands.iter().filter(|x| x.convert.is_some()).map(|x| x.width).max();
        tiles.push(before.unwrap_or(0));
        let original = |&output: &Register| arrays.iter().position(|&other| other == output);
        let copies = arrays.iter().map(original).enumerate();
        let copies = copies.filter_map(|(to, from)| Some((from.filter(|&from| from != to)?, to)));
        let copies = copies.collect();
        let rows: Vec<FusedRows> = (reduced.into_iter())
            .map(|(of, first, method)| FusedRows { of: places[of], first, method })
            .collect();
        let outputs = arrays.iter().map(|&register| places[register].1);
        let outputs = outputs.chain(rows.iter().map(|rows| rows.method.width())).collect();
        Self { operands, access, steps, outputs, copies, rows, tiles, is_whole, count, inner, line }
    }
}

/// Returns the elements of a line: the indices at which an operand is a run of neighbors, or one
/// element. There is none if lines are short, or if they differ in length.
fn line(operands: &[FusedOperand], inner: Option<usize>) -> Option<usize> {
    let lines = operands.iter().filter_map(|operand| match &operand.read {
        Read::Walk(walk) => walk.line().map(|(length, _)| length),
        Read::Array | Read::Scalar => None,
    });
    let shortest = lines.clone().min().filter(|&line| line >= SHORTEST_LINE)?;
    lines.chain(inner).all(|length| length % shortest == 0).then_some(shortest)
}

impl Lines {
    fn of(operands: &[FusedOperand], inner: Option<usize>) -> Self {
        let length = line(operands, inner);
        let period = |operand: &FusedOperand| match &operand.read {
            Read::Walk(walk) if length.is_none() => walk.period().filter(|&of| of <= TILE),
            Read::Array | Read::Scalar | Read::Walk(_) => None,
        };
        let unit = inner.or_else(|| operands.iter().filter_map(period).max()).unwrap_or(TILE);
        // A tile has whole runs: if these are longer, nothing is periodic.
        let tile = TILE / unit * unit;
        let is_periodic =
            |operand| period(operand).is_some_and(|of| tile > 0 && tile.is_multiple_of(of));
        let is_periodic = operands.iter().map(is_periodic).collect();
        Self { length, tile: if tile > 0 { tile } else { TILE }, is_periodic }
    }
}

/// Returns whether all parts that read a value take one element for many.
fn take_one(parts: &[FusedPart], register: Register) -> bool {
    let mut readers = parts.iter().filter(|part| part.operands.contains(&register));
    readers.all(|part| match &part.function {
        FusedFn::Loop(function) => function.takes_scalars,
        FusedFn::Numbers(_) => false,
    })
}

impl Access {
    /// Returns how an operand is read, within lines if there are any.
    fn of(operand: &FusedOperand, line: Option<usize>, may_be_one: bool) -> Self {
        let is_same = operand.convert.is_none();
        match &operand.read {
            Read::Array => Self { is_direct: is_same, is_one: false, is_line: false },
            Read::Scalar if may_be_one => Self { is_direct: is_same, is_one: true, is_line: true },
            Read::Walk(walk) if line.is_some() && walk.line().is_some_and(|(_, is_run)| is_run) => {
                Self { is_direct: is_same, is_one: false, is_line: true }
            }
            Read::Walk(walk) if line.is_some() && walk.line().is_some() && may_be_one => {
                Self { is_direct: is_same, is_one: true, is_line: true }
            }
            Read::Scalar | Read::Walk(_) => {
                Self { is_direct: false, is_one: false, is_line: false }
            }
        }
    }
}
