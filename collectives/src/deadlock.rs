//! Who waits for whom, when nobody can go on.
use hlo::Span;
use std::fmt;

/// What one device waits for.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
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
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Deadlock {
    /// Those that wait, in order of their numbers.
    pub waiting: Vec<Waiting>,
    /// How many devices have ended.
    pub ended: usize,
}

impl Waiting {
    /// Whether both stand at the same place for the same reason.
    fn like(&self, other: &Self) -> bool {
        (&self.at, &self.reason, &self.loops) == (&other.at, &other.reason, &other.loops)
    }
}

impl Deadlock {
    /// Those that wait alike, together.
    fn alike(&self) -> Vec<(Vec<usize>, &Waiting)> {
        let mut found: Vec<(Vec<usize>, &Waiting)> = Vec::new();
        for waiting in &self.waiting {
            match found.iter_mut().find(|(_, first)| first.like(waiting)) {
                Some((devices, _)) => devices.push(waiting.device),
                None => found.push((vec![waiting.device], waiting)),
            }
        }
        found
    }
    /// The first place anybody waits at.
    pub(crate) fn first(&self) -> Option<Span> {
        self.waiting.first().map(|waiting| waiting.span).filter(|&span| span != Span::default())
    }
    /// A label for each other place.
    pub(crate) fn labels(&self) -> Vec<(Span, String)> {
        let first = self.first();
        (self.alike().into_iter())
            .filter(|(_, w)| w.span != Span::default() && Some(w.span) != first)
            .map(|(devices, w)| (w.span, format!("{} here", waits(&devices))))
            .collect()
    }
}

/// `devices 0, 1 and 5 to 9`
pub(crate) fn listed(devices: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &device in devices {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == device => *last = device,
            _ => runs.push((device, device)),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (first, last) in runs {
        match last - first {
            0 => parts.push(first.to_string()),
            1 => parts.extend([first.to_string(), last.to_string()]),
            _ => parts.push(format!("{first} to {last}")),
        }
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
        for (devices, waiting) in self.alike() {
            let Waiting { at, reason, loops, .. } = waiting;
            write!(f, "\n  {} at `{at}` for {reason}", waits(&devices))?;
            for (name, round) in loops {
                write!(f, ", in round {round} of `{name}`")?;
            }
        }
        match self.ended {
            0 => Ok(()),
            1 => write!(f, "\n  1 device has ended"),
            n => write!(f, "\n  {n} devices have ended"),
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
        ] {
            assert_eq!(listed(&devices), text);
        }
    }
}
