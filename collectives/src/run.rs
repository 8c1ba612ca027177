//! One run: strands that are stepped while they can go on, and what they wait for.
use crate::body::Body;
use crate::mail::{Mail, Slot};
use crate::meeting::{Meeting, Meetings};
use crate::order::Order;
use crate::share::{Shared, Stage};
use crate::starts::{Started, Starts, Ticket};
use crate::strand::{Claim, On, Origin, State, Strand};
use crate::transfer::Transfers;
use crate::{Code, Error, Ranks, Result};
use hlo::Literal;
use interp::{Grid, Position, Request, Step, Team};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// One run of a world.
#[derive(Debug)]
pub(crate) struct Run<'m> {
    pub(crate) team: Team<'m>,
    pub(crate) strands: Vec<Strand<'m>>,
    pub(crate) meetings: Meetings<'m>,
    pub(crate) mail: Mail<'m>,
    /// Who waits for a letter, where, and with which operands.
    pub(crate) expected: BTreeMap<Slot, (Claim, Request<'m>)>,
    pub(crate) transfers: Transfers<'m>,
    pub(crate) starts: Starts<'m>,
    /// Groups that have come together.
    pub(crate) complete: Vec<Meeting<'m>>,
    pub(crate) results: Vec<Option<Literal>>,
    order: Option<Order>,
    pub(crate) shared: Option<Shared>,
}

impl<'m> Run<'m> {
    /// A run of these bodies, one for each device; with an order, in which everything that may come in any order does; with
    /// the ranks that run those which are not here.
    pub(crate) fn new(
        team: Team<'m>,
        bodies: Vec<Body<'m>>,
        order: Option<Order>,
        ranks: Option<Ranks>,
    ) -> Self {
        let results = vec![None; bodies.len()];
        let strand = |(device, body)| Strand::new(device, body, None);
        Self {
            team,
            strands: bodies.into_iter().enumerate().map(strand).collect(),
            meetings: Meetings::default(),
            mail: Mail::default(),
            expected: BTreeMap::default(),
            transfers: Transfers::default(),
            starts: Starts::default(),
            complete: Vec::new(),
            results,
            order,
            shared: ranks.map(Shared::new),
        }
    }
    pub(crate) fn grid(&self) -> Grid {
        self.team.grid()
    }

    /// Steps whoever can go on, until all have ended.
    pub(crate) fn finish(mut self) -> Result<Vec<Literal>> {
        loop {
            let ready = self.ready();
            let mut steps: Vec<Option<Result<Step<'m>>>> = (self.strands.par_iter_mut())
                .enumerate()
                .map(|(i, strand)| if ready.contains(i) { strand.resume() } else { None })
                .collect();
            // Also when nobody is ready: another rank may have something to say on the round before.
            self.share(&ready, &mut steps)?;
            if ready.is_empty() {
                break;
            }
            self.served(&ready, steps).or_else(|(stage, error)| self.failed(stage, error))?;
        }
        if self.results.iter().any(Option::is_none) {
            self.meetings.one_grouping()?;
            return Err(Code::Deadlock { deadlock: self.deadlock() }.into());
        }
        self.meetings.all_claimed()?;
        self.mail.all_claimed()?;
        self.transfers.all_claimed()?;
        Ok(self.results.into_iter().flatten().collect())
    }

    /// Answers all that were stepped together; an error with how far that came.
    ///
    /// It is done in order, so that it does not depend on who was faster.
    fn served(
        &mut self,
        ready: &Ready,
        mut steps: Vec<Option<Result<Step<'m>>>>,
    ) -> Result<(), (Stage, Error)> {
        for (place, &i) in ready.order().iter().enumerate() {
            if let Some(step) = steps[i].take() {
                self.stepped(i, step).map_err(|error| (Stage::Strand(place), error))?;
            }
        }
        self.settle()
    }

    /// Who is stepped next, in order.
    fn ready(&mut self) -> Ready {
        let all = self.strands.iter().enumerate().filter(|(_, strand)| strand.is_ready());
        let mut order: Vec<usize> = all.map(|(i, _)| i).collect();
        if let Some(chance) = &mut self.order {
            chance.some_of(&mut order);
        }
        Ready::new(order, self.strands.len())
    }

    fn stepped(&mut self, i: usize, step: Result<Step<'m>>) -> Result<()> {
        match step? {
            Step::Wait(request) => {
                let place = request.place;
                self.serve(i, request).map_err(|error| error.at(&place))
            }
            Step::Done(result) => {
                self.strands[i].state = State::Ended;
                match self.strands[i].claim.take() {
                    Some(ticket) => self.fulfil(Claim::Ticket(ticket), result),
                    None => {
                        self.results[self.strands[i].device] = Some(result);
                        Ok(())
                    }
                }
            }
            _ => Err(Code::Unsupported {
                message: "a machine has stopped for a reason that is not known here".to_owned(),
            }
            .into()),
        }
    }

