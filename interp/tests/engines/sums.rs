//! Sums of rows and columns: the same bits as the definition, whatever cancels and whatever is
//! halfway.
use crate::windows::{elements, engines_agree};
use hlo::{ArrayShape, ElementType, Literal, Scalar};

/// How an array is reduced: its dimensions, the reduced ones, and those of the result.
const SHAPES: [(&str, &str, &str); 20] = [
    ("7,33", "1", "7"),
    ("33,7", "0", "7"),
    ("3,1024", "1", "3"),
    ("9,700", "0", "700"),
    ("600,3", "0", "3"),
    ("5,40,6", "1", "5,6"),
    ("5,40,6", "0,2", "40"),
    ("2,3,4,50", "1,3", "2,4"),
    ("9000", "0", ""),
    ("2,5000", "1", "2"),
    ("1,65", "0", "65"),
    ("4,0", "1", "4"),
    // Short runs and rows beside one another, which are not folded one after another.
    ("6,2,9,3,20", "1,3", "6,9,20"),
    ("3,2,300,3", "1,3", "3,300"),
    ("300,20,4", "0,2", "20"),
    // Few elements.
    ("90,3", "1", "90"),
    ("5,41,8", "2", "5,41"),
    ("4,3,70,5", "1,3", "4,70"),
    ("3,700", "0", "700"),
    ("5,32,19", "1", "5,19"),
];

fn dims(text: &str) -> Vec<i64> {
    text.split(',').map(|n| n.parse().unwrap()).collect()
}

/// Elements of few bits, of which sums are often halfway between two numbers of the type; some
/// cancel.
fn coarse(ty: ElementType, dims: &[i64], seed: u32) -> Literal {
    let (mut state, mut bytes) = (seed, Vec::new());
    let shape = ArrayShape::new(ty, dims);
    for _ in 0..shape.element_count().unwrap() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = f64::from(state >> 20) / 4096.0 - if seed.is_multiple_of(2) { 0.5 } else { 0.0 };
        let mut element = vec![0; ty.storage_bytes()];
        Scalar::Float(x).convert(ElementType::F64, ty).write(ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(shape, &bytes).unwrap()
}

#[test]
fn sums_of_rows_and_columns_are_exact() {
    for (shape, reduced, result) in SHAPES {
        for (ty, wide) in
            [("bf16", "f32"), ("f16", "f32"), ("bf16", "bf16"), ("f16", "f16"), ("f32", "f32")]
        {
            for (seed, first) in [(1, "0"), (2, "-0"), (3, "1e-3"), (4, "-2"), (5, "3e4")] {
                // The operand is widened, if it is, where it is summed.
                let text = format!(
                    "sum {{ a = {wide}[] parameter(0) b = {wide}[] parameter(1) ROOT c = {wide}[] add(a, b) }}
                     ENTRY e {{ p = {ty}[{shape}] parameter(0) w = {wide}[{shape}] convert(p) z = {wide}[] constant({first})
                       ROOT r = {wide}[{result}] reduce(w, z), dimensions={{{reduced}}}, to_apply=sum }}"
                );
                let element = ElementType::from_name(ty).unwrap();
                engines_agree(&text, &[coarse(element, &dims(shape), seed)]);
                engines_agree(&text, &[elements(element, &dims(shape), seed, seed == 4)]);
            }
        }
    }
}

#[test]
fn a_widened_operand_is_summed_and_used() {
    let text = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY e { p = bf16[40,300] parameter(0) w = f32[40,300] convert(p) z = f32[] constant(0)
          r = f32[40] reduce(w, z), dimensions={1}, to_apply=sum d = f32[40,300] broadcast(r), dimensions={0}
          s = f32[40,300] subtract(w, d) q = f32[40,300] multiply(s, s)
          v = f32[40] reduce(q, z), dimensions={1}, to_apply=sum u = f32[40] reduce(w, z), dimensions={1}, to_apply=sum
          n = bf16[40,300] negate(p) ROOT t = (f32[40], f32[40], bf16[40,300]) tuple(v, u, n) }";
    for seed in [1, 2] {
        engines_agree(text, &[coarse(ElementType::Bf16, &[40, 300], seed)]);
        engines_agree(text, &[elements(ElementType::Bf16, &[40, 300], seed, seed == 2)]);
    }
}

/// Sums of whole numbers that have up to two bits more than the type: a quarter of them are halfway
/// between two numbers, and some beside that.
#[test]
fn short_sums_that_are_halfway() {
    for (ty, bits) in [("f32", 24), ("bf16", 8), ("f16", 10), ("f64", 53)] {
        let ty = ElementType::from_name(ty).unwrap();
        let whole = |dims: &[i64], seed: u64| {
            let (mut state, mut bytes) = (seed, Vec::new());
            let shape = ArrayShape::new(ty, dims);
            for _ in 0..shape.element_count().unwrap() {
                state =
                    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let number = i32::try_from(state >> 33 & 0xffff).unwrap();
                let number = f64::from(number - (1 << 15)) * 2_f64.powi(bits - 15);
                let rest = f64::from(i32::try_from(state >> 50 & 0x3fff).unwrap()) - 8192.0;
                let x = Scalar::Float(match ty.bits() > 16 {
                    _ if (state >> 20).is_multiple_of(32) => 2_f64.powi(-20),
                    true => number + rest,
                    false => rest.rem_euclid(256.0),
                });
                let mut element = vec![0; ty.storage_bytes()];
                x.convert(ElementType::F64, ty).write(ty, &mut element);
                bytes.append(&mut element);
            }
            Literal::from_bytes(shape, &bytes).unwrap()
        };
        let add = format!(
            "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT r = {ty}[] add(a, b) }}"
        );
        for (shape, reduced, result) in SHAPES {
            let text = format!(
                "{add} ENTRY e {{ p = {ty}[{shape}] parameter(0) z = {ty}[] constant(1)
                   ROOT r = {ty}[{result}] reduce(p, z), dimensions={{{reduced}}}, to_apply=f }}"
            );
            for seed in [1, 2] {
                engines_agree(&text, &[whole(&dims(shape), seed)]);
            }
        }
        for (shape, window, result) in [
            ("700", "size=3", "698"),
            ("1100", "size=2 pad=1_0", "1100"),
            ("40,30", "size=3x3 pad=1_1x1_1", "40,30"),
            ("9,20,8", "size=1x5x1", "9,16,8"),
            ("300", "size=4 stride=2", "149"),
        ] {
            let text = format!(
                "{add} ENTRY e {{ p = {ty}[{shape}] parameter(0) z = {ty}[] constant(0)
                   ROOT r = {ty}[{result}] reduce-window(p, z), window={{{window}}}, to_apply=f }}"
            );
            for seed in [3, 4] {
                engines_agree(&text, &[whole(&dims(shape), seed)]);
            }
        }
    }
}
