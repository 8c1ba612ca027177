//! Who waits for whom, when nobody can go on.
use hlo::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Places that are listed, and devices of a place that wait for different things.
const PLACES: usize = 10;
const OF_A_PLACE: usize = 3;
/// Runs of devices in a list, and devices of a circle, that are shown.
const SHOWN: usize = 8;

/// What one device waits for.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Waiting {
    /// Its number.
    pub device: usize,
    /// The instruction it stands at: `computation/name`.
    pub at: String,
    /// Where that stands in the text.
    pub span: Span,
    /// Where what it waits for was started, or stands itself: a done waits for what its start has begun.
    pub begun: Option<(String, Span)>,
    /// What is missing, if it is not that other devices come there too: `a value on channel 1`.
    pub what: Option<String>,
    /// The devices it waits for, where they are known.
    pub missing: Arc<[usize]>,
    /// The loops it is in, the outermost first, and how many rounds of each have begun.
    pub loops: Vec<(String, u64)>,
}

/// Every device that has not ended, and what it waits for.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Deadlock {
    /// Those that wait, in order of their numbers.
    pub waiting: Vec<Waiting>,
    /// Those that have ended.
    pub ended: Vec<usize>,
}

/// Devices that wait at one place.
struct Here<'a> {
    at: &'a str,
    devices: Vec<usize>,
    /// What they wait for, and who of them does.
    reasons: Vec<(String, Vec<usize>)>,
    /// Somebody they wait for has ended: it is they whom the others wait for.
    is_cause: bool,
    span: Span,
    begun: Option<&'a (String, Span)>,
    /// The last of them, and the place of its reason.
    last: Option<&'a Waiting>,
    known: Option<usize>,
}

impl Waiting {
    /// Whether both wait for the same, as far as can be seen at a glance.
    fn is_for_the_same(&self, other: &Self) -> bool {
        let same =
            (&self.what, &self.begun, &self.loops) == (&other.what, &other.begun, &other.loops);
        same && Arc::ptr_eq(&self.missing, &other.missing)
    }
}

