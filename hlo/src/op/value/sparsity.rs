//! `sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1 idx=2} rhs={..}}`, of `convolution`.
use super::fields::{Between, bad, fields, push_by};
use super::window::sizes;
use crate::Result;
use crate::text::{Cursor, number::push_int};

/// The structured sparsity of a convolution's operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConvSparsity {
    /// The input, if it is.
    pub lhs: Option<OperandSparsity>,
    /// The kernel, if it is.
    pub rhs: Option<OperandSparsity>,
}

/// The structured sparsity of an operand. Omitted fields are not printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandSparsity {
    /// Elements kept of each block.
    pub kept: i64,
    /// Elements of a block.
    pub block: i64,
    /// The dimension that is divided into blocks.
    pub dimension: Option<i64>,
    /// Stride of a block's elements.
    pub stride: Option<i64>,
    /// The operand that holds the indices of the kept elements.
    pub idx: Option<i64>,
}

impl ConvSparsity {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mut sparsity = Self::default();
        fields(c, Between::Blanks, &["lhs", "rhs"], |c, name| {
            let slot = if name == "lhs" { &mut sparsity.lhs } else { &mut sparsity.rhs };
            *slot = Some(operand(c)?);
            Ok(())
        })?;
        Ok(sparsity)
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        for (name, operand) in [("lhs", self.lhs), ("rhs", self.rhs)] {
            let Some(operand) = operand else { continue };
            out.push_str(if name == "rhs" && self.lhs.is_some() { " " } else { "" });
            out.push_str(name);
            out.push_str("={sparsity=");
            push_by(out, [operand.kept, operand.block]);
            let rest = [
                (" dimension=", operand.dimension),
                (" stride=", operand.stride),
                (" idx=", operand.idx),
            ];
            for (name, value) in rest {
                let Some(value) = value else { continue };
                out.push_str(name);
                push_int(out, value);
            }
            out.push('}');
        }
        out.push('}');
    }
}

fn operand(c: &mut Cursor<'_>) -> Result<OperandSparsity> {
    c.blank();
    let start = c.offset();
    let (mut ratio, mut dimension, mut stride, mut idx) = (None, None, None, None);
    fields(c, Between::Blanks, &["sparsity", "dimension", "stride", "idx"], |c, name| {
        match name {
            "sparsity" => match sizes(c)?.as_slice() {
                &[kept, block] => ratio = Some((kept, block)),
                _ => {
                    return Err(bad(
                        "expected two numbers as the sparsity, such as `2x4` for 2 of 4 values",
                    ));
                }
            },
            "dimension" => dimension = Some(c.size()?),
            "stride" => stride = Some(c.size()?),
            _ => idx = Some(c.size()?),
        }
        Ok(())
    })?;
    let (kept, block) =
        ratio.ok_or_else(|| bad("a sparse operand needs `sparsity`").at(c.span_from(start)))?;
    Ok(OperandSparsity { kept, block, dimension, stride, idx })
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(ConvSparsity);

    #[test]
    fn sparsities_round_trip() {
        for text in [
            "{}",
            "{lhs={sparsity=2x4 dimension=1 stride=1 idx=2}}",
            "{lhs={sparsity=2x4} rhs={sparsity=1x2 dimension=0 stride=2 idx=3}}",
        ] {
            assert_eq!(round_trip(text), text);
        }
        assert_eq!(round_trip("{rhs={idx=3 sparsity=1x2}}"), "{rhs={sparsity=1x2 idx=3}}");
    }
    #[test]
    fn rejections() {
        assert_eq!(rejected("{lhs={dimension=1}}").0, "{dimension=1}");
        assert_eq!(rejected("{lhs={sparsity=2}}").0, "sparsity");
        assert_eq!(rejected("{lhs={sparsity=2x4}, rhs={}}").0, ",");
    }
}
