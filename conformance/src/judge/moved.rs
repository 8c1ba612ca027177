//! Ranges of ops that move elements, and of those with one right result.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops move no elements")]
use super::Stop;
use super::evaluate::{Evaluator, Leaves, unknown};
use super::interval::Interval;
use super::open_order::OpenOrder;
use super::open_rows::{self, hull_of};
use super::range::Range;
use super::runner::Form;
use super::site::Site;
use super::{candidates, control, elementwise, seen, spans};
use hlo::op::Op;
use hlo::{ElementType, Literal};
use std::collections::HashSet;

impl<'m> Evaluator<'m> {
    /// Returns the result of an op that only moves elements, applied to both ends.
    pub(super) fn moved(&mut self, site: Site<'m>, operands: &[&Range]) -> Result<Leaves, Stop> {
        let data = data_operands(&site.instruction().op).unwrap_or(usize::MAX);
        let split = data.min(operands.len());
        if let Some(index) = operands[split..].iter().find(|index| !index.is_point()) {
            // Which element it is depends on rounding errors: one of a few, or any.
            let cause = index.cause.clone();
            let picked = self.picked(site, &operands[..split], &operands[split..])?;
            return Ok(vec![picked.because(cause)]);
        }
        // An element of the result is one of an operand, with the candidates of that one.
        let count = operands.iter().map(|range| range.candidates().len()).max().unwrap_or(1);
        let each = |k: usize| {
            let chosen: Vec<&Range> = operands.iter().map(|range| range.candidate(k)).collect();
            self.moved_ends(site, &chosen)
        };
        let ranges: Vec<Range> = (0..count).map(each).collect::<Result<_, _>>()?;
        let causes = operands.iter().filter_map(|range| range.cause.clone());
        let cause = causes.max_by_key(|cause| cause.kind);
        let numbers = seen::operands_of(&operands[..split], &operands[split..]);
        let origin = match numbers {
            Some(numbers) => Some(self.runner.run(self.module, &site.key(Form::Wide), &numbers)?),
            None => None,
        };
        let moved = Range { cause, origin, ..Range::any_of(&ranges) };
        Ok(vec![self.with_orders(site, operands[0], moved)?])
    }

    /// Says of elements that are moved, each to one place at most, what was known of them together.
    fn with_orders(
        &mut self,
        site: Site<'m>,
        operand: &Range,
        moved: Range,
    ) -> Result<Range, Stop> {
        if let Op::Reshape(_) = &site.instruction().op {
            let (orders, wholes) = (operand.orders.clone(), operand.wholes.clone());
            return Ok(Range { orders, wholes, sorted: operand.sorted.clone(), ..moved });
        }
        let is_permuted =
            matches!(&site.instruction().op, Op::Slice(_) | Op::Reverse(_) | Op::Transpose(_));
        let numbers = seen::numbered(operand, 1..).filter(|_| is_permuted);
        let Some(numbers) = numbers.filter(|_| !operand.orders.is_empty()) else {
            return Ok(moved);
        };
        let sources = self.runner.run(self.module, &site.key(Form::Wide), &[numbers])?;
        let source = |at: usize| seen::number(&sources, at).and_then(|x| usize::try_from(x).ok());
        let orders = operand.orders.iter().map(|order| {
            let own: HashSet<usize> = order.positions.iter().map(|at| at + 1).collect();
            let is_own = |&at: &usize| source(at).is_some_and(|source| own.contains(&source));
            let positions = (0..moved.lo.len()).filter(is_own).collect();
            OpenOrder { positions, members: order.members.clone() }
        });
        Ok(Range { orders: orders.collect(), ..moved })
    }

    /// Returns the elements of the data that open indices pick.
    fn picked(
        &mut self,
        site: Site<'m>,
        data: &[&Range],
        indices: &[&Range],
    ) -> Result<Range, Stop> {
        let (op, shape) = (&site.instruction().op, site.shape()?);
        let picks = matches!(op, Op::Gather(_) | Op::DynamicSlice(_) | Op::DynamicUpdateSlice(_));
        let shapes =
            data.first().and_then(|all| all.shape()).zip(data.last().and_then(|x| x.shape()));
        let choices = match shapes {
            Some((all, update)) if picks => open_rows::choices(op, indices, [all, update, &shape]),
            Some(_) | None => candidates::points(indices),
        };
        let Some(choices) = choices else {
            return Ok(if picks { hull_of(data, &shape) } else { Range::any(&shape) });
        };
        let few = choices.len() <= candidates::MOST;
        let mut all: Vec<Leaves> = Vec::new();
        for choice in &choices {
            if all.len() == candidates::MOST {
                all = vec![control::any_of(&all)];
            }
            let operands: Vec<&Range> = data.iter().copied().chain(choice).collect();
            all.push(self.moved(site, &operands)?);
        }
        let (mut any, all) = (control::any_of(&all), all.into());
        // A slice is at one of its places.
        for places in open_rows::places(op, indices, &shape).into_iter().filter(|_| few && picks) {
            any = self.decisions.decided(any, &all, Some(places));
        }
        Ok(any.pop().unwrap_or_else(Range::nothing))
    }

