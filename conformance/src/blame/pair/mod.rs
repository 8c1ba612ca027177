//! A module before and after a pass: whether both compute the same, and where not.
mod frontier;
mod matching;
mod nodes;

use super::Options;
use super::sides::etalon;
use crate::Tolerance;
use crate::judge::{JudgeOptions, Judgement, judge_with};
use crate::program::{Program, Values, watching};
use crate::results::Verdict;
use field::fingerprint::hashed;
use hlo::diag::{Diagnostic, Level, Place};
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::While;
use hlo::{Literal, Module, Op, Verified};
use interp::DeviceGrid;
use matching::{by_user, matches, nearest_matched};
use nodes::{Node, Nodes, Value};
use serde::Serialize;
use std::sync::Arc;

/// The comparison of a module with what a pass made of it.
#[derive(Debug, Clone, Serialize)]
pub struct ModulePair {
    /// How the result of the second module differs from that of the first.
    pub judgement: Judgement,
    /// The first place where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// The number of instructions of the second module that have a counterpart in the first.
    pub matched: usize,
    /// The number of instructions of the second module.
    pub instructions: usize,
}

/// An instruction that differs from its counterpart, although what it is computed from agrees.
#[derive(Debug, Clone, Serialize)]
pub struct Divergence {
    /// The way to the instruction in the first module.
    pub before: String,
    /// The way to it in the second module.
    pub after: String,
    /// The instructions that it is computed from: of the second module that agree with their
    /// counterparts.
    pub agree: Vec<String>,
    /// Instructions of the second module between those and this one, which have no counterpart.
    pub between: Vec<String>,
    /// The worst element.
    pub difference: String,
    /// The instruction of the second module.
    #[serde(skip)]
    pub at: (ComputationId, InstructionId),
    /// Its counterpart in the first.
    #[serde(skip)]
    pub counterpart: (ComputationId, InstructionId),
}

impl ModulePair {
    /// Returns whether the modules compute something different: the results differ, or a round of a
    /// loop does.
    pub fn is_wrong(&self) -> bool {
        self.judgement.verdict == Verdict::Differs || self.divergence.is_some()
    }
    /// Returns the comparison as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Divergence {
    /// Returns the divergence as a diagnostic in the text of the second module.
    pub fn diagnostic(&self, after: &Module) -> Diagnostic {
        let computation = &after.computations[self.at.0];
        let span = Some(computation.span(self.at.1)).filter(|span| span.end > 0);
        let label = span.map(|span| (span, self.difference.clone()));
        Diagnostic {
            level: Level::Error,
            code: "",
            message: format!("{} differs from {} before the pass", self.after, self.before),
            span,
            instruction: Some(computation.path(self.at.1)),
            place: Place::Whole,
            labels: label.into_iter().collect(),
            help: None,
        }
    }
}

/// Runs a module before and after a pass, judges the results by the bound of the first, and finds
/// where they begin to differ.
///
/// ```
/// use conformance::blame::{Options, compare_modules};
/// use std::sync::Arc;
/// let module = |text: &str| hlo::Module::parse(text)?.verify().map(Arc::new).map_err(Box::<dyn std::error::Error>::from);
/// let before = module("HloModule m\nENTRY e { x = s8[1] parameter(0) y = s8[1] negate(x) ROOT r = s8[1] subtract(x, y) }")?;
/// let after = module("HloModule m\nENTRY e { x = s8[1] parameter(0) ROOT r = s8[1] subtract(x, x) }")?;
/// let pair = compare_modules(&before, &after, &[vec!["s8[1] {3}".parse()?]], &Options::default())?;
/// assert_eq!(pair.divergence.unwrap().after, "e/r");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If Etalon has no result for one of the modules, or their parameters or results have different
/// shapes.
pub fn compare_modules(
    before: &Arc<Verified>,
    after: &Arc<Verified>,
    arguments: &[Vec<Literal>],
    options: &Options,
) -> Result<ModulePair, String> {
    if let Some(difference) = interface_difference(before.module(), after.module()) {
        return Err(difference);
    }
    let run = |module: &Arc<Verified>| {
        let program = Program { module: Arc::clone(module), arguments: arguments.to_vec() };
        etalon(&program, DeviceGrid::of(&before.module().config), options.fuel)
    };
    compare_results([before, after], arguments, [&run(before)?, &run(after)?], options)
}

