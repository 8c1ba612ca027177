//! The size of a candidate: a reducer only ever accepts a smaller one.
use hlo::literal::ConstantValue;
use hlo::op::Kind;
use hlo::text::Style;
use hlo::{Class, ElementType, Literal, Module, Op, Scalar, Shape};

/// The size of a module and its arguments, compared field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// Instructions that call computations: loops, conditionals, calls and fusions.
    pub control: usize,
    /// Instructions of all computations; parameters and constants are not counted.
    pub instructions: usize,
    /// Parameters and constants.
    pub leaves: usize,
    /// Devices.
    pub devices: i64,
    /// Elements of all values.
    pub elements: usize,
    /// Dimensions of all values.
    pub ranks: usize,
    /// Values of a type that is neither the most common float nor the most common integer type.
    pub types: usize,
    /// Bytes of the text without constants.
    pub text: usize,
    /// How much is written to state the arguments and constants: 0 is the simplest value, then 1,
    /// then small integers.
    pub values: usize,
}

impl Score {
    pub(super) fn of(module: &Module, arguments: &[Vec<Literal>]) -> Self {
        let mut score = Self {
            control: 0,
            instructions: 0,
            leaves: 0,
            devices: module.config.replica_count.saturating_mul(module.config.num_partitions),
            elements: 0,
            ranks: 0,
            types: 0,
            text: 0,
            values: 0,
        };
        let instructions = module.instructions();
        for instruction in instructions {
            score.add_shape(&instruction.shape);
            let op = &instruction.op;
            if let Op::Constant(constant) = op {
                score.leaves += 1;
                if let ConstantValue::Literal(value) = &*constant.value {
                    score.values = score.values.saturating_add(cost(value));
                }
            } else if let Op::Parameter(_) = op {
                score.leaves += 1;
            } else {
                score.instructions += 1;
                score.control += usize::from(op.opcode().kind() == Kind::Control);
            }
        }
        score.text = module.print(Style::Default).len();
        let values = arguments.iter().flatten();
        score.values = values.fold(score.values, |sum, value| sum.saturating_add(cost(value)));
        score
    }
    fn add_shape(&mut self, shape: &Shape) {
        for array in shape.leaves().into_iter().filter_map(Shape::array) {
            let elements = array.element_count().unwrap_or(usize::MAX);
            self.elements = self.elements.saturating_add(elements);
            self.ranks += array.rank();
            self.types += usize::from(!is_common(array.ty));
        }
    }
}

/// Returns whether types are simplified to this one.
fn is_common(ty: ElementType) -> bool {
    [ElementType::F32, ElementType::S32, ElementType::Pred].contains(&ty)
}

/// The most elements whose values are looked at.
const ELEMENTS: usize = 1 << 16;

fn cost(value: &Literal) -> usize {
    let of = |leaf: &Literal| {
        let Some(shape) = leaf.array_shape() else { return 0 };
        let looked_at = leaf.len().min(ELEMENTS);
        let cost: usize = (0..looked_at).map(|i| element_cost(leaf.get(i), shape.ty.class())).sum();
        cost.saturating_add((leaf.len() - looked_at).saturating_mul(20))
    };
    value.leaves().into_iter().map(of).fold(0, usize::saturating_add)
}

/// 0 for 0, 1 for 1, 2 for other small integers, more for a value with more digits.
fn element_cost(value: Scalar, class: Class) -> usize {
    match (value, class) {
        (Scalar::Complex(re, im), _) => float_cost(re) + float_cost(im),
        (Scalar::Float(x), _) => float_cost(x),
        (Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_), _) => {
            match value.as_i64().unwrap_or(i64::MAX).unsigned_abs() {
                small @ 0..=1 => usize::try_from(small).unwrap_or(0),
                2..=9 => 2,
                large => value_digits(&large.to_string()),
            }
        }
    }
}

fn float_cost(x: f64) -> usize {
    if x.to_bits() == 0 {
        return 0;
    }
    if x.to_bits() == 1.0f64.to_bits() {
        return 1;
    }
    value_digits(&x.to_string())
}

fn value_digits(text: &str) -> usize {
    text.len() + 1
}