    fn moved_ends(&mut self, site: Site<'m>, operands: &[&Range]) -> Result<Range, Stop> {
        let key = site.key(Form::Wide);
        let ends = |end: fn(&Range) -> &Literal| -> Vec<Literal> {
            operands.iter().map(|range| end(range).clone()).collect()
        };
        let lo = self.runner.run(self.module, &key, &ends(|range| &range.lo))?;
        let point = operands.iter().all(|range| range.is_point());
        let hi = if point {
            lo.clone()
        } else {
            self.runner.run(self.module, &key, &ends(|range| &range.hi))?
        };
        Ok(Range::new(lo, hi, None).cut())
    }

    /// Returns the values of bits as another type. The bits of a NaN are not specified.
    pub(super) fn bits(&mut self, site: Site<'m>, operands: &[&Range]) -> Result<Leaves, Stop> {
        let (from, shape) = (site.operand(0).element_type(), site.shape()?);
        let has_nan = operands[0].intervals().any(Interval::is_nan);
        let few = from.is_some_and(|from| operands[0].rounded(from).is_some());
        if matches!(site.instruction().op, Op::BitcastConvert(_)) && (has_nan || !few) {
            let each = |x: &[&Range]| {
                from.and_then(|from| spans::reinterpreted(from, &shape, x[0])).ok_or(())
            };
            if let Ok(result) = elementwise::for_each_choice(operands, false, each) {
                let open = (!result.is_point()).then(|| site.cause());
                return Ok(vec![result.because(open)]);
            }
        }
        if has_nan {
            return Ok(unknown(site, Some(site.cause())));
        }
        self.stated(site, operands)
    }

    /// Returns the result of an op with one right result, applied to the only legal operands; else
    /// anything is legal.
    pub(super) fn stated(&mut self, site: Site<'m>, operands: &[&Range]) -> Result<Leaves, Stop> {
        let types = (0..operands.len()).map(|i| site.operand(i).element_type());
        let bits = matches!(site.instruction().op, Op::BitcastConvert(_));
        let value = |(range, ty): (&&Range, Option<ElementType>)| match bits {
            true => range.rounded(ty?),
            false => range.value(ty?),
        };
        let values: Option<Vec<Literal>> = operands.iter().zip(types).map(value).collect();
        let Some(values) = values else {
            let cause = operands.iter().find_map(|range| range.cause.clone());
            let cause = cause.or_else(|| Some(site.cause()));
            let op = &site.instruction().op;
            let alone = elementwise::is_elementwise(op) || matches!(op, Op::BitcastConvert(_));
            let choices = match alone {
                true => candidates::points(operands),
                false => candidates::points_of_each(operands),
            };
            let Some(choices) = choices else {
                return Ok(unknown(site, cause));
            };
            let each = |choice: &Vec<Range>| self.stated(site, &choice.iter().collect::<Vec<_>>());
            let results: Vec<Leaves> = choices.iter().map(each).collect::<Result<_, _>>()?;
            let all = control::any_of(&results).into_iter();
            return Ok(all.map(|range| range.because(cause.clone())).collect());
        };
        let form = site.lanes.map_or(Form::Stated, Form::Vector);
        let result = self.runner.run(self.module, &site.key(form), &values)?;
        Ok(result.leaves().into_iter().map(Range::exact).collect())
    }
}

/// Returns the number of operands whose elements an op moves; the operands after them say where.
pub(super) fn data_operands(op: &Op) -> Option<usize> {
    match op {
        Op::DynamicReshape(_) | Op::DynamicSlice(_) | Op::Gather(_) | Op::SetDimensionSize(_) => {
            Some(1)
        }
        Op::DynamicUpdateSlice(_) => Some(2),
        Op::Broadcast(_)
        | Op::Concatenate(_)
        | Op::Pad(_)
        | Op::Reshape(_)
        | Op::Reverse(_)
        | Op::Slice(_)
        | Op::Transpose(_) => Some(usize::MAX),
        _ => None,
    }
}
