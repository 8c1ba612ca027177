//! Random arguments: the same for the same seed, on every machine.
use crate::error::{Code, Failure};
use conformance::random::Sequence;
use hlo::ir::{Computation, DeviceSharding, Instruction, Placement, Sharding};
use hlo::literal::ConstantValue;
use hlo::{ArrayShape, Class, ElementType, Literal, Module, Op, Scalar, Shape};
use interp::{Device, DeviceGrid};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

fn element(sequence: &mut Sequence, ty: ElementType) -> Scalar {
    let from_minus_one = |sequence: &mut Sequence| 2.0 * sequence.unit() - 1.0;
    match ty.class() {
        Class::Pred => Scalar::Pred(sequence.bits() >> 63 == 1),
        Class::Signed => {
            Scalar::Signed(i64::try_from(sequence.bits() >> 62).unwrap_or(0)).round_to(ty)
        }
        Class::Unsigned => Scalar::Unsigned(sequence.bits() >> 62).round_to(ty),
        Class::Float => Scalar::Float(from_minus_one(sequence)),
        Class::Complex => Scalar::Complex(from_minus_one(sequence), from_minus_one(sequence)),
    }
}

fn value(sequence: &mut Sequence, shape: &Shape) -> Result<Literal, String> {
    match shape {
        Shape::Array(shape) => array(sequence, shape),
        Shape::Tuple(shapes) => {
            let elements: Result<_, _> = shapes.iter().map(|s| value(sequence, s)).collect();
            Ok(Literal::tuple(elements?))
        }
        Shape::Token => Ok(Literal::token()),
        Shape::Opaque | Shape::Buffer(_) => Err(format!("{shape} has no values")),
    }
}

fn array(sequence: &mut Sequence, shape: &ArrayShape) -> Result<Literal, String> {
    // A failed allocation would end the process, so the allocator is probed first.
    let bytes = shape.byte_count();
    if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        let size = bytes.map_or("more than 2^63 bytes".into(), |b| format!("{b} bytes"));
        return Err(format!("{shape:#} takes {size}, more than the system can allocate"));
    }
    let mut literal = Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() });
    let width = shape.ty.storage_bytes();
    for slot in literal.bytes_mut().chunks_exact_mut(width) {
        element(sequence, shape.ty).write(shape.ty, slot);
    }
    Ok(literal)
}

/// Draws a value for each shape.
pub(crate) fn draw(seed: u64, shapes: &[&Shape]) -> Result<Vec<Literal>, Failure> {
    let mut sequence = Sequence::new(seed);
    let draw = |(number, shape): (usize, &&Shape)| {
        let failed = |message| Failure::new(&Code::NotDrawn { number, message }, None);
        value(&mut sequence, shape).map_err(failed)
    };
    shapes.iter().enumerate().map(draw).collect()
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
                let value = value(&mut sequence, shape).map_err(failed)?;
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
    entry: &Computation,
    (grid, range): (DeviceGrid, Range<usize>),
) -> Result<Vec<Vec<Literal>>, Failure> {
    let shapes = entry.program_shape().parameters;
    let replication: Vec<Replication> =
        entry.parameters().iter().map(|&id| Replication::of(&entry.instructions[id])).collect();
    let mut drawn: BTreeMap<usize, Vec<Literal>> = BTreeMap::new();
    for number in range.clone() {
        let mut values = draw(seed_of(seed, number), &shapes)?;
        for (i, (value, replication)) in values.iter_mut().zip(&replication).enumerate() {
            let first = grid.number(replication.first_device(grid.device(number)));
            if first != number {
                let earlier = match drawn.entry(first) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(draw(seed_of(seed, first), &shapes)?),
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
        let all = draw_each(7, module.entry(), (grid, 0..4)).unwrap();
        for k in 0..4 {
            let one = draw_each(7, module.entry(), (grid, k..k + 1)).unwrap();
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
        assert_eq!(drawn[0], draw(7, &[&shape, &shape]).unwrap());
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
        let first = draw(7, &[&shape]).unwrap();
        assert_eq!(first, draw(7, &[&shape]).unwrap());
        assert_ne!(first, draw(8, &[&shape]).unwrap());
        let floats = first[0].leaves()[0].as_slice::<f32>().unwrap();
        assert!(floats.iter().all(|x| (-1.0..=1.0).contains(x)));
    }
}
