//! Offsets of elements in an operand, and the distances between them.
use std::ops::Deref;

/// Offsets in order, one for each index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OffsetList<'a> {
    list: &'a [usize],
    /// The distance of neighbors, or [`UNEVEN`].
    step: usize,
    /// How many follow each other at a time; 0 if that is not known yet.
    run: usize,
}

/// In place of a distance of neighbors, if there are fewer than two, or it is not the same for all.
const UNEVEN: usize = usize::MAX;

impl<'a> OffsetList<'a> {
    pub(crate) fn list(self) -> &'a [usize] {
        self.list
    }
    /// Returns the distance of neighbors, if there are two or more, and it is the same for all.
    pub(crate) fn step(self) -> Option<usize> {
        (self.step != UNEVEN).then_some(self.step)
    }
    /// Returns the distance of neighbors; of fewer than two, 1.
    pub(crate) fn even_step(self) -> Option<usize> {
        if self.list.len() < 2 { Some(1) } else { self.step() }
    }
    /// Returns whether neighbors follow each other.
    pub(crate) fn are_neighbors(self) -> bool {
        self.even_step() == Some(1)
    }
    /// Returns how many follow each other at a time: eight, four, two, or one.
    pub(crate) fn run(self) -> usize {
        if self.run > 0 { self.run } else { run(self.list) }
    }
    /// Returns the offsets from the number `first` on.
    pub(crate) fn starting_at(self, first: usize) -> Self {
        let list = &self.list[first..];
        Self { list, step: if list.len() < 2 { UNEVEN } else { self.step }, run: 0 }
    }
}

impl<'a> From<&'a [usize]> for OffsetList<'a> {
    fn from(list: &'a [usize]) -> Self {
        Self { list, step: even_step(list).unwrap_or(UNEVEN), run: 0 }
    }
}

impl Deref for OffsetList<'_> {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        self.list
    }
}

impl<'a> IntoIterator for OffsetList<'a> {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// The same, with memory of their own.
#[derive(Debug)]
pub(crate) struct OffsetVec {
    list: Vec<usize>,
    step: usize,
    run: usize,
}

impl From<Vec<usize>> for OffsetVec {
    fn from(list: Vec<usize>) -> Self {
        let (step, run) = (even_step(&list).unwrap_or(UNEVEN), run(&list));
        Self { list, step, run }
    }
}

impl OffsetVec {
    pub(crate) fn as_list(&self) -> OffsetList<'_> {
        let Self { list, step, run } = self;
        OffsetList { list, step: *step, run: *run }
    }
}

impl Deref for OffsetVec {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.list
    }
}

/// Returns the distance of neighbors in a list of two or more offsets, if it is the same for all.
fn even_step(list: &[usize]) -> Option<usize> {
    let &[first, second, ..] = list else { return None };
    let step = second.checked_sub(first)?;
    list.windows(2).all(|pair| pair[0].checked_add(step) == Some(pair[1])).then_some(step)
}

/// Returns how many offsets of a list follow each other at a time: eight, four, two, or one.
fn run(list: &[usize]) -> usize {
    let follow = |list: &[usize]| list.windows(2).all(|pair| pair[1] == pair[0] + 1);
    [8, 4, 2].into_iter().find(|&count| list.chunks(count).all(follow)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_know_their_distances() {
        let of = |list: &[usize]| {
            let owned = OffsetVec::from(list.to_vec());
            let (a, b) = (OffsetList::from(list), owned.as_list());
            assert_eq!((a.step(), a.run()), (b.step(), b.run()), "{list:?}");
            (a.step(), a.run(), a.are_neighbors())
        };
        assert_eq!(of(&[]), (None, 8, true));
        assert_eq!(of(&[7]), (None, 8, true));
        assert_eq!(of(&[3, 3, 3]), (Some(0), 1, false));
        assert_eq!(of(&[4, 5, 6, 7]), (Some(1), 8, true));
        assert_eq!(of(&[0, 1, 14, 15, 28, 29]), (None, 2, false));
        assert_eq!(of(&[9, 7, 5]), (None, 1, false));
        let list = OffsetList::from(&[0, 1, 2, 9][..]);
        assert_eq!(
            (list.starting_at(1).step(), list.starting_at(3).step(), list.starting_at(3).run()),
            (None, None, 8)
        );
    }
}
