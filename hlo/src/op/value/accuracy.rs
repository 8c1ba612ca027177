//! `result_accuracy={mode=highest}` or `={tolerance={atol=1,rtol=0.5,ulps=2}}`, of transcendental
//! ops.
use super::AccuracyMode;
use super::fields::{Between, bad, fields};
use crate::Result;
use crate::text::Cursor;
use crate::text::number::general;
use crate::text::number::push_int;

/// The requested accuracy of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResultAccuracy {
    /// The implementation to use.
    Mode(AccuracyMode),
    /// The allowed error.
    Tolerance {
        /// Absolute error.
        atol: f64,
        /// Error relative to the exact value.
        rtol: f64,
        /// Error in units in the last place.
        ulps: i64,
    },
}

impl Default for ResultAccuracy {
    fn default() -> Self {
        Self::Mode(AccuracyMode::Default)
    }
}

impl ResultAccuracy {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let (name, span) = c.attribute_name()?;
        let accuracy = match name {
            "mode" => Self::Mode(AccuracyMode::parse(c)?),
            "tolerance" => tolerance(c)?,
            _ => {
                let error = bad(format!("unknown field `{name}`")).at(span);
                return Err(error.with_help("write `mode` or `tolerance`"));
            }
        };
        c.expect(b'}')?;
        Ok(accuracy)
    }

    pub(crate) fn print(&self, out: &mut String) {
        // Like C's `%g`.
        const DIGITS: usize = 6;
        match *self {
            Self::Mode(mode) => {
                out.push_str("{mode=");
                mode.print(out);
                out.push('}');
            }
            Self::Tolerance { atol, rtol, ulps } => {
                out.push_str("{tolerance={atol=");
                general(out, atol, DIGITS);
                out.push_str(",rtol=");
                general(out, rtol, DIGITS);
                out.push_str(",ulps=");
                push_int(out, ulps);
                out.push_str("}}");
            }
        }
    }
}

fn tolerance(c: &mut Cursor<'_>) -> Result<ResultAccuracy> {
    let (mut atol, mut rtol, mut ulps) = (0.0, 0.0, 0);
    fields(c, Between::Commas, &["atol", "rtol", "ulps"], |c, name| {
        match name {
            "atol" => atol = error_bound(c)?,
            "rtol" => rtol = error_bound(c)?,
            _ => ulps = c.size()?,
        }
        Ok(())
    })?;
    Ok(ResultAccuracy::Tolerance { atol, rtol, ulps })
}

fn error_bound(c: &mut Cursor<'_>) -> Result<f64> {
    c.blank();
    let start = c.offset();
    let bound = c.number()?.to_f64();
    if bound >= 0.0 {
        return Ok(bound);
    }
    Err(bad("a tolerance cannot be negative or NaN").at(c.span_from(start)))
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(ResultAccuracy);

    #[test]
    fn accuracies_round_trip() {
        for (text, printed) in [
            ("{mode=HIGHEST}", "{mode=highest}"),
            ("{tolerance={atol=1,rtol=0.5,ulps=2}}", "{tolerance={atol=1,rtol=0.5,ulps=2}}"),
            ("{tolerance={rtol=1e-7,ulps=3}}", "{tolerance={atol=0,rtol=1e-07,ulps=3}}"),
            ("{tolerance={}}", "{tolerance={atol=0,rtol=0,ulps=0}}"),
            (
                "{tolerance={atol=0.123456789,rtol=123456789.0}}",
                "{tolerance={atol=0.123457,rtol=1.23457e+08,ulps=0}}",
            ),
        ] {
            assert_eq!(round_trip(text), printed);
        }
    }
    #[test]
    fn rejections() {
        assert_eq!(rejected("{mode=tolerance}").1, "`tolerance` is not a valid accuracy mode");
        assert_eq!(rejected("{tolerance={atol=1 rtol=2}}").1, "expected `,`, found `rtol`");
        assert_eq!(rejected("{tolerance={atol=-1}}").0, "-1");
        assert_eq!(rejected("{tolerance={ulps=-1}}").0, "-1");
        assert_eq!(rejected("{}").1, "expected an attribute name, found `}`");
        assert_eq!(rejected("{accuracy=1}").2, "write `mode` or `tolerance`");
    }
}
