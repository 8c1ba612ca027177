//! `result_accuracy={mode=highest}` and `={tolerance={atol=F,rtol=F,ulps=I}}`
use crate::diag::Code;
use crate::text::{Cursor, number, print};
use crate::{Error, Result};

/// How exact the result of a function should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResultAccuracy {
    /// The back end's choice.
    Default,
    /// As exact as it can.
    Highest,
    /// Within a bound.
    Tolerance {
        /// Absolute error.
        atol: f64,
        /// Relative error.
        rtol: f64,
        /// Error in units of the last place.
        ulps: i64,
    },
}

impl ResultAccuracy {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.expect(b'{')?;
        let (key, span) = c.attribute_name()?;
        let value = match key {
            "mode" => {
                let (word, span) = c.word("`default` or `highest`")?;
                match word.to_ascii_lowercase().as_str() {
                    "default" => Self::Default,
                    "highest" => Self::Highest,
                    _ => {
                        let message = format!("`{word}` is not a mode; it is default or highest");
                        return Err(Error::from(Code::AttributeValue { message }).at(span));
                    }
                }
            }
            "tolerance" => Self::tolerance(c)?,
            _ => {
                let code = Code::UnknownAttribute { op: "result_accuracy".into(), name: key.into() };
                return Err(Error::from(code).at(span).with_help("it takes mode or tolerance"));
            }
        };
        c.expect(b'}')?;
        Ok(value)
    }
    fn tolerance(c: &mut Cursor<'_>) -> Result<Self> {
        let (mut atol, mut rtol, mut ulps) = (0.0, 0.0, 0);
        c.list(b'{', b'}', |c| {
            let (key, span) = c.attribute_name()?;
            match key {
                "atol" => atol = c.number()?.to_f64(),
                "rtol" => rtol = c.number()?.to_f64(),
                "ulps" => ulps = c.int()?,
                _ => {
                    let code = Code::UnknownAttribute { op: "tolerance".into(), name: key.into() };
                    return Err(Error::from(code).at(span).with_help("it takes atol, rtol, ulps"));
                }
            }
            Ok(())
        })?;
        Ok(Self::Tolerance { atol, rtol, ulps })
    }
    pub(crate) fn print(&self, out: &mut String) {
        match self {
            Self::Default => out.push_str("{mode=default}"),
            Self::Highest => out.push_str("{mode=highest}"),
            Self::Tolerance { atol, rtol, ulps } => {
                out.push_str("{tolerance={atol=");
                number::general(out, *atol, 6);
                out.push_str(",rtol=");
                number::general(out, *rtol, 6);
                out.push_str(",ulps=");
                print::push_int(out, *ulps);
                out.push_str("}}");
            }
        }
    }
}
