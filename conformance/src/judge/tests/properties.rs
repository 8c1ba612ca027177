//! Properties over random programs: other correct evaluations are legal, and planted errors are
//! not, at any scale.
#![expect(clippy::format_push_string, reason = "a program is a text")]
use super::*;
use hlo::ElementType;
use interp::run;
use proptest::prelude::*;

/// Elements of each vector.
const SIZE: usize = 16;

/// A program: each step computes a vector from two earlier ones.
#[derive(Debug, Clone)]
struct Program {
    steps: Vec<(usize, usize, usize)>,
    x: Vec<f64>,
    scale: f64,
}

/// The property that a backend may lack or have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    /// Sums take their terms in the opposite order.
    Reversed,
    /// The last sum lacks its first term.
    LostTerm,
    /// The last sum counts its first term twice.
    DoubledTerm,
    /// The operands of the last difference are swapped.
    Swapped,
    /// The last vector is rotated by one element.
    OffByOne,
}

impl Program {
    /// Returns the text, with values of this type; the result is the last vector, or all of them.
    fn text(&self, ty: &str, change: Change, all: bool) -> String {
        let v = format!("{ty}[{SIZE}]");
        let mut text = format!(
            "HloModule m\nadd {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}\n\
             ENTRY e {{ v0 = {v} parameter(0) zero = {ty}[] constant(0) one = {ty}[] constant(1) ones = {v} broadcast(one), dimensions={{}}\n"
        );
        for (i, &(op, a, b)) in self.steps.iter().enumerate() {
            let last = i + 1 == self.steps.len();
            let (a, b, r) = (a % (i + 1), b % (i + 1), i + 1);
            let change = if last || change == Change::Reversed { change } else { Change::None };
            let line = match op % 9 {
                0 => format!("v{r} = {v} add(v{a}, v{b})"),
                1 if change == Change::Swapped => format!("v{r} = {v} subtract(v{b}, v{a})"),
                1 => format!("v{r} = {v} subtract(v{a}, v{b})"),
                2 => format!("v{r} = {v} multiply(v{a}, v{b})"),
                3 => format!("v{r} = {v} maximum(v{a}, v{b})"),
                4 => format!("v{r} = {v} tanh(v{a})"),
                5 => format!(
                    "n{r} = {v} abs(v{b}) d{r} = {v} add(n{r}, ones) v{r} = {v} divide(v{a}, d{r})"
                ),
                6 => format!("n{r} = {v} abs(v{a}) v{r} = {v} sqrt(n{r})"),
                7 => {
                    let terms = Self::terms(ty, a, r, change);
                    format!(
                        "{terms} s{r} = {ty}[] reduce(t{r}, zero), dimensions={{0}}, to_apply=add v{r} = {v} broadcast(s{r}), dimensions={{}}"
                    )
                }
                _ => {
                    let terms = Self::terms(ty, a, r, change);
                    let other = if change == Change::Reversed {
                        format!("o{r} = {v} reverse(v{b}), dimensions={{0}}")
                    } else {
                        format!("o{r} = {v} copy(v{b})")
                    };
                    let other = if change == Change::DoubledTerm {
                        format!(
                            "w{r} = {ty}[1] slice(v{b}), slice={{[0:1]}} o{r} = {ty}[17] concatenate(v{b}, w{r}), dimensions={{0}}"
                        )
                    } else {
                        other
                    };
                    format!(
                        "{terms} {other} s{r} = {ty}[] dot(t{r}, o{r}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}, operand_precision={{highest,highest}} v{r} = {v} broadcast(s{r}), dimensions={{}}"
                    )
                }
            };
            text.push_str(&line);
            text.push('\n');
        }
        let last = self.steps.len();
        if all {
            let names: Vec<String> = (0..=last).map(|i| format!("v{i}")).collect();
            let shapes = vec![v; last + 1].join(", ");
            text.push_str(&format!("ROOT all = ({shapes}) tuple({})\n}}", names.join(", ")));
        } else if change == Change::OffByOne {
            text.push_str(&format!(
                "h = {ty}[1] slice(v{last}), slice={{[0:1]}} l = {ty}[15] slice(v{last}), slice={{[1:16]}}
                 ROOT r = {v} concatenate(l, h), dimensions={{0}} }}"
            ));
        } else {
            text.push_str(&format!("ROOT r = {v} copy(v{last}) }}"));
        }
        text
    }

    /// Returns the terms of a sum, `t{r}`.
    fn terms(ty: &str, a: usize, r: usize, change: Change) -> String {
        let v = format!("{ty}[{SIZE}]");
        match change {
            Change::Reversed => format!("t{r} = {v} reverse(v{a}), dimensions={{0}}"),
            Change::LostTerm => format!(
                "k{r} = {ty}[15] slice(v{a}), slice={{[1:16]}} t{r} = {v} pad(k{r}, zero), padding=1_0"
            ),
            Change::DoubledTerm => format!(
                "k{r} = {ty}[1] slice(v{a}), slice={{[0:1]}} t{r} = {ty}[17] concatenate(v{a}, k{r}), dimensions={{0}}"
            ),
            Change::None | Change::Swapped | Change::OffByOne => format!("t{r} = {v} copy(v{a})"),
        }
    }

    fn argument(&self, ty: ElementType) -> Literal {
        let x: Vec<f64> = self.x.iter().map(|x| x * self.scale).collect();
        range::converted(&Literal::from_slice(&[16], &x), ty)
    }
    fn run(&self, ty: ElementType, change: Change, all: bool, argument: &Literal) -> Literal {
        let verified = Module::parse(&self.text(ty.name(), change, all)).unwrap().verify().unwrap();
        run(&verified, &[range::converted(argument, ty)]).unwrap()
    }
    fn judge(&self, ty: ElementType, argument: &Literal, actual: &Literal) -> Judgement {
        let text = self.text(ty.name(), Change::None, false);
        let verified = Module::parse(&text).unwrap().verify().unwrap();
        let expected = self.run(ty, Change::None, false, argument);
        judge(&verified, &[vec![argument.clone()]], &[expected], std::slice::from_ref(actual))
    }
}

