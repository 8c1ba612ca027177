//! Random arguments: the same for the same seed, on every machine.
use crate::args::RangeArg;
use crate::error::{Code, Failure};
use crate::inputs::Parameters;
use conformance::random::Sequence;
use hlo::ir::{Computation, DeviceSharding, Instruction, Placement, Sharding};
use hlo::literal::ConstantValue;
use hlo::{ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape};
use interp::{Device, DeviceGrid};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// The numbers that elements are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Interval {
    /// Floats from -1 to 1, integers from 0 to 3.
    Default,
    /// From the first to the second, also as integers if they are.
    Of(f64, f64, Option<(i128, i128)>),
}

/// Returns the interval of each parameter.
pub(crate) fn intervals(
    ranges: &[RangeArg],
    parameters: &Parameters<'_>,
) -> Result<Vec<Interval>, Failure> {
    let mut intervals = vec![Interval::Default; parameters.shapes.len()];
    // An interval of a parameter takes precedence over that of all.
    for RangeArg { interval, .. } in ranges.iter().filter(|range| range.parameter.is_none()) {
        intervals.fill(*interval);
    }
    for RangeArg { parameter, interval } in ranges {
        let Some(name) = parameter else { continue };
        let number = parameters.find(name).ok_or_else(|| parameters.unknown(name))?;
        intervals[number] = *interval;
    }
    Ok(intervals)
}

impl Interval {
    /// Parses `LO:HI`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (low, high) = text.split_once(':')?;
        let float = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
        let (least, most) = (float(low)?, float(high)?);
        let integers = || Some((low.parse().ok()?, high.parse().ok()?));
        (least <= most).then(|| Self::Of(least, most, integers()))
    }
    /// Fails if integers of the type cannot be drawn from it.
    fn check(self, ty: ElementType) -> Result<(), String> {
        let Self::Of(low, high, integers) = self else { return Ok(()) };
        let (least, most) = match ty.class() {
            Class::Float | Class::Complex => return Ok(()),
            Class::Pred => (0, 1),
            Class::Signed => (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1),
            Class::Unsigned => (0, (1i128 << ty.bits()) - 1),
        };
        match integers {
            Some((low, high)) if least <= low && high <= most => Ok(()),
            Some(_) => Err(format!("{low}:{high} is not within {least}:{most}, the range of {ty}")),
            None => Err(format!("{low}:{high} is not a range of integers, as {ty} requires")),
        }
    }
    fn float(self, sequence: &mut Sequence) -> f64 {
        match self {
            Self::Default => 2.0 * sequence.unit() - 1.0,
            // Two products, because the difference may overflow.
            Self::Of(low, high, _) => {
                let share = sequence.unit();
                (low * (1.0 - share) + high * share).clamp(low, high)
            }
        }
    }
    /// Draws an integer, if the interval states integers.
    fn integer(self, sequence: &mut Sequence) -> Option<i128> {
        let Self::Of(_, _, Some((low, high))) = self else { return None };
        let count = u128::try_from(high - low).unwrap_or(0) + 1;
        let drawn = (u128::from(sequence.bits()) * count) >> 64;
        Some(low + i128::try_from(drawn).unwrap_or(0))
    }
}

fn element(sequence: &mut Sequence, ty: ElementType, interval: Interval) -> Scalar {
    match ty.class() {
        Class::Pred => Scalar::Pred(match interval.integer(sequence) {
            Some(drawn) => drawn == 1,
            None => sequence.bits() >> 63 == 1,
        }),
        Class::Signed => Scalar::Signed(match interval.integer(sequence) {
            Some(drawn) => i64::try_from(drawn).unwrap_or(i64::MAX),
            None => i64::try_from(sequence.bits() >> 62).unwrap_or(0),
        })
        .round_to(ty),
        Class::Unsigned => Scalar::Unsigned(match interval.integer(sequence) {
            Some(drawn) => u64::try_from(drawn).unwrap_or(u64::MAX),
            None => sequence.bits() >> 62,
        })
        .round_to(ty),
        Class::Float => Scalar::Float(interval.float(sequence)),
        Class::Complex => Scalar::Complex(interval.float(sequence), interval.float(sequence)),
    }
}

