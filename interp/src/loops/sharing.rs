//! Memory that arrays share. While a program is built, each array has bytes of its own. Here those
//! that live at different times get the same ones, so that a long body stays in the cache.
//!
//! An array lives in the innermost block that has all operations on it, from the first of these to
//! the last. What the blocks inside of an operation share is memory that lives while it runs. A value
//! that is copied where a loop carries it is computed there, if nothing reads the one before any more.
#![expect(clippy::wildcard_enum_match_arm, reason = "other operations have places alone")]
use super::build::Leaf;
use super::memory::{Image, LoopCopy, Place};
use super::operation::{KernelCall, Move, Operation, Source, Window};
use super::{Block, Condition};
use hlo::ElementType;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::mem::take;
use std::slice;

/// The bytes above which an array shares memory: no vector or register holds a part of it.
const LEAST: usize = 1 << 9;
/// Bytes at which arrays begin: a line of the cache.
const LINE: usize = 64;

/// The operations on an array so far: their number, and the first and the last of a block.
type Uses = BTreeMap<usize, (usize, usize, usize)>;

/// What has memory from one operation of a block to another: these, its bytes, and its arrays with
/// their offsets.
type Life = ([usize; 2], usize, Vec<(usize, usize)>);

/// The arrays of a block.
#[derive(Default)]
struct Part {
    /// Operations on arrays that live outside of it.
    uses: Uses,
    /// From where on each of those inside is, in memory of so many bytes.
    offsets: Vec<(usize, usize)>,
    bytes: usize,
}

/// Gives the arrays of a program their last places; returns the block of memory.
pub(super) fn share(
    (condition, body, before): (&mut Condition, &mut Block, &mut Block),
    (image, kernels): (&Image, &mut [KernelCall]),
    carried: &mut [Leaf],
) -> Image {
    let kept = carried.iter().filter_map(|leaf| match leaf {
        Leaf::Small(place, ..) => Some(*place),
        Leaf::Large { .. } | Leaf::Empty(_) | Leaf::Token => None,
    });
    let kept: Vec<Place> = kept.chain([condition.value]).collect();
    let blocks = [&condition.block, &*body, &*before];
    let mut lives = Lives::new((image, kernels), Same::default(), blocks, &kept);
    lives.without_copies(&mut condition.block);
    lives.without_copies(body);
    lives.without_copy_at_end(body);
    let blocks = [&condition.block, &*body, &*before];
    let lives = Lives::new((image, kernels), lives.same, blocks, &kept);
    let Part { offsets, bytes, .. } = together(blocks.into_iter().map(|block| lives.part(block)));
    let offsets: FxHashMap<usize, usize> = offsets.into_iter().collect();

    let mut new = Image::default();
    let mut starts: FxHashMap<usize, usize> = FxHashMap::default();
    for array in image.arrays() {
        let start = array.place.start;
        if offsets.contains_key(&start) || !lives.total.contains_key(&start) {
            continue;
        }
        let place = new.place(array.ty, array.place.bytes);
        if let Some(value) = image.constant(array.place) {
            new.constant_mut(place)[place.start..place.end()].copy_from_slice(value);
        }
        starts.insert(start, place.start);
    }
    if bytes > 0 {
        let shared = new.place(ElementType::U8, bytes).start;
        starts.extend(offsets.into_iter().map(|(start, offset)| (start, shared + offset)));
    }
    for &array in lives.same.keys() {
        starts.extend(starts.get(&lives.place_of(array)).map(|&start| (array, start)));
    }
    let moves = Moves { image, starts };
    moves.condition(condition);
    moves.block(body);
    moves.block(before);
    for call in kernels {
        call.operands.iter_mut().for_each(|(source, _)| moves.source(source));
        call.results.iter_mut().for_each(|(place, _)| moves.place(place));
    }
    for leaf in carried {
        if let Leaf::Small(place, ..) = leaf {
            moves.place(place);
        }
    }
    new
}

