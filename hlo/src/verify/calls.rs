//! The module's header fits its entry computation.
use crate::diag::Code;
use crate::{Error, Module};

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    let aliases = module.config.check_aliases(module.entry().result_shape());
    errors.extend(aliases.err().map(|error| error.at(module.entry().span)));
    let Some((parameters, result)) = &module.config.entry_layout else { return };
    let entry = module.entry();
    let actual = entry.program_shape();
    let mut wrong = |message: String| {
        errors.push(Error::from(Code::Header { message }).at(entry.span));
    };
    if parameters.len() != actual.parameters.len() {
        wrong(format!(
            "entry_computation_layout has {} parameters, `{}` has {}",
            parameters.len(),
            entry.name,
            actual.parameters.len()
        ));
        return;
    }
    for (i, (stated, actual)) in parameters.iter().zip(&actual.parameters).enumerate() {
        if !stated.compatible(actual) {
            wrong(format!(
                "entry_computation_layout gives parameter {i} as {stated:#}, it is {actual:#}"
            ));
        }
    }
    if !result.compatible(actual.result) {
        wrong(format!(
            "entry_computation_layout gives the result as {result:#}, it is {:#}",
            actual.result
        ));
    }
}
