//! `operand_precision={highest,high}`, of `dot` and `convolution`.
use super::Precision;
use crate::Result;
use crate::text::Cursor;
use crate::text::grammar::{lift, list, map};

/// Precision of each operand; empty if not specified.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperandPrecision(pub Vec<Precision>);

impl OperandPrecision {
    /// Returns whether all precisions are the default, so that they are not printed.
    pub fn all_default(&self) -> bool {
        self.0.iter().all(|&precision| precision == Precision::Default)
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.parse(map(list('{', lift(Precision::parse), '}'), Self))
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        for (i, precision) in self.0.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            precision.print(out);
        }
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(OperandPrecision);

    #[test]
    fn precisions_round_trip() {
        assert_eq!(round_trip("{ HIGHEST , Default }"), "{highest,default}");
        assert_eq!(round_trip("{}"), "{}");
        assert_eq!(rejected("{higher}").2, "did you mean `highest`?");
        assert!(OperandPrecision(vec![Precision::Default; 2]).all_default());
        assert!(!OperandPrecision(vec![Precision::Default, Precision::High]).all_default());
    }
}
