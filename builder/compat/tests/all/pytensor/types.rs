//! Types of outputs: PyTensor 3.0.7's own table of every operation on every type.
use super::type_tables::{BINARY, UNARY};
use builder_compat::pytensor::ScalarOp;
use hlo::ElementType;

/// NumPy's letters of PyTensor's types.
const TYPES: [(char, ElementType); 14] = [
    ('?', ElementType::Pred),
    ('b', ElementType::S8),
    ('h', ElementType::S16),
    ('i', ElementType::S32),
    ('l', ElementType::S64),
    ('B', ElementType::U8),
    ('H', ElementType::U16),
    ('I', ElementType::U32),
    ('L', ElementType::U64),
    ('e', ElementType::F16),
    ('f', ElementType::F32),
    ('d', ElementType::F64),
    ('F', ElementType::C64),
    ('D', ElementType::C128),
];

fn letter(op: ScalarOp, inputs: &[ElementType]) -> char {
    let found = op.output_type(inputs).ok();
    TYPES.iter().find(|(_, ty)| Some(*ty) == found).map_or('.', |(letter, _)| *letter)
}

/// Where fewer types are taken here: HLO orders no complex numbers and divides none with rounding,
/// and no integer type holds the 64-bit ones of both kinds.
fn refused_here(op: ScalarOp, inputs: &[ElementType]) -> bool {
    let complex = inputs.iter().any(|ty| ty.is_complex());
    let pair = [ElementType::S64, ElementType::U64];
    match op {
        ScalarOp::Maximum
        | ScalarOp::Minimum
        | ScalarOp::IntDiv
        | ScalarOp::Mod
        | ScalarOp::Lt
        | ScalarOp::Le
        | ScalarOp::Gt
        | ScalarOp::Ge
        | ScalarOp::Erf
        | ScalarOp::Softplus => complex,
        ScalarOp::And | ScalarOp::Or | ScalarOp::Xor => {
            // NumPy's promotion of a signed type and `uint64` is a float.
            inputs.contains(&pair[1]) && inputs.iter().any(|ty| ty.class() == hlo::Class::Signed)
        }
        _ => false,
    }
}

#[test]
fn one_input() {
    let mut count = 0;
    for (names, outputs) in UNARY {
        for op in names.split(' ').map(|name| ScalarOp::from_name(name).unwrap()) {
            for ((_, ty), expected) in TYPES.iter().zip(outputs.chars()) {
                let expected = if refused_here(op, &[*ty]) { '.' } else { expected };
                assert_eq!(letter(op, &[*ty]), expected, "{op} of {ty}");
            }
            count += 1;
        }
    }
    let all = ScalarOp::ALL.iter().filter(|op| op.nin() == Some(1)).count();
    assert_eq!(count, all);
}

#[test]
fn two_inputs() {
    let mut count = 0;
    for (names, rows) in BINARY {
        let rows: Vec<&str> = rows.split(' ').collect();
        for op in names.split(' ').map(|name| ScalarOp::from_name(name).unwrap()) {
            for ((_, left), row) in TYPES.iter().zip(&rows) {
                for ((_, right), expected) in TYPES.iter().zip(row.chars()) {
                    let types = [*left, *right];
                    let expected = if refused_here(op, &types) { '.' } else { expected };
                    assert_eq!(letter(op, &types), expected, "{op} of {left} and {right}");
                }
            }
            count += 1;
        }
    }
    let all = ScalarOp::ALL.iter().filter(|op| matches!(op.nin(), Some(2) | None)).count();
    assert_eq!(count, all);
}

#[test]
fn three_inputs_and_more() {
    use ElementType::{C64, F16, F32, F64, Pred, S8, S16, S64, U8, U64};
    // PyTensor's answers.
    assert_eq!(ScalarOp::Switch.output_type(&[Pred, S8, U8]).unwrap(), S16);
    assert_eq!(ScalarOp::Switch.output_type(&[F32, S64, U64]).unwrap(), F64);
    assert_eq!(ScalarOp::Clip.output_type(&[Pred, S8, F16]).unwrap(), F16);
    assert_eq!(ScalarOp::Clip.output_type(&[Pred, S8, U8]).unwrap(), S16);
    assert_eq!(ScalarOp::Add.output_type(&[Pred, S8, U8]).unwrap(), S16);
    assert_eq!(ScalarOp::Mul.output_type(&[F32, S64, U64]).unwrap(), F64);
    assert_eq!(ScalarOp::Cast(U8).output_type(&[F32]).unwrap(), U8);
    for (op, types) in [
        (ScalarOp::Clip, &[C64, F32, F32][..]),
        (ScalarOp::Cast(F32), &[C64]),
        (ScalarOp::Add, &[ElementType::Bf16, F32]),
        (ScalarOp::Cast(ElementType::S4), &[F32]),
    ] {
        assert_eq!(op.output_type(types).unwrap_err().number(), "E0810", "{op}");
    }
    for (op, types) in
        [(ScalarOp::Exp, &[F32, F32][..]), (ScalarOp::Add, &[]), (ScalarOp::Clip, &[F32])]
    {
        assert_eq!(op.output_type(types).unwrap_err().number(), "E0801", "{op}");
    }
    assert_eq!(ScalarOp::TrueDiv.output_type_with(&[S8, S8], F32).unwrap(), F32);
}
