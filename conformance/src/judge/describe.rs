//! Judgements as text.
use super::{Judgement, Mode};
use crate::results::Measures;
use std::fmt::{Display, Formatter, Result};

/// Errors of fewer times the typical one are usual.
const UNUSUAL: f64 = 4.0;

/// Distances that say something are below this one.
const MOST_ULPS: u64 = 1 << 30;

impl Display for Judgement {
    /// Prints what a person wants to know, a line each: how many elements, which is the worst, why.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let measures = &self.measures;
        if measures.wrong > 0 {
            writeln!(f, "{} of {} elements differ", measures.wrong, measures.elements)?;
        }
        if self.undetermined > 0 {
            let (unknown, all) = (self.undetermined, measures.elements);
            let why = "the specification leaves them open, or rounding decides them";
            writeln!(f, "{unknown} of {all} elements differ and are not determined: {why}")?;
        }
        if self.untested > 0 {
            let (untested, all) = (self.untested, measures.elements);
            let why = "their bound has the size of the result";
            writeln!(f, "{untested} of {all} elements differ and are not tested: {why}")?;
        }
        if let Some(worst) = &measures.worst {
            writeln!(
                f,
                "worst: {}: found {}, expected {}",
                worst.place, worst.actual, worst.expected
            )?;
            for input in &worst.inputs {
                writeln!(f, "  from {input}")?;
            }
            self.sizes(f)?;
        }
        if !self.modes.is_empty() {
            let names: Vec<&str> = self.modes.iter().map(|mode| Mode::name(*mode)).collect();
            writeln!(f, "explained by: {}", names.join(", "))?;
        }
        if let Some(witness) = &self.witness {
            writeln!(f, "second witness: {}", witness.trim_end())?;
        }
        if let Some(cause) = &self.cause {
            writeln!(f, "cause: {cause}")?;
        }
        if let Some(reason) = &self.estimated {
            writeln!(f, "judged by the tolerance of the module: {reason}")?;
        }
        Ok(())
    }
}

impl Judgement {
    /// Prints the sizes of the difference that say something: of integers, infinities and NaN, the
    /// values do.
    fn sizes(&self, f: &mut Formatter<'_>) -> Result {
        let Measures { max_error: error, bound, worst_ulps, .. } = self.measures;
        if error == 0.0 || !error.is_finite() {
            return Ok(());
        }
        write!(f, "error {error:.3e} (bound {bound:.3e})")?;
        // Between numbers of different sign there are most of the type's values.
        match worst_ulps {
            None | Some(0 | MOST_ULPS..) => writeln!(f)?,
            Some(ulps) => writeln!(f, ", {ulps} ulp")?,
        }
        match self.typical {
            Some(times) if times > UNUSUAL => {
                writeln!(f, "{times:.0} times the typical error of such a program")
            }
            Some(_) | None => Ok(()),
        }
    }
}
