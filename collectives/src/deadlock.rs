//! Deadlock reports: the wait-for graph of a run without a runnable device.
use hlo::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The number of instructions in a report.
const MAX_INSTRUCTIONS: usize = 10;
/// The number of different reasons at an instruction.
const MAX_REASONS: usize = 3;
/// The number of ranges in a list of devices, and of devices in a cycle.
const MAX_ITEMS: usize = 8;

/// A waiting device.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Waiting {
    /// Its number.
    pub device: usize,
    /// The instruction at which it is suspended: `computation/name`.
    pub at: String,
    /// The span of that instruction.
    pub span: Span,
    /// For a done, the instruction of the async operation that is not complete, and its span.
    pub started: Option<(String, Span)>,
    /// The value or event that it waits for, unless that is the other members of its group:
    /// `a value on channel 1`.
    pub what: Option<String>,
    /// The devices for which it waits, as far as they are known.
    pub missing: Arc<[usize]>,
    /// The active loops, the outermost first, with the number of started iterations.
    pub loops: Vec<(String, u64)>,
}

/// Every device that has not finished, and the reason why it waits.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Deadlock {
    /// The waiting devices, by number.
    pub waiting: Vec<Waiting>,
    /// The finished devices.
    pub finished: Vec<usize>,
}

/// The devices that wait at one instruction.
struct Location<'a> {
    at: &'a str,
    devices: Vec<usize>,
    /// The reasons why they wait, each with its devices.
    reasons: Vec<(String, Vec<usize>)>,
    /// Whether a device for which they wait has finished: they are the cause of the deadlock.
    is_cause: bool,
    span: Span,
    started: Option<&'a (String, Span)>,
    /// The last of them, and the index of its reason.
    last: Option<&'a Waiting>,
    known: Option<usize>,
}

impl Waiting {
    /// Returns whether both wait for the same, as far as a fast check finds; comparing the missing
    /// devices would take too long.
    fn has_same_reason(&self, other: &Self) -> bool {
        let same =
            (&self.what, &self.started, &self.loops) == (&other.what, &other.started, &other.loops);
        same && Arc::ptr_eq(&self.missing, &other.missing)
    }
}

impl Deadlock {
    /// Returns the devices at each instruction; first those that wait for a finished device.
    fn locations(&self) -> Vec<Location<'_>> {
        let mut at: BTreeMap<usize, &str> = BTreeMap::new();
        for waiting in &self.waiting {
            at.entry(waiting.device).or_insert(&waiting.at);
        }
        let mut locations: Vec<Location<'_>> = Vec::new();
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for waiting in &self.waiting {
            let i = *found.entry(&waiting.at).or_insert_with(|| {
                let (at, span) = (waiting.at.as_str(), waiting.span);
                let (devices, reasons) = (Vec::new(), Vec::new());
                let started = waiting.started.as_ref();
                let (last, known) = (None, None);
                locations.push(Location {
                    at,
                    devices,
                    reasons,
                    is_cause: false,
                    span,
                    started,
                    last,
                    known,
                });
                locations.len() - 1
            });
            let location = &mut locations[i];
            location.devices.push(waiting.device);
            // Members of one group share the list of missing devices, which may be long.
            if location.last.is_some_and(|last| last.has_same_reason(waiting)) {
                if let Some(reason) = location.known {
                    location.reasons[reason].1.push(waiting.device);
                }
                continue;
            }
            location.last = Some(waiting);
            location.is_cause |= waiting.missing.iter().any(|device| !at.contains_key(device));
            // Reasons beyond the limit are not listed, so they are not compared.
            let reason = reason(waiting, &at);
            location.known = location.reasons.iter().position(|(known, _)| *known == reason);
            match location.known {
                Some(i) => location.reasons[i].1.push(waiting.device),
                None if location.reasons.len() <= MAX_REASONS => {
                    location.known = Some(location.reasons.len());
                    location.reasons.push((reason, vec![waiting.device]));
                }
                None => {}
            }
        }
        locations.sort_by_key(|location| !location.is_cause);
        locations
    }
    /// Returns the help line: an instruction that some devices do not reach, or a cycle.
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
            let gone = list_devices(&gone);
            return match what {
                Some(what) => {
                    let sending = if what.starts_with("a value") { "sending " } else { "" };
                    format!("{gone} finished without {sending}{what} for which `{at}` waits")
                }
                None => format!(
                    "{gone} finished after fewer executions of `{at}`: look for a branch or a loop around it that depends on \
                     the device"
                ),
            };
        }
        self.cycle().unwrap_or_else(|| {
            "no device sends the values: add a `send` on the channel of each `recv`, and make sure that a device executes it"
                .to_owned()
        })
    }
    /// Returns `device 0 waits for device 1, which waits for device 0`, if devices wait in a cycle.
    fn cycle(&self) -> Option<String> {
        let mut next: BTreeMap<usize, usize> = BTreeMap::new();
        for waiting in &self.waiting {
            if let Some(&other) = waiting.missing.first() {
                next.entry(waiting.device).or_insert(other);
            }
        }
        let mut way: Vec<usize> = Vec::new();
        let mut locations: BTreeMap<usize, usize> = BTreeMap::new();
        let mut device = self.waiting.first()?.device;
        let start = loop {
            if let Some(&at) = locations.get(&device) {
                break at;
            }
            locations.insert(device, way.len());
            way.push(device);
            device = *next.get(&device)?;
        };
        let cycle = &way[start..];
        let links = cycle.iter().skip(1).chain([&device]);
        let mut text: Vec<String> =
            links.take(MAX_ITEMS).map(|other| format!("for device {other}")).collect();
        if cycle.len() > MAX_ITEMS {
            text.push(format!("and so on: {} devices in a cycle", cycle.len()));
        }
        let text = format!("device {device} waits {}", text.join(", which waits "))
            .replace(", which waits and", ", and");
        let sends = |waiting: &Waiting| {
            waiting.what.as_ref().is_some_and(|what| what.starts_with("a `recv`"))
        };
        Some(match self.waiting.iter().any(sends) {
            true => {
                text + "; execute each `recv` before the `send` that waits for it, or buffer sends \
                        (`--buffered-sends`)"
            }
            false => text + "; execute the ops in one order on all devices",
        })
    }
    /// Returns the span at which the error is shown.
    pub(crate) fn first(&self) -> Option<Span> {
        self.locations()
            .first()
            .map(|location| location.span)
            .filter(|&span| span != Span::default())
    }
    /// Returns a label for each instruction.
    pub(crate) fn labels(&self) -> Vec<(Span, String)> {
        let mut labels = Vec::new();
        for location in self.locations().into_iter().take(MAX_INSTRUCTIONS) {
            labels.push((location.span, format!("{} here", waits(&location.devices))));
            if let Some((_, span)) = location.started {
                labels.push((*span, "started here".to_owned()));
            }
        }
        labels.retain(|(span, _)| *span != Span::default());
        labels.dedup_by_key(|(span, _)| *span);
        labels
    }
}

