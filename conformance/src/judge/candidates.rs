//! Elements that have one of several very different values, because a decision before them is open.
use super::integers::{self, Ends};
use super::interval::Interval;
use super::range::{Range, is_whole};
use hlo::Literal;

/// The most values that an element may have by different decisions. Of more, the nearest are joined.
pub(super) const MOST: usize = 16;

impl Range {
    /// Returns the ranges of which each element is in one.
    pub(super) fn candidates(&self) -> &[Self] {
        if self.candidates.is_empty() { std::slice::from_ref(self) } else { &self.candidates }
    }

    /// Candidate `k`, or the last one: of an op that only moves elements, each has all candidates
    /// of one operand's element.
    pub(super) fn candidate(&self, k: usize) -> &Self {
        let all = self.candidates();
        &all[k.min(all.len() - 1)]
    }

    /// Returns the range whose elements are in any of these ranges, each element independently.
    pub(super) fn any_of(ranges: &[Self]) -> Self {
        let Some((first, rest)) = ranges.split_first() else { return Self::nothing() };
        let same = |a: &[i64], b: &[i64]| a == b || a.len() != b.len();
        let fits = |range: &Self| {
            range.lo.len() == first.lo.len() && same(range.lo.sizes(), first.lo.sizes())
        };
        if !rest.iter().all(fits) {
            // Of arrays that are smaller than their bounds, not even the sizes are known.
            return Self::nothing().because(ranges.iter().find_map(|range| range.cause.clone()));
        }
        let all: Vec<&Self> = ranges.iter().flat_map(Self::candidates).collect();
        let equal = |range: &&Self| {
            range.lo.bytes() == all[0].lo.bytes() && range.hi.bytes() == all[0].hi.bytes()
        };
        if all.iter().all(equal) {
            let bytes = |range: &Self| range.origin.as_ref().map(|origin| origin.bytes().to_vec());
            let same = rest.iter().all(|range| bytes(range) == bytes(first));
            let origin = first.origin.clone().filter(|_| same);
            let cause = rest.iter().find_map(|range| range.cause.clone());
            // Other decisions lead to the same values.
            let wholes = if rest.is_empty() { first.wholes.clone() } else { Vec::new() };
            let sorted = first.sorted.clone().filter(|_| rest.is_empty());
            return Self { wholes, sorted, origin, ..first.clone() }.because(cause);
        }
        let mut hull = rest.iter().fold(first.clone(), |hull, range| hull.hull(range));
        let Some(shape) = hull.shape().cloned() else { return hull };
        hull.candidates = if is_whole(shape.ty) {
            let ends = |range: &&Self| (0..range.lo.len()).map(|i| range.ends(i)).collect();
            let lists: Vec<Vec<Ends>> = all.iter().map(ends).collect();
            let columns = separate(&lists);
            columns.into_iter().map(|c| integers::range(&shape, c.into_iter())).collect()
        } else {
            // The parts of a complex number belong together.
            let parts = if shape.ty.is_complex() { 2 } else { 1 };
            let list = |range: &&Self| {
                let all: Vec<Interval> = range.intervals().collect();
                all.chunks(parts).map(|z| [z[0], z[parts - 1]]).collect()
            };
            let lists: Vec<Vec<[Interval; 2]>> = all.iter().map(list).collect();
            let column = |column: Vec<[Interval; 2]>| {
                let all: Vec<Interval> =
                    column.iter().flat_map(|z| z[..parts].iter().copied()).collect();
                Self::given(&shape, &all)
            };
            separate(&lists).into_iter().map(column).collect()
        };
        match hull.candidates.as_slice() {
            [only] => Self { cause: hull.cause, ..only.clone() },
            _ => hull,
        }
    }

    /// Returns the range of an array of floats or complex numbers, of which each part is in one of
    /// several intervals.
    pub(super) fn of_sets(shape: &hlo::ArrayShape, sets: &[Vec<Interval>]) -> Self {
        let most = sets.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let at = |set: &Vec<Interval>, k: usize| {
            let last = set.len().saturating_sub(1);
            set.get(k.min(last)).copied().unwrap_or(Interval::ANY)
        };
        let column = |k: usize| sets.iter().map(|set| at(set, k)).collect::<Vec<_>>();
        let ranges: Vec<Self> = (0..most).map(|k| Self::of(shape, &column(k))).collect();
        Self::any_of(&ranges)
    }

    /// Returns whether each element is one of a few values.
    pub(super) fn is_few(&self) -> bool {
        self.each_value().iter().all(Self::is_point)
    }

