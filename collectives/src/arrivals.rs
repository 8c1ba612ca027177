//! The end of a round: values cross ranks, and the ops that wait for them are completed.
use crate::crossings::{Arrival, Crossing, Crossings};
use crate::rendezvous::Rendezvous;
use crate::run::Run;
use crate::values::Values;
use crate::{Ranks, Result};
use hlo::Literal;

impl Run {
    /// Determines how a value gets from its sender to a receiver; sends it if it leaves this rank.
    pub(crate) fn cross(&mut self, sender: usize, receiver: usize, values: &Values) -> Crossing {
        let (from, to) = (self.rank_of(sender), self.rank_of(receiver));
        if from != to {
            self.crossings.count += 1;
        }
        match values {
            Values::Local(values) if self.is_local(receiver) => Crossing::Local(values.clone()),
            Values::Local(values) => {
                self.crossings.transfers.send(to, values);
                Crossing::Elsewhere
            }
            Values::Remote(values) if self.is_local(receiver) => {
                for value in values {
                    self.crossings.transfers.receive(from, value);
                }
                Crossing::Arrives
            }
            Values::Remote(_) => Crossing::Elsewhere,
        }
    }
    /// Returns whether the members of a group are on several ranks.
    pub(crate) fn crosses_ranks(&self, rendezvous: &Rendezvous) -> bool {
        let mut ranks = rendezvous.members.iter().map(|&device| self.rank_of(device));
        let first = ranks.next();
        ranks.any(|rank| Some(rank) != first)
    }
    /// Waits until all ranks have handled the steps of this round, if anything crosses ranks.
    ///
    /// # Errors
    /// The first error of a rank in this round.
    pub(crate) fn agree_on_crossings(&mut self) -> Result<()> {
        let crosses = self.crossings.count > 0
            || self.complete.iter().any(|rendezvous| self.crosses_ranks(rendezvous));
        match &mut self.rank_exchange {
            Some(exchange) if crosses => exchange.report(None),
            _ => Ok(()),
        }
    }
    /// Transfers the values that cross, and completes the ops of their receivers. Returns the first
    /// error, with the index of the step at which one process would find it.
    ///
    /// # Errors
    /// `E0509` if the connection to a rank is lost.
    pub(crate) fn complete_arrivals(
        &mut self,
        ranks: &Ranks,
    ) -> Result<Result<(), (usize, crate::Error)>> {
        let Crossings { transfers, arrivals, steps, .. } = std::mem::take(&mut self.crossings);
        let mut received = transfers.run(ranks)?.into_iter();
        let mut failure = Ok(());
        for ((arrival, values), step) in arrivals.into_iter().zip(steps) {
            let values: Vec<Literal> =
                values.iter().map(|value| value.assemble(&mut received)).collect();
            let completed = match arrival {
                Arrival::Permute(device, receiver) => {
                    let completed = self.complete_permute(device, &receiver, Some(values));
                    completed.map_err(|e| e.at(receiver.position.site(self.module())))
                }
                Arrival::Receive(i, position) => {
                    let value = values.into_iter().next().unwrap_or_else(Literal::token);
                    let completed = self.complete_receive(i, position, value);
                    completed.map_err(|e| e.at(position.site(self.module())))
                }
            };
            failure = failure.and(completed.map_err(|error| (step, error)));
        }
        Ok(failure)
    }
}
