//! The memory of a program: one block, in which each value has a fixed place, at the beginning of a
//! word of 16 bytes, and of a line of the cache if it has one or more.
use hlo::ElementType;
use kernels::Walk;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Where the elements of an array are in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) bytes: usize,
}

impl Place {
    pub(super) fn end(self) -> usize {
        self.start + self.bytes
    }
}

/// Bytes that are copied from one place to another, once or at even distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoopCopy {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: usize,
    pub(super) count: usize,
    /// The distances of the places that are read, and of those that are written.
    pub(super) steps: [usize; 2],
}

impl LoopCopy {
    pub(super) fn new(from: usize, to: usize, bytes: usize) -> Self {
        Self { from, to, bytes, count: 1, steps: [0; 2] }
    }
    /// Returns the same copy of memory that begins at other bytes.
    pub(super) fn shifted(self, from: usize, to: usize) -> Self {
        Self { from: self.from + from, to: self.to + to, ..self }
    }
    /// Returns the parts that it copies one after another.
    pub(super) fn parts(self) -> impl Iterator<Item = Self> {
        let [from, to] = self.steps;
        (0..self.count).map(move |i| Self::new(self.from + i * from, self.to + i * to, self.bytes))
    }
    /// Returns the place that it reads, and that which it writes, each with what lies between.
    pub(super) fn places(self) -> [Place; 2] {
        let place = |start, step| Place { start, bytes: (self.count - 1) * step + self.bytes };
        [place(self.from, self.steps[0]), place(self.to, self.steps[1])]
    }
    /// Copies from other memory.
    pub(super) fn run(self, from: &[u8], to: &mut [u8]) {
        let (from, to) = (&from[self.from..], &mut to[self.to..]);
        match self.bytes {
            bytes if self.count == 1 => to[..bytes].copy_from_slice(&from[..bytes]),
            1 => self.elements::<1>(from, to),
            2 => self.elements::<2>(from, to),
            4 => self.elements::<4>(from, to),
            8 => self.elements::<8>(from, to),
            16 => self.elements::<16>(from, to),
            bytes => {
                for i in 0..self.count {
                    let [from_at, to_at] = self.steps.map(|step| i * step);
                    to[to_at..][..bytes].copy_from_slice(&from[from_at..][..bytes]);
                }
            }
        }
    }
    /// Copies elements of so many bytes from and to the first bytes.
    fn elements<const N: usize>(self, from: &[u8], to: &mut [u8]) {
        let [step, to_step] = self.steps;
        if self.steps.iter().any(|step| step % N > 0) {
            for i in 0..self.count {
                to[i * to_step..][..N].copy_from_slice(&from[i * step..][..N]);
            }
            return;
        }
        let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
        if (step, to_step) == (0, N) {
            return to[..self.count].fill(from[0]);
        }
        match to_step / N {
            2 if step == N => columns::<_, 2>(&from[..self.count], to),
            3 if step == N => columns::<_, 3>(&from[..self.count], to),
            4 if step == N => columns::<_, 4>(&from[..self.count], to),
            to_step => {
                let slots = to.chunks_mut(to_step).take(self.count);
                match step / N {
                    0 => slots.for_each(|slot| slot[0] = from[0]),
                    step => slots.zip(from.chunks(step)).for_each(|(slot, x)| slot[0] = x[0]),
                }
            }
        }
    }
    /// Joins copies that follow each other: neighbors, and then those at even distances.
    pub(super) fn in_order(copies: &[Self]) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for copy in copies {
            match runs.last_mut() {
                Some(last)
                    if [last.count, copy.count] == [1; 2]
                        && (last.from + last.bytes, last.to + last.bytes)
                            == (copy.from, copy.to) =>
                {
                    last.bytes += copy.bytes;
                }
                _ => runs.push(*copy),
            }
        }
        let mut series: Vec<Self> = Vec::new();
        for run in runs {
            let next = |last: &Self| {
                let step =
                    |from: usize, to: usize| to.checked_sub(from).filter(|x| x % last.count == 0);
                let steps =
                    [step(last.from, run.from)?, step(last.to, run.to)?].map(|x| x / last.count);
                let is_next = run.count == 1 && last.bytes == run.bytes;
                (is_next && (last.count == 1 || steps == last.steps)).then_some(steps)
            };
            if let Some(last) = series.last_mut()
                && let Some(steps) = next(last)
            {
                *last = Self { count: last.count + 1, steps, ..*last };
            } else {
                series.push(run);
            }
        }
        series
    }
    /// Joins copies to different places, in any order, into fewer.
    pub(super) fn joined(mut copies: Vec<Self>) -> Vec<Self> {
        let in_order = Self::in_order(&copies);
        copies.sort_by_key(|copy| copy.from);
        let by_source = Self::in_order(&copies);
        if by_source.len() < in_order.len() { by_source } else { in_order }
    }
}

