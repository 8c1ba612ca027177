//! Elementwise steps on arrays of many vectors in loops: with the bits of the reference in code, in
//! every type that vectors have.
use super::{canonical, compiled, run};
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};
use proptest::prelude::*;
use std::fmt::Write;

/// Rounds after which a loop has been code for most of them.
const ROUNDS: i64 = 3000;

/// Returns an array of special values and others.
fn special(ty: ElementType, count: usize, seed: usize) -> Literal {
    let floats = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, f64::NAN, f64::INFINITY, -f64::INFINITY]
        .into_iter()
        .chain([3e9, -3e9, 1e-40, 2_147_483_648.0, -7.25, 1e30, 4_294_967_295.0, 9.3e18]);
    let floats: Vec<f64> = floats.collect();
    let integers = [0, 1, -1, 2, i64::MAX, i64::MIN, 1 << 31, (1 << 31) - 1, -(1 << 31), 77, -1234];
    let mut bytes = Vec::new();
    for i in 0..count {
        let at = i * 7 + seed * 3 + i / 5;
        let value = match ty {
            ElementType::Pred => Scalar::Pred(at.is_multiple_of(3)),
            ElementType::F32 | ElementType::F64 => Scalar::Float(floats[at % floats.len()]),
            _ => Scalar::Signed(integers[at % integers.len()]).convert(ElementType::S64, ty),
        };
        let mut element = vec![0; ty.storage_bytes()];
        value.round_to(ty).write(ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(ArrayShape::new(ty, [i64::try_from(count).unwrap()].as_slice()), &bytes)
        .unwrap()
}

/// Steps of a body, which numbers choose.
struct Body {
    /// The types of floats and of two integers.
    types: [&'static str; 3],
    count: usize,
    text: String,
    values: Vec<(&'static str, String)>,
}

impl Body {
    fn pick(&self, ty: &str, choice: usize) -> &str {
        let found: Vec<&(&str, String)> = self.values.iter().filter(|(of, _)| *of == ty).collect();
        &found[choice % found.len()].1
    }
    fn add(&mut self, ty: &'static str, value: &str) {
        let name = format!("v{}", self.values.len());
        let _ = writeln!(self.text, "  {name} = {ty}[{}] {value}", self.count);
        self.values.push((ty, name));
    }

    fn step(&mut self, [which, a, b, c]: [usize; 4]) {
        let [float, signed, unsigned] = self.types;
        let integer = if c % 2 == 0 { signed } else { unsigned };
        let of = |ty: &str, choice: usize| self.pick(ty, choice).to_string();
        let pick = |list: &[&'static str]| list[c % list.len()];
        let orders = ["EQ", "NE", "GE", "GT", "LE", "LT"];
        let (ty, value) = match which % 14 {
            0 | 1 => {
                let op = pick(&["add", "subtract", "multiply", "divide", "maximum", "minimum"]);
                (float, format!("{op}({}, {})", of(float, a), of(float, b)))
            }
            2 => {
                let list =
                    ["abs", "ceil", "floor", "negate", "round-nearest-even", "sqrt", "exponential"];
                (float, format!("{}({})", pick(&list), of(float, a)))
            }
            3 => {
                let list =
                    ["add", "subtract", "multiply", "and", "or", "xor", "maximum", "minimum"];
                let op = list[c / 2 % list.len()];
                (integer, format!("{op}({}, {})", of(integer, a), of(integer, b)))
            }
            4 => (
                integer,
                format!("{}({})", if c % 4 < 2 { "negate" } else { "not" }, of(integer, a)),
            ),
            5 => {
                let op = pick(&["and", "or", "xor"]);
                ("pred", format!("{op}({}, {})", of("pred", a), of("pred", b)))
            }
            6 => ("pred", format!("not({})", of("pred", a))),
            7 | 8 => {
                let ty = if which % 2 == 0 { float } else { integer };
                let order = pick(&orders);
                ("pred", format!("compare({}, {}), direction={order}", of(ty, a), of(ty, b)))
            }
            9 => {
                let ty = [float, integer, "pred"][c / 2 % 3];
                (ty, format!("select({}, {}, {})", of("pred", c), of(ty, a), of(ty, b)))
            }
            10 => {
                let ty = if c / 2 % 2 == 0 { float } else { integer };
                (ty, format!("clamp({}, {}, {})", of(ty, a), of(ty, b), of(ty, c)))
            }
            11 => {
                let types = [float, signed, unsigned, "pred"];
                (types[b % 4], format!("convert({})", of(types[c % 4], a)))
            }
            // The other way, the bits of a NaN would be seen.
            12 => (float, format!("bitcast-convert({})", of(integer, a))),
            _ => {
                let ty = if c / 2 % 2 == 0 { float } else { integer };
                (ty, format!("broadcast({ty}_one), dimensions={{}}"))
            }
        };
        self.add(ty, &value);
    }
}

/// Returns a module whose loop computes these steps of its operands, which stay, and of the number
/// of the round.
fn module(types: [&'static str; 3], count: usize, steps: &[[usize; 4]]) -> String {
    let mut body = Body { types, count, text: String::new(), values: Vec::new() };
    let [float, signed, unsigned] = types;
    let all = [float, float, signed, unsigned, "pred"];
    for (k, ty) in all.into_iter().enumerate() {
        body.add(ty, &format!("get-tuple-element(s), index={}", k + 1));
    }
    for &step in steps {
        body.step(step);
    }
    let last = |ty: &str| body.values.iter().rev().find(|(of, _)| *of == ty).unwrap().1.clone();
    let results = types.map(&last);
    let shape = |ty: &str| format!("{ty}[{count}]");
    let carried: Vec<String> = all.into_iter().chain(types).chain(["pred"]).map(shape).collect();
    let state = format!("(s32[], {})", carried.join(", "));
    let ones = types.map(|ty| format!("  {ty}_one = {ty}[] convert(i)\n")).concat();
    let parameters: Vec<String> =
        (0..5).map(|k| format!("  p{k} = {} parameter({k})\n", shape(all[k]))).collect();
    let parameters = parameters.concat();
    format!(
        "body {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(1)\n
  next = s32[] add(i, one)\n{ones}{text}
  ROOT r = {state} tuple(next, v0, v1, v2, v3, v4, {results}, {mask})\n}}
condition {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant({ROUNDS})
  ROOT c = pred[] compare(i, n), direction=LT\n}}
ENTRY e {{\n{parameters}  first = s32[] parameter(5)
  s = {state} tuple(first, p0, p1, p2, p3, p4, p0, p2, p3, p4)
  ROOT w = {state} while(s), condition=condition, body=body\n}}",
        text = body.text,
        results = results.join(", "),
        mask = last("pred"),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn chains_have_the_bits_of_the_reference(
        is_wide in any::<bool>(),
        count in prop_oneof![9..65usize, 65..140usize, 250..270usize, Just(512usize), 515..700usize],
        steps in prop::collection::vec([0..140usize, 0..40usize, 0..40usize, 0..48usize], 3..24),
    ) {
        let types = if is_wide { ["f64", "s64", "u64"] } else { ["f32", "s32", "u32"] };
        let text = module(types, count, &steps);
        let types: Vec<ElementType> = [types[0], types[0], types[1], types[2], "pred"]
            .iter()
            .map(|ty| ElementType::from_name(ty).unwrap())
            .collect();
        let arguments = |first: i64| {
            let arrays = types.iter().zip(1..).map(|(&ty, seed)| special(ty, count, seed));
            let first: Literal = format!("s32[] {first}").parse().unwrap();
            arrays.chain([first]).collect::<Vec<Literal>>()
        };
        // The last round tells the results.
        let found = run(&compiled(&text, Engine::Exact), &arguments(0), &RunOptions::default());
        let reference = compiled(&text, Engine::Reference);
        let expected = run(&reference, &arguments(ROUNDS - 1), &RunOptions::default());
        prop_assert_eq!(canonical(&found.result), canonical(&expected.result), "{}", text);
    }
}
