//! Checks that the module header fits the entry computation.
use super::shapes::Corrections;
use crate::diag::Code;
use crate::op::check_arrays;
use crate::{Error, Module};

pub(super) fn check(module: &Module, corrections: &Corrections, errors: &mut Vec<Error>) {
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
            "entry_computation_layout has {} parameters, but `{}` has {}",
            parameters.len(),
            entry.name,
            actual.parameters.len()
        ));
        return;
    }
    let shapes = parameters.iter().chain([result]);
    let checks = shapes.map(check_arrays).filter_map(Result::err);
    let faulty: Vec<Error> = checks.map(|error| error.at(entry.span)).collect();
    if !faulty.is_empty() {
        errors.extend(faulty);
        return;
    }
    for (i, (stated, actual)) in parameters.iter().zip(&actual.parameters).enumerate() {
        if !stated.compatible(actual) {
            wrong(format!(
                "entry_computation_layout states {stated:#} for parameter {i}, which is {actual:#}"
            ));
        }
    }
    let corrected = corrections.result(module.entry, entry);
    let is_corrected = corrected.is_some_and(|shape| result.compatible(shape));
    if !result.compatible(actual.result) && !is_corrected {
        wrong(format!(
            "entry_computation_layout states {result:#} for the result, which is {:#}",
            actual.result
        ));
    }
}
