//! Transfers of arrays between pairs of ranks.
use crate::transport::{connection_lost, malformed_message};
use crate::values::{DecodeError, RemoteValue, ValueHeader};
use crate::{Ranks, Result, wire};
use hlo::{ArrayShape, Literal};
use std::ops::Range;

/// The arrays that this rank sends to other ranks and receives from them.
///
/// Two ranks list their transfers in the same order, and know the sizes: nothing but the bytes is
/// sent.
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

impl Ranks {
    /// Returns the values of all ranks, by number. Every rank must call it between the same runs.
    ///
    /// # Errors
    /// `E0509` if the connection to a rank is lost, or its message is malformed.
    pub fn gather_values(&self, own: &[Literal]) -> Result<Vec<Literal>> {
        self.gather_values_where(|_| true, own)
    }
    /// Returns the values of all ranks, by number, on one rank, and none on the others. Every rank
    /// must call it between the same runs.
    ///
    /// # Errors
    /// As [`gather_values`](Self::gather_values).
    pub fn gather_values_to(&self, rank: usize, own: &[Literal]) -> Result<Vec<Literal>> {
        self.gather_values_where(|other| other == rank, own)
    }
    fn gather_values_where(
        &self,
        receives: impl Fn(usize) -> bool,
        own: &[Literal],
    ) -> Result<Vec<Literal>> {
        let headers: Vec<ValueHeader> = own.iter().map(ValueHeader::of).collect();
        let bytes = wire::encode_envelope(&headers).map_err(|error| connection_lost(&error))?;
        let mut transfers = Transfers::default();
        for rank in (0..self.count()).filter(|&rank| rank != self.rank() && receives(rank)) {
            transfers.send(rank, own);
        }
        let mut all: Vec<Vec<RemoteValue>> = Vec::new();
        for (rank, bytes) in self.gather(bytes)?.iter().enumerate() {
            let malformed = |error: DecodeError| malformed_message(rank, &error);
            let headers: Vec<ValueHeader> = wire::decode_envelope(bytes).map_err(malformed)?;
            let values = headers.iter().map(ValueHeader::parse).collect::<Result<Vec<_>, _>>();
            let values = values.map_err(malformed)?;
            if rank != self.rank() && receives(self.rank()) {
                values.iter().try_for_each(RemoteValue::check_size).map_err(malformed)?;
                for value in &values {
                    transfers.receive(rank, value);
                }
            }
            all.push(values);
        }
        let mut received = transfers.run(self)?.into_iter();
        if !receives(self.rank()) {
            return Ok(Vec::new());
        }
        let value = |(rank, values): (usize, Vec<RemoteValue>)| match rank == self.rank() {
            true => own.to_vec(),
            false => values.iter().map(|value| value.assemble(&mut received)).collect(),
        };
        Ok(all.into_iter().enumerate().flat_map(value).collect())
    }
}
