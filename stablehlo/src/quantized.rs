//! Quantized types: integers that stand for `(integer - zero) * scale`.
use crate::element;
use crate::ir::Type;
use std::fmt;

/// A type `!quant.uniform<...>`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantized {
    /// Whether the integers have a sign.
    pub(crate) signed: bool,
    /// The bits of an integer.
    pub(crate) width: u32,
    /// The least and the greatest integer.
    pub(crate) range: (i64, i64),
    /// The type of the numbers that they stand for.
    pub(crate) expressed: Type,
    /// The dimension that has a scale for each index.
    pub(crate) axis: Option<u64>,
    /// Scales, each with its zero: one without an axis.
    pub(crate) scales: Vec<(f64, i64)>,
}

impl Quantized {
    /// Returns the range of integers that a type has where it states none.
    fn whole_range(signed: bool, width: u32) -> (i64, i64) {
        let bits = width.min(32) - u32::from(signed && width > 0);
        let count = 1i64 << bits;
        (if signed { -count } else { 0 }, count - 1)
    }
    /// Parses the text of a type. None if it is another one, or has a scale for each block.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let body = text.strip_prefix("!quant.uniform<")?.strip_suffix('>')?;
        let (types, scales) = body.split_once(',')?;
        let (storage, range, rest) = match types.split_once('<') {
            Some((storage, rest)) => {
                let (range, rest) = rest.split_once('>')?;
                let (least, greatest) = range.split_once(':')?;
                (storage, Some((least.parse().ok()?, greatest.parse().ok()?)), rest)
            }
            None => {
                let (storage, _) = types.split_once(':')?;
                (storage, None, &types[storage.len()..])
            }
        };
        let signed = storage.starts_with('i');
        let width = storage.strip_prefix(['i', 'u'])?.parse().ok().filter(|width| *width <= 32)?;
        let rest = rest.strip_prefix(':')?;
        let (expressed, axis) = match rest.split_once(':') {
            Some((expressed, axis)) => (expressed, Some(axis.parse().ok()?)),
            None => (rest, None),
        };
        let scales = match axis {
            Some(_) => scales.strip_prefix('{')?.strip_suffix('}')?,
            None => scales,
        };
        let scale = |text: &str| {
            let (scale, zero) = text.split_once(':').unwrap_or((text, "0"));
            Some((scale.parse().ok()?, zero.parse().ok()?))
        };
        Some(Self {
            signed,
            width,
            range: range.unwrap_or(Self::whole_range(signed, width)),
            expressed: element::scalar(expressed),
            axis,
            scales: scales.split(',').map(scale).collect::<Option<_>>()?,
        })
    }
}

impl fmt::Display for Quantized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { signed, width, range, expressed, axis, scales } = self;
        write!(f, "!quant.uniform<{}{width}", if *signed { 'i' } else { 'u' })?;
        if *range != Self::whole_range(*signed, *width) {
            write!(f, "<{}:{}>", range.0, range.1)?;
        }
        write!(f, ":{}", element::type_text(expressed))?;
        if let Some(axis) = axis {
            write!(f, ":{axis}")?;
        }
        f.write_str(if axis.is_some() { ", {" } else { ", " })?;
        for (index, (scale, zero)) in scales.iter().enumerate() {
            write!(f, "{}{scale:?}", if index > 0 { ", " } else { "" })?;
            if *zero != 0 {
                write!(f, ":{zero}")?;
            }
        }
        f.write_str(if axis.is_some() { "}>" } else { ">" })
    }
}

#[cfg(test)]
mod tests {
    use super::Quantized;

    #[test]
    fn texts_are_printed_as_mlir_prints_them() {
        for (text, printed) in [
            ("!quant.uniform<i8:f32, 0.5>", None),
            ("!quant.uniform<i8:f32, 1.000000e+00:-3>", Some("!quant.uniform<i8:f32, 1.0:-3>")),
            ("!quant.uniform<i8<-128:127>:f32, 2.0:0>", Some("!quant.uniform<i8:f32, 2.0>")),
            ("!quant.uniform<u4<1:15>:bf16, 0.25:1>", None),
            (
                "!quant.uniform<i4:f32:1, {0.5:1,2.5}>",
                Some("!quant.uniform<i4:f32:1, {0.5:1, 2.5}>"),
            ),
            ("!quant.uniform<u32<0:4294967294>:f64, 1e-300>", None),
        ] {
            let quantized = Quantized::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(quantized.to_string(), printed.unwrap_or(text));
            assert_eq!(Quantized::parse(&quantized.to_string()), Some(quantized));
        }
        for text in [
            "!quant.any<i8:f32>",
            "!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0}}>",
            "!quant.uniform<i99:f32, 1.0>",
            "!quant.uniform<i8:f32:0, 1.0>",
            "!quant.uniform<i8<1>:f32, 1.0>",
            "!quant.uniform<:, >",
        ] {
            assert_eq!(Quantized::parse(text), None, "{text}");
        }
    }
}
