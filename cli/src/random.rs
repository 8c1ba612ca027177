//! Random arguments: the same for the same seed, on every machine.
use crate::error::{Code, Failure};
use crate::interval::Interval;
use crate::limits::{Limits, failure};
use conformance::random::Sequence;
use hlo::ir::{Computation, DeviceSharding, Instruction, Placement, Sharding};
use hlo::literal::ConstantValue;
use hlo::{ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape};
use interp::{Device, DeviceGrid};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// How the elements of a parameter are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    /// Of floats and complex numbers.
    pub(crate) floats: Interval,
    /// Of integers and booleans.
    pub(crate) integers: Interval,
    /// Whether the value is needed. If not, its elements are drawn, so that those of the next parameters are the same, and dropped.
    pub(crate) is_kept: bool,
}

impl Drawn {
    pub(crate) const DEFAULT: Self =
        Self { floats: Interval::Default, integers: Interval::Default, is_kept: true };

    /// Returns the interval of a type.
    fn interval(self, ty: ElementType) -> Interval {
        match ty.class() {
            Class::Float | Class::Complex => self.floats,
            Class::Pred | Class::Signed | Class::Unsigned => self.integers,
        }
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

/// The reason why a value is not drawn.
enum NotDrawn {
    /// It does not fit memory, or its type has no values.
    Impossible(String),
    /// A limit of the run.
    Limit(Failure),
}

impl NotDrawn {
    fn failure(self, code: impl FnOnce(String) -> Code) -> Failure {
        match self {
            Self::Impossible(message) => Failure::new(&code(message), None),
            Self::Limit(failure) => failure,
        }
    }
}

/// Random values of a seed, one after another.
struct Draw<'a> {
    sequence: Sequence,
    limits: &'a Limits,
}

impl Draw<'_> {
    fn value(&mut self, shape: &Shape, wanted: Drawn) -> Result<Literal, NotDrawn> {
        match shape {
            Shape::Array(shape) => self.array(shape, wanted),
            Shape::Tuple(shapes) => {
                let elements: Result<_, _> = shapes.iter().map(|s| self.value(s, wanted)).collect();
                Ok(Literal::tuple(elements?))
            }
            Shape::Token => Ok(Literal::token()),
            Shape::Opaque | Shape::Buffer(_) => {
                Err(NotDrawn::Impossible(format!("{shape} has no values")))
            }
        }
    }
    fn array(&mut self, shape: &ArrayShape, wanted: Drawn) -> Result<Literal, NotDrawn> {
        let (ty, interval) = (shape.ty, wanted.interval(shape.ty));
        interval.check(ty).map_err(NotDrawn::Impossible)?;
        let mut shape = ArrayShape { dynamic: None, ..shape.clone() };
        if !wanted.is_kept {
            for i in 0..shape.element_count().unwrap_or(usize::MAX) {
                self.look_at_clock(i)?;
                element(&mut self.sequence, ty, interval);
            }
            shape = ArrayShape::new(ty, [0].as_slice());
        }
        let mut literal = self.zeros(shape)?;
        for (i, slot) in literal.bytes_mut().chunks_exact_mut(ty.storage_bytes()).enumerate() {
            self.look_at_clock(i)?;
            element(&mut self.sequence, ty, interval).write(ty, slot);
        }
        Ok(literal)
    }
    /// Returns zeros, in a file if the run keeps arrays of this size in files.
    fn zeros(&self, shape: ArrayShape) -> Result<Literal, NotDrawn> {
        let shape = Arc::new(shape);
        if let Some(spill) = &self.limits.options().spill {
            let spilled = spill.zeros(&shape).map_err(|error| NotDrawn::Limit(failure(&error)))?;
            if let Some(array) = spilled {
                return Ok(array.into());
            }
        }
        // A failed allocation would end the process, so the allocator is probed first.
        let bytes = shape.byte_count();
        if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
            let size = bytes.map_or("more than 2^63 bytes".into(), |b| format!("{b} bytes"));
            let message = format!("{shape:#} takes {size}, more than the system can allocate");
            return Err(NotDrawn::Impossible(message));
        }
        Ok(Literal::zeros(shape))
    }
    /// Fails before some of the elements if the time is over.
    #[inline]
    fn look_at_clock(&self, element: usize) -> Result<(), NotDrawn> {
        if element.is_multiple_of(1 << 16) {
            return self.limits.check_time().map_err(NotDrawn::Limit);
        }
        Ok(())
    }
}

