//! `dim_labels=b01f_01io->b01f`, of `convolution`.
use super::fields::bad;
use crate::text::Cursor;
use crate::text::grammar::{char, dense, expecting, map, spanned, take_while_m_n};
use crate::{Dims, Error, Result, Span};

/// The roles of the dimensions of a convolution's operands and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvDims {
    /// `b` of the input.
    pub lhs_batch: i64,
    /// `f` of the input.
    pub lhs_feature: i64,
    /// The digits of the input.
    pub lhs_spatial: Dims,
    /// `i` of the kernel.
    pub rhs_input_feature: i64,
    /// `o` of the kernel.
    pub rhs_output_feature: i64,
    /// The digits of the kernel.
    pub rhs_spatial: Dims,
    /// `b` of the result.
    pub out_batch: i64,
    /// `f` of the result.
    pub out_feature: i64,
    /// The digits of the result.
    pub out_spatial: Dims,
}

impl std::str::FromStr for ConvDims {
    type Err = Error;
    /// Parses labels such as `b01f_01io->b01f`.
    fn from_str(labels: &str) -> Result<Self> {
        let mut c = Cursor::new(labels);
        let dims = Self::parse(&mut c)?;
        c.blank();
        match c.rest().is_empty() {
            true => Ok(dims),
            false => Err(c.expected("the end of the labels")),
        }
    }
}

/// The labels of one array: numbers of the dimensions with the two letters, and with the digits.
struct ArrayLabels(i64, i64, Dims);

impl ConvDims {
    /// Fails unless labels can be written: each dimension has one, and there are at most ten
    /// spatial ones.
    pub(crate) fn check(&self) -> Result<()> {
        /// More than the dimensions of any array.
        const MOST: i64 = 1 << 8;
        let parts = [
            ([self.lhs_batch, self.lhs_feature], &self.lhs_spatial),
            ([self.rhs_input_feature, self.rhs_output_feature], &self.rhs_spatial),
            ([self.out_batch, self.out_feature], &self.out_spatial),
        ];
        for (letters, spatial) in parts {
            let mut all: Vec<_> = letters.iter().chain(spatial).copied().collect();
            all.sort_unstable();
            let labeled = all.iter().all(|dim| (0..MOST).contains(dim))
                && all.windows(2).all(|pair| pair[0] != pair[1]);
            if !labeled || spatial.len() != self.lhs_spatial.len() || spatial.len() > 10 {
                let message =
                    format!("{all:?} cannot be the dimensions of an operand of a convolution");
                return Err(bad(message));
            }
        }
        Ok(())
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let letters = |letters: &'static str| {
            let label = move |c: char| c.is_ascii_digit() || c == '?' || letters.contains(c);
            take_while_m_n(2, usize::MAX, label)
        };
        let data = || letters("bf");
        let labels = (data(), char('_'), letters("io"), char('-'), char('>'), data());
        let labels = map(dense(labels), |(lhs, _, rhs, _, _, out)| (lhs, rhs, out));
        let help = "write them like `b01f_01io->b01f`";
        let ((lhs, rhs, out), span) =
            c.parse(spanned(expecting("dimension labels", Some(help), labels)))?;
        let ArrayLabels(lhs_batch, lhs_feature, lhs_spatial) = part(lhs, ['b', 'f'])?;
        let ArrayLabels(rhs_input_feature, rhs_output_feature, rhs_spatial) =
            part(rhs, ['i', 'o'])?;
        let ArrayLabels(out_batch, out_feature, out_spatial) = part(out, ['b', 'f'])?;
        let counts = [lhs_spatial.len(), rhs_spatial.len(), out_spatial.len()];
        if counts != [counts[0]; 3] {
            let [lhs, rhs, out] = counts;
            let message = format!(
                "input, kernel and result have {lhs}, {rhs} and {out} spatial dimensions, expected the same number"
            );
            return Err(bad(message).at(span));
        }
        Ok(Self {
            lhs_batch,
            lhs_feature,
            lhs_spatial,
            rhs_input_feature,
            rhs_output_feature,
            rhs_spatial,
            out_batch,
            out_feature,
            out_spatial,
        })
    }

    pub(crate) fn print(&self, out: &mut String) {
        print_part(out, [('b', self.lhs_batch), ('f', self.lhs_feature)], &self.lhs_spatial);
        out.push('_');
        let features = [('i', self.rhs_input_feature), ('o', self.rhs_output_feature)];
        print_part(out, features, &self.rhs_spatial);
        out.push_str("->");
        print_part(out, [('b', self.out_batch), ('f', self.out_feature)], &self.out_spatial);
    }
}

