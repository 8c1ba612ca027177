//! `collective-permute`: messages from one device to another.
use crate::Result;
use crate::crossings::{Arrival, Crossing};
use crate::message_queue::{Message, Neighbors};
use crate::rendezvous::{Participant, check_same_operation};
use crate::run::Run;
use crate::task::WaitReason;
use crate::values::Values;
use hlo::Literal;
use interp::collective;

impl Run {
    /// Sends to the targets, and receives from the source.
    pub(crate) fn permute(
        &mut self,
        i: usize,
        participant: Participant,
        channel: Option<i64>,
    ) -> Result<()> {
        let (number, position) = (self.tasks[i].device, participant.position);
        let executable = self.executable.clone();
        let module = executable.module();
        let all = self.messages.neighbors(position, (self.grid, module))?;
        let Neighbors { targets, source } = all[number].clone();
        let (site, round) = self.next_site(i, position, channel, 0)?;
        if !targets.is_empty() {
            let values = self.values_to_send(number, &participant)?;
            for target in targets {
                let key = (site, round, target);
                if let Some(receiver) = self.receivers.remove(&key) {
                    let there = (target, receiver.position);
                    check_same_operation((number, position), there, site, module)?;
                    self.deliver_permuted(target, receiver, (number, &values))?;
                    continue;
                }
                let message = Message { sender: number, position, values: values.clone() };
                if let Some(other) = self.messages.messages.insert(key, message) {
                    let there = (other.sender, other.position);
                    check_same_operation(there, (number, position), site, module)?;
                }
            }
        }
        let Some(source) = source else {
            return self.complete_permute(number, &participant, None);
        };
        let key = (site, round, number);
        match self.messages.messages.remove(&key) {
            Some(Message { sender, position: sent_at, values }) => {
                check_same_operation((sender, sent_at), (number, position), site, module)?;
                self.deliver_permuted(number, participant, (sender, &values))
            }
            None => {
                self.record_wait(participant.waiter, position, WaitReason::Message(source));
                self.receivers.insert(key, participant);
                Ok(())
            }
        }
    }
    /// Returns what a device sends to each of its targets.
    fn values_to_send(&self, device: usize, participant: &Participant) -> Result<Values> {
        let Values::Local(operands) = &participant.operands else {
            return Ok(participant.operands.clone());
        };
        let instruction = participant.position.instruction(self.module());
        let values = collective::sent(instruction, operands);
        let values = values.map_err(|e| self.device_error(device, participant.position, e))?;
        Ok(Values::Local(values))
    }
    /// Gives a receiver the values that a device sent, now or after their transfer.
    fn deliver_permuted(
        &mut self,
        device: usize,
        receiver: Participant,
        (sender, values): (usize, &Values),
    ) -> Result<()> {
        match self.cross(sender, device, values) {
            Crossing::Local(values) => self.complete_permute(device, &receiver, Some(values)),
            Crossing::Arrives => {
                self.crossings.arrive(Arrival::Permute(device, receiver), values);
                Ok(())
            }
            Crossing::Elsewhere => self.complete_waiter(receiver.waiter, Literal::token()),
        }
    }
    /// Completes the op of a device with the values that it received; `None` if it is no target.
    pub(crate) fn complete_permute(
        &mut self,
        device: usize,
        receiver: &Participant,
        received: Option<Vec<Literal>>,
    ) -> Result<()> {
        if !self.is_local(device) {
            return self.complete_waiter(receiver.waiter, Literal::token());
        }
        let instruction = receiver.position.instruction(self.module());
        let value = collective::received(instruction, receiver.operands.local(), received)
            .map_err(|error| self.device_error(device, receiver.position, error))?;
        self.complete_waiter(receiver.waiter, value)
    }
}
