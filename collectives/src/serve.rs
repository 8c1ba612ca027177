//! What is done for a strand that stands at an op others take part in.
use crate::mail::{Neighbours, neighbours};
use crate::meeting::{Claim, Site, Ticket};
use crate::run::{On, Run};
use crate::{Code, Error, Result};
use hlo::ir::InstructionId;
use hlo::op::GroupMode;
use hlo::{Literal, Op, Shape};
use interp::{Request, collective};

fn unsupported(message: impl Into<String>) -> Error {
    Code::Unsupported { message: message.into() }.into()
}

fn ticket(i: usize, request: &Request<'_>, id: InstructionId) -> Ticket {
    (i, std::ptr::from_ref(request.computation).addr(), id, request.depth)
}

impl<'m> Run<'m> {
    /// Answers a strand, or lets it wait.
    pub(crate) fn serve(&mut self, i: usize, request: Request<'m>) -> Result<()> {
        let now = Claim::Strand(i);
        #[expect(clippy::wildcard_enum_match_arm, reason = "machines stop at these ops only")]
        match &request.instruction().op {
            Op::AllReduce(op) => self.meet(i, request, op.channel_id, now),
            Op::AllGather(op) => self.meet(i, request, op.channel_id, now),
            Op::ReduceScatter(op) => self.meet(i, request, op.channel_id, now),
            Op::AllToAll(op) => self.meet(i, request, op.channel_id, now),
            Op::CollectiveBroadcast(op) => self.meet(i, request, op.channel_id, now),
            Op::RaggedAllToAll(op) => self.meet(i, request, op.channel_id, now),
            Op::AllReduceStart(op) => {
                let later = self.start(i, &request);
                self.meet(i, request, op.channel_id, later)
            }
            Op::AllGatherStart(op) => {
                let later = self.start(i, &request);
                self.meet(i, request, op.channel_id, later)
            }
            Op::CollectivePermute(op) => {
                sliced(&op.slice_sizes)?;
                self.permute(i, &request, op.channel_id, now)
            }
            Op::CollectivePermuteStart(op) => {
                sliced(&op.slice_sizes)?;
                let later = self.start(i, &request);
                self.permute(i, &request, op.channel_id, later)
            }
            Op::AsyncStart(op) => self.begin(i, &request, op.calls),
            Op::AsyncUpdate(_) => self.update(i, &request),
            Op::AllGatherDone(_)
            | Op::AllReduceDone(_)
            | Op::AsyncDone(_)
            | Op::CollectivePermuteDone(_) => {
                let start = start_of(&request);
                self.done(i, &request, ticket(i, &request, start))
            }
            Op::Send(op) => self.send(i, &request, op.channel_id, op.is_host_transfer),
            Op::Recv(op) => {
                no_host(op.is_host_transfer)?;
                self.answer(i, collective::nothing(request.instruction()));
                Ok(())
            }
            Op::SendDone(_) => {
                self.answer(i, collective::nothing(request.instruction()));
                Ok(())
            }
            Op::RecvDone(op) => {
                let channel = op.channel_id;
                self.receive(i, request, channel)
            }
            op => Err(unsupported(format!("`{}` is not run on several devices", op.opcode()))),
        }
    }

    /// Lets a strand go on past a start, and gives the claim to what it has asked for.
    fn start(&mut self, i: usize, request: &Request<'m>) -> Claim {
        let ticket = ticket(i, request, request.id);
        self.tickets.insert(ticket, None);
        self.answer(i, collective::started(request.instruction(), request.operands.clone()));
        Claim::Ticket(ticket)
    }
    /// Runs the computation of an `async-start` beside the strand.
    fn begin(&mut self, i: usize, request: &Request<'m>, id: hlo::ir::ComputationId) -> Result<()> {
        let strand = &self.strands[i];
        let device = strand.device;
        let failed = |error| Error::from(Code::Device { device, error });
        let machine = strand.machine.beside(id, request.operands.clone()).map_err(failed)?;
        let claim = self.start(i, request);
        self.spawn(device, machine, claim);
        Ok(())
    }
    fn update(&mut self, i: usize, request: &Request<'m>) -> Result<()> {
        match request.operands.as_slice() {
            [held] => {
                self.answer(i, held.clone());
                Ok(())
            }
            _ => Err(unsupported(
                "operands that `async-update` binds are not run on several devices",
            )),
        }
    }