fn part(labels: Cursor<'_>, letters: [char; 2]) -> Result<ArrayLabels> {
    const DIGITS: usize = 10;
    let (span, labels) = (Span::new(labels.offset(), labels.text().len()), labels.rest());
    let wrong = |message: String| -> Error { bad(message).at(span) };
    let mut found = [None; 2];
    let mut spatial = [None; DIGITS];
    let mut count = 0;
    for (number, label) in (0i64..).zip(labels.chars()) {
        let slot = match label {
            '?' => continue,
            digit if digit.is_ascii_digit() => {
                count += 1;
                &mut spatial[usize::from(u8::try_from(digit).unwrap_or(b'0') - b'0')]
            }
            letter if letter == letters[0] => &mut found[0],
            _ => &mut found[1],
        };
        if slot.replace(number).is_some() {
            return Err(wrong(format!("`{labels}` has two labels `{label}`")));
        }
    }
    let [Some(first), Some(second)] = found else {
        let missing = if found[0].is_none() { letters[0] } else { letters[1] };
        return Err(wrong(format!("`{labels}` has no label `{missing}`")));
    };
    // No digit is repeated, so if the first `count` digits are all present, there are no others.
    let spatial: Option<Dims> = spatial[..count].iter().copied().collect();
    let spatial = spatial.ok_or_else(|| {
        wrong(format!("the {count} spatial dimensions of `{labels}` are not numbered from 0"))
    })?;
    Ok(ArrayLabels(first, second, spatial))
}

/// Prints the labels of an array; a dimension without one is `?`, up to the last one that has one.
fn print_part(out: &mut String, letters: [(char, i64); 2], spatial: &Dims) {
    let digits = ('0'..='9').zip(spatial.iter().copied());
    let labels: Vec<_> = letters.into_iter().chain(digits).collect();
    let rank = labels.iter().map(|&(_, dim)| dim + 1).max().unwrap_or(0);
    for dim in 0..rank {
        let label = labels.iter().find(|&&(_, of)| of == dim);
        out.push(label.map_or('?', |&(label, _)| label));
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{beginning, value_tests};
    use super::*;

    value_tests!(ConvDims);

    #[test]
    fn labels_round_trip() {
        for text in
            ["bf_io->bf", "bf01_io01->?b01f", "b01f_01io->b01f", "??b0f_0io->b0f", "0fb_o0i->b0f"]
        {
            assert_eq!(round_trip(text), text);
        }
        assert_eq!(round_trip("b0f?_io0?->b0f"), "b0f_io0->b0f");
    }
    #[test]
    fn positions_are_dimension_numbers() {
        let mut c = Cursor::new("b10f_01io->f?b01");
        let dims = ConvDims::parse(&mut c).unwrap();
        assert_eq!((dims.lhs_batch, dims.lhs_feature), (0, 3));
        assert_eq!(dims.lhs_spatial.as_slice(), [2, 1]);
        assert_eq!((dims.out_batch, dims.out_feature), (2, 0));
        assert_eq!(dims.out_spatial.as_slice(), [3, 4]);
    }
    #[test]
    fn labels_have_three_parts_of_two() {
        let length = |text| beginning(text, ConvDims::parse).map(|(_, length)| length);
        assert_eq!(length("b0f_0io->b0f, x"), Some(12));
        assert_eq!(length("bf_io->b"), None);
        assert_eq!(length("bf_bf->bf"), None);
        assert_eq!(length("bf _io->bf"), None);
    }
    #[test]
    fn rejections() {
        for (text, place, message) in [
            ("bb0f_0io->b0f", "bb0f", "`bb0f` has two labels `b`"),
            ("b0f_00io->b0f", "00io", "`00io` has two labels `0`"),
            ("b0f_0i->b0f", "0i", "`0i` has no label `o`"),
            ("b1f_0io->b0f", "b1f", "the 1 spatial dimensions of `b1f` are not numbered from 0"),
            (
                "b0f_01io->b0f",
                "b0f_01io->b0f",
                "input, kernel and result have 1, 2 and 1 spatial dimensions, expected the same number",
            ),
            ("\"bf_io->bf\"", "\"", "expected dimension labels, found `\"`"),
        ] {
            let (at, found, _) = rejected(text);
            assert_eq!((at, found.as_str()), (place, message), "{text}");
        }
    }
}