/// Returns the arrays of blocks that do not run at the same time.
fn together(parts: impl Iterator<Item = Part>) -> Part {
    parts.fold(Part::default(), |mut all, part| {
        for (array, (count, ..)) in part.uses {
            all.uses.entry(array).or_insert((0, 0, 0)).0 += count;
        }
        all.offsets.extend(part.offsets);
        all.bytes = all.bytes.max(part.bytes);
        all
    })
}

/// The operations on each array.
struct Lives<'a> {
    image: &'a Image,
    kernels: &'a [KernelCall],
    same: Same,
    total: FxHashMap<usize, usize>,
}

/// The arrays that are in the place of another.
type Same = BTreeMap<usize, usize>;

impl<'a> Lives<'a> {
    fn new(
        (image, kernels): (&'a Image, &'a [KernelCall]),
        same: Same,
        blocks: [&Block; 3],
        kept: &[Place],
    ) -> Self {
        let mut lives = Self { image, kernels, same, total: FxHashMap::default() };
        for block in blocks {
            lives.count(block);
        }
        for place in kept {
            lives.touch(*place);
        }
        lives
    }
    /// Returns the array in whose place an array is.
    fn place_of(&self, mut array: usize) -> usize {
        while let Some(other) = self.same.get(&array) {
            array = *other;
        }
        array
    }
    /// Returns the arrays that have bytes of a place.
    fn arrays(&self, place: Place) -> impl Iterator<Item = usize> + '_ {
        self.image.arrays_in(place).map(|array| self.place_of(array.start))
    }
    fn touch(&mut self, place: Place) {
        let arrays: Vec<usize> = self.arrays(place).collect();
        for array in arrays {
            *self.total.entry(array).or_default() += 1;
        }
    }
    /// Returns the places that an operation uses itself.
    fn places(&self, operation: &Operation) -> Vec<Place> {
        match operation {
            Operation::Repeat(repeat) => vec![repeat.condition.value],
            Operation::Branch { selector, .. } => vec![*selector],
            _ => {
                let (mut read, written) = operation.places(self.kernels);
                read.extend(written);
                read
            }
        }
    }
    fn count(&mut self, block: &Block) {
        for operation in &block.operations {
            for place in self.places(operation) {
                self.touch(place);
            }
            for block in inner(operation) {
                self.count(block);
            }
        }
    }

    /// Returns the arrays of a block.
    fn part(&self, block: &Block) -> Part {
        let mut uses = Uses::default();
        let mut memory: Vec<Life> = Vec::new();
        for (at, operation) in block.operations.iter().enumerate() {
            let mut touch = |array: usize, count: usize| {
                let of_array = uses.entry(array).or_insert((0, at, at));
                *of_array = (of_array.0 + count, of_array.1, at);
            };
            for place in self.places(operation) {
                self.arrays(place).for_each(|array| touch(array, 1));
            }
            let inside = together(inner(operation).into_iter().map(|block| self.part(block)));
            for (array, (count, ..)) in inside.uses {
                touch(array, count);
            }
            if inside.bytes > 0 {
                memory.push(([at; 2], inside.bytes, inside.offsets));
            }
        }
        uses.retain(|&array, &mut (count, first, last)| {
            let of_array = self.image.array_at(array).map(|of| of.place);
            let place = of_array.filter(|place| {
                let is_all = self.total.get(&array) == Some(&count);
                is_all && place.bytes > LEAST && self.image.constant(*place).is_none()
            });
            memory.extend(place.map(|place| ([first, last], place.bytes, vec![(array, 0)])));
            place.is_none()
        });
        memory.sort_unstable_by_key(|(life, _, arrays)| (*life, arrays.first().copied()));
        let (offsets, bytes) = placed(memory);
        Part { uses, offsets, bytes }
    }
}