impl Deadlock {
    /// Those that wait at each place; first those that wait for somebody who has ended.
    fn places(&self) -> Vec<Here<'_>> {
        let at: BTreeMap<usize, &str> =
            self.waiting.iter().map(|w| (w.device, w.at.as_str())).collect();
        let mut places: Vec<Here<'_>> = Vec::new();
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for waiting in &self.waiting {
            let i = *found.entry(&waiting.at).or_insert_with(|| {
                let (at, span) = (waiting.at.as_str(), waiting.span);
                let (devices, reasons) = (Vec::new(), Vec::new());
                let begun = waiting.begun.as_ref();
                let (last, known) = (None, None);
                places.push(Here {
                    at,
                    devices,
                    reasons,
                    is_cause: false,
                    span,
                    begun,
                    last,
                    known,
                });
                places.len() - 1
            });
            let here = &mut places[i];
            here.devices.push(waiting.device);
            // Members of one group share the list of those they miss, which may be as long as there are devices.
            if here.last.is_some_and(|last| last.is_for_the_same(waiting)) {
                if let Some(reason) = here.known {
                    here.reasons[reason].1.push(waiting.device);
                }
                continue;
            }
            here.last = Some(waiting);
            here.is_cause |= waiting.missing.iter().any(|device| !at.contains_key(device));
            // Many different reasons are not listed, so they need not be told apart.
            let reason = reason(waiting, &at);
            here.known = here.reasons.iter().position(|(known, _)| *known == reason);
            match here.known {
                Some(i) => here.reasons[i].1.push(waiting.device),
                None if here.reasons.len() <= OF_A_PLACE => {
                    here.known = Some(here.reasons.len());
                    here.reasons.push((reason, vec![waiting.device]));
                }
                None => {}
            }
        }
        places.sort_by_key(|here| !here.is_cause);
        places
    }
    /// What to look at: a place that some never come to, or who waits for whom in a circle.
    pub(crate) fn help(&self) -> String {
        let waits: BTreeSet<usize> = self.waiting.iter().map(|w| w.device).collect();
        let mut last: Option<&Arc<[usize]>> = None;
        for Waiting { at, missing, what, .. } in &self.waiting {
            if last.replace(missing).is_some_and(|last| Arc::ptr_eq(last, missing)) {
                continue;
            }
            let gone: Vec<usize> =
                missing.iter().copied().filter(|device| !waits.contains(device)).collect();
            if gone.is_empty() {
                continue;
            }
            let gone = listed(&gone);
            return match what {
                Some(what) => format!("{gone} ended without sending {what} that `{at}` waits for"),
                None => format!(
                    "{gone} ended without coming to `{at}` so often: look for a branch or a loop around it that depends on \
                     the device"
                ),
            };
        }
        self.circle().unwrap_or_else(|| {
            "nobody sends what they wait for: a `recv` needs a `send` on its channel, from a device that comes to it"
                .to_owned()
        })
    }
    /// `device 0 waits for device 1, that for device 0`, if they wait in a circle.
    fn circle(&self) -> Option<String> {
        let mut next: BTreeMap<usize, usize> = BTreeMap::new();
        for waiting in &self.waiting {
            if let Some(&other) = waiting.missing.first() {
                next.entry(waiting.device).or_insert(other);
            }
        }
        let mut way: Vec<usize> = Vec::new();
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut device = self.waiting.first()?.device;
        let start = loop {
            if let Some(&at) = places.get(&device) {
                break at;
            }
            places.insert(device, way.len());
            way.push(device);
            device = *next.get(&device)?;
        };
        let circle = &way[start..];
        let links = circle.iter().skip(1).chain([&device]);
        let mut text: Vec<String> =
            links.take(SHOWN).map(|other| format!("for device {other}")).collect();
        if circle.len() > SHOWN {
            text.push(format!("and so on: {} devices in a circle", circle.len()));
        }
        let text = format!("device {device} waits {}", text.join(", which waits "))
            .replace(", which waits and", ", and");
        Some(text + "; all devices must come to their ops in one order")
    }
    /// The place that the error is shown at.
    pub(crate) fn first(&self) -> Option<Span> {
        self.places().first().map(|here| here.span).filter(|&span| span != Span::default())
    }
    /// A label for each place.
    pub(crate) fn labels(&self) -> Vec<(Span, String)> {
        let mut labels = Vec::new();
        for here in self.places().into_iter().take(PLACES) {
            labels.push((here.span, format!("{} here", waits(&here.devices))));
            if let Some((_, span)) = here.begun {
                labels.push((*span, "started here".to_owned()));
            }
        }
        labels.retain(|(span, _)| *span != Span::default());
        labels.dedup_by_key(|(span, _)| *span);
        labels
    }
}

/// `for device 1, which has ended, in round 2 of w`
fn reason(waiting: &Waiting, at: &BTreeMap<usize, &str>) -> String {
    let mut text = String::from("for ");
    if let Some(what) = &waiting.what {
        text.push_str(what);
        if !waiting.missing.is_empty() {
            text.push_str(" from ");
        }
    }
    // What each of them does instead.
    let mut does: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
    for &device in waiting.missing.iter() {
        let place = at.get(&device).copied();
        match does.iter_mut().find(|(known, _)| *known == place) {
            Some((_, devices)) => devices.push(device),
            None => does.push((place, vec![device])),
        }
    }
    let parts = does.iter().map(|(place, devices)| {
        let one = devices.len() == 1;
        let devices = listed(devices);
        match place {
            None => format!("{devices}, which {} ended", if one { "has" } else { "have" }),
            Some(place) if *place == waiting.at => format!("{devices} there"),
            Some(place) => {
                format!("{devices}, which {} at `{place}`", if one { "waits" } else { "wait" })
            }
        }
    });
    text.push_str(&parts.collect::<Vec<_>>().join("; "));
    if let Some((name, _)) = &waiting.begun {
        text += &[" (begun at `", name, "`)"].concat();
    }
    for (name, round) in &waiting.loops {
        text += &[", in round ", &round.to_string(), " of `", name, "`"].concat();
    }
    text
}

