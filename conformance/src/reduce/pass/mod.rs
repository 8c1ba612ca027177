//! The passes, large things first.
mod attributes;
mod carry;
mod cut;
mod devices;
mod inline;
mod map;
mod outputs;
mod rounds;
mod simplify;
mod sizes;
mod types;
mod values;

use super::search::Reduction;

/// A pass tries smaller candidates.
type Pass = fn(&mut Reduction<'_, '_>);

/// All passes, in the order they run.
const PASSES: &[(&str, Pass)] = &[
    ("dead code", simplify::dead_code),
    ("outputs", outputs::outputs),
    ("backward cone", outputs::cone),
    ("operands recorded", cut::to_parameters),
    ("control flow", inline::inline),
    ("loop rounds", rounds::one_round),
    ("instructions forwarded", simplify::forward),
    ("instructions to constants", cut::to_constants),
    ("values merged", simplify::merge),
    ("loop carries", carry::carries),
    ("parameters", simplify::parameters),
    ("devices", devices::devices),
    ("sizes", sizes::sizes),
    ("ranks", sizes::ranks),
    ("element types", types::types),
    ("attributes", attributes::attributes),
    ("values", values::values),
];

/// Runs all passes until none of them finds a smaller candidate.
pub(super) fn run_all(search: &mut Reduction<'_, '_>) {
    loop {
        let before = search.score;
        for &(name, pass) in PASSES {
            if search.is_over() {
                return;
            }
            search.pass = name;
            pass(search);
        }
        if search.score == before {
            return;
        }
    }
}
