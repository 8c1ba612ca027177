//! Keys that identify the value of an instruction in a plan.
use super::unallocated::{ArrayId, ArrayIds};
use hlo::ir::Instruction;
use hlo::{Op, Shape};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// Everything that the value of an instruction depends on: the op with its attributes, the
/// operands, their shapes with layouts, and the shape of the result.
///
/// Every step is lowered from one, and an instruction has the value of an earlier one only if their
/// keys are equal. The arrays of an operand do not imply its shape: `copy`, `opt-barrier` and the
/// like return the arrays of their operand, under a layout of their own. Nor does the instruction
/// of the module imply the key: a `dot` that reads its operand through a `transpose` has other
/// attributes and operands.
#[derive(Debug, Clone)]
pub(crate) struct ValueKey<'a> {
    instruction: Cow<'a, Instruction>,
    operands: SmallVec<[OperandKey<'a>; 2]>,
}

/// The arrays of an operand, and the shape that the instruction reads them under.
pub(super) type OperandKey<'a> = (ArrayIds, Cow<'a, Shape>);

impl<'a> ValueKey<'a> {
    /// Returns the key of an instruction on these operands, which need not be those that the
    /// instruction lists.
    pub(super) fn new(
        instruction: Cow<'a, Instruction>,
        operands: impl IntoIterator<Item = OperandKey<'a>>,
    ) -> Self {
        Self { instruction, operands: operands.into_iter().collect() }
    }
    /// Returns the instruction. Its list of operands is that of the module.
    pub(super) fn instruction(&self) -> &Instruction {
        &self.instruction
    }
    /// Returns the shapes of the operands.
    pub(super) fn shapes(&self) -> SmallVec<[&Shape; 4]> {
        self.operands.iter().map(|(_, shape)| &**shape).collect()
    }
    /// Returns the arrays of all operands.
    pub(super) fn arrays(&self) -> impl Iterator<Item = ArrayId> {
        self.operands.iter().flat_map(|(arrays, _)| arrays.iter().copied())
    }
    /// Returns what two keys of one value have in common.
    fn identity(&self) -> (&Op, &Shape, &[OperandKey<'a>]) {
        // The operands are in the key as arrays; what every opcode may have (metadata, shardings, a
        // configuration of a backend) changes the value of none that is lowered to a kernel.
        let Instruction { op, shape, operands: _, common: _ } = &*self.instruction;
        (op, shape, &self.operands)
    }
}

impl PartialEq for ValueKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

/// Attributes compare by their bits, so a key equals itself.
impl Eq for ValueKey<'_> {}

impl Hash for ValueKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (op, shape, operands) = self.identity();
        (op.opcode(), shape, operands).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::ValueKey;
    use hlo::{Module, Shape};
    use std::borrow::Cow;

    /// Returns the key of the last instruction of a text, on operands with these arrays and shapes.
    fn key(text: &str, operands: &[(usize, &str)]) -> ValueKey<'static> {
        let module = Module::parse(&format!("ENTRY e {{ {text} }}")).unwrap();
        let computation = module.entry();
        let instruction = computation.instructions[computation.root].clone();
        let operands = operands.iter().map(|&(array, shape)| {
            let shape: Shape = shape.parse().unwrap();
            ([array].into(), Cow::Owned(shape))
        });
        ValueKey::new(Cow::Owned(instruction), operands)
    }

    #[test]
    fn metadata_and_names_are_no_part() {
        let one = key("x = f32[4] parameter(0) ROOT y = f32[4] sine(x)", &[(3, "f32[4]")]);
        let other = "a = f32[4] parameter(0) ROOT b = f32[4] sine(a), metadata={op_name=\"n\"}";
        assert_eq!(one, key(other, &[(3, "f32[4]")]));
    }

    #[test]
    fn all_else_is_part() {
        let text = "x = f32[2,2] parameter(0) ROOT y = f32[2,2] transpose(x), dimensions={1,0}";
        let same = || key(text, &[(0, "f32[2,2]{1,0}")]);
        assert_eq!(same(), same());
        for other in [
            key(&text.replace("{1,0}", "{0,1}"), &[(0, "f32[2,2]{1,0}")]),
            key(text, &[(1, "f32[2,2]{1,0}")]),
            key(text, &[(0, "f32[2,2]{0,1}")]),
            key(text, &[(0, "s32[2,2]{1,0}")]),
            key(text, &[(0, "f32[2,2]{1,0:T(2,2)}")]),
            key(&text.replace("y = f32[2,2]", "y = f32[2,2]{0,1}"), &[(0, "f32[2,2]{1,0}")]),
            key(&text.replace("transpose", "reverse"), &[(0, "f32[2,2]{1,0}")]),
        ] {
            assert_ne!(same(), other);
        }
    }

    #[test]
    fn numbers_among_attributes_compare_by_bits() {
        let text = "x = f32[2,1] parameter(0) s = f32[1] parameter(1)
          ROOT y = f32[2,1] batch-norm-inference(x, s, s, s, s), epsilon=0, feature_index=1";
        assert_ne!(key(text, &[]), key(&text.replace("=0,", "=-0,"), &[]));
        let unordered = text.replace("=0,", "=nan,");
        assert_eq!(key(&unordered, &[]), key(&unordered, &[]));
    }
}
