//! In-place hints: results that may use the memory of parameters.
use crate::state::{Hint, State};
use crate::{Builder, Code, Result, Value};
use hlo::ir::{AliasKind, InputOutputAlias, InstructionId, ModuleConfig};
use hlo::{Op, Opcode};

/// Remembers that `output` may use the memory of `input`, if that is a parameter of the module.
pub(super) fn hint<'b>(output: Value<'b>, input: Value<'b>) -> Result<()> {
    let Op::Parameter(parameter) = input.op()? else { return Ok(()) };
    let b: &Builder = output.builder();
    let value = output.id().ok_or(Code::Invalid {})?;
    let mut state = b.state.borrow_mut();
    if state.open.len() == 1 {
        state.inplace.push(Hint { value, parameter: parameter.number });
    }
    Ok(())
}

/// Says in the header which parts of the result may use the memory of which parameters: each part of one, each parameter
/// once.
pub(crate) fn share(state: &State, root: InstructionId, config: &mut ModuleConfig) {
    let Some(entry) = state.open.first() else { return };
    let result = &entry.instructions[root];
    let parts: Vec<(InstructionId, Vec<i64>)> = match result.opcode() == Opcode::Tuple {
        true => result.operands.iter().zip(0i64..).map(|(&part, i)| (part, vec![i])).collect(),
        false => vec![(root, Vec::new())],
    };
    for (part, output_index) in parts {
        for hint in state.inplace.iter().filter(|hint| hint.value == part) {
            let taken = config.input_output_alias.iter().any(|alias| {
                alias.output_index == output_index
                    || (alias.parameter == hint.parameter && alias.parameter_index.is_empty())
            });
            if !taken {
                config.input_output_alias.push(InputOutputAlias {
                    output_index: output_index.clone(),
                    parameter: hint.parameter,
                    parameter_index: Vec::new(),
                    kind: AliasKind::May,
                });
            }
        }
    }
}