/// Returns `for device 1, which has finished, in iteration 2 of w`.
fn reason(waiting: &Waiting, at: &BTreeMap<usize, &str>) -> String {
    let mut text = String::from("for ");
    if let Some(what) = &waiting.what {
        text.push_str(what);
        if !waiting.missing.is_empty() {
            text.push_str(" from ");
        }
    }
    // The instruction at which each of them waits.
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
        let devices = list_devices(devices);
        match place {
            None => format!("{devices}, which {} finished", if one { "has" } else { "have" }),
            Some(place) if *place == waiting.at => format!("{devices} there"),
            Some(place) => {
                format!("{devices}, which {} at `{place}`", if one { "waits" } else { "wait" })
            }
        }
    });
    text.push_str(&parts.collect::<Vec<_>>().join("; "));
    if let Some((name, _)) = &waiting.started {
        text += &[" (started at `", name, "`)"].concat();
    }
    for (name, round) in &waiting.loops {
        text += &[", in iteration ", &round.to_string(), " of `", name, "`"].concat();
    }
    text
}

/// Returns `devices 0, 1 and 5 to 9`; for a long list only the beginning.
pub fn list_devices(devices: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &device in devices {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == device => *last = device,
            _ => runs.push((device, device)),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let mut left = devices.len();
    let shown = if runs.len() > MAX_ITEMS { MAX_ITEMS - 1 } else { MAX_ITEMS };
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
    format!("{} {}", list_devices(devices), if devices.len() == 1 { "waits" } else { "wait" })
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock: every running device waits for another one")?;
        let locations = self.locations();
        for location in locations.iter().take(MAX_INSTRUCTIONS) {
            write!(f, "\n  {} at `{}`", waits(&location.devices), location.at)?;
            if let [(reason, _)] = location.reasons.as_slice() {
                write!(f, " {reason}")?;
                continue;
            }
            write!(f, ":")?;
            let shown = &location.reasons[..location.reasons.len().min(MAX_REASONS)];
            for (reason, devices) in shown {
                write!(f, "\n    {} {reason}", list_devices(devices))?;
            }
            let listed: usize = shown.iter().map(|(_, devices)| devices.len()).sum();
            if listed < location.devices.len() {
                write!(f, "\n    and so on for {} more", location.devices.len() - listed)?;
            }
        }
        let more: usize =
            locations.iter().skip(MAX_INSTRUCTIONS).map(|location| location.devices.len()).sum();
        if more > 0 {
            let others = locations.len() - MAX_INSTRUCTIONS;
            write!(f, "\n  and {more} more at {others} other instructions")?;
        }
        match self.finished.as_slice() {
            [] => Ok(()),
            [one] => write!(f, "\n  device {one} has finished"),
            all => write!(f, "\n  {} have finished", list_devices(all)),
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
            assert_eq!(list_devices(&devices), text);
        }
    }
    #[test]
    fn long_chains_are_shortened_and_causes_come_first() {
        let waiting = |device: usize| Waiting {
            device,
            at: if device == 40 { "e/last".to_owned() } else { "b/x".to_owned() },
            span: Span::default(),
            started: None,
            what: Some("a value".to_owned()),
            missing: [device + 1].into(),
            loops: vec![("w".to_owned(), 3)],
        };
        let deadlock = Deadlock { waiting: (0..=40).map(waiting).collect(), finished: vec![41] };
        assert_eq!(
            deadlock.to_string(),
            "deadlock: every running device waits for another one
  device 40 waits at `e/last` for a value from device 41, which has finished, in iteration 3 of `w`
  devices 0 to 39 wait at `b/x`:
    device 0 for a value from device 1 there, in iteration 3 of `w`
    device 1 for a value from device 2 there, in iteration 3 of `w`
    device 2 for a value from device 3 there, in iteration 3 of `w`
    and so on for 37 more
  device 41 has finished"
        );
    }
}
