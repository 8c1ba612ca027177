//! `operand_precision={highest,default}`
use super::Precision;
use crate::Result;
use crate::text::Cursor;

/// How exactly each operand is to be read; empty where every one is left to the back end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct OperandPrecision(pub Vec<Precision>);

impl OperandPrecision {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let list = c.list(b'{', b'}', Precision::parse)?;
        // XLA prints the list only where it says something.
        let says = list.iter().any(|&p| p != Precision::Default);
        Ok(Self(if says { list } else { Vec::new() }))
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