/// Says which parameter or result of the second module has another shape; `None` if all are alike.
pub(crate) fn interface_difference(before: &Module, after: &Module) -> Option<String> {
    let [first, second] = [before, after].map(|module| module.entry().program_shape());
    let counts = [first.parameters.len(), second.parameters.len()];
    if counts[0] != counts[1] {
        return Some(format!("the modules have {} and {} parameters", counts[0], counts[1]));
    }
    let mut pairs = first.parameters.iter().zip(&second.parameters).enumerate();
    if let Some((number, (a, b))) = pairs.find(|(_, (a, b))| !a.compatible(b)) {
        return Some(format!("parameter {number} is {a:#} in one module and {b:#} in the other"));
    }
    let (a, b) = (first.result, second.result);
    (!a.compatible(b)).then(|| format!("the result is {a:#} in one module and {b:#} in the other"))
}

/// Compares as [`compare_modules`], with the results of both modules.
pub(crate) fn compare_results(
    [before, after]: [&Arc<Verified>; 2],
    arguments: &[Vec<Literal>],
    [expected, actual]: [&[Literal]; 2],
    options: &Options,
) -> Result<ModulePair, String> {
    let modules = [before.module(), after.module()];
    let mut given = arguments.to_vec();
    if given.len() < expected.len() {
        given = vec![given.first().cloned().unwrap_or_default(); expected.len()];
    }
    let parameters = modules[0].entry().parameters().len();
    let values: Vec<Values> = (0..parameters)
        .map(|number| given.iter().map(|list| list[number].clone()).collect())
        .collect();
    let entries = modules.map(|module| module.entry);
    let search = Pair { modules, options };
    let sides = (expected != actual).then(|| search.sides(entries, &values));
    let known = sides.as_ref().and_then(|sides| sides.as_ref().ok());
    let judgement = judged(before, arguments, [expected, actual], known);
    let mut pair = ModulePair { judgement, divergence: None, matched: 0, instructions: 0 };
    // Values of the devices of a manual region have no place outside of it: the results are all.
    let sides = sides.and_then(Result::ok);
    if let (true, Some(sides)) = (pair.judgement.verdict != Verdict::Agrees, sides) {
        let verdict = pair.judgement.verdict;
        let says_nothing = matches!(verdict, Verdict::NotTested | Verdict::Undefined);
        let found = match verdict == Verdict::Differs {
            true => Known::Differs,
            false if says_nothing => Known::Nothing,
            false => Known::Agrees,
        };
        pair.divergence = search.search(sides, entries[0], &values, found, &mut pair)?;
    }
    Ok(pair)
}

