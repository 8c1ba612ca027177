//! Gathers and scatters: the same bits as the definitions, whatever the order of dimensions, the
//! lengths of runs and the types.
use crate::compiled;
use crate::windows::{elements, engines_agree};
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

/// An operand, indices, and the slices of the operand that the indices select.
struct Case {
    operand: &'static str,
    indices: &'static str,
    slices: &'static str,
    /// The dimensions of `slices` that are those of a slice.
    windows: &'static str,
    collapsed: &'static str,
    map: &'static str,
    /// The batching dimensions of the operand, and of the indices.
    batching: (&'static str, &'static str),
    vector: i64,
    sizes: &'static str,
}

macro_rules! cases {
    ($($operand:literal at $indices:literal is $slices:literal of $windows:literal, $collapsed:literal, $map:literal, $batching:expr, $vector:literal, $sizes:literal;)*) => {
        [$(Case {
            operand: $operand,
            indices: $indices,
            slices: $slices,
            windows: $windows,
            collapsed: $collapsed,
            map: $map,
            batching: $batching,
            vector: $vector,
            sizes: $sizes,
        }),*]
    };
}

/// More than a block of index vectors, in most; runs of every length that has a copy of its own.
const CASES: [Case; 31] = cases! {
    "700" at "600,1" is "600" of "", "0", "0", ("", ""), 1, "1";
    "7" at "600" is "600" of "", "0", "0", ("", ""), 1, "1";
    "7" at "600" is "600,1" of "1", "", "0", ("", ""), 1, "1";
    "9,12" at "500,2" is "500" of "", "0,1", "1,0", ("", ""), 1, "1,1";
    "9,12" at "2,500" is "500" of "", "0,1", "0,1", ("", ""), 0, "1,1";
    "9,12" at "5,2,90" is "5,90" of "", "0,1", "1,0", ("", ""), 1, "1,1";
    "3,4,5" at "300,3" is "300" of "", "0,1,2", "2,0,1", ("", ""), 1, "1,1,1";
    "3,1,4,2,3" at "300,5" is "300" of "", "0,1,2,3,4", "0,2,4,1,3", ("", ""), 1, "1,1,1,1,1";
    "90,2" at "300,1" is "300,2" of "1", "0", "0", ("", ""), 1, "1,2";
    "90,3" at "300,1" is "300,3" of "1", "0", "0", ("", ""), 1, "1,3";
    "20,5" at "30,1" is "30,5" of "1", "0", "0", ("", ""), 1, "1,5";
    "20,9" at "30,1" is "30,8" of "1", "0", "0", ("", ""), 1, "1,8";
    "20,17" at "30,1" is "30,17" of "1", "0", "0", ("", ""), 1, "1,17";
    "20,70" at "30,1" is "30,70" of "1", "0", "0", ("", ""), 1, "1,70";
    "9,60" at "300,1" is "9,300" of "0", "1", "1", ("", ""), 1, "9,1";
    "4,30,5" at "300,1" is "4,300,5" of "0,2", "1", "1", ("", ""), 1, "4,1,5";
    "40" at "300,1" is "300,4" of "1", "", "0", ("", ""), 1, "4";
    "40" at "300,1" is "4,300" of "0", "", "0", ("", ""), 1, "4";
    "9,12" at "100,2" is "100,3,4" of "1,2", "", "0,1", ("", ""), 1, "3,4";
    "9,12" at "100,2" is "3,100,4" of "0,2", "", "1,0", ("", ""), 1, "3,4";
    "6,50" at "6,70,1" is "6,70" of "", "1", "1", ("0", "0"), 2, "1,1";
    "50,6" at "70,6,1" is "70,6" of "", "0", "0", ("1", "1"), 2, "1,1";
    "3,50,6" at "6,1,3,20" is "6,3,20" of "", "1", "1", ("0,2", "2,0"), 1, "1,1,1";
    "5,6,7" at "6,40" is "6,2,40" of "1", "2", "2", ("1", "0"), 2, "2,1,1";
    "8,9,10" at "300,2" is "300,9" of "1", "0,2", "0,2", ("", ""), 1, "1,9,1";
    "30,3" at "7,11,1" is "7,3,11" of "1", "0", "0", ("", ""), 2, "1,3";
    "30,2,3" at "7,11,1" is "2,7,3,11" of "0,2", "0", "0", ("", ""), 2, "1,2,3";
    "5,6" at "4,1" is "4,0" of "1", "0", "0", ("", ""), 1, "1,0";
    "0,6" at "4,1" is "0,4" of "0", "1", "1", ("", ""), 1, "0,1";
    "5,6" at "0" is "3,5" of "0,1", "", "", ("", ""), 0, "3,5";
    "5,6" at "0,2" is "0,3" of "1", "0", "0,1", ("", ""), 1, "1,3";
};