impl Lives<'_> {
    /// Returns the operations on each array of a block, and of those inside.
    fn uses(&self, operations: &[Operation]) -> Uses {
        let mut uses = Uses::default();
        for (at, operation) in operations.iter().enumerate() {
            let mut touch = |array: usize, count: usize| {
                let of_array = uses.entry(array).or_insert((0, at, at));
                *of_array = (of_array.0 + count, of_array.1, at);
            };
            for place in self.places(operation) {
                self.arrays(place).for_each(|array| touch(array, 1));
            }
            for block in inner(operation) {
                let inside = self.uses(&block.operations);
                for (array, (count, ..)) in inside {
                    touch(array, count);
                }
            }
        }
        uses
    }

    /// Leaves out copies in a block, at the ends of the bodies and branches inside of it, and
    /// operations that move nothing.
    fn without_copies(&mut self, block: &mut Block) {
        for operation in &mut block.operations {
            let blocks: Vec<&mut Block> = match operation {
                Operation::Repeat(repeat) => {
                    self.without_copies(&mut repeat.condition.block);
                    vec![&mut repeat.body]
                }
                Operation::Branch { branches, .. } => branches.iter_mut().collect(),
                _ => continue,
            };
            for block in blocks {
                self.without_copies(block);
                self.without_copy_at_end(block);
            }
        }
        self.without_last_copies(block);
        let is_empty = |operation: &Operation| match operation {
            Operation::Move(Move { copies, walk, .. }) => copies.is_empty() && walk.is_none(),
            _ => false,
        };
        block.operations.retain(|operation| !is_empty(operation));
    }

    /// Leaves out copies to arrays that begin with them, of arrays that end with them: both are one.
    fn without_last_copies(&mut self, block: &mut Block) {
        let mut uses = self.uses(&block.operations);
        for (at, operation) in block.operations.iter_mut().enumerate() {
            if !is_copy(operation) {
                continue;
            }
            let of_copies = self.counts(slice::from_ref(operation));
            let Operation::Move(Move { copies, .. }) = operation else { continue };
            copies.retain(|copy| {
                let arrays = copy.places().map(|place| {
                    let is_whole = self.image.array_at(place.start).is_some_and(|array| {
                        array.place == place && self.image.constant(place).is_none()
                    });
                    let array = self.place_of(place.start);
                    let of_array = uses.get(&array).filter(|(count, ..)| {
                        is_whole
                            && place.bytes > LEAST
                            && of_copies.get(&array) == Some(&1)
                            && self.total.get(&array) == Some(count)
                    });
                    of_array.map(|&of_array| (array, of_array))
                });
                match arrays {
                    [Some((from, (count, first, last))), Some((to, (of_other, begin, end)))]
                        if last == at && begin == at =>
                    {
                        let count = count + of_other - 2;
                        self.same.insert(from, to);
                        uses.remove(&from);
                        uses.insert(to, (count, first, end));
                        self.total.remove(&from);
                        self.total.insert(to, count);
                        false
                    }
                    _ => true,
                }
            });
        }
    }
    /// Returns how often operations use arrays themselves.
    fn counts(&self, operations: &[Operation]) -> FxHashMap<usize, usize> {
        let mut counts = FxHashMap::default();
        for place in operations.iter().flat_map(|operation| self.places(operation)) {
            self.arrays(place).for_each(|array| *counts.entry(array).or_default() += 1);
        }
        counts
    }

    /// Leaves out copies at the end of a block of what may be computed in the place of the copy.
    fn without_copy_at_end(&mut self, block: &mut Block) {
        let count =
            block.operations.iter().rev().take_while(|operation| is_copy(operation)).count();
        let at = block.operations.len() - count;
        let (before, last) = block.operations.split_at_mut(at);
        let uses = self.uses(before);
        let of_copies = self.counts(last);
        for operation in last {
            let Operation::Move(Move { copies, .. }) = operation else { continue };
            for copy in take(copies) {
                let [from, to] = copy.places();
                let are_arrays = [from, to].into_iter().all(|place| {
                    let array = self.image.array_at(place.start);
                    array.is_some_and(|array| array.place == place)
                        && of_copies.get(&place.start) == Some(&1)
                });
                let of_array = uses.get(&from.start).filter(|(count, ..)| {
                    let is_all = self.total.get(&from.start) == Some(&(count + 1));
                    // No operation computes a constant.
                    let is_computed = self.image.constant(from).is_none();
                    are_arrays && is_all && is_computed && from.bytes > LEAST
                });
                let left_out = of_array.and_then(|&(_, first, _)| {
                    may_be_over((&mut before[first], first), copy, uses.get(&to.start))
                });
                let Some(left_out) = left_out else {
                    copies.push(copy);
                    continue;
                };
                let count = self.total.remove(&from.start).unwrap_or(0);
                let total = self.total.entry(to.start).or_default();
                *total = (*total + count).saturating_sub(2 * left_out);
                self.same.insert(from.start, to.start);
            }
        }
    }
}