fn programs(steps: usize) -> impl Strategy<Value = Program> {
    let step = (0usize..9, 0usize..8, 0usize..8);
    let x = proptest::collection::vec(-1.0f64..1.0, SIZE);
    (proptest::collection::vec(step, 1..=steps), x, -12i32..12)
        .prop_map(|(steps, x, scale)| Program { steps, x, scale: 10f64.powi(scale) })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Sums in another order, and with all values in a wider type, are legal.
    #[test]
    fn other_evaluations_are_legal(program in programs(7)) {
        for ty in [ElementType::F32, ElementType::Bf16] {
            let argument = program.argument(ty);
            for wide in [ty, ElementType::F32, ElementType::F64] {
                for change in [Change::None, Change::Reversed] {
                    let actual = range::converted(&program.run(wide, change, false, &argument), ty);
                    let judgement = program.judge(ty, &argument, &actual);
                    prop_assert!(judgement.verdict != Verdict::Differs, "{judgement:?}\n{}", program.text(ty.name(), change, false));
                }
            }
        }
    }

    /// An error of a hundredth of the largest number that takes part is found.
    #[test]
    fn planted_errors_differ(program in programs(3)) {
        let ty = ElementType::F32;
        let argument = program.argument(ty);
        let right = program.run(ty, Change::None, false, &argument);
        let all = program.run(ty, Change::None, true, &argument);
        let numbers = all.leaves().into_iter().flat_map(|leaf| leaf.as_slice::<f32>().unwrap().to_vec());
        let largest = numbers.map(f32::abs).fold(0.0, f32::max);
        prop_assume!(largest < 1e30 && largest > 1e-30);
        for change in [Change::LostTerm, Change::DoubledTerm, Change::Swapped, Change::OffByOne] {
            let wrong = program.run(ty, change, false, &argument);
            let pairs = right.as_slice::<f32>().unwrap().iter().zip(wrong.as_slice::<f32>().unwrap());
            let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            if error > largest * 1e-2 {
                let judgement = program.judge(ty, &argument, &wrong);
                prop_assert_eq!(judgement.verdict, Verdict::Differs, "{:?} {:?}\n{}", change, judgement, program.text("f32", change, false));
            }
        }
    }
}

/// A right instruction and a wrong one, of a matrix and its transpose.
const PAIRS: [(&str, &str); 8] = [
    (
        "f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}",
        "f32[4,4] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}",
    ),
    ("f32[4,4] clamp(low, x, high)", "f32[4,4] clamp(low, x, low)"),
    ("f32[4,4] divide(x, y)", "f32[4,4] divide(y, x)"),
    ("f32[4,4] atan2(x, y)", "f32[4,4] atan2(y, x)"),
    (
        "f32[4] reduce(x, zero), dimensions={0}, to_apply=add",
        "f32[4] reduce(x, zero), dimensions={1}, to_apply=add",
    ),
    (
        "f32[4,4] reduce-window(x, zero), window={size=1x3 pad=0_0x1_1}, to_apply=add",
        "f32[4,4] reduce-window(x, zero), window={size=1x3 pad=0_0x2_0}, to_apply=add",
    ),
    ("f32[4,4] reverse(x), dimensions={0}", "f32[4,4] reverse(x), dimensions={1}"),
    ("f32[4,4] remainder(x, y)", "f32[4,4] remainder(y, x)"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Swapped operands, other dimensions, another padding and a wrong limit are found at any
    /// scale.
    #[test]
    fn wrong_instructions_differ(x in proptest::collection::vec(0.1f32..1.0, SIZE), scale in -18i32..18) {
        let scale = 10f32.powi(scale);
        let x: Vec<f32> = x.iter().enumerate().map(|(i, x)| (x + f32::from(u8::try_from(i).unwrap())) * scale).collect();
        let argument = Literal::from_slice(&[4, 4], &x);
        for (right, wrong) in PAIRS {
            let verified = |line: &str| {
                let text = format!(
                    "HloModule m\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}\n\
                     ENTRY e {{ x = f32[4,4] parameter(0) y = f32[4,4] transpose(x), dimensions={{1,0}}\n\
                     zero = f32[] constant(0) low = f32[] constant(1e-30) high = f32[] constant(1e30) ROOT r = {line} }}"
                );
                Module::parse(&text).unwrap().verify().unwrap()
            };
            let arguments = std::slice::from_ref(&argument);
            let expected = run(&verified(right), arguments).unwrap();
            let actual = run(&verified(wrong), arguments).unwrap();
            let judgement = judge(&verified(right), &[arguments.to_vec()], &[expected], &[actual]);
            prop_assert_eq!(judgement.verdict, Verdict::Differs, "{} {:?}", wrong, judgement);
        }
    }
}