fn dims(text: &str) -> Vec<i64> {
    text.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect()
}

/// Indices, of which some are outside the operand; the least and the greatest of the type are among
/// them.
fn indices(ty: ElementType, case: &Case) -> Literal {
    let shape = ArrayShape::new(ty, dims(case.indices));
    let most = dims(case.operand).into_iter().max().unwrap_or(0);
    let mut bytes = Vec::new();
    for i in 0..i64::try_from(shape.element_count().unwrap()).unwrap() {
        let index = match i % 37 {
            11 if ty.class() == Class::Signed => Scalar::Signed(i64::MIN >> (64 - ty.bits())),
            12 if ty.class() == Class::Signed => Scalar::Signed(i64::MAX >> (64 - ty.bits())),
            12 => Scalar::Unsigned(u64::MAX >> (64 - ty.bits())),
            13 if ty.class() == Class::Signed => Scalar::Signed(-1),
            _ => Scalar::Signed(i * 7 % (most + 2)).convert(ElementType::S64, ty),
        };
        let mut element = vec![0; ty.storage_bytes()];
        index.write(ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(shape, &bytes).unwrap()
}

fn check_gather(case: &Case, ty: &str, index: &str) {
    let Case { operand, indices: at, slices, windows, collapsed, map, batching, vector, sizes } =
        case;
    let text = format!(
        "ENTRY e {{ p = {ty}[{operand}] parameter(0) i = {index}[{at}] parameter(1)
          ROOT r = {ty}[{slices}] gather(p, i), offset_dims={{{windows}}}, collapsed_slice_dims={{{collapsed}}}, start_index_map={{{map}}}, operand_batching_dims={{{}}}, start_indices_batching_dims={{{}}}, index_vector_dim={vector}, slice_sizes={{{sizes}}} }}",
        batching.0, batching.1
    );
    let [ty, index] = [ty, index].map(|ty| ElementType::from_name(ty).unwrap());
    engines_agree(&text, &[elements(ty, &dims(operand), 1, true), indices(index, case)]);
}

fn scatter_text(case: &Case, ty: &str, index: &str, body: &str) -> String {
    let Case { operand, indices, slices, windows, collapsed, map, batching, vector, sizes: _ } =
        case;
    format!(
        "f {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) {body} }}
        ENTRY e {{ p = {ty}[{operand}] parameter(0) i = {index}[{indices}] parameter(1) u = {ty}[{slices}] parameter(2)
          ROOT r = {ty}[{operand}] scatter(p, i, u), update_window_dims={{{windows}}}, inserted_window_dims={{{collapsed}}}, scatter_dims_to_operand_dims={{{map}}}, input_batching_dims={{{}}}, scatter_indices_batching_dims={{{}}}, index_vector_dim={vector}, to_apply=f }}",
        batching.0, batching.1
    )
}

fn check_scatter(case: &Case, ty: &str, index: &str, body: &str) {
    let text = scatter_text(case, ty, index, body);
    let [ty, index] = [ty, index].map(|ty| ElementType::from_name(ty).unwrap());
    let operand = elements(ty, &dims(case.operand), 1, true);
    engines_agree(
        &text,
        &[operand, indices(index, case), elements(ty, &dims(case.slices), 2, true)],
    );
}

#[test]
fn gathers() {
    for case in &CASES {
        for ty in ["u8", "bf16", "f32", "f64", "c128"] {
            check_gather(case, ty, "s32");
        }
        for index in ["s4", "u4", "s8", "u8", "s16", "u16", "u32", "s64", "u64"] {
            check_gather(case, "s32", index);
        }
    }
}