/// Copies to every `N`th element.
fn columns<T: Copy, const N: usize>(from: &[T], to: &mut [T]) {
    let Some((last, from)) = from.split_last() else { return };
    to[from.len() * N] = *last;
    to.as_chunks_mut::<N>().0.iter_mut().zip(from).for_each(|(group, x)| group[0] = *x);
}

/// The block before a program runs: constants have their values.
#[derive(Debug, Default)]
pub(super) struct Image {
    bytes: usize,
    /// The first words, to the end of the last constant.
    words: Vec<u128>,
    /// The arrays, by their first byte.
    arrays: BTreeMap<usize, ArrayPlace>,
}

/// An array in the block.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrayPlace {
    pub(super) place: Place,
    pub(super) ty: ElementType,
    is_constant: bool,
}

impl Image {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
    /// Returns a new place for an array.
    pub(super) fn place(&mut self, ty: ElementType, bytes: usize) -> Place {
        let align = if bytes < size_of::<Line>() { 1 } else { size_of::<Line>() };
        let start = self.bytes.next_multiple_of(align);
        self.bytes = (start + bytes).next_multiple_of(size_of::<u128>());
        let place = Place { start, bytes };
        self.arrays.insert(start, ArrayPlace { place, ty, is_constant: false });
        place
    }
    /// Makes an array a constant; returns all bytes, of which its own are to be set.
    pub(super) fn constant_mut(&mut self, place: Place) -> &mut [u8] {
        if let Some(array) = self.arrays.get_mut(&place.start) {
            array.is_constant = true;
            let words = place.end().div_ceil(size_of::<u128>()).max(self.words.len());
            self.words.resize(words, 0);
        }
        bytemuck::cast_slice_mut(&mut self.words)
    }
    /// Returns the array that has a byte.
    pub(super) fn array_at(&self, at: usize) -> Option<ArrayPlace> {
        let (_, &array) = self.arrays.range(..=at).next_back()?;
        (at < array.place.end()).then_some(array)
    }
    /// Returns the places of the arrays that have bytes of a place.
    pub(super) fn arrays_in(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        let first = self.array_at(place.start).map_or(place.start, |array| array.place.start);
        let end = if place.bytes == 0 { first } else { place.end() };
        self.arrays.range(first..end).map(|(_, array)| array.place)
    }
    /// Returns the bytes of a place that is in a constant.
    pub(super) fn constant(&self, place: Place) -> Option<&[u8]> {
        let array = self.array_at(place.start)?;
        let is_constant = array.is_constant && place.end() <= array.place.end();
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        is_constant.then(|| &bytes[place.start..place.end()])
    }
    /// Returns all arrays, in order.
    pub(super) fn arrays(&self) -> impl Iterator<Item = ArrayPlace> + '_ {
        self.arrays.values().copied()
    }
}

/// A line of the cache: loads of vectors from its beginning do not cross lines.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Line([u128; 4]);

/// The block.
#[derive(Debug, Default)]
pub(super) struct Memory(SmallVec<[Line; 2]>);

