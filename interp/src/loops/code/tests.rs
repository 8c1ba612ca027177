//! Code against the interpreter, on special values of all types.
use super::scalars;
use hlo::op::value::Direction;
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType, Scalar};
use num::Order;
use num::scalar_program::step::ScalarStep;
use num::scalar_program::{CompiledFn, RegisterProgram};
use proptest::prelude::*;

/// Values at which operations have special cases.
fn specials(ty: ElementType) -> Vec<Scalar> {
    let integers = || {
        let bits = i64::from(ty.bits());
        let edges = [0, 1, 2, 3, 5, 7, 100, bits - 1, bits, bits + 1];
        let powers = [1 << (bits - 1), i64::MIN, 0x1234_5678_9abc_def0];
        edges.into_iter().chain(powers).flat_map(|x: i64| [x, x.wrapping_neg(), x.wrapping_sub(1)])
    };
    let floats = || {
        let small = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 7.25, 127.9, 255.5, 1e-3, 65519.0];
        let powers =
            [1.0e10, 2_147_483_648.0, 9.223_372_036_854_776e18, 1.844_674_407_370_955_2e19];
        let ends = [f64::MAX, 3.402_823_5e38, 1e-45, 5e-324, 1e-40, f64::INFINITY, f64::NAN];
        small.into_iter().chain(powers).chain(ends).flat_map(|x| [x, -x])
    };
    let all: Vec<Scalar> = match ty.class() {
        Class::Pred => vec![Scalar::Pred(false), Scalar::Pred(true)],
        Class::Signed => integers().map(Scalar::Signed).collect(),
        Class::Unsigned => integers().map(|x| Scalar::Unsigned(x.cast_unsigned())).collect(),
        Class::Float => floats().map(Scalar::Float).collect(),
        Class::Complex => {
            let pairs =
                floats().step_by(5).flat_map(|re| floats().step_by(7).map(move |im| (re, im)));
            pairs.map(|(re, im)| Scalar::Complex(re, im)).collect()
        }
    };
    all.into_iter().map(|x| x.round_to(ty)).collect()
}

/// The payload of a NaN is not specified.
fn same(a: Scalar, b: Scalar) -> bool {
    let float = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => float(a, b),
        (Scalar::Complex(a, b), Scalar::Complex(c, d)) => float(a, c) && float(b, d),
        _ => a == b,
    }
}

/// Compares the results of a program for these arguments.
fn check(program: &RegisterProgram, code: &dyn CompiledFn, arguments: &[Scalar]) {
    let mut registers = program.registers.clone();
    registers[..arguments.len()].copy_from_slice(arguments);
    program.run(arguments.len(), &mut registers);
    let types: Vec<ElementType> = program.results.iter().map(|&i| program.types[i]).collect();
    let mut results: Vec<Scalar> = types.iter().map(|&ty| Scalar::zero(ty)).collect();
    code.apply((arguments, &program.types[..arguments.len()]), (&mut results, &types));
    for (&register, &found) in program.results.iter().zip(&results) {
        let expected = registers[register];
        let step = register.checked_sub(arguments.len()).map(|i| program.steps[i]);
        assert!(same(found, expected), "{step:?} of {arguments:?}: {found:?}, not {expected:?}");
    }
}

fn compile(program: &RegisterProgram) -> Box<dyn CompiledFn> {
    scalars::compile(program).expect("this processor has a code generator")
}

/// The steps of one operation on values of type `ty` in registers 0, 1 and 2, with the types of
/// their results.
fn steps(ty: ElementType) -> Vec<(ScalarStep, ElementType)> {
    let mut steps = Vec::new();
    let unary = Unary::ALL.iter().filter(|op| op.types().contains(ty));
    steps.extend(
        unary.filter_map(|&op| Some((ScalarStep::Unary(op, ty, 0), op.opcode().result_type(ty)?))),
    );
    let binary = Binary::ALL.iter().filter(|op| op.types().contains(ty));
    steps.extend(
        binary.filter_map(|&op| {
            Some((ScalarStep::Binary(op, ty, 0, 1), op.opcode().result_type(ty)?))
        }),
    );
    let orders: &[Order] = match ty.class() {
        Class::Pred | Class::Unsigned => &[Order::Unsigned],
        Class::Signed => &[Order::Signed],
        Class::Float => &[Order::Float, Order::TotalOrder],
        Class::Complex => &[Order::Float],
    };
    for &order in orders {
        for &direction in Direction::ALL {
            steps.push((ScalarStep::Compare(direction, order, ty, 0, 1), ElementType::Pred));
        }
    }
    if ty.class() != Class::Complex {
        steps.push((ScalarStep::Clamp(ty, 0, 1, 2), ty));
    }
    steps.extend(ElementType::ALL.iter().map(|&to| (ScalarStep::Convert(ty, to, 0), to)));
    steps
}