    /// Returns the candidates of booleans and integers that have few values: each of them.
    pub(super) fn each_value(&self) -> Vec<Self> {
        let Some(shape) = self.shape().filter(|shape| is_whole(shape.ty) && !self.is_point())
        else {
            return self.candidates().to_vec();
        };
        if !self.candidates.is_empty() {
            return self.candidates.clone();
        }
        let spans = (0..self.lo.len()).map(|i| integers::span(self.ends(i)));
        let most = spans.max().unwrap_or(0);
        match usize::try_from(most) {
            Ok(most) if most < MOST => (0..=most)
                .map(|k| {
                    let nth = (0..self.lo.len()).map(|i| integers::nth(shape.ty, self.ends(i), k));
                    integers::range(shape, nth).because(self.cause.clone())
                })
                .collect(),
            Ok(_) | Err(_) => vec![self.clone()],
        }
    }
}

/// All ways to take one value of each operand; none if they are too many, or are not points.
pub(super) fn points(operands: &[&Range]) -> Option<Vec<Vec<Range>>> {
    let few = operands.iter().all(|range| range.is_point() || range.is_few());
    combinations(operands).filter(|all| few && all.len() <= MOST)
}

/// All ways to take one value of each element, where elements of the result depend on several; none
/// if they are too many, or are not points.
pub(super) fn points_of_each(operands: &[&Range]) -> Option<Vec<Vec<Range>>> {
    let mut all: Vec<Vec<Range>> = vec![Vec::new()];
    for operand in operands {
        let columns = operand.each_value();
        if !columns.iter().all(Range::is_point) {
            return None;
        }
        let width = columns[0].lo.bytes().len() / operand.lo.len().max(1);
        let mut values = vec![columns[0].lo.clone()];
        for i in 0..operand.lo.len() {
            let bytes = i * width..(i + 1) * width;
            let mut own: Vec<&[u8]> =
                columns.iter().map(|column| &column.lo.bytes()[bytes.clone()]).collect();
            own.sort_unstable();
            own.dedup();
            if all.len() * values.len() * own.len() > MOST {
                return None;
            }
            let with = |value: &Literal, own: &[u8]| {
                let mut value = value.clone();
                value.bytes_mut()[bytes.clone()].copy_from_slice(own);
                value
            };
            values = values.iter().flat_map(|v| own.iter().map(move |own| with(v, own))).collect();
        }
        let longer = |start: &Vec<Range>| {
            let start = start.clone();
            let range = |value: &Literal| Range::new(value.clone(), value.clone(), None);
            values.iter().map(move |value| start.iter().cloned().chain([range(value)]).collect())
        };
        all = all.iter().flat_map(longer).collect::<Vec<Vec<Range>>>();
    }
    Some(all)
}

/// All ways to take one candidate of each operand; none if they are too many.
pub(super) fn combinations(operands: &[&Range]) -> Option<Vec<Vec<Range>>> {
    let mut all: Vec<Vec<Range>> = vec![Vec::new()];
    for operand in operands {
        let values = operand.each_value();
        if all.len() * values.len() > MOST * MOST {
            return None;
        }
        let longer = |start: &Vec<Range>| {
            let start = start.clone();
            values.iter().map(move |value| start.iter().chain([value]).cloned().collect())
        };
        all = all.iter().flat_map(longer).collect::<Vec<Vec<Range>>>();
    }
    Some(all)
}

/// The values of an element: a span of integers, or the intervals of both parts of a number.
trait Values: Copy {
    /// Returns the values of both, if they overlap.
    fn joined(self, other: Self) -> Option<Self>;
    /// Returns all values from those of one to those of the other.
    fn hull(self, other: Self) -> Self;
    /// Returns the least value.
    fn least(self) -> f64;
    /// Returns the distance of the values.
    fn gap(self, other: Self) -> f64;
}

impl Values for Ends {
    fn joined(self, other: Self) -> Option<Self> {
        integers::joined(self, other)
    }
    fn hull(self, other: Self) -> Self {
        integers::hull(self, other)
    }
    fn least(self) -> f64 {
        self.0.as_f64()
    }
    fn gap(self, other: Self) -> f64 {
        (other.0.as_f64() - self.1.as_f64()).max(self.0.as_f64() - other.1.as_f64())
    }
}

impl Values for [Interval; 2] {
    fn joined(self, [c, d]: Self) -> Option<Self> {
        let [a, b] = self;
        Some([joined(a, c)?, joined(b, d)?])
    }
    fn hull(self, [c, d]: Self) -> Self {
        let [a, b] = self;
        [a.hull(c), b.hull(d)]
    }
    fn least(self) -> f64 {
        self[0].lo
    }
    fn gap(self, other: Self) -> f64 {
        let gap = |a: Interval, b: Interval| match (a.is_nan(), b.is_nan()) {
            (true, true) => 0.0,
            (false, false) => (b.lo - a.hi).max(a.lo - b.hi).max(0.0),
            (true, false) | (false, true) => f64::INFINITY,
        };
        gap(self[0], other[0]) + gap(self[1], other[1])
    }
}