impl Memory {
    /// Returns a block like this one.
    pub(super) fn new(image: &Image) -> Self {
        let lines = image.bytes().div_ceil(size_of::<Line>());
        let mut memory = Self(SmallVec::from_elem(bytemuck::Zeroable::zeroed(), lines));
        let constants: &[u8] = bytemuck::cast_slice(&image.words);
        memory.bytes_mut()[..constants.len()].copy_from_slice(constants);
        memory
    }
    /// Checks a block that a run of the program has left: no operation changes a constant, and none
    /// reads what none has written.
    pub(super) fn check_spare(&mut self, image: &Image) {
        for array in image.arrays() {
            match image.constant(array.place) {
                Some(constant) => assert_eq!(self.read(array.place), constant),
                None => self.bytes_mut()[array.place.start..array.place.end()].fill(0xa5),
            }
        }
    }
    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
    #[inline]
    pub(super) fn read(&self, place: Place) -> &[u8] {
        &self.bytes()[place.start..place.end()]
    }
    pub(super) fn write(&mut self, place: Place, bytes: &[u8]) {
        self.bytes_mut()[place.start..place.end()].copy_from_slice(bytes);
    }
    /// Copies one after another.
    pub(super) fn copy(&mut self, copies: impl Iterator<Item = LoopCopy>) {
        let bytes = self.bytes_mut();
        for copy in copies {
            let LoopCopy { from, to, bytes: count, .. } = copy;
            match count {
                _ if copy.count > 1 => {
                    let [read, written] = copy.places();
                    if read.end() <= written.start || written.end() <= read.start {
                        let (from, to) = apart(bytes, [read, written]);
                        LoopCopy { from: 0, to: 0, ..copy }.run(from, to);
                    } else {
                        // It is written between arrays that are read.
                        for LoopCopy { from, to, bytes: count, .. } in copy.parts() {
                            bytes.copy_within(from..from + count, to);
                        }
                    }
                }
                // The sizes of scalars, without a call.
                4 => fixed::<4>(bytes, from, to),
                8 => fixed::<8>(bytes, from, to),
                1 => bytes[to] = bytes[from],
                _ => bytes.copy_within(from..from + count, to),
            }
        }
    }
    /// Moves elements by strides, from the first place to the second.
    pub(super) fn walk(&mut self, walk: &Walk, [from, to]: [Place; 2]) {
        let width = to.bytes / walk.count();
        let (from, slots) = apart(self.bytes_mut(), [from, to]);
        walk.write(from, width, &mut slots[..to.bytes]);
    }
}

/// Returns the bytes from the first place on, which is read, and from the second on, which has no
/// byte of it; those of the place that comes first end before the other.
fn apart(memory: &mut [u8], [from, to]: [Place; 2]) -> (&[u8], &mut [u8]) {
    let start = from.start.max(to.start);
    let (before, behind) = memory.split_at_mut(start);
    if from.start < start {
        (&before[from.start..], behind)
    } else {
        (behind, &mut before[to.start..])
    }
}

/// Memory without a place.
pub(super) struct Outside<'a> {
    before: &'a [u8],
    behind: &'a [u8],
    /// The first byte that is behind the place.
    end: usize,
}

impl<'a> Outside<'a> {
    #[inline]
    pub(super) fn read(&self, place: Place) -> &'a [u8] {
        let Place { start, bytes } = place;
        if start < self.end {
            &self.before[start..start + bytes]
        } else {
            &self.behind[start - self.end..][..bytes]
        }
    }
}

/// Returns what lies outside of a place, and the place.
#[inline]
pub(super) fn around(memory: &mut [u8], place: Place) -> (Outside<'_>, &mut [u8]) {
    let Place { start, bytes } = place;
    let (before, rest) = memory.split_at_mut(start);
    let (place, behind) = rest.split_at_mut(bytes);
    (Outside { before, behind, end: start + bytes }, place)
}

/// Memory that lies between places, with the first byte of each part.
pub(super) type Between<'a> = SmallVec<[(usize, &'a [u8]); 3]>;

/// Returns what lies before and behind places, which come in order, and sets the bytes of each under its
/// number.
pub(super) fn between<'a>(
    memory: &'a mut [u8],
    places: impl Iterator<Item = (usize, Place)>,
    of_places: &mut [&'a mut [u8]],
) -> Between<'a> {
    let mut between = Between::new();
    let (mut rest, mut at) = (memory, 0);
    for (k, Place { start, bytes }) in places {
        let (before, from) = rest.split_at_mut(start - at);
        let (place, behind) = from.split_at_mut(bytes);
        between.push((at, before));
        of_places[k] = place;
        (rest, at) = (behind, start + bytes);
    }
    between.push((at, rest));
    between
}

/// Returns the bytes of a place that lies between others.
pub(super) fn read_between<'a>(between: &Between<'a>, place: Place) -> Option<&'a [u8]> {
    let Place { start, bytes } = place;
    let of = between.iter().rfind(|(first, _)| *first <= start);
    of.map(|(first, memory)| &memory[start - first..][..bytes])
}