#[test]
fn each_operation_has_the_bits_of_the_interpreter() {
    for &ty in ElementType::ALL {
        let mut program = RegisterProgram::new(&[ty; 3]);
        program.results = steps(ty).into_iter().map(|(step, ty)| program.add(step, ty)).collect();
        let code = compile(&program);
        let values = specials(ty);
        for (i, &a) in values.iter().enumerate() {
            for (j, &b) in values.iter().enumerate() {
                check(&program, &*code, &[a, b, values[(i * 7 + j * 3) % values.len()]]);
            }
        }
    }
}

/// Builds a program of parameters of these types from numbers that choose its steps.
fn random(parameters: &[ElementType], choices: &[[usize; 4]]) -> RegisterProgram {
    let mut program = RegisterProgram::new(parameters);
    for &[at, which, b, c] in choices {
        let a = at % program.types.len();
        let ty = program.types[a];
        let alike: Vec<usize> =
            (0..program.types.len()).filter(|&i| program.types[i] == ty).collect();
        let operands = [a, alike[b % alike.len()], alike[c % alike.len()]];
        let steps = steps(ty);
        let (step, result) = match steps.get(which % (steps.len() + 2)) {
            Some(&step) => step,
            None if ty == ElementType::Pred => (ScalarStep::Select(0, 1, 2), ty),
            None => {
                let values = specials(ty);
                (ScalarStep::Constant(values[b % values.len()]), ty)
            }
        };
        let step = match step {
            ScalarStep::Constant(x) => ScalarStep::Constant(x),
            ScalarStep::Unary(op, ty, _) => ScalarStep::Unary(op, ty, operands[0]),
            ScalarStep::Convert(from, to, _) => ScalarStep::Convert(from, to, operands[0]),
            ScalarStep::Binary(op, ty, ..) => ScalarStep::Binary(op, ty, operands[0], operands[1]),
            ScalarStep::Compare(direction, order, ty, ..) => {
                // The sign of a NaN that is computed is not specified, and the total order
                // depends on it.
                let given = |&operand: &usize| operand < parameters.len();
                let order = match order {
                    Order::TotalOrder if !operands[..2].iter().all(given) => Order::Float,
                    Order::TotalOrder | Order::Float | Order::Signed | Order::Unsigned => order,
                };
                ScalarStep::Compare(direction, order, ty, operands[0], operands[1])
            }
            ScalarStep::Select(..) => ScalarStep::Select(operands[0], operands[1], operands[2]),
            ScalarStep::Clamp(ty, ..) => {
                ScalarStep::Clamp(ty, operands[0], operands[1], operands[2])
            }
        };
        program.add(step, result);
    }
    program.results = (0..program.types.len()).collect();
    program
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn random_programs_have_the_bits_of_the_interpreter(
        types in prop::collection::vec(0..ElementType::ALL.len(), 1..5),
        choices in prop::collection::vec(any::<[usize; 4]>(), 1..40),
        seed in any::<usize>(),
    ) {
        let types: Vec<ElementType> = types.into_iter().map(|i| ElementType::ALL[i]).collect();
        let program = random(&types, &choices);
        let code = compile(&program);
        for round in 0..40 {
            let value = |(i, &ty): (usize, &ElementType)| {
                let values = specials(ty);
                values[(seed % 1000 + round * (2 * i + 7)) % values.len()]
            };
            let arguments: Vec<Scalar> = types.iter().enumerate().map(value).collect();
            check(&program, &*code, &arguments);
        }
    }
}

#[test]
fn selects_by_a_boolean() {
    let text = "f { p = pred[] parameter(0) a = c64[] parameter(1) b = c64[] parameter(2) ROOT r = c64[] select(p, a, b) } \
        ENTRY e { ROOT x = f32[] constant(0) }";
    let module = hlo::Module::parse(text).unwrap().verify().unwrap();
    let (id, _) = module.module().computations.iter().find(|(_, c)| c.name == "f").unwrap();
    let mut program =
        RegisterProgram::new(&[ElementType::Pred, ElementType::C64, ElementType::C64]);
    let arguments = [vec![0], vec![1], vec![2]];
    program.results = program.compile(module.module(), id, &arguments).unwrap();
    let code = compile(&program);
    for p in [false, true] {
        check(
            &program,
            &*code,
            &[Scalar::Pred(p), Scalar::Complex(1.0, 2.0), Scalar::Complex(-0.0, f64::NAN)],
        );
    }
}