/// Judges the results of the second module by the bound of the first, from where they differ on. If
/// that explains them, it is as good as the bound from the arguments on, and far narrower. If it does
/// not, they differ only if that bound does not explain them, either.
fn judged(
    before: &Verified,
    arguments: &[Vec<Literal>],
    [expected, actual]: [&[Literal]; 2],
    sides: Option<&[Side<'_>; 2]>,
) -> Judgement {
    let anchors = sides.filter(|_| expected.len() == 1).map(|[first, second]| {
        let lists = [first, second].map(|side| side.nodes.list.as_slice());
        let counterparts = matches(lists, [&first.root, &second.root]);
        frontier::anchors(before.module(), lists, &counterparts, &second.root)
    });
    let anchored = anchors.filter(|anchors| !anchors.is_empty()).map(|anchors| {
        let options = JudgeOptions { anchors: Arc::new(anchors), ..JudgeOptions::of_passes() };
        judge_with(&options.without_witness(), before, arguments, expected, actual)
    });
    let is_settled =
        |judgement: &Judgement| !matches!(judgement.verdict, Verdict::Differs | Verdict::EtalonBug);
    match anchored {
        Some(anchored) if is_settled(&anchored) => anchored,
        Some(anchored) => {
            let whole = judge_with(&JudgeOptions::of_passes(), before, arguments, expected, actual);
            let says_nothing = matches!(whole.verdict, Verdict::Undefined | Verdict::NotTested);
            if says_nothing && anchored.verdict == Verdict::Differs { anchored } else { whole }
        }
        None => judge_with(&JudgeOptions::of_passes(), before, arguments, expected, actual),
    }
}

/// Says how a result differs, if it does.
fn described(judgement: &Judgement) -> Option<String> {
    let worst = judgement.measures.worst.as_ref();
    (judgement.verdict == Verdict::Differs).then(|| {
        worst.map_or("differs".to_owned(), |w| {
            format!("found {}, expected {}", w.actual, w.expected)
        })
    })
}

/// Returns whether two nodes with the same operands are all in which two lists differ: with the
/// first in place of the second, the results are computed by the same instructions.
fn only_differs(lists: [&[Node]; 2], roots: &[Vec<usize>; 2], pair: [usize; 2]) -> bool {
    let hash = hashed(&"the pair");
    let hashes = [0, 1].map(|side: usize| {
        let mut hashes: Vec<u64> = Vec::with_capacity(lists[side].len());
        for (number, node) in lists[side].iter().enumerate() {
            let operands: Vec<u64> = node.operands.iter().map(|&operand| hashes[operand]).collect();
            let own = if number == pair[side] { hash } else { node.own };
            hashes.push(hashed(&(own, operands)));
        }
        let results: Vec<u64> = roots[side].iter().map(|&root| hashes[root]).collect();
        results
    });
    hashes[0] == hashes[1]
}

/// The nodes of one module, and its result.
struct Side<'a> {
    nodes: Nodes<'a>,
    root: Value,
}

/// What the results of two computations show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Agrees,
    Differs,
    /// Neither: their bound says nothing.
    Nothing,
}

struct Pair<'a> {
    modules: [&'a Module; 2],
    options: &'a Options,
}