    /// Sends to the targets, and waits for the source.
    fn permute(
        &mut self,
        i: usize,
        request: &Request<'m>,
        channel: Option<i64>,
        claim: Claim,
    ) -> Result<()> {
        let number = self.strands[i].device;
        let grid = self.grid();
        let Some((mode, pairs)) = request.instruction().op.pairs() else { return Ok(()) };
        let Neighbours { targets, source } = neighbours(mode, pairs, grid.device(number), grid)?;
        let site = Site::of(request, channel);
        let round = self.meetings.round(number, site);
        for target in targets {
            let slot = (site, round, target);
            match self.expected.remove(&slot) {
                Some(claim) => self.deliver(claim, request, request.operands.clone())?,
                None => self.mail.post(slot, number, request.operands.clone()),
            }
        }
        let Some(source) = source else {
            self.fulfil(claim, collective::nothing(request.instruction()));
            return Ok(());
        };
        let slot = (site, round, number);
        match self.mail.take(&slot) {
            Some(values) => self.deliver(claim, request, values),
            None => {
                self.expected.insert(slot, claim);
                self.claimed(claim, request, On::Letter(source));
                Ok(())
            }
        }
    }
    fn deliver(&mut self, claim: Claim, request: &Request<'m>, values: Vec<Literal>) -> Result<()> {
        let value = collective::received(values, request.instruction());
        let value = value.map_err(|error| self.blamed(claim, error))?;
        self.fulfil(claim, value);
        Ok(())
    }

    fn send(
        &mut self,
        i: usize,
        request: &Request<'m>,
        channel: Option<i64>,
        to_host: bool,
    ) -> Result<()> {
        no_host(to_host)?;
        let device = self.strands[i].device;
        let sends = match self.partners(i, request)? {
            Some(partners) => !partners.targets.is_empty(),
            None => true,
        };
        if let (true, Some(value)) = (sends, request.operands.first()) {
            self.mail.send(channel, device, value.clone());
        }
        self.answer(i, collective::started(request.instruction(), request.operands.clone()));
        for (i, request) in self.receivers.remove(&channel).unwrap_or_default() {
            self.receive(i, request, channel)?;
        }
        Ok(())
    }
    fn receive(&mut self, i: usize, request: Request<'m>, channel: Option<i64>) -> Result<()> {
        let device = self.strands[i].device;
        let source = match self.partners(i, &request)? {
            Some(Neighbours { source: None, .. }) => {
                self.answer(i, collective::nothing(request.instruction()));
                return Ok(());
            }
            Some(Neighbours { source, .. }) => source,
            None => None,
        };
        match self.mail.receive(channel, device, source)? {
            Some(value) => {
                let whole = match &request.instruction().shape {
                    Shape::Tuple(parts) if parts.last() == Some(&Shape::Token) => {
                        Literal::tuple(vec![value, Literal::token()])
                    }
                    _ => value,
                };
                let found = whole.shape();
                let wanted = &request.instruction().shape;
                if !found.compatible(wanted) {
                    let message = format!("{found:#} was sent, `recv-done` wants {wanted:#}");
                    return Err(Code::Mismatch { message }.into());
                }
                self.answer(i, whole);
            }
            None => {
                self.wait(i, &request, On::Channel(channel));
                self.receivers.entry(channel).or_default().push((i, request));
            }
        }
        Ok(())
    }
    /// Whom a `send` or `recv` is for, if its pairs say so.
    fn partners(&self, i: usize, request: &Request<'m>) -> Result<Option<Neighbours>> {
        let instruction = match &request.instruction().op {
            Op::RecvDone(_) => &request.computation.instructions[request.instruction().operands[0]],
            _ => request.instruction(),
        };
        let common = instruction.common.as_deref();
        let attributes = common.and_then(|common| common.frontend_attributes.as_ref());
        let pairs = attributes.and_then(|attributes| {
            attributes.0.iter().find(|(key, _)| key == "_xla_send_recv_source_target_pairs")
        });
        let Some((_, text)) = pairs else { return Ok(None) };
        let pairs = crate::mail::pairs(text).ok_or_else(|| {
            let message = format!("`{text}` is no list of pairs like `{{{{0,1}},{{1,2}}}}`");
            Error::from(Code::Groups { message })
        })?;
        let grid = self.grid();
        let mode = match grid.partitions {
            1 => GroupMode::CrossReplica,
            _ => GroupMode::CrossPartition,
        };
        neighbours(mode, &pairs, grid.device(self.strands[i].device), grid).map(Some)
    }
}

/// The start that a done belongs to: the first of its chain.
fn start_of(request: &Request<'_>) -> InstructionId {
    let mut id = request.instruction().operands[0];
    loop {
        let instruction = &request.computation.instructions[id];
        match (&instruction.op, instruction.operands.first()) {
            (Op::AsyncUpdate(_), Some(&before)) => id = before,
            _ => return id,
        }
    }
}
fn sliced(slice_sizes: &[Vec<i64>]) -> Result<()> {
    match slice_sizes.is_empty() {
        true => Ok(()),
        false => Err(unsupported("`collective-permute` with `slice_sizes` is not run yet")),
    }
}
fn no_host(is_host_transfer: bool) -> Result<()> {
    match is_host_transfer {
        false => Ok(()),
        true => {
            Err(unsupported("`send` and `recv` with the host at the other end are not run yet")
                .with_help("use `infeed` and `outfeed`: they have queues"))
        }
    }
}