fn value(sequence: &mut Sequence, shape: &Shape, interval: Interval) -> Result<Literal, String> {
    match shape {
        Shape::Array(shape) => array(sequence, shape, interval),
        Shape::Tuple(shapes) => {
            let elements: Result<_, _> =
                shapes.iter().map(|s| value(sequence, s, interval)).collect();
            Ok(Literal::tuple(elements?))
        }
        Shape::Token => Ok(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => Err(format!("{shape} has no values")),
    }
}

fn array(
    sequence: &mut Sequence,
    shape: &ArrayShape,
    interval: Interval,
) -> Result<Literal, String> {
    interval.check(shape.ty)?;
    // A failed allocation would end the process, so the allocator is probed first.
    let bytes = shape.byte_count();
    if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        let size = bytes.map_or("more than 2^63 bytes".into(), |b| format!("{b} bytes"));
        return Err(format!("{shape:#} takes {size}, more than the system can allocate"));
    }
    let mut literal = Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() });
    let width = shape.ty.storage_bytes();
    for slot in literal.bytes_mut().chunks_exact_mut(width) {
        element(sequence, shape.ty, interval).write(shape.ty, slot);
    }
    Ok(literal)
}

/// Draws a value for each shape.
pub(crate) fn draw(
    seed: u64,
    shapes: &[&Shape],
    intervals: &[Interval],
) -> Result<Vec<Literal>, Failure> {
    let mut sequence = Sequence::new(seed);
    let draw = |(number, (shape, interval)): (usize, (&&Shape, &Interval))| {
        let failed = |message| Failure::new(&Code::NotDrawn { number, message }, None);
        value(&mut sequence, shape, *interval).map_err(failed)
    };
    shapes.iter().zip(intervals).enumerate().map(draw).collect()
}

