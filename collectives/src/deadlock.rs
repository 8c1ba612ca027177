//! Who waits for whom, when nobody can go on.
use hlo::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What one device waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Its number.
    pub device: usize,
    /// The instruction it stands at: `computation/name`.
    pub at: String,
    /// Where that stands in the text.
    pub span: Span,
    /// What is missing, in words: `devices 2 and 3`, `a value on channel 1`.
    pub reason: String,
    /// The devices it waits for, where they are known.
    pub missing: Vec<usize>,
    /// The loops it is in, the outermost first, and how many rounds of each have begun.
    pub loops: Vec<(String, u64)>,
}

/// Every device that has not ended, and what it waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Deadlock {
    /// Those that wait, in order of their numbers.
    pub waiting: Vec<Waiting>,
    /// How many devices have ended.
    pub ended: usize,
}

/// Lines, places, and devices of a list that are shown: a thousand devices may wait at a thousand places.
const SHOWN: usize = 8;

/// Those that wait at one place, in the same rounds of the same loops.
struct Stand<'a> {
    first: &'a Waiting,
    /// What they wait for, and who.
    reasons: Vec<(&'a str, Vec<usize>)>,
}

impl Deadlock {
    /// Those that wait alike, together, in the order of their first.
    fn stands(&self) -> Vec<Stand<'_>> {
        let mut places = BTreeMap::new();
        let mut reasons = BTreeMap::new();
        let mut found: Vec<Stand<'_>> = Vec::new();
        for waiting in &self.waiting {
            let Waiting { at, loops, reason, device, .. } = waiting;
            let place = *places.entry((at, loops)).or_insert(found.len());
            if place == found.len() {
                found.push(Stand { first: waiting, reasons: Vec::new() });
            }
            let list = &mut found[place].reasons;
            let i = *reasons.entry((place, reason)).or_insert(list.len());
            match list.get_mut(i) {
                Some((_, devices)) => devices.push(*device),
                None => list.push((reason, vec![*device])),
            }
        }
        found
    }
    /// The first place anybody waits at.
    pub(crate) fn first(&self) -> Option<Span> {
        self.waiting.first().map(|waiting| waiting.span).filter(|&span| span != Span::default())
    }
    /// A label for each place.
    pub(crate) fn labels(&self) -> Vec<(Span, String)> {
        let mut places = BTreeMap::new();
        let mut found: Vec<(Span, Vec<usize>)> = Vec::new();
        for waiting in self.waiting.iter().filter(|w| w.span != Span::default()) {
            let key = (waiting.span.start, waiting.span.end);
            let place = *places.entry(key).or_insert(found.len());
            match found.get_mut(place) {
                Some((_, devices)) => devices.push(waiting.device),
                None => found.push((waiting.span, vec![waiting.device])),
            }
        }
        let label =
            |(span, devices): (Span, Vec<usize>)| (span, format!("{} here", waits(&devices)));
        found.into_iter().take(SHOWN).map(label).collect()
    }

    /// The devices that have ended: all that do not wait.
    fn ended(&self) -> Vec<usize> {
        let waiting: BTreeSet<usize> = self.waiting.iter().map(|w| w.device).collect();
        let count = self.ended + waiting.len();
        (0..count).filter(|device| !waiting.contains(device)).collect()
    }
    /// What to look at: a place that some never come to, or who waits for whom in a circle.
    pub(crate) fn help(&self) -> String {
        let ended = self.ended();
        for Waiting { at, missing, .. } in &self.waiting {
            let gone: Vec<usize> =
                missing.iter().copied().filter(|d| ended.binary_search(d).is_ok()).collect();
            if !gone.is_empty() {
                return format!(
                    "{} ended without coming to `{at}` so often: look for a branch or a loop around it that depends on \
                     the device",
                    listed(&gone)
                );
            }
        }
        match self.circle() {
            Some(circle) => circle,
            None => {
                "nobody sends what they wait for: a `recv` needs a `send` on its channel, from a \
                     device that comes to it"
                    .to_owned()
            }
        }
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
        Some(
            format!("device {device} waits {}", text.join(", which waits "))
                .replace(", which waits and", ", and"),
        )
    }
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