fn fixed<const N: usize>(bytes: &mut [u8], from: usize, to: usize) {
    let value: [u8; N] = bytes[from..from + N].try_into().expect("it has N bytes");
    bytes[to..to + N].copy_from_slice(&value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes of either array.
    const BYTES: usize = 1 << 12;

    proptest! {
        #[test]
        fn joined_copies_move_the_same_bytes(
            width in prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16]),
            [rows, columns] in [0..7usize, 1..7usize],
            [row_step, column_step, gap] in [0..9usize, 0..4usize, 1..3usize],
            first in 0..9usize,
        ) {
            let source: Vec<u8> = (0..=u8::MAX).cycle().take(BYTES).collect();
            let mut expected = vec![0; BYTES];
            let mut copies = Vec::new();
            for (i, (row, column)) in
                (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).enumerate()
            {
                let from = (first + row * row_step + column * column_step) * width;
                let copy = LoopCopy::new(from, i * gap * width, width);
                expected[copy.to..][..width].copy_from_slice(&source[from..][..width]);
                copies.push(copy);
            }
            let joined = LoopCopy::joined(copies.clone());
            prop_assert!(joined.len() <= copies.len());
            let mut found = vec![0; BYTES];
            for copy in &joined {
                copy.run(&source, &mut found);
            }
            prop_assert_eq!(&found, &expected);
            let parts = joined.iter().map(|copy| copy.parts().count()).sum::<usize>();
            prop_assert!(parts <= copies.len());
            // In one memory, from its first half to the second and back.
            for [from, to] in [[0, BYTES], [BYTES, 0]] {
                let lines = 2 * BYTES / size_of::<Line>();
                let mut memory = Memory(SmallVec::from_elem(Line([0; 4]), lines));
                memory.bytes_mut()[from..][..BYTES].copy_from_slice(&source);
                memory.copy(joined.iter().map(|copy| copy.shifted(from, to)));
                prop_assert_eq!(memory.read(Place { start: to, bytes: BYTES }), &expected);
            }
        }
    }

    proptest! {
        #[test]
        fn padded_elements_are_copied_from_two_arrays(
            is_padding in prop::collection::vec(any::<bool>(), 1..200),
            order in Just([0usize, 1, 2]).prop_shuffle(),
            step in 1..4usize,
        ) {
            // The padding, an array, and the result, in any order.
            let [padding, array, result] = order.map(|at| at * BYTES);
            let mut next = array;
            let copies = is_padding.iter().enumerate().map(|(i, is_padding)| {
                next += if *is_padding { 0 } else { 4 * step };
                LoopCopy::new(if *is_padding { padding } else { next - 4 * step }, result + 4 * i, 4)
            });
            let copies: Vec<LoopCopy> = copies.collect();
            let lines = 3 * BYTES / size_of::<Line>();
            let mut memory = Memory(SmallVec::from_elem(Line([0; 4]), lines));
            for (byte, i) in memory.bytes_mut().iter_mut().zip((1..=251u8).cycle()) {
                *byte = i;
            }
            let mut expected = memory.bytes().to_vec();
            for copy in &copies {
                expected.copy_within(copy.from..copy.from + 4, copy.to);
            }
            memory.copy(LoopCopy::joined(copies).into_iter());
            prop_assert!(memory.bytes() == expected);
        }
    }

    #[test]
    fn copies_of_several_elements_stay_whole() {
        let padding = LoopCopy { count: 12, steps: [0, 4], ..LoopCopy::new(32, 112, 4) };
        let column = LoopCopy { count: 5, steps: [8, 4], ..LoopCopy::new(36, 160, 4) };
        let copies = [LoopCopy::new(500, 104, 4), LoopCopy::new(32, 108, 4), padding, column];
        assert_eq!(LoopCopy::in_order(&copies)[2..], [padding, column]);
    }

    #[test]
    fn columns_and_repeated_elements_are_one_copy() {
        let columns = (0..9).map(|i| LoopCopy::new(4 * i, 100 + 12 * i, 4));
        let joined = LoopCopy::joined(columns.collect());
        assert_eq!(joined, [LoopCopy { count: 9, steps: [4, 12], ..LoopCopy::new(0, 100, 4) }]);
        let repeated = (0..9).map(|i| LoopCopy::new(8, 100 + 4 * i, 4));
        let joined = LoopCopy::joined(repeated.collect());
        assert_eq!(joined, [LoopCopy { count: 9, steps: [0, 4], ..LoopCopy::new(8, 100, 4) }]);
        // Columns of two arrays, element by element.
        let both = (0..9).flat_map(|i| [(0, 100), (500, 104)].map(|(a, b)| (a + 4 * i, b + 8 * i)));
        let joined = LoopCopy::joined(both.map(|(from, to)| LoopCopy::new(from, to, 4)).collect());
        assert_eq!(joined.len(), 2);
    }
}