/// Gives each elided constant of a module a random value; returns the number of these constants.
pub(crate) fn fill_elided(seed: u64, module: &mut Module) -> Result<usize, Failure> {
    let mut sequence = Sequence::new(seed);
    let mut count = 0;
    for (_, computation) in module.computations.iter_mut() {
        for (_, instruction) in computation.instructions.iter_mut() {
            if let Op::Constant(op) = &mut instruction.op
                && let ConstantValue::Elided(shape) = &*op.value
            {
                let failed = |message| Failure::new(&Code::NotFilled { message }, None);
                let value = value(&mut sequence, shape, Interval::Default).map_err(failed)?;
                *op.value = ConstantValue::Literal(value);
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Draws the arguments of the devices of a range; the lists of the others are empty.
///
/// Device 0 has the arguments of a run on one device. A replicated parameter has the value of the first device with it.
pub(crate) fn draw_each(
    seed: u64,
    intervals: &[Interval],
    entry: &Computation,
    (grid, range): (DeviceGrid, Range<usize>),
) -> Result<Vec<Vec<Literal>>, Failure> {
    let shapes = entry.program_shape().parameters;
    let replication: Vec<Replication> =
        entry.parameters().iter().map(|&id| Replication::of(&entry.instructions[id])).collect();
    let mut drawn: BTreeMap<usize, Vec<Literal>> = BTreeMap::new();
    for number in range.clone() {
        let mut values = draw(seed_of(seed, number), &shapes, intervals)?;
        for (i, (value, replication)) in values.iter_mut().zip(&replication).enumerate() {
            let first = grid.number(replication.first_device(grid.device(number)));
            if first != number {
                let earlier = match drawn.entry(first) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        new.insert(draw(seed_of(seed, first), &shapes, intervals)?)
                    }
                };
                *value = earlier[i].clone();
            }
        }
        drawn.insert(number, values);
    }
    let mut own = |number| drawn.remove(&number).filter(|_| range.contains(&number));
    Ok((0..grid.len()).map(|number| own(number).unwrap_or_default()).collect())
}

/// Returns a seed for each device; the sequences of two devices do not overlap in practice.
fn seed_of(seed: u64, device: usize) -> u64 {
    match u64::try_from(device) {
        Ok(0) | Err(_) => seed,
        Ok(device) => Sequence::new(seed ^ Sequence::new(device).bits()).bits(),
    }
}

/// The devices on which a parameter has the same value.
#[derive(Debug, Clone, Copy)]
struct Replication {
    on_replicas: bool,
    on_partitions: bool,
}

impl Replication {
    fn of(parameter: &Instruction) -> Self {
        let common = parameter.common.as_deref();
        let replication = common.and_then(|common| common.parameter_replication.as_deref());
        let replicated = |one: &DeviceSharding| one.placement == Placement::Replicated;
        let on_partitions = match common.and_then(|common| common.sharding.as_ref()) {
            Some(Sharding::One(one)) => replicated(one),
            Some(Sharding::Tuple(all)) => all.iter().all(replicated),
            None => false,
        };
        let on_replicas = replication.is_some_and(|leaves| leaves.iter().all(|&same| same));
        Self { on_replicas, on_partitions }
    }
    /// Returns the first device with the same value.
    fn first_device(self, device: Device) -> Device {
        Device {
            replica: if self.on_replicas { 0 } else { device.replica },
            partition: if self.on_partitions { 0 } else { device.partition },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws two parameters on 2 replicas of 2 partitions.
    fn of_four(first: &str, second: &str) -> Vec<Vec<Literal>> {
        let text = format!(
            "HloModule m\nENTRY e {{ a = f32[3] parameter(0){first} b = f32[3] parameter(1){second} ROOT r = f32[3] add(a, b) }}"
        );
        let module = Module::parse(&text).unwrap();
        let grid = DeviceGrid { replicas: 2, partitions: 2 };
        let intervals = [Interval::Default; 2];
        let all = draw_each(7, &intervals, module.entry(), (grid, 0..4)).unwrap();
        for k in 0..4 {
            let one = draw_each(7, &intervals, module.entry(), (grid, k..k + 1)).unwrap();
            assert_eq!(one[k], all[k], "device {k} alone");
        }
        all
    }

    #[test]
    fn devices_have_different_arguments() {
        let drawn = of_four("", "");
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            assert_ne!(drawn[i][0], drawn[j][0]);
        }
        let shape: Shape = "f32[3]".parse().unwrap();
        assert_eq!(drawn[0], draw(7, &[&shape, &shape], &[Interval::Default; 2]).unwrap());
    }

    #[test]
    fn replicated_parameters_are_equal() {
        let drawn = of_four(", parameter_replication={true}", ", sharding={replicated}");
        // Device 2 is replica 1, partition 0.
        assert_eq!(drawn[2][0], drawn[0][0]);
        assert_ne!(drawn[1][0], drawn[0][0]);
        assert_eq!(drawn[1][1], drawn[0][1]);
        assert_ne!(drawn[2][1], drawn[0][1]);
        let both = of_four(", sharding={replicated}, parameter_replication={true}", "");
        assert!(both.iter().all(|values| values[0] == both[0][0]));
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let shape: Shape = "(f32[3], s32[4], pred[2], c64[1])".parse().unwrap();
        let draw = |seed| draw(seed, &[&shape], &[Interval::Default]).unwrap();
        let first = draw(7);
        assert_eq!(first, draw(7));
        assert_ne!(first, draw(8));
        let floats = first[0].leaves()[0].as_slice::<f32>().unwrap();
        assert!(floats.iter().all(|x| (-1.0..=1.0).contains(x)));
    }

    #[test]
    fn elements_are_within_their_interval() {
        let drawn = |shape: &str, interval: &str| {
            let shape: Shape = shape.parse().unwrap();
            draw(7, &[&shape], &[Interval::parse(interval).unwrap()]).map(|mut list| list.remove(0))
        };
        let floats = drawn("f64[99]", "1e300:1.5e300").unwrap();
        assert!(floats.as_slice::<f64>().unwrap().iter().all(|x| (1e300..=1.5e300).contains(x)));
        let mut bytes = drawn("s8[999]", "-128:-126").unwrap().as_slice::<i8>().unwrap().to_vec();
        bytes.sort_unstable();
        bytes.dedup();
        assert_eq!(bytes, [-128, -127, -126]);
        let all = drawn("u64[9]", "0:18446744073709551615").unwrap();
        assert!(all.as_slice::<u64>().unwrap().iter().any(|x| *x > 1 << 62));
        assert!(drawn("pred[9]", "1:1").unwrap().bytes().iter().all(|x| *x == 1));
        for (shape, interval) in [("u8[1]", "-1:3"), ("s8[1]", "0:200"), ("s32[1]", "0:1.5")] {
            assert!(drawn(shape, interval).is_err(), "{shape} {interval}");
        }
        for text in ["1", "2:1", "nan:1", "0:inf", ":", "a:b"] {
            assert_eq!(Interval::parse(text), None, "{text}");
        }
    }
}