impl Stand<'_> {
    fn devices(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.reasons.iter().flat_map(|(_, d)| d).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
    /// Its lines: one for each reason, or one for all if there are many.
    fn lines(&self) -> Vec<String> {
        let Waiting { at, loops, .. } = self.first;
        let rounds = loops.iter().map(|(name, round)| format!(", in round {round} of `{name}`"));
        let rounds = rounds.collect::<Vec<_>>().concat();
        let line = |devices: &[usize], reason: &str| {
            format!("{} at `{at}` for {reason}{rounds}", waits(devices))
        };
        if self.reasons.len() <= SHOWN / 2 {
            return self.reasons.iter().map(|(reason, devices)| line(devices, reason)).collect();
        }
        let few = self.reasons.iter().take(2);
        let few: Vec<String> =
            few.map(|(reason, devices)| format!("{} for {reason}", listed(devices))).collect();
        let devices = self.devices();
        vec![format!("{} at `{at}`{rounds}: {}, ...", waits(&devices), few.join(", "))]
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "every device that has not ended waits for another")?;
        let stands = self.stands();
        let mut lines = Vec::new();
        let mut seen = 0;
        for stand in &stands {
            let more = stand.lines();
            if lines.len() + more.len() > SHOWN && !lines.is_empty() {
                break;
            }
            lines.extend(more);
            seen += 1;
        }
        if let Some(rest) = stands.get(seen..).filter(|rest| !rest.is_empty()) {
            let mut devices: Vec<usize> = rest.iter().flat_map(Stand::devices).collect();
            devices.sort_unstable();
            lines.push(format!("{} elsewhere, or in other rounds", waits(&devices)));
        }
        for line in lines {
            write!(f, "\n  {line}")?;
        }
        let ended = self.ended();
        match ended.len() {
            0 => Ok(()),
            1 => write!(f, "\n  {} has ended", listed(&ended)),
            _ => write!(f, "\n  {} have ended", listed(&ended)),
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
            ((0..10).map(|k| 2 * k).collect(), "devices 0, 2, 4, 6, 8, 10, 12 and 3 more"),
        ] {
            assert_eq!(listed(&devices), text);
        }
    }

    fn waiting(device: usize, at: &str, missing: &[usize]) -> Waiting {
        let start = if at == "e/a" { 10 } else { 30 };
        Waiting {
            device,
            at: at.to_owned(),
            span: Span::new(start, start + 5),
            reason: listed(missing),
            missing: missing.to_vec(),
            loops: Vec::new(),
        }
    }

    #[test]
    fn those_at_one_place_have_one_label() {
        let waiting =
            vec![waiting(0, "e/a", &[1, 3]), waiting(1, "e/b", &[0]), waiting(2, "e/a", &[1, 3])];
        let deadlock = Deadlock { waiting, ended: 1 };
        let labels = deadlock.labels();
        let texts: Vec<&str> = labels.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["devices 0 and 2 wait here", "device 1 waits here"]);
        assert_eq!(
            deadlock.to_string(),
            "every device that has not ended waits for another\n  \
             devices 0 and 2 wait at `e/a` for devices 1 and 3\n  \
             device 1 waits at `e/b` for device 0\n  device 3 has ended"
        );
        assert!(deadlock.help().starts_with("device 3 ended without coming to `e/a` so often"));
    }

    #[test]
    fn a_circle_is_followed() {
        let waiting =
            vec![waiting(0, "e/a", &[1]), waiting(1, "e/b", &[2]), waiting(2, "e/a", &[1])];
        let deadlock = Deadlock { waiting, ended: 0 };
        assert_eq!(deadlock.help(), "device 1 waits for device 2, which waits for device 1");
    }

    #[test]
    fn a_thousand_devices_are_told_of_in_a_few_lines() {
        let ring = (0..1024).map(|k| waiting(k, "e/a", &[(k + 1) % 1024])).collect();
        let ring = Deadlock { waiting: ring, ended: 0 };
        assert_eq!(
            ring.to_string(),
            "every device that has not ended waits for another\n  devices 0 to 1023 wait at `e/a`: \
             device 0 for device 1, device 1 for device 2, ..."
        );
        let help = ring.help();
        let end = "which waits for device 8, and so on: 1024 devices in a circle";
        assert!(help.ends_with(end), "{help}");
        let rounds = |k: usize| Waiting {
            loops: vec![("w".to_owned(), u64::try_from(k).unwrap())],
            ..waiting(k, "e/a", &[k])
        };
        let apart = Deadlock { waiting: (0..1024).map(rounds).collect(), ended: 0 };
        assert_eq!(apart.to_string().lines().count(), 10);
        assert!(
            apart.to_string().ends_with("devices 8 to 1023 wait elsewhere, or in other rounds")
        );
        assert_eq!(apart.labels().len(), 1);
    }
}
