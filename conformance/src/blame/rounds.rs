//! Loops: each round runs on the values that the backend carried into it.
use super::search::{BlameSearch, ComputationCall};
use crate::judge::{JudgeOptions, judge_with};
use crate::program::{Program, Values, arrays, rebuilt, watching};
use crate::results::Verdict;
use hlo::ir::ComputationId;
use hlo::op::While;
use hlo::{Literal, Scalar};
use std::sync::Arc;

impl BlameSearch<'_> {
    /// Runs the condition and the body of a loop round by round. Returns whether one of them is
    /// wrong; `None` if they cannot be run, or the loop has more rounds than the limit.
    pub(super) fn rounds(&mut self, op: &While, initial: &Values, path: &str) -> Option<bool> {
        let module = Arc::clone(&self.module);
        let carried: Vec<Vec<Literal>> = initial.iter().map(|value| vec![value.clone()]).collect();
        let entry = |id: ComputationId| {
            let root = module.module().computations[id].root;
            watching(module.module(), id, &carried, &[root])
        };
        let (condition, body) = (entry(op.condition).ok()?, entry(op.body).ok()?);
        let loaded = (self.sides.load(&condition), self.sides.load(&body));
        let shape = initial.first()?.shape();
        let mut flat = body.arguments.clone();
        let (Ok(mut decides), Ok(mut steps)) = loaded else {
            return Some(self.round((op, carried), [true, true], 1, path));
        };
        let options = self.sides.judging().clone().without_witness();
        for round in 1..=self.options.rounds {
            let carried = |flat: &[Vec<Literal>]| -> Option<Vec<Vec<Literal>>> {
                let value = |list: &Vec<Literal>| rebuilt(&shape, &mut list.iter().cloned());
                flat.iter().map(|list| Some(vec![value(list)?])).collect()
            };
            let Ok([expected, actual]) = decides.run(&flat) else {
                return Some(self.round((op, carried(&flat)?), [true, false], round, path));
            };
            if differs(&options, &condition, &flat, &expected, &actual) {
                return Some(self.round((op, carried(&flat)?), [true, false], round, path));
            }
            let goes_on: Vec<bool> = expected
                .iter()
                .map(|value| arrays(value)[0].get(0) == Scalar::Pred(true))
                .collect();
            if goes_on.iter().any(|&go| go != goes_on[0]) {
                return None;
            }
            if !goes_on[0] {
                return Some(false);
            }
            let Ok([expected, actual]) = steps.run(&flat) else {
                return Some(self.round((op, carried(&flat)?), [false, true], round, path));
            };
            if differs(&options, &body, &flat, &expected, &actual) {
                return Some(self.round((op, carried(&flat)?), [false, true], round, path));
            }
            flat = actual.iter().map(arrays).collect();
        }
        None
    }

    /// Searches the condition or the body, or both, on the values that a round begins with.
    fn round(
        &mut self,
        (op, carried): (&While, Vec<Vec<Literal>>),
        searched: [bool; 2],
        round: usize,
        path: &str,
    ) -> bool {
        let mut found = false;
        for (computation, _) in [op.condition, op.body].into_iter().zip(searched).filter(|x| x.1) {
            let name = &self.module.module().computations[computation].name;
            let path = format!("{path} round {round}/{name}");
            found |= self
                .place(&ComputationCall { computation, arguments: carried.clone(), path }, &None);
        }
        found
    }
}

fn differs(
    options: &JudgeOptions,
    program: &Program,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    actual: &[Literal],
) -> bool {
    judge_with(options, &program.module, arguments, expected, actual).verdict == Verdict::Differs
}