/// Returns the values of an element in any of some lists, joined where they overlap: each column
/// has one of them.
fn separate<T: Values>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut columns = vec![lists[0].clone()];
    for i in 0..lists[0].len() {
        let mut apart: Vec<T> = Vec::new();
        for list in lists {
            include(list[i], &mut apart);
        }
        if apart.len() > MOST {
            apart = fewer(apart);
        }
        while columns.len() < apart.len() {
            columns.push(columns[0].clone());
        }
        for (k, column) in columns.iter_mut().enumerate() {
            column[i] = apart[k.min(apart.len() - 1)];
        }
    }
    columns
}

/// Adds values to those of an element, joined with all that they overlap.
fn include<T: Values>(mut value: T, apart: &mut Vec<T>) {
    let overlap = |value: T, apart: &[T]| {
        let joined = |(k, &other): (usize, &T)| Some((k, value.joined(other)?));
        apart.iter().enumerate().find_map(joined)
    };
    while let Some((k, joined)) = overlap(value, apart) {
        apart.swap_remove(k);
        value = joined;
    }
    apart.push(value);
}

/// Returns [`MOST`] values at most, of which those are joined that have the smallest gaps.
fn fewer<T: Values>(mut apart: Vec<T>) -> Vec<T> {
    apart.sort_by(|a, b| a.least().total_cmp(&b.least()));
    let mut gaps: Vec<f64> = apart.windows(2).map(|pair| pair[0].gap(pair[1])).collect();
    let mut sorted = gaps.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    // Only the gaps above this one stay.
    let widest = sorted[MOST - 1];
    gaps.insert(0, f64::INFINITY);
    let mut fewer: Vec<T> = Vec::new();
    for (value, gap) in apart.into_iter().zip(gaps) {
        match fewer.pop() {
            Some(last) if gap <= widest => include(last.hull(value), &mut fewer),
            last => {
                fewer.extend(last);
                include(value, &mut fewer);
            }
        }
    }
    fewer
}

/// Returns the values of two intervals, if they overlap.
fn joined(a: Interval, b: Interval) -> Option<Interval> {
    if a.same(b) || (a.is_nan() && b.is_nan()) {
        return Some(a.hull(b));
    }
    if a.is_any() || b.is_any() {
        return Some(Interval::ANY);
    }
    let apart = a.is_nan() || b.is_nan() || a.hi < b.lo || b.hi < a.lo;
    if apart {
        return None;
    }
    let inside =
        |point: Interval, x: Interval| point.is_point() && x.lo < point.lo && point.lo < x.hi;
    Some(match (inside(a, b), inside(b, a)) {
        (true, _) => b,
        (_, true) => a,
        _ if a.is_point() || b.is_point() => a.hull(b),
        _ => Interval { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::{ArrayShape, ElementType};

    #[test]
    fn values_that_overlap_are_joined() {
        let p = Interval::point;
        let shape = ArrayShape::new(ElementType::F32, [2].as_slice());
        let of = |a: Interval, b: Interval| Range::of(&shape, &[a, b]);
        let wide = Interval { lo: 0.5, hi: 1.5 };
        let any = Range::any_of(&[of(p(1.0), p(2.0)), of(wide, p(7.0)), of(p(1.25), p(2.0))]);
        let each: Vec<Vec<Interval>> =
            any.candidates.iter().map(|range| range.intervals().collect()).collect();
        assert_eq!(each.len(), 2);
        assert!(each.iter().all(|column| column[0].same(wide)), "{each:?}");
        assert!(each.iter().any(|column| column[1].same(p(2.0))), "{each:?}");
        assert!(each.iter().any(|column| column[1].same(p(7.0))), "{each:?}");
        let many = (0..20).map(|i| of(p(f64::from(i) * 10f64.powi(i)), p(0.0)));
        let many: Vec<Range> = many.collect();
        // The nearest are joined.
        let any = Range::any_of(&many);
        let holds = |y: f64| {
            let column =
                |range: &Range| range.intervals().next().is_some_and(|x| x.lo <= y && y <= x.hi);
            any.candidates.iter().any(column)
        };
        assert_eq!((holds(10.0), holds(3e3), holds(1e9)), (true, true, false));
        assert!((2..=MOST).contains(&any.candidates.len()));
    }
}
