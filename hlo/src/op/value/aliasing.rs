//! `output_to_operand_aliasing={ {0}: (1, {}), ... }`
use super::ShapeIndex;
use crate::Result;
use crate::text::Cursor;
use crate::text::print::push_int;

/// Results that lie in an operand's memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct OutputOperandAliasing(pub Vec<OutputOperandAlias>);

/// One result that lies in an operand's memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OutputOperandAlias {
    /// Which part of the result.
    pub output_index: ShapeIndex,
    /// Which operand.
    pub operand: i64,
    /// Which part of it.
    pub operand_index: ShapeIndex,
}

impl OutputOperandAliasing {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let aliases = c.list(b'{', b'}', |c| {
            let output_index = ShapeIndex::parse(c)?;
            c.expect(b':')?;
            c.expect(b'(')?;
            let operand = c.size()?;
            c.expect(b',')?;
            let operand_index = ShapeIndex::parse(c)?;
            c.expect(b')')?;
            Ok(OutputOperandAlias { output_index, operand, operand_index })
        })?;
        Ok(Self(aliases))
    }
    pub(crate) fn print(&self, out: &mut String) {
        out.push('{');
        for (i, alias) in self.0.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            alias.output_index.print(out);
            out.push_str(": (");
            push_int(out, alias.operand);
            out.push_str(", ");
            alias.operand_index.print(out);
            out.push(')');
        }
        out.push('}');
    }
}
