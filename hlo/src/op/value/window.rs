//! `window={size=2x3 stride=1x2 pad=0_0x1_1 lhs_dilate=1x2 rhs_dilate=1x1 rhs_reversal=0x1}`
use crate::diag::{Code, nearest};
use crate::text::print::push_int;
use crate::text::{Cursor, pattern};
use crate::{Dims, Error, Result};

/// A box that moves over an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Window {
    /// One entry for each dimension it moves in.
    pub dims: Vec<WindowDim>,
}

/// One dimension of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowDim {
    /// Elements in the box.
    pub size: i64,
    /// Step from one place to the next.
    pub stride: i64,
    /// Padding before the first element; may be negative.
    pub pad_low: i64,
    /// Padding after the last element; may be negative.
    pub pad_high: i64,
    /// Distance of the array's elements; 1 without holes.
    pub lhs_dilation: i64,
    /// Distance of the box's elements; 1 without holes.
    pub rhs_dilation: i64,
    /// The box is read backwards.
    pub reversal: bool,
}

impl Default for WindowDim {
    fn default() -> Self {
        Self { size: 1, stride: 1, pad_low: 0, pad_high: 0, lhs_dilation: 1, rhs_dilation: 1, reversal: false }
    }
}

const FIELDS: [&str; 6] = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"];

/// Reads `2x3x4`.
fn sizes(c: &mut Cursor<'_>) -> Result<Dims> {
    c.blank();
    let (dims, length) = pattern::sizes(c.rest()).ok_or_else(|| c.wanted("sizes like 2x3"))?;
    c.skip(length);
    Ok(dims)
}

impl Window {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let start = c.offset();
        c.expect(b'{')?;
        let mut fields: [Option<Dims>; 6] = std::array::from_fn(|_| None);
        let mut pads = Vec::new();
        while !c.eat(b'}') {
            let (key, span) = c.attribute_name()?;
            let Some(number) = FIELDS.iter().position(|&f| f == key) else {
                let code = Code::UnknownAttribute { op: "window".into(), name: key.into() };
                let error = Error::from(code).at(span);
                return Err(match nearest(key, FIELDS) {
                    Some(name) => error.with_help(format!("did you mean `{name}`?")),
                    None => error.with_help(format!("it takes {}", FIELDS.join(", "))),
                });
            };
            if fields[number].is_some() {
                return Err(Error::from(Code::DuplicateAttribute { name: key.into() }).at(span));
            }
            if key == "pad" {
                pads = pad_pairs(c)?;
                fields[number] = Some(Dims::from_elem(0, pads.len()));
            } else {
                fields[number] = Some(sizes(c)?);
            }
        }
        Self::from_fields(&fields, &pads).map_err(|e| e.at(c.span_from(start)))
    }

    fn from_fields(fields: &[Option<Dims>; 6], pads: &[(i64, i64)]) -> Result<Self> {
        let Some(size) = &fields[0] else {
            if fields.iter().all(Option::is_none) {
                return Ok(Self::default());
            }
            let code = Code::MissingAttribute { op: "window".into(), name: "size".into() };
            return Err(code.into());
        };
        for (field, name) in fields.iter().zip(FIELDS) {
            if let Some(found) = field && found.len() != size.len() {
                let message = format!("{name} has {} dimensions, size has {}", found.len(), size.len());
                return Err(Code::AttributeValue { message }.into());
            }
        }
        let value = |field: usize, d: usize, default: i64| fields[field].as_ref().map_or(default, |f| f[d]);
        let dims = (0..size.len()).map(|d| {
            let (pad_low, pad_high) = pads.get(d).copied().unwrap_or_default();
            WindowDim {
                size: size[d],
                stride: value(1, d, 1),
                pad_low,
                pad_high,
                lhs_dilation: value(3, d, 1),
                rhs_dilation: value(4, d, 1),
                reversal: value(5, d, 0) != 0,
            }
        });
        Ok(Self { dims: dims.collect() })
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push_str("{size=");
        self.joined(out, |out, d| push_int(out, d.size));
        let mut field = |name: &str, shown: bool, print: &dyn Fn(&mut String, &WindowDim)| {
            if shown {
                out.push(' ');
                out.push_str(name);
                out.push('=');
                self.joined(out, print);
            }
        };
        let any = |differs: fn(&WindowDim) -> bool| self.dims.iter().any(differs);
        field("stride", any(|d| d.stride != 1), &|out, d| push_int(out, d.stride));
        field("pad", any(|d| d.pad_low != 0 || d.pad_high != 0), &|out, d| {
            push_int(out, d.pad_low);
            out.push('_');
            push_int(out, d.pad_high);
        });
        field("lhs_dilate", any(|d| d.lhs_dilation != 1), &|out, d| push_int(out, d.lhs_dilation));
        field("rhs_dilate", any(|d| d.rhs_dilation != 1), &|out, d| push_int(out, d.rhs_dilation));
        field("rhs_reversal", any(|d| d.reversal), &|out, d| push_int(out, d.reversal.into()));
        out.push('}');
    }

    fn joined(&self, out: &mut String, print: impl Fn(&mut String, &WindowDim)) {
        for (i, dim) in self.dims.iter().enumerate() {
            out.push_str(if i > 0 { "x" } else { "" });
            print(out, dim);
        }
    }
}

/// Reads `0_0x1_1`.
fn pad_pairs(c: &mut Cursor<'_>) -> Result<Vec<(i64, i64)>> {
    c.blank();
    let found = pattern::pads(c.rest());
    let pairs = found.as_ref().and_then(|(groups, _)| {
        groups.iter().map(|&(low, high, interior)| interior.is_none().then_some((low, high))).collect()
    });
    match (pairs, found) {
        (Some(pairs), Some((_, length))) => {
            c.skip(length);
            Ok(pairs)
        }
        _ => Err(c.wanted("low and high padding like 0_1x2_3")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> Result<String> {
        let window = Window::parse(&mut Cursor::new(text))?;
        let mut out = String::new();
        window.print(&mut out);
        Ok(out)
    }

    #[test]
    fn prints_what_is_not_default() {
        assert_eq!(again("{pad=1_0 size=2}").unwrap(), "{size=2 pad=1_0}");
        assert_eq!(again("{size=2x3 stride=1x1 rhs_reversal=0x1}").unwrap(), "{size=2x3 rhs_reversal=0x1}");
        assert_eq!(Window::parse(&mut Cursor::new("{}")).unwrap(), Window::default());
    }

    #[test]
    fn refuses_what_does_not_fit() {
        for bad in ["{size=2, stride=1}", "{size=2 pad=0_0_1}", "{size=2x2 stride=1}", "{size=2 size=2}", "{strid=1}"] {
            assert!(again(bad).is_err(), "{bad}");
        }
    }
}
