//! `output_to_operand_aliasing={{0}: (1, {}), ..}`, of `fusion`, `custom-call` and the asynchronous
//! ops.
use super::ShapeIndex;
use crate::diag::Place;
use crate::op::check;
use crate::text::grammar::{delimited, lift, list, map, separated_pair, size, symbol};
use crate::text::{Cursor, number::push_int};
use crate::{Result, Shape};

/// The parts of the result that alias parts of the operands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputOperandAliasing(pub Vec<OutputOperandAlias>);

/// One alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputOperandAlias {
    /// Index into the result.
    pub output_index: ShapeIndex,
    /// Number of the operand.
    pub operand: i64,
    /// Index into the operand.
    pub operand_index: ShapeIndex,
}

impl OutputOperandAliasing {
    /// Fails unless each entry is an index into the result and an index into an operand, of the
    /// same shape.
    pub(crate) fn check(
        &self,
        operands: &[&Shape],
        result: &Shape,
        rule: &'static str,
    ) -> Result<()> {
        for alias in &self.0 {
            let output = alias.output_index.of(result);
            let operand = usize::try_from(alias.operand).ok().and_then(|i| operands.get(i));
            let input = operand.and_then(|operand| alias.operand_index.of(operand));
            let fits = matches!((output, input), (Some(a), Some(b)) if same_memory(a, b));
            check(fits, rule, || {
                let name = |part: Option<&Shape>| {
                    part.map_or("an invalid index".into(), |part| format!("{part:#}"))
                };
                let (output, input) = (name(output), name(input));
                format!("{output} of the result cannot alias {input} of operand {}", alias.operand)
            })
            .map_err(|e| e.on(Place::Attribute("output_to_operand_aliasing")))?;
        }
        Ok(())
    }
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let index = || lift(ShapeIndex::parse);
        let operand = separated_pair(size, symbol(','), index());
        let operand = delimited(symbol('('), operand, symbol(')'));
        let alias = map(
            separated_pair(index(), symbol(':'), operand),
            |(output_index, (operand, operand_index))| OutputOperandAlias {
                output_index,
                operand,
                operand_index,
            },
        );
        c.parse(map(list('{', alias, '}'), Self))
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

/// Returns whether values of both shapes have the same memory; a buffer has that of its array.
fn same_memory(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Buffer(buffer), Shape::Array(array))
        | (Shape::Array(array), Shape::Buffer(buffer)) => {
            buffer.ty == array.ty && buffer.dims == array.dims
        }
        _ => a.compatible(b),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::value_tests;
    use super::*;

    value_tests!(OutputOperandAliasing);

    #[test]
    fn aliases_round_trip() {
        assert_eq!(round_trip("{}"), "{}");
        assert_eq!(round_trip("{{0} : (0,{1,2}),{}:(1,{})}"), "{{0}: (0, {1,2}), {}: (1, {})}");
        assert_eq!(rejected("{{0}: 0}").1, "expected `(`, found `0`");
        assert_eq!(rejected("{{0}: (0)}").1, "expected `,`, found `)`");
    }
}
