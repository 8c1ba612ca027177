//! The connection of a run to the other ranks.
use crate::transport::{connection_lost, malformed_message};
use crate::wire::{self, RankReport, Stage, StepReport};
use crate::{Error, Ranks, Result};

/// The connection of a run to the other ranks.
#[derive(Debug)]
pub(crate) struct RankExchange {
    pub(crate) ranks: Ranks,
    /// The number of reports sent.
    round: u64,
}

impl RankExchange {
    pub(crate) fn new(ranks: Ranks) -> Self {
        Self { ranks, round: 0 }
    }
    /// Sends a report without steps.
    ///
    /// # Errors
    /// The first error of a rank; `E0509` if the connection to a rank is lost.
    pub(crate) fn report(&mut self, failure: Option<(Stage, Error)>) -> Result<()> {
        self.gather(failure, Vec::new()).map(|_| ())
    }
    /// Sends a report, and returns those of all ranks.
    pub(crate) fn gather(
        &mut self,
        failure: Option<(Stage, Error)>,
        steps: Vec<(usize, Result<StepReport, Error>)>,
    ) -> Result<Vec<RankReport>> {
        let round = self.round;
        self.round += 1;
        let report = RankReport { round, failure, steps };
        let bytes = wire::encode_envelope(&report).map_err(|e| connection_lost(&e))?;
        let read = |(rank, bytes): (usize, Vec<u8>)| match wire::decode_envelope(&bytes) {
            Ok(report @ RankReport { round: theirs, .. }) if theirs == round => Ok(report),
            Ok(RankReport { round: theirs, .. }) => Err(connection_lost(&format!(
                "rank {rank} is in round {theirs}, another rank in {round}"
            ))),
            Err(error) => Err(malformed_message(rank, &error)),
        };
        let reports: Result<Vec<_>> =
            self.ranks.gather(bytes)?.into_iter().enumerate().map(read).collect();
        let mut reports = reports?;
        // One process would have stopped at the first error.
        let failed = reports.iter_mut().filter_map(|report| report.failure.take());
        match failed.min_by_key(|(stage, _)| *stage) {
            None => Ok(reports),
            Some((_, error)) => Err(error),
        }
    }
}
