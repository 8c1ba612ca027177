//! Paths that types, layouts and long arrays take which random modules seldom have.
use crate::{agree, agree_on};
use hlo::{Array, ArrayShape, ElementType, Literal, Scalar};

/// Numbers of a type, its special ones among them: every code of narrow types.
fn numbers(shape: &str) -> Literal {
    let hlo::Shape::Array(shape) = shape.parse::<hlo::Shape>().unwrap() else { panic!("{shape}") };
    let mut array = Array::zeros(ArrayShape::clone(&shape));
    let mut state = 7_u64;
    for i in 0..array.len() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(99);
        let number = f64::from(u32::try_from(state >> 40).unwrap()) / 2_097_152.0 - 4.0;
        let x = match shape.ty.class() {
            hlo::Class::Complex => Scalar::Complex(number, number * 0.75 - 1.0),
            hlo::Class::Float if i % 37 == 36 => Scalar::Float(f64::NAN),
            hlo::Class::Float if i % 41 == 40 => Scalar::Float(f64::INFINITY),
            hlo::Class::Float => Scalar::Float(number),
            _ => Scalar::Signed(i64::try_from(state >> 33).unwrap()),
        };
        array.set(i, x.round_to(shape.ty));
    }
    Literal::Array(array)
}

/// Runs a module in each engine, with numbers of these shapes as arguments.
fn same_bits(body: &str, arguments: &[&str]) {
    let text = with_computations(&format!("ENTRY e {{ {body} }}"));
    let arguments: Vec<Literal> = arguments.iter().map(|shape| numbers(shape)).collect();
    agree_on(&text, &arguments);
}

/// The computations that bodies call, each in the type that its name ends with.
fn with_computations(text: &str) -> String {
    let all = ElementType::ALL.iter().flat_map(|ty| {
        ["add", "multiply", "maximum"].map(|op| match text.contains(&format!("to_apply={op}_{ty} ")) {
            true => format!(
                "{op}_{ty} {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] {op}(a, b) }}\n"
            ),
            false => String::new(),
        })
    });
    all.collect::<String>() + text
}

fn floats() -> impl Iterator<Item = ElementType> {
    ElementType::ALL.iter().copied().filter(|ty| ty.is_float())
}

#[test]
fn sums_of_narrow_floats() {
    for ty in floats().filter(|ty| ty.bits() <= 16) {
        for dims in ["0", "1", "0,1"] {
            let kept = match dims {
                "0" => "37",
                "1" => "53",
                _ => "",
            };
            same_bits(
                &format!(
                    "x = {ty}[53,37] parameter(0) z = {ty}[] parameter(1)
                  ROOT r = {ty}[{kept}] reduce(x, z), dimensions={{{dims}}}, to_apply=add_{ty} "
                ),
                &[&format!("{ty}[53,37]"), &format!("{ty}[]")],
            );
        }
        for window in ["size=3x3 pad=1_1x1_1", "size=1x37 pad=0_0x36_0", "size=53x1 pad=52_0x0_0"] {
            same_bits(
                &format!("x = {ty}[53,37] parameter(0) z = {ty}[] parameter(1)
                  ROOT r = {ty}[53,37] reduce-window(x, z), window={{{window}}}, to_apply=add_{ty} "),
                &[&format!("{ty}[53,37]"), &format!("{ty}[]")],
            );
        }
    }
}

#[test]
fn maps_and_clamps_of_every_type() {
    for &ty in ElementType::ALL {
        let pair = [&*format!("{ty}[3,301]"), &*format!("{ty}[3,301]")];
        for op in ["add", "multiply", "maximum"] {
            same_bits(
                &format!(
                    "x = {ty}[3,301] parameter(0) y = {ty}[3,301] parameter(1)
                  ROOT r = {ty}[3,301] map(x, y), dimensions={{0,1}}, to_apply={op}_{ty} "
                ),
                &pair,
            );
        }
        if !ty.is_complex() {
            same_bits(
                &format!("x = {ty}[3,301] parameter(0) y = {ty}[3,301] parameter(1) z = {ty}[3,301] parameter(2)
                  ROOT r = {ty}[3,301] clamp(x, y, z)"),
                &[pair[0], pair[0], pair[0]],
            );
        }
    }
}

#[test]
fn progressions_of_every_type() {
    for &ty in ElementType::ALL.iter().filter(|&&ty| ty != ElementType::Pred) {
        for (shape, dim) in [("3,1201", 1), ("700,3", 0), ("5", 0)] {
            agree(&format!("ENTRY e {{ ROOT r = {ty}[{shape}] iota(), iota_dimension={dim} }}"));
        }
    }
}

#[test]
fn random_bits_of_long_arrays() {
    for ty in ["u1", "u4", "u8", "u16", "u32", "u64"] {
        for shape in ["9001", "3,4097", "2,4097,3", "7,5,301", "1", "0", "5,0", ""] {
            for (algorithm, state) in
                [("rng_three_fry", 2), ("rng_philox", 2), ("rng_philox", 3), ("rng_default", 3)]
            {
                same_bits(
                    &format!("s = u64[{state}] parameter(0)
                      ROOT r = (u64[{state}], {ty}[{shape}]) rng-bit-generator(s), algorithm={algorithm}"),
                    &[&format!("u64[{state}]")],
                );
            }
        }
    }
}

#[test]
fn first_elements_of_long_rows() {
    for ty in ["f32", "bf16", "s8", "u64", "f8e4m3fn", "f64"] {
        for (size, k) in
            [(3000, 1), (3000, 5), (300, 64), (70, 17), (70, 70), (64, 16), (65, 16), (40, 0)]
        {
            for largest in [true, false] {
                same_bits(
                    &format!(
                        "x = {ty}[3,{size}] parameter(0)
                      ROOT r = ({ty}[3,{k}], s32[3,{k}]) topk(x), k={k}, largest={largest}"
                    ),
                    &[&format!("{ty}[3,{size}]")],
                );
            }
        }
    }
}

#[test]
fn scaled_products_whose_factors_need_f32_or_f64() {
    for (ty, scale) in
        [("f8e4m3fn", "f8e8m0fnu"), ("f8e5m2", "f8e8m0fnu"), ("bf16", "f32"), ("f64", "f64")]
    {
        same_bits(
            &format!("x = {ty}[5,64] parameter(0) y = {ty}[7,64] parameter(1) a = {scale}[5,2] parameter(2) b = {scale}[7,2] parameter(3)
              ROOT r = f32[5,7] scaled-dot(x, y, a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}"),
            &[&format!("{ty}[5,64]"), &format!("{ty}[7,64]"), &format!("{scale}[5,2]"), &format!("{scale}[7,2]")],
        );
    }
}