/// Returns the bytes of a value.
fn bytes(shape: &Shape) -> usize {
    let arrays = shape.leaves().into_iter().filter_map(Shape::array);
    let bytes = arrays.map(|array| array.byte_count().unwrap_or(usize::MAX));
    bytes.fold(0, usize::saturating_add)
}

/// Draws a value for each shape.
pub(crate) fn draw(
    seed: u64,
    shapes: &[&Shape],
    wanted: &[Drawn],
    limits: &Limits,
) -> Result<Vec<Literal>, Failure> {
    let mut draw = Draw { sequence: Sequence::new(seed), limits };
    let value = |(number, (shape, wanted)): (usize, (&&Shape, &Drawn))| {
        let value = draw.value(shape, *wanted);
        value.map_err(|e| e.failure(|message| Code::NotDrawn { number, message }))
    };
    shapes.iter().zip(wanted).enumerate().map(value).collect()
}

/// Gives each elided constant of a module a random value; returns the number of these constants.
pub(crate) fn fill_elided(
    seed: u64,
    module: &mut Module,
    limits: &Limits,
) -> Result<usize, Failure> {
    let mut draw = Draw { sequence: Sequence::new(seed), limits };
    let (mut count, mut held) = (0, 0usize);
    for (_, computation) in module.computations.iter_mut() {
        for (_, instruction) in computation.instructions.iter_mut() {
            if let Op::Constant(op) = &mut instruction.op
                && let ConstantValue::Elided(shape) = &*op.value
            {
                held = held.saturating_add(bytes(shape));
                limits.check_bytes(held)?;
                let value = draw.value(shape, Drawn::DEFAULT);
                let value = value.map_err(|e| e.failure(|message| Code::NotFilled { message }));
                *op.value = ConstantValue::Literal(value?);
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
    wanted: &[Drawn],
    entry: &Computation,
    (grid, range): (DeviceGrid, Range<usize>),
    limits: &Limits,
) -> Result<Vec<Vec<Literal>>, Failure> {
    let shapes = entry.program_shape().parameters;
    let replication: Vec<Replication> =
        entry.parameters().iter().map(|&id| Replication::of(&entry.instructions[id])).collect();
    let first = |i: usize, number: usize| {
        let replication: Replication = replication[i];
        grid.number(replication.first_device(grid.device(number)))
    };
    for (i, shape) in shapes.iter().enumerate().filter(|&(i, _)| wanted[i].is_kept) {
        let different: BTreeSet<usize> = range.clone().map(|number| first(i, number)).collect();
        limits.charge(bytes(shape).saturating_mul(different.len()))?;
    }
    let mut drawn: BTreeMap<usize, Vec<Literal>> = BTreeMap::new();
    for number in range.clone() {
        let mut values = draw(seed_of(seed, number), &shapes, wanted, limits)?;
        for (i, value) in values.iter_mut().enumerate() {
            let first = first(i, number);
            if first != number {
                let earlier = match drawn.entry(first) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        new.insert(draw(seed_of(seed, first), &shapes, wanted, limits)?)
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

    fn unlimited() -> Limits {
        Limits::start(interp::RunOptions::default())
    }
    fn drawn(seed: u64, shapes: &[&Shape], interval: Interval) -> Result<Vec<Literal>, Failure> {
        let drawn = Drawn { floats: interval, integers: interval, is_kept: true };
        let wanted = vec![drawn; shapes.len()];
        draw(seed, shapes, &wanted, &unlimited())
    }

    /// Draws two parameters on 2 replicas of 2 partitions.
    fn of_four(first: &str, second: &str) -> Vec<Vec<Literal>> {
        let text = format!(
            "HloModule m\nENTRY e {{ a = f32[3] parameter(0){first} b = f32[3] parameter(1){second} ROOT r = f32[3] add(a, b) }}"
        );
        let module = Module::parse(&text).unwrap();
        let grid = DeviceGrid { replicas: 2, partitions: 2 };
        let (wanted, limits) = ([Drawn::DEFAULT; 2], unlimited());
        let all = draw_each(7, &wanted, module.entry(), (grid, 0..4), &limits).unwrap();
        for k in 0..4 {
            let one = draw_each(7, &wanted, module.entry(), (grid, k..k + 1), &limits).unwrap();
            assert_eq!(one[k], all[k], "device {k} alone");
        }
        all
    }

    #[test]
    fn devices_have_different_arguments() {
        let of_each = of_four("", "");
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            assert_ne!(of_each[i][0], of_each[j][0]);
        }
        let shape: Shape = "f32[3]".parse().unwrap();
        assert_eq!(of_each[0], drawn(7, &[&shape, &shape], Interval::Default).unwrap());
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
    fn a_value_that_is_not_kept_changes_no_other() {
        let shape: Shape = "f32[3]".parse().unwrap();
        let skipped = Drawn { is_kept: false, ..Drawn::DEFAULT };
        let draw = |first| draw(7, &[&shape, &shape], &[first, Drawn::DEFAULT], &unlimited());
        let (all, one) = (draw(Drawn::DEFAULT).unwrap(), draw(skipped).unwrap());
        assert_eq!((all[1] == one[1], one[0].len()), (true, 0));
    }

    #[test]
    fn limits_hold_before_anything_is_drawn() {
        let text = "HloModule m\nENTRY e { ROOT x = s32[1000000000] parameter(0) }";
        let module = Module::parse(text).unwrap();
        let draw = |options: interp::RunOptions| {
            let (limits, grid) =
                (Limits::start(options), DeviceGrid { replicas: 2, partitions: 1 });
            let drawn = draw_each(7, &[Drawn::DEFAULT], module.entry(), (grid, 0..2), &limits);
            drawn.unwrap_err().diagnostics.remove(0).message
        };
        let memory = draw(interp::RunOptions::default().max_memory(4_000_000_000));
        assert!(memory.contains("8000000000 bytes, and 4000000000 bytes are allowed"), "{memory}");
        let time = draw(interp::RunOptions::default().time_limit(std::time::Duration::ZERO));
        assert!(time.contains("out of time"), "{time}");
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let shape: Shape = "(f32[3], s32[4], pred[2], c64[1])".parse().unwrap();
        let draw = |seed| drawn(seed, &[&shape], Interval::Default).unwrap();
        let first = draw(7);
        assert_eq!(first, draw(7));
        assert_ne!(first, draw(8));
        let floats = first[0].leaves()[0].as_slice::<f32>().unwrap();
        assert!(floats.iter().all(|x| (-1.0..=1.0).contains(x)));
    }

    #[test]
    fn elements_are_within_their_interval() {
        let one = |shape: &str, interval: &str| {
            let shape: Shape = shape.parse().unwrap();
            drawn(7, &[&shape], Interval::parse(interval).unwrap()).map(|mut list| list.remove(0))
        };
        let floats = one("f64[99]", "1e300:1.5e300").unwrap();
        assert!(floats.as_slice::<f64>().unwrap().iter().all(|x| (1e300..=1.5e300).contains(x)));
        let mut bytes = one("s8[999]", "-128:-126").unwrap().as_slice::<i8>().unwrap().to_vec();
        bytes.sort_unstable();
        bytes.dedup();
        assert_eq!(bytes, [-128, -127, -126]);
        let all = one("u64[9]", "0:18446744073709551615").unwrap();
        assert!(all.as_slice::<u64>().unwrap().iter().any(|x| *x > 1 << 62));
        assert!(one("pred[9]", "1:1").unwrap().bytes().iter().all(|x| *x == 1));
        for (shape, interval) in [("u8[1]", "-1:3"), ("s8[1]", "0:200"), ("s32[1]", "0:1.5")] {
            assert!(one(shape, interval).is_err(), "{shape} {interval}");
        }
        for text in ["1", "2:1", "nan:1", "0:inf", ":", "a:b"] {
            assert_eq!(Interval::parse(text), None, "{text}");
        }
    }
}
