//! `output_to_operand_aliasing={{0}: (1, {}), ..}`, of `fusion`, `custom-call` and the asynchronous ops.
use super::ShapeIndex;
use crate::Result;
use crate::text::{Cursor, print::push_int};

/// Which parts of the result share memory with parts of the operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputOperandAliasing(pub Vec<OutputOperandAlias>);

/// One shared part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOperandAlias {
    /// Part of the result.
    pub output_index: ShapeIndex,
    /// Number of the operand.
    pub operand: i64,
    /// Part of the operand.
    pub operand_index: ShapeIndex,
}

impl OutputOperandAliasing {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let entries = c.list(b'{', b'}', |c| {
            let output_index = ShapeIndex::parse(c)?;
            c.expect(b':')?;
            c.expect(b'(')?;
            let operand = c.size()?;
            c.expect(b',')?;
            let operand_index = ShapeIndex::parse(c)?;
            c.expect(b')')?;
            Ok(OutputOperandAlias { output_index, operand, operand_index })
        })?;
        Ok(Self(entries))
    }

    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        for (i, entry) in self.0.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            entry.output_index.print(out);
            out.push_str(": (");
            push_int(out, entry.operand);
            out.push_str(", ");
            entry.operand_index.print(out);
            out.push(')');
        }
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(OutputOperandAliasing);

    #[test]
    fn aliases_come_back() {
        assert_eq!(again("{}"), "{}");
        assert_eq!(again("{{0} : (0,{1,2}),{}:(1,{})}"), "{{0}: (0, {1,2}), {}: (1, {})}");
        assert_eq!(rejected("{{0}: 0}").1, "expected `(`, found `0`");
        assert_eq!(rejected("{{0}: (0)}").1, "expected `,`, found `)`");
    }
}
