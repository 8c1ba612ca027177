//! `dim_labels=b01f_01io->b01f`: what each dimension of a convolution is for.
use crate::diag::Code;
use crate::text::print::push_int;
use crate::text::{Cursor, pattern};
use crate::{Dims, Error, Result, Span};

/// Which dimension is batch, which feature, which spatial, of operand, kernel and result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConvDims {
    /// Batch dimension of the operand.
    pub lhs_batch: i64,
    /// Feature dimension of the operand.
    pub lhs_feature: i64,
    /// Spatial dimensions of the operand.
    pub lhs_spatial: Dims,
    /// Input feature dimension of the kernel.
    pub rhs_input_feature: i64,
    /// Output feature dimension of the kernel.
    pub rhs_output_feature: i64,
    /// Spatial dimensions of the kernel.
    pub rhs_spatial: Dims,
    /// Batch dimension of the result.
    pub out_batch: i64,
    /// Feature dimension of the result.
    pub out_feature: i64,
    /// Spatial dimensions of the result.
    pub out_spatial: Dims,
}

/// The places of two letters and of the digits in one part of the labels.
fn part(text: &str, first: char, second: char) -> std::result::Result<(i64, i64, Dims), String> {
    let place = |wanted: char| {
        let mut places = (0..).zip(text.chars()).filter(|&(_, c)| c == wanted).map(|(i, _)| i);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (None, _) => Err(format!("`{text}` has no `{wanted}`")),
            (Some(_), Some(_)) => Err(format!("`{text}` has `{wanted}` twice")),
        }
    };
    let count = text.chars().filter(char::is_ascii_digit).count();
    let digits = ('0'..='9').take(count).map(place).collect::<std::result::Result<Dims, _>>()?;
    Ok((place(first)?, place(second)?, digits))
}

impl ConvDims {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let start = c.offset();
        let (labels, length) = pattern::dim_labels(c.rest())
            .ok_or_else(|| c.wanted("dimension labels like b01f_01io->b01f"))?;
        let span = Span::new(start, start + length);
        let wrong = |message: String| Error::from(Code::AttributeValue { message }).at(span);
        let (lhs_batch, lhs_feature, lhs_spatial) = part(labels.lhs, 'b', 'f').map_err(wrong)?;
        let (rhs_input_feature, rhs_output_feature, rhs_spatial) =
            part(labels.rhs, 'i', 'o').map_err(wrong)?;
        let (out_batch, out_feature, out_spatial) = part(labels.out, 'b', 'f').map_err(wrong)?;
        let ranks = [lhs_spatial.len(), rhs_spatial.len(), out_spatial.len()];
        if ranks.iter().any(|&r| r != ranks[0]) {
            return Err(wrong("the three parts must have the same spatial dimensions".to_owned()));
        }
        c.skip(length);
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
        print_part(out, &[(self.lhs_batch, 'b'), (self.lhs_feature, 'f')], &self.lhs_spatial);
        out.push('_');
        let kernel = [(self.rhs_input_feature, 'i'), (self.rhs_output_feature, 'o')];
        print_part(out, &kernel, &self.rhs_spatial);
        out.push_str("->");
        print_part(out, &[(self.out_batch, 'b'), (self.out_feature, 'f')], &self.out_spatial);
    }
}

fn print_part(out: &mut String, letters: &[(i64, char)], spatial: &[i64]) {
    let last = letters.iter().map(|&(d, _)| d).chain(spatial.iter().copied()).max().unwrap_or(-1);
    for d in 0..=last {
        if let Some((_, letter)) = letters.iter().find(|(place, _)| *place == d) {
            out.push(*letter);
        } else if let Some(digit) = spatial.iter().position(|&place| place == d) {
            push_int(out, i64::try_from(digit).unwrap_or(0));
        } else {
            out.push('?');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_round_trip() {
        for text in ["b01f_01io->b01f", "bf_io->bf", "fb0_0io->b0f", "b?f_io->bf"] {
            let dims = ConvDims::parse(&mut Cursor::new(text)).unwrap();
            let mut out = String::new();
            dims.print(&mut out);
            assert_eq!(out, text);
        }
        for bad in ["b1f_0io->b0f", "b01f_0io->b01f", "bb0f_0io->b0f", "b0f_0io", "\"bf_io->bf\""] {
            assert!(ConvDims::parse(&mut Cursor::new(bad)).is_err(), "{bad}");
        }
    }
}
