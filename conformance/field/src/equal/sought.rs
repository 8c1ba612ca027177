//! Arguments that are sought after the draws: those for which compared numbers are equal, and those
//! that are a constant or between two as a whole.
use super::{Comparison, Drawn, Source, Stop};
use crate::arithmetic::Field;
use crate::cells::{Cells, Family};
use crate::coverage::Samples;
use crate::fit::has_decisions;
use crate::met::Met;
use crate::rational::digits;
use crate::ties::{Both, Place, Search, search};
use crate::watch::has_watches;
use hlo::{ElementType, Literal, Shape};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The draws, of 40, from which arguments for ties are sought: small numbers, and any.
const TIED: [u64; 2] = [10, 32];

/// The runs of each search, of large modules and of small ones, and the elements of arrays of all.
const RUNS: [usize; 2] = [6, 48];
const WORK: u64 = 1 << 22;

/// The most runs with arguments in cells of each family, of small modules.
const CELLS: u64 = 64;
const LEAST: u64 = 2;

impl Comparison<'_> {
    /// Returns whether the time is over, and no further run begins.
    pub(super) fn is_over(&mut self) -> bool {
        let over = self.options.time.filter(|time| self.start.elapsed() >= *time);
        self.evidence.cut = self.evidence.cut.or(over);
        over.is_some()
    }
    /// Returns how often both modules may run besides the draws: large ones seldom.
    fn spare_runs(&self) -> u64 {
        let draws = u64::from(self.evidence.seeds.max(1));
        let work: u64 = self.covered.iter().map(|seen| seen.work / draws).sum();
        WORK / work.max(1)
    }
    /// Returns whether arguments are sought that no draw is likely to meet.
    fn seeks(&self) -> bool {
        self.options.ties && self.options.arguments.is_none() && self.devices == 1
    }
    /// Runs both modules on arguments of which each is a constant, or between two, as a whole.
    pub(super) fn cells(&mut self) -> Result<(), Stop> {
        let decides = self.has_integers || self.modules.into_iter().any(has_decisions);
        if !self.seeks() || !(decides || self.constants.has_cuts()) {
            return Ok(());
        }
        let most = self.spare_runs().clamp(LEAST, CELLS);
        let seed = self.options.seed;
        for family in [Family::Constants, Family::Others] {
            let runs = Cells::new(self.modules[0], &self.constants, family).runs(most);
            for turn in 0..runs {
                let field = self.field(seed, 0);
                let cells = Cells::new(self.modules[0], &self.constants, family);
                let given = vec![cells.arguments(turn, most, &field)];
                match family {
                    Family::Constants => {
                        self.look(seed, &field, &given)?;
                    }
                    Family::Others => self.look_between(seed, &given)?,
                }
            }
        }
        Ok(())
    }
    /// Runs both modules on arguments with random residues. What only these show is not known.
    fn look_between(&mut self, seed: u64, given: &[Vec<Literal>]) -> Result<(), Stop> {
        if self.is_over() {
            return Ok(());
        }
        self.source = Source::Between;
        let looked = self.look_at(seed, given);
        self.source = Source::Sought;
        looked
    }
    fn look_at(&mut self, seed: u64, given: &[Vec<Literal>]) -> Result<(), Stop> {
        let Some(Drawn { runs, mut found, met, .. }) = self.drawn(seed, given)? else {
            return Ok(());
        };
        found.unknown.retain(|place| place.in_field);
        if !found.is_any() {
            self.guard(&runs);
            // That an element is no number here takes nothing back.
            let all = self.met.iter_mut().flatten().zip(met.into_iter().flatten());
            all.filter(|(_, met)| *met == Met::Compared).for_each(|(known, met)| *known = met);
        }
        if found.is_any()
            && !runs.is_unsure
            && let Some(unstable) = self.unstable(seed, given, &runs)?
        {
            found.leave_out(&unstable);
            self.conclude(seed, &runs, &found)?;
        }
        Ok(())
    }
    /// Runs both modules on arguments that are no draw at random. `false` if one does not end.
    fn look(
        &mut self,
        seed: u64,
        field: &Arc<Field>,
        given: &[Vec<Literal>],
    ) -> Result<bool, Stop> {
        if self.is_over() {
            return Ok(false);
        }
        let Some(drawn) = self.drawn_on(field, given)? else { return Ok(false) };
        let Drawn { runs, mut found, .. } = drawn;
        // What only residues or only numbers show says nothing.
        found.unknown.clear();
        if !found.is_any() {
            self.guard(&runs);
        }
        if found.is_any()
            && !runs.is_unsure
            && let Some(unstable) = self.unstable(seed, given, &runs)?
        {
            found.leave_out(&unstable);
            self.conclude(seed, &runs, &found)?;
        }
        Ok(true)
    }
    /// Runs both modules on arguments for which numbers are equal that no draw has compared.
    pub(super) fn ties(&mut self) -> Result<(), Stop> {
        let parameters = self.modules[0].entry().program_shape().parameters;
        let is_movable = |shape: &&Shape| {
            // Numbers of few digits are no solutions.
            let is_fit = |ty: ElementType| ty.is_float() && digits(ty) > 11 || ty.is_integral();
            shape.element_type().is_some_and(is_fit)
        };
        let movable = parameters.iter().enumerate().filter(|(_, shape)| is_movable(shape));
        let movable: Vec<usize> = movable.map(|(number, _)| number).collect();
        if !self.seeks() {
            return Ok(());
        }
        let draws = usize::try_from(self.evidence.seeds).unwrap_or(RUNS[1]);
        let largest = draws.saturating_mul(2).clamp(RUNS[1] / 2, RUNS[1]);
        let most = usize::try_from(self.spare_runs()).unwrap_or(0).clamp(RUNS[0], largest);
        for draw in TIED {
            // The first seed from here on that draws such arguments.
            let first = self.options.seed;
            let seed = first.wrapping_add((draw + 40 - first % 40) % 40);
            let given = self.arguments(seed, &self.field(seed, 0));
            search(seed, &given[0], &movable, most, &mut Ties { seed, comparison: self })?;
        }
        Ok(())
    }
}

/// A search for arguments for which numbers are equal that modules compare.
struct Ties<'a, 'b> {
    seed: u64,
    comparison: &'a mut Comparison<'b>,
}

impl Search for Ties<'_, '_> {
    type Stop = Stop;

    fn run(&mut self, arguments: Vec<Literal>) -> Result<Option<Both>, Stop> {
        let (seed, of) = (self.seed, &mut *self.comparison);
        let field = of.field(seed, 0);
        let given = vec![arguments];
        // The devices of a partitioned program run at the same time, in no order.
        let watched = if of.is_partitioned { 1 } else { 2 };
        for seen in &mut of.covered[..watched] {
            seen.samples = Some(Samples::default());
        }
        let ends = of.look(seed, &field, &given);
        let samples = of.covered.each_mut().map(|seen| seen.samples.take().unwrap_or_default());
        Ok(ends?.then_some(samples))
    }
    fn open(&mut self) -> Vec<Place> {
        let covered = self.comparison.covered.iter().enumerate();
        covered.flat_map(|(module, seen)| seen.open().map(move |key| (module, key))).collect()
    }
    fn is_known(&self) -> bool {
        !self.comparison.modules.iter().any(|module| has_watches(module))
    }
    fn depends(&mut self, places: &BTreeSet<Place>) {
        for (module, key) in places {
            self.comparison.covered[*module].depends(*key);
        }
    }
}
