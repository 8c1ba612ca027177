//! What all draws say.
use super::{Answer, CHANCE, Comparison, Difference, Evidence};
use crate::coverage;
use crate::lift::{Open, OpenKind};
use crate::met::{Met, are_too_many};

/// Why modules are not equal of which the field finds no difference.
const FAR: &str = "floats differ by more than a rounding of few digits";

impl Comparison<'_> {
    /// Returns what the draws say, of which none shows a difference.
    pub(super) fn answer(mut self) -> Answer {
        self.evidence.comparisons = coverage::comparisons(&self.covered);
        self.evidence.branches = coverage::branches(&self.covered);
        self.evidence.ties = coverage::limits(&self.covered, false);
        self.evidence.limits = coverage::limits(&self.covered, true);
        let missed = |met: &&Met| **met == Met::Missed;
        self.evidence.missed = self.met.iter().flatten().filter(missed).count();
        let seeds = self.options.seeds.min(self.evidence.seeds);
        let is_given = self.options.arguments.is_some();
        let output = self.met.iter().position(|met| !is_given && are_too_many(met, seeds));
        if let Some(output) = output {
            let reason = format!(
                "elements of out{output} are infinite or NaN in one of the modules, or in both, in each draw"
            );
            return Answer::Open(Open { reason, ..Open::default() });
        }
        let least = if is_given { 1 } else { seeds };
        let least =
            if self.evidence.cut.is_some() { least.min(self.evidence.compared()) } else { least };
        let doubt = self
            .unconfirmed
            .as_ref()
            .map(unconfirmed)
            .or_else(|| doubt(self.unknown.as_ref(), &self.evidence, least));
        let lacks_law = self.unconfirmed.or(self.unknown).is_some_and(|at| at.in_field);
        let (kind, reason) = match doubt {
            Some(reason) if lacks_law => (OpenKind::LacksLaw, reason),
            Some(reason) => (OpenKind::Other, reason),
            None if self.lack == OpenKind::FewDigits => (self.lack, FAR.to_owned()),
            None => return Answer::Equal(self.evidence),
        };
        Answer::Open(Open { reason, kind, ..Open::default() })
    }
}

/// Returns why modules are neither equal nor different of which the numbers differ, but not in floats.
fn unconfirmed(Difference { seed, output, element, values: [a, b], .. }: &Difference) -> String {
    format!(
        "out{output}, element {element}, with seed {seed}, is {a:.6e} and {b:.6e} in exact arithmetic, and floats do not show the difference: it is a rounded constant, or an order that rounding decides"
    )
}

/// Returns why modules are not equal of which no draw shows a difference.
fn doubt(unknown: Option<&Difference>, evidence: &Evidence, least: u32) -> Option<String> {
    let draws = u64::from(evidence.compared());
    let compared = u64::try_from(evidence.elements).unwrap_or(u64::MAX).saturating_mul(draws);
    let undefined = u64::try_from(evidence.undefined).unwrap_or(u64::MAX);
    if let Some(Difference { seed, output, element, values: [a, b], in_field, .. }) = unknown {
        let place =
            format!("out{output}, element {element}, with seed {seed}, is {a:.6e} and {b:.6e}");
        let nested = match evidence.is_shallow {
            true => "; exponentials are nested deeper than their laws are known",
            false => "",
        };
        let are_near = (a - b).abs() <= a.abs().max(b.abs()) / 64.0;
        return Some(match in_field {
            true if !are_near => format!(
                "the field finds a difference, and the numbers do not tell, since they depend on the last digits of arguments: {place}{nested}"
            ),
            true => format!(
                "the numbers agree, but no law of the field says so: {place}. It is an approximation, a rounded constant, or a law that the field lacks{nested}"
            ),
            false => format!("the field finds no difference, but the numbers do: {place}"),
        });
    }
    if draws > 0 && evidence.probability() > CHANCE {
        return Some(format!(
            "no draw shows a difference, but different results of degree {:.0e} may agree by chance",
            evidence.degree
        ));
    }
    let nothing = if evidence.uneven > 0 {
        "one module ends within the limit of steps for arguments for which the other does not"
    } else if draws == 0 && evidence.unstable > 0 {
        "the real numbers are too inaccurate to tell: results depend on the last digits of arguments"
    } else if draws == 0 {
        "a module ends for no draw within the limit of steps"
    } else if evidence.compared() < least {
        return Some(format!(
            "only {draws} of {} draws say something, and {least} were asked for: results depend on the last digits of arguments, or a module does not end",
            evidence.seeds
        ));
    } else if evidence.undefined > 0 && undefined >= compared {
        "the results are infinite or NaN in one of the modules"
    } else {
        return None;
    };
    Some(nothing.to_owned())
}