/// `devices 0, 1 and 5 to 9`; of a long list the beginning.
pub fn listed(devices: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &device in devices {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == device => *last = device,
            _ => runs.push((device, device)),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let mut left = devices.len();
    let shown = if runs.len() > SHOWN { SHOWN - 1 } else { SHOWN };
    for (first, last) in runs.into_iter().take(shown) {
        left -= last - first + 1;
        match last - first {
            0 => parts.push(first.to_string()),
            1 => parts.extend([first.to_string(), last.to_string()]),
            _ => parts.push(format!("{first} to {last}")),
        }
    }
    if left > 0 {
        parts.push(format!("{left} more"));
    }
    let noun = if devices.len() == 1 { "device" } else { "devices" };
    match parts.split_last() {
        None => "no device".to_owned(),
        Some((last, [])) => format!("{noun} {last}"),
        Some((last, rest)) => format!("{noun} {} and {last}", rest.join(", ")),
    }
}

fn waits(devices: &[usize]) -> String {
    format!("{} {}", listed(devices), if devices.len() == 1 { "waits" } else { "wait" })
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "every device that has not ended waits for another")?;
        let places = self.places();
        for here in places.iter().take(PLACES) {
            write!(f, "\n  {} at `{}`", waits(&here.devices), here.at)?;
            if let [(reason, _)] = here.reasons.as_slice() {
                write!(f, " {reason}")?;
                continue;
            }
            write!(f, ":")?;
            let shown = &here.reasons[..here.reasons.len().min(OF_A_PLACE)];
            for (reason, devices) in shown {
                write!(f, "\n    {} {reason}", listed(devices))?;
            }
            let told: usize = shown.iter().map(|(_, devices)| devices.len()).sum();
            if told < here.devices.len() {
                write!(f, "\n    and so on for {} more", here.devices.len() - told)?;
            }
        }
        let more: usize = places.iter().skip(PLACES).map(|here| here.devices.len()).sum();
        if more > 0 {
            let others = places.len() - PLACES;
            write!(f, "\n  and {more} more at {others} other instructions")?;
        }
        match self.ended.as_slice() {
            [] => Ok(()),
            [one] => write!(f, "\n  device {one} has ended"),
            all => write!(f, "\n  {} have ended", listed(all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_listed_in_runs() {
        for (devices, text) in [
            (vec![], "no device"),
            (vec![3], "device 3"),
            (vec![0, 1], "devices 0 and 1"),
            (vec![0, 1, 2, 3], "devices 0 to 3"),
            (vec![0, 2, 5, 6, 7, 9], "devices 0, 2, 5 to 7 and 9"),
            ((0..40).step_by(2).collect(), "devices 0, 2, 4, 6, 8, 10, 12 and 13 more"),
        ] {
            assert_eq!(listed(&devices), text);
        }
    }
    #[test]
    fn long_chains_are_cut_and_causes_come_first() {
        let waiting = |device: usize| Waiting {
            device,
            at: if device == 40 { "e/last".to_owned() } else { "b/x".to_owned() },
            span: Span::default(),
            begun: None,
            what: Some("a value".to_owned()),
            missing: [device + 1].into(),
            loops: vec![("w".to_owned(), 3)],
        };
        let deadlock = Deadlock { waiting: (0..=40).map(waiting).collect(), ended: vec![41] };
        assert_eq!(
            deadlock.to_string(),
            "every device that has not ended waits for another
  device 40 waits at `e/last` for a value from device 41, which has ended, in round 3 of `w`
  devices 0 to 39 wait at `b/x`:
    device 0 for a value from device 1 there, in round 3 of `w`
    device 1 for a value from device 2 there, in round 3 of `w`
    device 2 for a value from device 3 there, in round 3 of `w`
    and so on for 37 more
  device 41 has ended"
        );
    }
}
