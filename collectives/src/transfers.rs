//! Transfers of arrays between pairs of ranks.
use crate::values::RemoteValue;
use crate::{Ranks, Result};
use hlo::{ArrayShape, Literal};
use std::ops::Range;

/// The arrays that this rank sends to other ranks and receives from them.
///
/// Two ranks list their transfers in the same order, and know the sizes: nothing but the bytes is sent.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    sends: Vec<(usize, Literal, Range<usize>)>,
    receives: Vec<(usize, Literal)>,
}

impl Transfers {
    /// Sends values to a rank.
    pub(crate) fn send(&mut self, rank: usize, values: &[Literal]) {
        for leaf in values.iter().flat_map(Literal::leaves) {
            self.send_range(rank, leaf, 0..leaf.bytes().len());
        }
    }
    /// Sends bytes of an array to a rank.
    pub(crate) fn send_range(&mut self, rank: usize, array: &Literal, bytes: Range<usize>) {
        self.sends.push((rank, array.clone(), bytes));
    }
    /// Receives a value from a rank.
    pub(crate) fn receive(&mut self, rank: usize, value: &RemoteValue) {
        for shape in value.arrays() {
            self.receive_array(rank, shape.clone());
        }
    }
    /// Receives an array from a rank.
    pub(crate) fn receive_array(&mut self, rank: usize, shape: ArrayShape) {
        self.receives.push((rank, Literal::zeros(shape)));
    }
    /// Transfers all; returns the received arrays in order.
    ///
    /// # Errors
    /// `E0509` if the connection to a rank is lost.
    pub(crate) fn run(mut self, ranks: &Ranks) -> Result<Vec<Literal>> {
        let sends: Vec<(usize, &[u8])> = (self.sends.iter())
            .map(|(rank, array, bytes)| (*rank, &array.bytes()[bytes.clone()]))
            .collect();
        let mut receives: Vec<(usize, &mut [u8])> =
            self.receives.iter_mut().map(|(rank, array)| (*rank, array.bytes_mut())).collect();
        ranks.exchange(&sends, &mut receives)?;
        Ok(self.receives.into_iter().map(|(_, array)| array).collect())
    }
}
