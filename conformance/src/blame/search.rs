//! The search: each instruction is judged on the operands that the backend computed.
use super::Options;
use super::finding::{Blame, Context, Evidence, Finding};
use super::sides::{OneSide, Sides};
use super::watch::{Recorded, Region};
use crate::conform::verdict;
use crate::judge::{Judgement, judge_with};
use crate::program::{Program, alone, arrays, watching};
use crate::results::Verdict;
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Op, Verified};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// A search for the instructions that a backend computes wrong.
pub(super) struct BlameSearch<'a> {
    pub(super) sides: Sides<'a>,
    pub(super) module: Arc<Verified>,
    pub(super) options: Options,
    pub(super) blame: &'a mut Blame,
    /// Whether the backend has a result for the module, and can record its values.
    records: bool,
    /// The instructions of the entry that were found to be wrong.
    wrong: BTreeSet<InstructionId>,
}

/// A computation with its arguments on each device.
#[derive(Debug, Clone)]
pub(super) struct ComputationCall {
    pub(super) computation: ComputationId,
    pub(super) arguments: Vec<Vec<Literal>>,
    /// The way to it: `entry/while.3 round 2/body`.
    pub(super) path: String,
}

/// The backend's original result of a place, as arrays of each device, if it is wrong.
type Original = Option<Vec<Vec<Literal>>>;

/// The result of the search for an instruction.
enum Answer {
    Right,
    Wrong(Box<Evidence>),
    Unknown(String),
}

impl<'a> BlameSearch<'a> {
    pub(super) fn new(
        sides: Sides<'a>,
        module: Arc<Verified>,
        options: Options,
        blame: &'a mut Blame,
    ) -> Self {
        Self { sides, module, options, blame, records: true, wrong: BTreeSet::new() }
    }

