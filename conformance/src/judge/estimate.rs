//! Estimates of results that no rule bounds: by the tolerance of the module, which does not depend
//! on the values.
use super::range::{Cause, CauseKind};
use super::verdict::{Check, Open};
use crate::Tolerance;
use crate::compare::compare_at;
use hlo::op::Accuracy;
use hlo::{Literal, Module};

/// Compares the elements of which nothing is known, though no decision depends on rounding errors,
/// by the tolerance of the module. Returns the reason, if there are any.
///
/// An infinite bound does not say that a result is wrong: an error beyond the tolerance is
/// undetermined. Where there is no rule, it is wrong.
pub(super) fn open(
    module: &Module,
    pairs: &[(&Literal, &Literal)],
    check: &mut Check,
) -> Option<String> {
    let open = std::mem::take(&mut check.open);
    let first = open.first()?;
    let path = check.cause.as_ref().map_or_else(String::new, |cause| cause.path.to_string());
    let reason = match first.kind {
        CauseKind::NoRule => path,
        CauseKind::Decides | CauseKind::Unbounded | CauseKind::Loose => {
            format!("{path}: the bound is infinite")
        }
    };
    let tolerance = Tolerance::of(module);
    let of_elements = tolerance.clone().of_each_element();
    let leaves = pairs[0].0.leaves().len();
    let random = random(module);
    for of_leaf in open.chunk_by(|a, b| (a.leaf, a.kind) == (b.leaf, b.kind)) {
        let Open { leaf, kind, .. } = of_leaf[0];
        let (device, own) = (leaf / leaves, leaf % leaves);
        let (expected, actual) = (pairs[device].0.leaves()[own], pairs[device].1.leaves()[own]);
        let accuses = kind == CauseKind::NoRule;
        let tolerance = if accuses { &tolerance } else { &of_elements };
        let positions = of_leaf.iter().map(|open| open.at);
        let found = compare_at(actual, expected, (own, tolerance.leaf(own)), positions);
        check.undetermined -= of_leaf.len();
        check.within += of_leaf.len() - found.wrong;
        // Only the distribution of random numbers is defined.
        if accuses && random.is_none() {
            check.wrong += found.wrong;
        } else {
            check.undetermined += found.wrong;
        }
        if let Some(worst) = found.worst {
            check.estimated(leaf, &worst, expected);
        }
    }
    check.cause = check.cause.take().filter(|_| check.undetermined > 0);
    if check.undetermined > 0
        && let Some(path) = random
    {
        check.cause = Some(Cause { path: path.into(), kind: CauseKind::Decides });
    }
    Some(reason)
}

/// Returns the first instruction whose result is random.
fn random(module: &Module) -> Option<String> {
    module.computations.iter().find_map(|(_, computation)| {
        let mut instructions = computation.instructions.iter();
        let found = instructions.find(|(_, i)| i.opcode().accuracy() == Accuracy::Random);
        found.map(|(id, _)| computation.path(id))
    })
}
