//! Elements in an open order: together they are the elements that were sorted, each once.
use super::modes::contains;
use super::range::Range;
use hlo::{ElementType, Literal, Scalar};
use std::collections::HashMap;

/// Positions of a result that have some of these elements, each at most once.
#[derive(Debug, Clone)]
pub(super) struct OpenOrder {
    pub(super) positions: Vec<usize>,
    /// The elements, as a vector.
    pub(super) members: Range,
}

impl OpenOrder {
    /// Returns whether the values at the positions are different members.
    pub(super) fn holds(&self, ty: ElementType, actual: &Literal) -> bool {
        // Complex numbers have no order.
        if ty.is_complex() {
            return true;
        }
        if let Some(members) = self.members.value(ty).filter(|_| self.members.is_point()) {
            return self.holds_once(&members, actual);
        }
        let fits: Vec<Vec<usize>> =
            self.positions.iter().map(|&at| self.members_of(ty, actual, at)).collect();
        // A matching, position by position: each takes a free member, or one that another leaves.
        let mut taken: Vec<Option<usize>> = vec![None; self.members.lo.len()];
        (0..fits.len()).all(|position| {
            let mut seen = vec![false; taken.len()];
            found(position, &fits, &mut taken, &mut seen)
        })
    }

    /// Returns whether each member is at as many positions as it is a member, or at fewer.
    fn holds_once(&self, members: &Literal, actual: &Literal) -> bool {
        // All NaNs are one.
        let key = |x: Scalar| match x {
            Scalar::Float(x) if x.is_nan() => u64::MAX,
            Scalar::Float(x) => x.to_bits(),
            Scalar::Pred(x) => u64::from(x),
            Scalar::Signed(x) => x.cast_unsigned(),
            Scalar::Unsigned(x) => x,
            // Complex numbers have no order.
            Scalar::Complex(..) => 0,
        };
        let mut free: HashMap<u64, usize> = HashMap::new();
        for k in 0..members.len() {
            *free.entry(key(members.get(k))).or_insert(0) += 1;
        }
        self.positions.iter().all(|&at| match free.get_mut(&key(actual.get(at))) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            Some(_) | None => false,
        })
    }

    /// Returns the members of which a value is legal.
    fn members_of(&self, ty: ElementType, actual: &Literal, at: usize) -> Vec<usize> {
        let value = actual.get(at);
        let is_legal = |range: &Range, k: usize| match ty.is_float() {
            true => {
                let x = range.intervals().nth(k);
                x.is_none_or(|x| contains(ty, x, value.as_f64()) != Some(false))
            }
            false => range.holds_whole(k, value),
        };
        let any = |k: usize| self.members.candidates().iter().any(|range| is_legal(range, k));
        (0..self.members.lo.len()).filter(|&k| any(k)).collect()
    }
}

/// Finds a free member for a position, or one that another position leaves.
pub(super) fn found(
    position: usize,
    fits: &[Vec<usize>],
    taken: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    fits[position].iter().any(|&member| {
        if std::mem::replace(&mut seen[member], true) {
            return false;
        }
        let free = match taken[member] {
            None => true,
            Some(other) => found(other, fits, taken, seen),
        };
        if free {
            taken[member] = Some(position);
        }
        free
    })
}