    /// Gives the groups that have come together what their op gives them.
    fn settle(&mut self) -> Result<(), (Stage, Error)> {
        let complete = std::mem::take(&mut self.complete);
        let orders: Vec<Option<Vec<usize>>> = (complete.iter())
            .map(|meeting| self.order.as_mut().map(|order| order.of(meeting.members.len())))
            .collect();
        let (team, own) = (&self.team, self.own());
        let exchanged: Vec<_> = (complete.into_par_iter().zip(orders))
            .map(|(meeting, order)| {
                let all: Vec<(Claim, Request<'m>)> = meeting.given.into_iter().flatten().collect();
                let given: Vec<&[Literal]> =
                    all.iter().map(|(_, r)| r.operands.as_slice()).collect();
                let instruction = all[0].1.instruction();
                let order = order.as_deref();
                // Where no member is here, nobody asks what they get.
                let results = match meeting.members.iter().any(|device| own.contains(device)) {
                    true => interp::collective::exchange(team, instruction, &given, order),
                    false => Ok(vec![Literal::token(); all.len()]),
                };
                let claims: Vec<(Claim, Position<'m>)> =
                    all.into_iter().map(|(claim, request)| (claim, request.place)).collect();
                (claims, meeting.members, results)
            })
            .collect();
        for (place, (claims, members, results)) in exchanged.into_iter().enumerate() {
            let device = members[0];
            let blame = |error| Code::Device { device, error: claims[0].1.blame(error) }.into();
            let given = results.map_err(blame).and_then(|results| {
                let mut given = claims.iter().zip(results);
                given.try_for_each(|((claim, _), result)| self.fulfil(*claim, result))
            });
            given.map_err(|error| (Stage::Group(place), error))?;
        }
        Ok(())
    }

    /// Answers a strand, which then can go on.
    pub(crate) fn answer(&mut self, i: usize, value: Literal) -> Result<()> {
        let strand = &mut self.strands[i];
        let device = strand.device;
        strand.state = State::Ready;
        strand.body.answer(value).map_err(|error| Code::Device { device, error }.into())
    }
    /// Gives a value to whoever claims it.
    pub(crate) fn fulfil(&mut self, claim: Claim, value: Literal) -> Result<()> {
        let ticket = match claim {
            Claim::Strand(i) => return self.answer(i, value),
            Claim::Ticket(ticket) => ticket,
        };
        // What was forgotten gives its value to nobody.
        let Some(started) = self.starts.get_mut(ticket) else { return Ok(()) };
        if let Started::Pending { finishing: Some(i), .. } = *started {
            self.starts.end(ticket);
            return self.answer(i, value);
        }
        *started = Started::Done(value);
        Ok(())
    }
    /// Lets a strand wait.
    pub(crate) fn wait(&mut self, i: usize, place: Position<'m>, on: On) {
        self.strands[i].state = State::Waits(place, on);
    }
    /// Notes where a claim waits: the strand itself, or what its done will wait for.
    pub(crate) fn claimed(&mut self, claim: Claim, place: Position<'m>, now: On) {
        match claim {
            Claim::Strand(i) => self.wait(i, place, now),
            Claim::Ticket(ticket) => {
                if let Some(Started::Pending { on, .. }) = self.starts.get_mut(ticket) {
                    *on = Some((place, now));
                }
            }
        }
    }
    /// Runs a computation beside the strand that starts it.
    pub(crate) fn spawn(
        &mut self,
        device: usize,
        body: Body<'m>,
        (claim, origin): (Ticket, Origin),
    ) {
        let mut strand = Strand::new(device, body, Some(claim));
        strand.origin = origin;
        // Nothing refers to a strand that has ended and was started by another.
        let devices = self.results.len();
        match self.strands[devices..].iter_mut().find(|strand| strand.has_ended()) {
            Some(place) => *place = strand,
            None => self.strands.push(strand),
        }
    }
}

/// The strands that are stepped together.
pub(crate) struct Ready {
    order: Vec<usize>,
    is_in: Vec<bool>,
}

impl Ready {
    fn new(order: Vec<usize>, strands: usize) -> Self {
        let mut is_in = vec![false; strands];
        for &i in &order {
            is_in[i] = true;
        }
        Self { order, is_in }
    }
    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.is_in[i]
    }
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }
}
