//! Who waits for whom, read off a run that cannot go on.
use crate::deadlock::{Deadlock, Waiting};
use crate::meeting::{Key, Meeting};
use crate::run::Run;
use crate::starts::{Started, Ticket};
use crate::strand::{On, State, Strand};
use crate::transfer;
use interp::Position;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who is missing at each meeting: one list for all who have come.
type Known = BTreeMap<Key, Arc<[usize]>>;

/// What is missing: see [`Waiting`].
struct Missing<'m> {
    begun: Option<Position<'m>>,
    what: Option<String>,
    devices: Arc<[usize]>,
}

impl<'m> Run<'m> {
    /// Who waits for whom.
    pub(crate) fn deadlock(&self) -> Deadlock {
        let mut known = Known::new();
        let mut waiting: Vec<Waiting> = (self.strands.iter())
            .filter(|strand| !strand.claim.is_some_and(|ticket| self.is_waited_for(ticket)))
            .filter_map(|strand| match &strand.state {
                State::Waits(place, on) => Some(self.waiting(strand, place, *on, &mut known)),
                State::Ready | State::Ended => None,
            })
            .collect();
        waiting.sort_by_key(|w| w.device);
        let ended = self.results.iter().enumerate().filter(|(_, result)| result.is_some());
        Deadlock { waiting, ended: ended.map(|(device, _)| device).collect() }
    }
    /// Whether a done says already what its computation waits for.
    fn is_waited_for(&self, ticket: Ticket) -> bool {
        matches!(self.starts.get(ticket), Some(Started::Pending { finishing: Some(_), .. }))
    }
    fn waiting(
        &self,
        strand: &Strand<'m>,
        place: &Position<'m>,
        on: On,
        known: &mut Known,
    ) -> Waiting {
        let Missing { begun, what, devices } = self.missing(on, known);
        let trail = strand.body.trail();
        let loops = trail.iter().filter(|(_, rounds)| *rounds > 0);
        Waiting {
            device: strand.device,
            at: place.name(),
            span: place.span(),
            begun: begun.map(|place| (place.name(), place.span())),
            what,
            missing: devices,
            loops: loops
                .map(|(place, rounds)| (place.computation.name(place.id).to_string(), *rounds))
                .collect(),
        }
    }
    fn missing(&self, on: On, known: &mut Known) -> Missing<'m> {
        let nobody = Missing { begun: None, what: None, devices: Arc::default() };
        match on {
            On::Meeting(key) => {
                let missing = || {
                    let meeting = self.meetings.get(&key);
                    meeting.map(Meeting::missing).unwrap_or_default().into()
                };
                let devices = Arc::clone(known.entry(key).or_insert_with(missing));
                Missing { devices, ..nobody }
            }
            On::Exchange => Missing { what: Some("the others of its group".to_owned()), ..nobody },
            On::Ticket(ticket) => self.begun(ticket, known),
            On::Letter(source) => {
                Missing { what: Some("a value".to_owned()), devices: [source].into(), ..nobody }
            }
            On::Channel(channel, source) => {
                let what = Some(format!("a value on {}", transfer::name(channel)));
                Missing { what, devices: source.into_iter().collect(), ..nobody }
            }
        }
    }
    /// What that which was started waits for.
    fn begun(&self, ticket: Ticket, known: &mut Known) -> Missing<'m> {
        let inner = self.strands.iter().find(|strand| strand.claim == Some(ticket));
        let waits = match (self.starts.get(ticket), inner.map(|strand| &strand.state)) {
            (Some(Started::Pending { on: Some((place, on)), .. }), _) => Some((*place, *on)),
            (_, Some(State::Waits(place, on))) => Some((*place, *on)),
            _ => None,
        };
        match waits {
            Some((place, on)) => Missing { begun: Some(place), ..self.missing(on, known) },
            None => Missing {
                begun: None,
                what: Some("what it has started".to_owned()),
                devices: Arc::default(),
            },
        }
    }
}