/// Has the first operation on an array compute it where it is copied to, whose uses before are
/// `of_other`; returns how many copies are left out, `None` if it cannot.
fn may_be_over(
    (operation, first): (&mut Operation, usize),
    copy: LoopCopy,
    of_other: Option<&(usize, usize, usize)>,
) -> Option<usize> {
    let is_read = match of_other {
        Some(&(.., last)) if last > first => return None,
        Some(&(.., last)) => last == first,
        None => false,
    };
    match operation {
        Operation::Repeat(_) | Operation::Branch { .. } => None,
        _ if !is_read => Some(1),
        Operation::Fused(call) => call.compute_over(copy.to, copy.from).then_some(1),
        Operation::Move(Move { copies, from: None, to: None, walk: None }) => {
            // It begins as a copy of what it is copied to.
            let is_inverse = |one: &LoopCopy| {
                (one.from, one.to, one.bytes, one.count) == (copy.to, copy.from, copy.bytes, 1)
            };
            let reads =
                |one: &LoopCopy| one.from < copy.to + copy.bytes && copy.to < one.places()[0].end();
            let is_whole = copies.iter().filter(|one| reads(one)).all(is_inverse);
            is_whole.then(|| copies.retain(|one| !is_inverse(one)))?;
            Some(2)
        }
        _ => None,
    }
}

/// Returns the offset of each array in memory that those share which live at different times, each
/// at the first bytes that are free; and the bytes of it.
fn placed(memory: Vec<Life>) -> (Vec<(usize, usize)>, usize) {
    let (mut offsets, mut most) = (Vec::new(), 0);
    // What lives, by its first byte: its end, and the last operation on it.
    let mut alive: Vec<(usize, usize, usize)> = Vec::new();
    for ([first, last], bytes, arrays) in memory {
        alive.retain(|(.., last)| *last >= first);
        let mut start = 0;
        for &(other, end, _) in &alive {
            if start + bytes <= other {
                break;
            }
            start = start.max(end);
        }
        let end = (start + bytes).next_multiple_of(LINE);
        let at = alive.partition_point(|(other, ..)| *other < start);
        alive.insert(at, (start, end, last));
        most = most.max(end);
        offsets.extend(arrays.into_iter().map(|(array, offset)| (array, start + offset)));
    }
    (offsets, most)
}

/// Returns whether an operation copies arrays or parts of them.
fn is_copy(operation: &Operation) -> bool {
    match operation {
        Operation::Move(Move { from, to, walk, .. }) => {
            from.is_none() && to.is_none() && walk.is_none()
        }
        _ => false,
    }
}

/// Returns the blocks inside of an operation.
fn inner(operation: &Operation) -> Vec<&Block> {
    match operation {
        Operation::Repeat(repeat) => vec![&repeat.condition.block, &repeat.body],
        Operation::Branch { branches, .. } => branches.iter().collect(),
        _ => Vec::new(),
    }
}

/// From the places of a block of memory to those of another.
struct Moves<'a> {
    image: &'a Image,
    /// The new first byte of each array.
    starts: FxHashMap<usize, usize>,
}

