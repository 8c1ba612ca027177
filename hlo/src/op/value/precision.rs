//! `operand_precision={highest,high}`, of `dot` and `convolution`.
use super::Precision;
use crate::Result;
use crate::text::Cursor;

/// Precision of each operand; empty where the text does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperandPrecision(pub Vec<Precision>);

impl OperandPrecision {
    /// Whether nothing but the default is asked for, so that it need not be printed.
    pub fn all_default(&self) -> bool {
        self.0.iter().all(|&precision| precision == Precision::Default)
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.list(b'{', b'}', Precision::parse).map(Self)
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
    fn precisions_come_back() {
        assert_eq!(again("{ HIGHEST , Default }"), "{highest,default}");
        assert_eq!(again("{}"), "{}");
        assert_eq!(rejected("{higher}").2, "did you mean `high`?");
        assert!(OperandPrecision(vec![Precision::Default; 2]).all_default());
        assert!(!OperandPrecision(vec![Precision::Default, Precision::High]).all_default());
    }
}
