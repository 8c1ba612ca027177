//! The memory limit of a process, divided among the devices that it runs.
//!
//! A device gets the bytes of its arguments, and an equal part of what the arguments of all devices
//! leave. So the error of a run does not depend on which device is faster, as it would if all
//! devices took their memory from one account.
use hlo::Literal;
use std::collections::BTreeSet;

/// The memory of the arguments of devices.
#[derive(Debug)]
pub(crate) struct ArgumentBytes {
    /// The bytes of each device's arguments.
    each: Vec<usize>,
    /// The bytes of all of them; arrays that share memory count once.
    pub(crate) total: usize,
}

impl ArgumentBytes {
    pub(crate) fn of<'a>(devices: impl Iterator<Item = &'a [Literal]>) -> Self {
        let (mut each, mut total, mut known) = (Vec::new(), 0, BTreeSet::new());
        for arguments in devices {
            let leaves = arguments.iter().flat_map(Literal::leaves);
            let arrays = leaves.filter(|leaf| leaf.array_shape().is_some()).map(Literal::bytes);
            each.push(arrays.clone().map(<[u8]>::len).sum());
            let new = arrays.filter(|bytes| known.insert(bytes.as_ptr()));
            total += new.map(<[u8]>::len).sum::<usize>();
        }
        Self { each, total }
    }
    /// Returns the limit of a device out of that of the process; `None` if the arguments of all
    /// devices have more bytes.
    pub(crate) fn limit(&self, device: usize, limit: usize) -> Option<usize> {
        let part = limit.checked_sub(self.total)? / self.each.len().max(1);
        Some(part.saturating_add(self.each[device]))
    }
    /// Returns the bytes of all devices together, of which each counts its own arguments.
    pub(crate) fn together(&self, devices: impl Iterator<Item = usize>) -> usize {
        let shared = self.each.iter().sum::<usize>() - self.total;
        devices.sum::<usize>() - shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_arrays_count_once() {
        let (one, other) =
            (Literal::from_slice(&[], &[1i32]), Literal::from_slice(&[2], &[1i64, 2]));
        let lists = [vec![one.clone(), other.clone()], vec![one, other.copied()]];
        let bytes = ArgumentBytes::of(lists.iter().map(Vec::as_slice));
        assert_eq!(bytes.total, 4 + 16 + 16);
        assert_eq!(bytes.limit(1, 36 + 9), Some(20 + 4));
        assert_eq!((bytes.limit(0, 36), bytes.limit(0, 35)), (Some(20), None));
        assert_eq!(bytes.together([24, 23].into_iter()), 36 + 4 + 3);
    }
}