impl Moves<'_> {
    /// Returns the new place of a byte of an array, and the bytes of the array from there on.
    fn at(&self, at: usize) -> (usize, usize) {
        let array = self.image.array_at(at).map(|array| array.place);
        let moved = array.and_then(|place| {
            Some((self.starts.get(&place.start)? + (at - place.start), place.end() - at))
        });
        moved.expect("an operation is on an array of the block")
    }
    fn place(&self, place: &mut Place) {
        if place.bytes > 0 {
            place.start = self.at(place.start).0;
        }
    }
    fn start(&self, start: &mut usize) {
        *start = self.at(*start).0;
    }
    fn source(&self, source: &mut Source) {
        if let Source::Small(place) = source {
            self.place(place);
        }
    }
    fn window(&self, window: &mut Window) {
        self.source(&mut window.array);
        window.starts.iter_mut().for_each(|(start, ..)| self.place(&mut start.place));
    }
    fn condition(&self, condition: &mut Condition) {
        self.block(&mut condition.block);
        self.place(&mut condition.value);
    }
    fn block(&self, block: &mut Block) {
        block.operations.iter_mut().for_each(|operation| self.operation(operation));
    }

    fn operation(&self, operation: &mut Operation) {
        match operation {
            Operation::Elementwise(operation) => {
                operation.operands.iter_mut().for_each(|place| self.place(place));
                self.place(&mut operation.result);
            }
            Operation::Move(operation) => self.move_data(operation),
            Operation::Choose { predicate, values, result } => {
                self.start(predicate);
                for start in values {
                    self.start(start);
                }
                self.place(result);
            }
            Operation::Product { operands, result } => {
                operands.iter_mut().chain([result]).for_each(|place| self.place(place));
            }
            // Their places are those of the list of kernels.
            Operation::Kernel(_) | Operation::Compute(_) | Operation::Formula { .. } => {}
            Operation::Fused(call) => {
                call.inputs.iter_mut().for_each(|source| self.source(source));
                call.outputs.iter_mut().for_each(|place| self.place(place));
                call.sort();
            }
            Operation::Repeat(repeat) => {
                self.condition(&mut repeat.condition);
                self.block(&mut repeat.body);
            }
            Operation::Branch { selector, branches, .. } => {
                self.place(selector);
                for block in branches {
                    self.block(block);
                }
            }
        }
    }

    fn move_data(&self, Move { copies, from, to, walk }: &mut Move) {
        // Bytes of a box are counted from where it is.
        let (is_from, is_to) = (from.is_none(), to.is_none());
        from.iter_mut().chain(to).for_each(|window| self.window(window));
        if let Some((_, places)) = walk {
            for place in places {
                self.place(place);
            }
        }
        let moved = |at: usize, is_place: bool| match is_place {
            true => self.at(at),
            false => (at, usize::MAX),
        };
        let mut is_split = false;
        let mut all = Vec::with_capacity(copies.len());
        for copy in &*copies {
            let ends = copy.places().map(|place| place.bytes);
            let (start, left) = moved(copy.from, is_from);
            let (to_start, to_left) = moved(copy.to, is_to);
            if ends[0] <= left && ends[1] <= to_left {
                all.push(LoopCopy { from: start, to: to_start, ..*copy });
                continue;
            }
            // It is of neighbors, which are that no more.
            is_split = true;
            for part in copy.parts() {
                let mut done = 0;
                while done < part.bytes {
                    let (start, left) = moved(part.from + done, is_from);
                    let (to_start, to_left) = moved(part.to + done, is_to);
                    let bytes = left.min(to_left).min(part.bytes - done);
                    all.push(LoopCopy::new(start, to_start, bytes));
                    done += bytes;
                }
            }
        }
        *copies = if is_split { LoopCopy::in_order(&all) } else { all };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_live_at_different_times_share_memory() {
        let array =
            |life: [usize; 2], bytes: usize, number: usize| (life, bytes, vec![(number, 0)]);
        let memory = vec![
            array([0, 1], 640, 1),
            array([0, 3], 1000, 2),
            array([1, 2], 600, 3),
            // The first one has ended, the third one not.
            array([2, 4], 320, 4),
            array([3, 3], 960, 5),
        ];
        let (offsets, bytes) = placed(memory);
        assert_eq!(offsets, [(1, 0), (2, 640), (3, 1664), (4, 0), (5, 1664)]);
        assert_eq!(bytes, 2624);
    }

    #[test]
    fn arrays_inside_of_an_operation_are_moved_together() {
        let inside = vec![(7, 0), (8, 128)];
        let memory = vec![([0, 2], 640, vec![(1, 0)]), ([1, 1], 1024, inside)];
        let (offsets, bytes) = placed(memory);
        assert_eq!((offsets, bytes), (vec![(1, 0), (7, 640), (8, 768)], 1664));
    }
}