impl<'a> Pair<'a> {
    /// Runs the computations on the same arguments.
    fn sides(
        &self,
        computations: [ComputationId; 2],
        arguments: &[Values],
    ) -> Result<[Side<'a>; 2], String> {
        let side = |number: usize| -> Result<Side<'a>, String> {
            let (module, fuel) = (self.modules[number], self.options.fuel);
            let (nodes, root) = Nodes::of(module, computations[number], arguments, fuel)?;
            Ok(Side { nodes, root })
        };
        Ok([side(0)?, side(1)?])
    }

    /// Finds the first node of the second side that differs from its counterpart in the first, a run
    /// of `computation`. If the results say nothing, only a round of a loop counts that is not within
    /// its bound, and an instruction that is not, if all others are the same.
    fn search(
        &self,
        [first, second]: [Side<'_>; 2],
        computation: ComputationId,
        arguments: &[Values],
        known: Known,
        pair: &mut ModulePair,
    ) -> Result<Option<Divergence>, String> {
        let is_wrong = known == Known::Differs;
        let roots = [&first.root, &second.root].map(|root| {
            let mut nodes = Vec::new();
            root.nodes(&mut nodes);
            nodes
        });
        let (before, after) = (first.nodes, second.nodes);
        let lists = [before.list.as_slice(), after.list.as_slice()];
        let mut counterparts = matches(lists, [&first.root, &second.root]);
        pair.matched += counterparts.iter().flatten().count();
        pair.instructions += after.list.len();
        if known == Known::Nothing {
            by_user(lists, &mut counterparts);
        }
        let mut differs = vec![None; after.list.len()];
        for (number, node) in after.list.iter().enumerate() {
            let Some(counterpart) = counterparts[number].map(|other| &before.list[other]) else {
                continue;
            };
            if counterpart.value == node.value {
                continue;
            }
            if is_wrong {
                differs[number] = self.difference(computation, arguments, counterpart, node);
            } else if known == Known::Nothing
                && only_differs(lists, &roots, [counterparts[number].unwrap_or(0), number])
            {
                differs[number] = self.difference_alone(&before.list, counterpart, node);
            }
            let (found, between) = nearest_matched(&after.list, &counterparts, number);
            if found.iter().any(|&operand| differs[operand].is_some()) {
                continue;
            }
            // The bound of a loop grows with its rounds until it says nothing; each round has a
            // bound of its own.
            if known != Known::Agrees
                && let Some(inside) =
                    self.in_loop([counterpart, node], &before.list, is_wrong, pair)?
            {
                return Ok(Some(inside));
            }
            let Some(difference) = differs[number].clone() else { continue };
            let paths = |list: &[usize]| list.iter().map(|&i| after.list[i].path.clone()).collect();
            return Ok(Some(Divergence {
                before: counterpart.path.clone(),
                after: node.path.clone(),
                agree: paths(&found),
                between: paths(&between),
                difference,
                at: (node.computation, node.id),
                counterpart: (counterpart.computation, counterpart.id),
            }));
        }
        Ok(None)
    }

    /// Describes how the value of a node differs from that of its counterpart; `None` if it is
    /// within the bound.
    fn difference(
        &self,
        computation: ComputationId,
        arguments: &[Values],
        before: &Node,
        after: &Node,
    ) -> Option<String> {
        if before.value == after.value {
            return None;
        }
        let devices = arguments.first().map_or(1, Vec::len);
        let lists: Vec<Values> = (0..devices)
            .map(|d| arguments.iter().map(|value| value[d].clone()).collect())
            .collect();
        let tuple = |values: &Values| -> Values {
            values.iter().map(|value| Literal::tuple(crate::program::arrays(value))).collect()
        };
        let (expected, actual) = (tuple(&before.value), tuple(&after.value));
        // The id of an instruction inside a fusion or a call is one of another computation.
        let is_own = before.computation == computation;
        let program =
            is_own.then(|| watching(self.modules[0], computation, &lists, &[before.id]).ok());
        let judgement = match program.flatten() {
            Some(program) => judge_with(
                &JudgeOptions::of_passes(),
                &program.module,
                &program.arguments,
                &expected,
                &actual,
            ),
            // Its bound is that of the module.
            None => {
                let tolerance = Tolerance::of(self.modules[0]);
                let compared = crate::compare_each(&actual, &expected, &tolerance);
                return match compared {
                    Ok(comparison) if comparison.agrees() => None,
                    Ok(comparison) => {
                        Some(comparison.worst.map_or("differs".to_owned(), |worst| {
                            let show = |x| Literal::scalar(worst.ty, x).to_string();
                            format!(
                                "found {}, expected {}",
                                show(worst.actual),
                                show(worst.expected)
                            )
                        }))
                    }
                    Err(message) => Some(message),
                };
            }
        };
        described(&judgement)
    }

    /// Describes how the value of a node is not one that the instruction of its counterpart may have
    /// for its operands; `None` if it is, or nothing is known.
    fn difference_alone(&self, list: &[Node], before: &Node, after: &Node) -> Option<String> {
        let module = self.modules[0];
        let operands = &module.computations[before.computation].instructions[before.id].operands;
        // The elements of tuples are nodes of their own.
        if operands.len() != before.operands.len() {
            return None;
        }
        let known = |id: InstructionId| {
            let place = operands.iter().position(|&operand| operand == id)?;
            Some(list[before.operands[place]].value.clone())
        };
        let at = (before.computation, before.id);
        let program = crate::program::alone(module, at, before.value.len(), &known).ok()?;
        let tuple = |values: &Values| -> Values {
            values.iter().map(|value| Literal::tuple(crate::program::arrays(value))).collect()
        };
        let (expected, actual) = (tuple(&before.value), tuple(&after.value));
        let options = JudgeOptions::of_passes();
        let judgement =
            judge_with(&options, &program.module, &program.arguments, &expected, &actual);
        described(&judgement)
    }

    /// Compares the bodies of two loops from the same carried values, round by round.
    fn in_loop(
        &self,
        [before, after]: [&Node; 2],
        list: &[Node],
        is_wrong: bool,
        pair: &mut ModulePair,
    ) -> Result<Option<Divergence>, String> {
        let loop_of = |module: &Module, node: &Node| -> Option<While> {
            let op = &module.computations[node.computation].instructions[node.id].op;
            if let Op::While(op) = op { Some(op.clone()) } else { None }
        };
        let loops = (loop_of(self.modules[0], before), loop_of(self.modules[1], after));
        let (Some(first), Some(second), true) =
            (loops.0, loops.1, before.shape.compatible(&after.shape))
        else {
            return Ok(None);
        };
        let initial = before.operands.iter().map(|&operand| list[operand].value.clone());
        let flat: Vec<Values> = initial.collect();
        let devices = flat.first().map_or(0, Vec::len);
        let carried = |flat: &[Values]| -> Option<Values> {
            let leaves =
                |d: usize| flat.iter().flat_map(move |value| crate::program::arrays(&value[d]));
            (0..devices).map(|d| crate::program::rebuilt(&before.shape, &mut leaves(d))).collect()
        };
        let Some(mut value) = carried(&flat) else { return Ok(None) };
        for round in 1..=self.options.rounds {
            let pairs = [[first.condition, second.condition], [first.body, second.body]];
            for (part, computations) in pairs.into_iter().enumerate() {
                let results = [0, 1].map(|side| self.run(side, computations[side], &value));
                let [Ok(expected), Ok(actual)] = results else { return Ok(None) };
                let differs = expected != actual
                    && (is_wrong || self.differs_in(computations[0], &value, &expected, &actual));
                if differs {
                    let value = std::slice::from_ref(&value);
                    let sides = self.sides(computations, value)?;
                    let found = self.search(sides, computations[0], value, Known::Differs, pair)?;
                    if let Some(mut found) = found {
                        found.before = format!("{} round {round}/{}", before.path, found.before);
                        found.after = format!("{} round {round}/{}", after.path, found.after);
                        return Ok(Some(found));
                    }
                }
                let mut arrays = expected.iter().map(crate::program::arrays);
                if part == 0 {
                    let goes_on = hlo::Scalar::Pred(true);
                    if !arrays.all(|parts| parts.first().is_some_and(|x| x.get(0) == goes_on)) {
                        return Ok(None);
                    }
                } else {
                    let next = arrays.map(|parts| {
                        crate::program::rebuilt(&before.shape, &mut parts.into_iter())
                    });
                    let Some(next) = next.collect::<Option<Values>>() else { return Ok(None) };
                    value = next;
                }
            }
        }
        Ok(None)
    }

    /// Returns whether the results of a round are not within the bound of the first computation.
    fn differs_in(
        &self,
        id: ComputationId,
        value: &Values,
        expected: &Values,
        actual: &Values,
    ) -> bool {
        let module = self.modules[0];
        let arguments: Vec<Vec<Literal>> = value.iter().map(|value| vec![value.clone()]).collect();
        watching(module, id, &arguments, &[module.computations[id].root]).is_ok_and(|program| {
            let judgement = judge_with(
                &JudgeOptions::of_passes(),
                &program.module,
                &program.arguments,
                expected,
                actual,
            );
            judgement.verdict == Verdict::Differs
        })
    }
    /// Runs a computation of one side on one argument.
    fn run(&self, side: usize, id: ComputationId, value: &Values) -> Result<Values, String> {
        let module = self.modules[side];
        let arguments: Vec<Vec<Literal>> = value.iter().map(|value| vec![value.clone()]).collect();
        let root = module.computations[id].root;
        let program = watching(module, id, &arguments, &[root])?;
        etalon(&program, DeviceGrid::of(&module.config), self.options.fuel)
    }
}
