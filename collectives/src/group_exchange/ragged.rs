//! `ragged-all-to-all` across ranks: the lists of offsets and sizes, then the rows.
use super::GroupOnRank;
use crate::Result;
use hlo::Literal;
use interp::collective::distributed::{self, Rows};
use std::collections::BTreeMap;

impl GroupOnRank<'_> {
    /// Sends the lists of all members to all ranks, and to each rank the rows that its members get.
    pub(super) fn ragged_all_to_all(&self) -> Result<interp::Result<Vec<Literal>>> {
        let lists = self.gather(self.members.len(), 2)?;
        let lists: Vec<&[Literal]> = lists.iter().map(Vec::as_slice).collect();
        let Some(own) = self.own().next() else { return Ok(Ok(Vec::new())) };
        // All ranks of the group have the same lists, so that this fails on all of them.
        let rows = match distributed::ragged_rows((&own[0], &own[1]), &lists) {
            Ok(rows) => rows,
            Err(error) => return Ok(Err(error)),
        };
        let packed = self.exchange_rows(&rows)?;
        let mut received: BTreeMap<usize, &[u8]> =
            packed.iter().map(|(&rank, bytes)| (rank, bytes.as_slice())).collect();
        let mut outputs: Vec<Option<Literal>> =
            self.members.iter().map(|(_, values)| values.local().get(1).cloned()).collect();
        for Rows { sender, receiver, from, to } in rows {
            let Some(output) = &mut outputs[receiver] else { continue };
            let (rank, values) = self.members[sender];
            let bytes = match values.local().first() {
                Some(input) => &input.bytes()[from],
                None => {
                    let next =
                        received.get_mut(&rank).and_then(|rest| rest.split_off(..from.len()));
                    next.unwrap_or_default()
                }
            };
            output.bytes_mut()[to].copy_from_slice(bytes);
        }
        let result = |output| distributed::of_rows(self.instruction, output);
        Ok(outputs.into_iter().flatten().map(result).collect())
    }

    /// Sends the other ranks the rows that their members get from this rank's members; returns
    /// those from each rank, one after another.
    fn exchange_rows(&self, rows: &[Rows]) -> Result<BTreeMap<usize, Vec<u8>>> {
        let mut sent: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        for Rows { sender, receiver, from, .. } in rows {
            let (sender, receiver) = (&self.members[*sender], &self.members[*receiver]);
            match (sender.1.local(), self.is_own(receiver)) {
                ([input, ..], false) => {
                    let packed = sent.entry(receiver.0).or_default();
                    packed.extend_from_slice(&input.bytes()[from.clone()]);
                }
                ([], true) => *sizes.entry(sender.0).or_default() += from.len(),
                ([_, ..], true) | ([], false) => {}
            }
        }
        let mut received: BTreeMap<usize, Vec<u8>> =
            sizes.into_iter().map(|(rank, size)| (rank, vec![0; size])).collect();
        let sends: Vec<(usize, &[u8])> =
            sent.iter().map(|(&rank, bytes)| (rank, bytes.as_slice())).collect();
        let mut receives: Vec<(usize, &mut [u8])> =
            received.iter_mut().map(|(&rank, bytes)| (rank, bytes.as_mut_slice())).collect();
        self.ranks.exchange(&sends, &mut receives)?;
        Ok(received)
    }
}
