//! Results that may use the memory of parameters.
use crate::state::{Hint, State};
use crate::{Builder, Code, Value};
use hlo::ir::{AliasKind, InputOutputAlias, InstructionId, ModuleConfig};
use hlo::{Op, Opcode};

impl Builder {
    /// Lets a value use the memory of `input` where the value is the result of the module, or an
    /// element of it, and `input` is a parameter; elsewhere it has no effect.
    ///
    /// It is [`set_up_alias`](Builder::set_up_alias) for a value whose place in the result is not
    /// known yet. Each part of the result shares the memory of one parameter, each parameter that
    /// of one part.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[4]", "x");
    /// let y = x + 1;
    /// b.may_alias(y, x);
    /// let text = b.build(y)?.module().to_string();
    /// assert!(text.contains("input_output_alias={ {}: (0, {}, may-alias) }"));
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn may_alias<'b>(&'b self, value: Value<'b>, input: Value<'b>) {
        self.record_or((), |b| {
            let Op::Parameter(parameter) = input.op()? else { return Ok(()) };
            let value = value.id().ok_or(Code::Invalid {})?;
            let mut state = b.state.borrow_mut();
            if state.open.len() == 1 {
                state.inplace.push(Hint { value, parameter: parameter.number });
            }
            Ok(())
        });
    }
}

/// Writes into the header which parts of the result may use the memory of which parameters.
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