#[test]
fn scatters() {
    for case in &CASES {
        for (ty, op) in [
            ("f32", "add"),
            ("f32", "maximum"),
            ("f64", "multiply"),
            ("bf16", "add"),
            ("f16", "add"),
            ("f8e5m2", "minimum"),
            ("s32", "add"),
            ("u8", "maximum"),
            ("s64", "multiply"),
            ("s4", "add"),
            ("pred", "or"),
            ("c64", "add"),
        ] {
            check_scatter(case, ty, "s32", &format!("ROOT s = {ty}[] {op}(a, b)"));
        }
        for ty in ["u8", "bf16", "f32", "f64", "c128"] {
            check_scatter(case, ty, "s32", &format!("ROOT s = {ty}[] copy(b)"));
        }
        for body in [
            "ROOT s = f32[] copy(a)",
            "ROOT s = f32[] subtract(b, a)",
            "ROOT s = f32[] power(a, b)",
            "c = f32[] multiply(a, a) ROOT s = f32[] add(c, b)",
        ] {
            check_scatter(case, "f32", "s32", body);
        }
        for index in ["s4", "u4", "s8", "u8", "s16", "u16", "u32", "s64", "u64"] {
            check_scatter(case, "s32", index, "ROOT s = s32[] subtract(a, b)");
        }
    }
}

#[test]
fn scatters_of_several_operands() {
    for case in &CASES {
        let Case {
            operand, indices: at, slices, windows, collapsed, map, batching, vector, ..
        } = case;
        let text = format!(
            "f {{ a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
              g = pred[] compare(a, b), direction=GT m = f32[] select(g, a, b) k = s32[] select(g, i, j)
              ROOT r = (f32[], s32[]) tuple(m, k) }}
            ENTRY e {{ p = f32[{operand}] parameter(0) q = s32[{operand}] parameter(1) i = s32[{at}] parameter(2)
              u = f32[{slices}] parameter(3) v = s32[{slices}] parameter(4)
              ROOT r = (f32[{operand}], s32[{operand}]) scatter(p, q, i, u, v), update_window_dims={{{windows}}}, inserted_window_dims={{{collapsed}}}, scatter_dims_to_operand_dims={{{map}}}, input_batching_dims={{{}}}, scatter_indices_batching_dims={{{}}}, index_vector_dim={vector}, to_apply=f }}",
            batching.0, batching.1
        );
        let array = |ty, of: &str, seed| elements(ty, &dims(of), seed, true);
        let arguments = [
            array(ElementType::F32, operand, 1),
            array(ElementType::S32, operand, 2),
            indices(ElementType::S32, case),
            array(ElementType::F32, slices, 3),
            array(ElementType::S32, slices, 4),
        ];
        engines_agree(&text, &arguments);
    }
}

/// Results that threads share.
#[test]
fn large_gathers() {
    for case in &cases! {
        "3000" at "200000" is "200000" of "", "0", "0", ("", ""), 1, "1";
        "300,900" at "700,1" is "300,700" of "0", "1", "1", ("", ""), 1, "300,1";
        "90,50" at "5000,1" is "5000,50" of "1", "0", "0", ("", ""), 1, "1,50";
        "40000,5" at "3,1" is "40000,3" of "0", "1", "1", ("", ""), 1, "40000,1";
    } {
        check_gather(case, "f32", "s32");
    }
}

/// Every element that is inside is one step, in scatters of any form.
#[test]
fn scatters_count_their_elements() {
    let case = CASES.iter().find(|case| case.operand == "90,3").unwrap();
    let [all, none] = [0, 1000].map(|index| {
        let steps =
            ["ROOT s = f32[] add(a, b)", "ROOT s = f32[] copy(b)", "ROOT s = f32[] subtract(b, a)"]
                .map(|body| {
                    let array = |dims: &[i64]| elements(ElementType::F32, dims, 1, false);
                    let indices = Literal::from_slice(&[300, 1], &[index; 300]);
                    let arguments = [array(&[90, 3]), indices, array(&[300, 3])];
                    let executable =
                        compiled(&scatter_text(case, "f32", "s32", body), Engine::Exact);
                    let mut machine =
                        executable.start(None, &arguments, &RunOptions::default()).unwrap();
                    machine.finish().unwrap();
                    machine.steps()
                });
        assert_eq!(steps, [steps[0]; 3]);
        steps[0]
    });
    assert_eq!(all - none, 900);
}