    /// Searches the entry.
    pub(super) fn run(mut self, arguments: &[Vec<Literal>], original: Option<&[Literal]>) {
        self.records = original.is_some();
        let module = Arc::clone(&self.module);
        let module = module.module();
        let place = ComputationCall {
            computation: module.entry,
            arguments: arguments.to_vec(),
            path: module.entry().name.to_string(),
        };
        let is_wrong = self.blame.verdict.is_bad();
        let original = original.map(|results| results.iter().map(arrays).collect());
        self.place(&place, &original);
        if !is_wrong {
            // Legal differences between instructions, such as excess precision, may look like
            // errors of one.
            self.blame.findings.retain(|finding| finding.context == Context::Alone);
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.blame.findings.len() >= self.options.findings || self.sides.is_interrupted()
    }

    /// Checks each instruction of a computation; returns whether one is wrong.
    pub(super) fn place(&mut self, place: &ComputationCall, original: &Original) -> bool {
        let module = Arc::clone(&self.module);
        let computation = &module.module().computations[place.computation];
        let region = Region { computation, arguments: &place.arguments };
        let before = self.blame.findings.len();
        let mut left_out = Vec::new();
        let checked = region.checked(&mut left_out);
        for id in left_out {
            let reason = "its result depends on more than its operands, or has dynamic sizes";
            self.not_checked(place, id, reason.to_owned());
        }
        let mut tainted = BTreeSet::new();
        for slice in region.slices(&checked, self.options.slice_bytes) {
            self.slice(place, region, &slice, original, &mut tainted);
            if self.is_finished() {
                break;
            }
        }
        self.blame.findings.len() > before
    }

    fn not_checked(&mut self, place: &ComputationCall, id: InstructionId, reason: String) {
        let name = self.module.module().computations[place.computation].name(id);
        let not_checked = (format!("{}/{name}", place.path), reason);
        if !self.blame.not_checked.contains(&not_checked) {
            self.blame.not_checked.push(not_checked);
        }
    }

    /// Checks some instructions from the values of one run; of two runs, if the run hides a wrong
    /// result or fails.
    fn slice(
        &mut self,
        place: &ComputationCall,
        region: Region<'_>,
        slice: &[InstructionId],
        original: &Original,
        tainted: &mut BTreeSet<InstructionId>,
    ) {
        let watched = region.watched(slice);
        let mut outputs = watched.clone();
        outputs.push(region.computation.root);
        let module = Arc::clone(&self.module);
        let program = match watching(module.module(), place.computation, &place.arguments, &outputs)
        {
            Ok(program) => program,
            Err(reason) => {
                return slice.iter().for_each(|&id| self.not_checked(place, id, reason.clone()));
            }
        };
        let results = if self.records { self.sides.backend(&program).ok() } else { None };
        let own = self.sides.etalon(&program).ok().and_then(|own| region.recorded(&watched, &own));
        let halves = |search: &mut Self, tainted: &mut BTreeSet<InstructionId>| {
            for half in slice.chunks(slice.len().div_ceil(2)) {
                search.slice(place, region, half, original, tainted);
            }
        };
        let recorded = match results.and_then(|results| region.recorded(&watched, &results)) {
            Some((recorded, result)) => {
                if original.as_ref().is_some_and(|original| *original != result) {
                    if self.blame.verdict.is_bad() && slice.len() > 1 {
                        return halves(self, tainted);
                    }
                    self.blame.changed_by_rewriting = true;
                }
                Some(recorded)
            }
            None if self.records && slice.len() > 1 => return halves(self, tainted),
            None => None,
        };
        let own = own.map(|(own, _)| own);
        self.instructions(place, region, slice, [recorded.as_ref(), own.as_ref()], tainted);
    }

    /// Checks instructions in order, on several backends at a time.
    fn instructions(
        &mut self,
        place: &ComputationCall,
        region: Region<'_>,
        slice: &[InstructionId],
        values: [Option<&Recorded>; 2],
        tainted: &mut BTreeSet<InstructionId>,
    ) {
        let mut queue = self.sides.queue(|sides, question: Result<Question, String>| {
            question.map(|question| (question.check(sides), question.program))
        });
        let (mut ids, mut open) = (slice.iter(), VecDeque::new());
        loop {
            while queue.has_room()
                && let Some(&id) = ids.next()
            {
                queue.push(self.question(place, region, id, values));
                open.push_back(id);
            }
            let (Some(id), Some(answer)) = (open.pop_front(), queue.pop()) else { return };
            match answer {
                Ok(answer) => self.answer(place, region, id, values, answer, tainted),
                Err(reason) => self.not_checked(place, id, reason),
            }
            if self.is_finished() {
                return;
            }
        }
    }

    /// Returns the question whether an instruction is right. `values` are those that the backend and
    /// Etalon recorded.
    fn question(
        &self,
        place: &ComputationCall,
        region: Region<'_>,
        id: InstructionId,
        [recorded, own]: [Option<&Recorded>; 2],
    ) -> Result<Question, String> {
        let values = recorded.or(own).ok_or("Etalon has no values for its operands")?;
        let known = |operand| region.value(operand, values);
        let at = (place.computation, id);
        let program = alone(self.module.module(), at, place.arguments.len(), &known)?;
        let recorded = recorded.and_then(|recorded| region.value(id, recorded));
        Ok(Question { program, recorded })
    }

    /// Returns whether the value that the backend recorded for an instruction of the entry is legal from
    /// the module's arguments and the values that were found to be wrong, as after a legal fusion: then
    /// it makes no result wrong.
    fn follows(
        &self,
        region: Region<'_>,
        at: (ComputationId, InstructionId),
        recorded: Option<&Recorded>,
    ) -> Option<bool> {
        let recorded = recorded?;
        let is_given = |id: InstructionId| {
            self.wrong.contains(&id)
                || matches!(region.computation.instructions[id].op, Op::Parameter(_))
        };
        let known = |id| region.value(id, recorded).filter(|_| is_given(id));
        let program = alone(self.module.module(), at, region.arguments.len(), &known).ok()?;
        let values = region.value(at.1, recorded)?;
        let actual: Vec<_> = values.iter().map(|value| Literal::tuple(arrays(value))).collect();
        let expected = self.sides.etalon(&program).ok()?;
        let options = self.sides.judging().clone().without_witness();
        let judgement =
            judge_with(&options, &program.module, &program.arguments, &expected, &actual);
        let legal = [Verdict::Agrees, Verdict::WithinBound, Verdict::NotTested];
        Some(legal.contains(&judgement.verdict))
    }

    /// Notes what was found about an instruction, and searches in what it calls.
    fn answer(
        &mut self,
        place: &ComputationCall,
        region: Region<'_>,
        id: InstructionId,
        [recorded, own]: [Option<&Recorded>; 2],
        (answer, program): (Answer, Program),
        tainted: &mut BTreeSet<InstructionId>,
    ) {
        let path = format!("{}/{}", place.path, region.computation.name(id));
        let passes_on =
            region.watched(&[id]).iter().any(|other| *other != id && tainted.contains(other));
        let module = Arc::clone(&self.module);
        let is_entry = place.computation == module.module().entry;
        let may_be_fused = is_entry
            && matches!(&answer, Answer::Wrong(evidence) if evidence.context == Context::InModule);
        let at = (place.computation, id);
        let is_right = may_be_fused && self.follows(region, at, recorded) == Some(true);
        let answer = if is_right { Answer::Right } else { answer };
        match answer {
            Answer::Unknown(reason) => self.not_checked(place, id, reason),
            Answer::Right => {
                self.blame.checked += usize::from(is_entry);
                let [value, own] = [recorded, own].map(|values| region.value(id, values?));
                if passes_on {
                    tainted.insert(id);
                    if is_entry && own != value {
                        self.blame.inherited.push(path);
                    }
                }
            }
            Answer::Wrong(evidence) => {
                self.blame.checked += usize::from(is_entry);
                tainted.insert(id);
                self.wrong.extend(is_entry.then_some(id));
                let finding = Finding::new(module.module(), at, path, *evidence, program);
                let known = |operand| region.value(operand, recorded.or(own)?);
                self.descend(finding, at, place, &known);
            }
        }
    }
}

/// An instruction alone, and the value that the backend recorded for it.
struct Question {
    program: Program,
    recorded: Option<Vec<Literal>>,
}

impl Question {
    /// Judges the value that the backend recorded for an instruction, and the one it has when it
    /// runs alone.
    fn check(&self, sides: &mut OneSide<'_>) -> Answer {
        let program = &self.program;
        let expected = match sides.etalon(program) {
            Ok(expected) => expected,
            Err(message) => return Answer::Unknown(format!("Etalon: {message}")),
        };
        let options = sides.judging().clone();
        let judged = |actual: &[Literal]| {
            judge_with(&options, &program.module, &program.arguments, &expected, actual)
        };
        let flat: Option<Vec<Literal>> = self
            .recorded
            .as_ref()
            .map(|values| values.iter().map(|value| Literal::tuple(arrays(value))).collect());
        let in_module = flat.map(|values| judged(&values));
        if in_module.as_ref().is_some_and(|judgement| !is_wrong(judgement)) {
            return Answer::Right;
        }
        let wrong = |context, judgement: Judgement| {
            let (judgement, expected) = (Some(judgement), expected.clone());
            Answer::Wrong(Box::new(Evidence { context, judgement, failure: None, expected }))
        };
        match (sides.backend(program), in_module) {
            (Ok(actual), in_module) => match (judged(&actual), in_module) {
                (judgement, _) if is_wrong(&judgement) => wrong(Context::Alone, judgement),
                (_, Some(judgement)) => wrong(Context::InModule, judgement),
                (_, None) => Answer::Right,
            },
            (Err(error), _) if verdict(error.code()).is_bad() => {
                Answer::Wrong(Box::new(Evidence {
                    context: Context::Alone,
                    judgement: None,
                    failure: Some((verdict(error.code()), error.to_string())),
                    expected: expected.clone(),
                }))
            }
            (Err(_), Some(judgement)) => wrong(Context::InModule, judgement),
            (Err(error), None) => Answer::Unknown(error.to_string()),
        }
    }
}

/// Returns whether a result is wrong: the backend's, or Etalon's own.
fn is_wrong(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Differs | Verdict::EtalonBug)
}
