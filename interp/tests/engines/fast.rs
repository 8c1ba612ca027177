//! The engine `fast`: sums of numbers that are exact in the element type have the bits of `exact`,
//! and the number of threads changes nothing.
use super::{compiled, run};
use hlo::{Literal, Scalar};
use interp::{Engine, Executable, RunOptions};

/// Arguments of a module: numbers from a short list, one after another in no simple order.
fn arguments(executable: &Executable, number: impl Fn(i64) -> f64) -> Vec<Literal> {
    let parameters = executable.module().entry().program_shape().parameters;
    let argument = |(i, shape): (usize, &hlo::Shape)| {
        let shape = shape.array().unwrap();
        let mut state = u64::try_from(i).unwrap() + 1;
        let mut bytes = Vec::new();
        for _ in 0..shape.element_count().unwrap() {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let mut element = vec![0; shape.ty.storage_bytes()];
            let x = Scalar::Float(number(i64::try_from(state >> 48).unwrap()));
            x.convert(hlo::ElementType::F64, shape.ty).write(shape.ty, &mut element);
            bytes.append(&mut element);
        }
        Literal::from_bytes(shape.clone(), &bytes).unwrap()
    };
    parameters.iter().copied().enumerate().map(argument).collect()
}

/// Programs of sums: products of matrices of all sizes and orders, of vectors, windows, and
/// reductions.
fn programs() -> Vec<String> {
    let mut texts = Vec::new();
    for ty in ["f32", "bf16", "f16", "f64"] {
        for (m, k, n) in [
            (1, 5, 64),
            (5, 300, 1),
            (3, 700, 48),
            (20, 261, 112),
            (70, 530, 67),
            (600, 40, 208),
            (9, 33, 23),
            (9, 33, 24),
            (9, 33, 47),
            (9, 33, 72),
            (9, 33, 120),
        ] {
            let left = [format!("[{m},{k}]"), format!("[{k},{m}]")];
            let right = [format!("[{k},{n}]"), format!("[{n},{k}]")];
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (a, b, l) = (&left[i], &right[j], 1 - i);
                texts.push(format!(
                    "ENTRY e {{ a = {ty}{a} parameter(0) b = {ty}{b} parameter(1) ROOT r = {ty}[{m},{n}] dot(a, b), lhs_contracting_dims={{{l}}}, rhs_contracting_dims={{{j}}} }}"
                ));
            }
        }
        texts.push(format!(
            "ENTRY e {{ a = {ty}[3,9,20] parameter(0) b = {ty}[3,20,32] parameter(1) ROOT r = {ty}[3,9,32] dot(a, b), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}"
        ));
        for (groups, inputs) in [(1, 8), (8, 1)] {
            texts.push(format!(
                "ENTRY e {{ a = {ty}[2,11,9,8] parameter(0) b = {ty}[3,3,{inputs},16] parameter(1) ROOT r = {ty}[2,11,9,16] convolution(a, b), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f, feature_group_count={groups} }}"
            ));
        }
        let add = format!(
            "add {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT s = {ty}[] add(a, b) }}\n"
        );
        // Short rows, of which some are added as one.
        for (rows, columns) in [(301, 5), (1030, 16), (3, 2), (65, 127), (2000, 1)] {
            texts.push(format!(
                "{add}ENTRY e {{ a = {ty}[{rows},{columns}] parameter(0) i = {ty}[] parameter(1) ROOT r = {ty}[{columns}] reduce(a, i), dimensions={{0}}, to_apply=add }}"
            ));
        }
        for dims in ["0", "1", "2", "0,2", "0,1,2"] {
            let kept: Vec<&str> = ["0", "1", "2"]
                .iter()
                .zip(["5", "70", "301"])
                .filter_map(|(d, size)| (!dims.contains(d)).then_some(size))
                .collect();
            texts.push(format!(
                "{add}ENTRY e {{ a = {ty}[5,70,301] parameter(0) z = {ty}[] constant(0) ROOT r = {ty}[{}] reduce(a, z), dimensions={{{dims}}}, to_apply=add }}",
                kept.join(",")
            ));
        }
        texts.push(format!(
            "{add}ENTRY e {{ a = {ty}[4,400] parameter(0) z = {ty}[] constant(0) ROOT r = {ty}[4,400] reduce-window(a, z), window={{size=1x400 pad=0_0x399_0}}, to_apply=add }}"
        ));
    }
    texts.into_iter().map(|text| format!("HloModule m\n{text}")).collect()
}

/// Small integers: all partial sums are exact in f32, whatever the order.
#[test]
fn exact_sums_have_the_bits_of_exact() {
    for text in programs() {
        let [fast, exact] = [Engine::Fast, Engine::Exact].map(|engine| compiled(&text, engine));
        let arguments = arguments(&exact, |i| f64::from(i32::try_from(i % 7).unwrap() - 3));
        let options = RunOptions::default();
        let (found, expected) =
            (run(&fast, &arguments, &options), run(&exact, &arguments, &options));
        assert_eq!(found.result, expected.result, "{text}");
        assert_eq!(found.steps, expected.steps, "{text}");
        let planned = fast.planned_bytes();
        assert!(found.peak_bytes <= planned, "{planned}, {} used\n{text}", found.peak_bytes);
    }
}

#[test]
fn sums_that_overflow_on_the_way() {
    let add = "add { a = f64[] parameter(0) b = f64[] parameter(1) ROOT c = f64[] add(a, b) }";
    for (rows, to, op) in [
        (40, "f64[40]", "reduce(x, z), dimensions={1}"),
        (3, "f64[3]", "reduce(x, z), dimensions={1}"),
        (40, "f64[5]", "reduce(x, z), dimensions={0}"),
        (40, "f64[40,5]", "reduce-window(x, z), window={size=1x4 pad=0_0x3_0}"),
        (40, "f64[40,5]", "reduce-window(x, z), window={size=4x1 pad=3_0x0_0}"),
        (40, "f64[40,5]", "reduce-window(x, z), window={size=1x5 pad=0_0x4_0}"),
        (40, "f64[40,5]", "reduce-window(x, z), window={size=40x1 pad=0_39x0_0}"),
    ] {
        let text = format!(
            "HloModule m\n{add} ENTRY e {{ x = f64[{rows},5] parameter(0) z = f64[] constant(0) ROOT r = {to} {op}, to_apply=add }}"
        );
        let [fast, exact] = [Engine::Fast, Engine::Exact].map(|engine| compiled(&text, engine));
        let large = |i| if i % 2 == 0 { f64::MAX } else { -f64::MAX };
        let arguments = arguments(&exact, large);
        let options = RunOptions::default();
        let [found, expected] = [&fast, &exact].map(|e| run(e, &arguments, &options).result);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn sums_in_code_that_overflow_on_the_way() {
    // Each round sums a rotated array.
    let state = "(s32[], f64[6], f64[2])";
    let text = format!(
        "add {{ a = f64[] parameter(0) b = f64[] parameter(1) ROOT c = f64[] add(a, b) }}
         less {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(5000)
           ROOT l = pred[] compare(i, n), direction=LT }}
         next {{ t = {state} parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
           j = s32[] add(i, one) x = f64[6] get-tuple-element(t), index=1 a = f64[1] slice(x), slice={{[0:1]}}
           b = f64[5] slice(x), slice={{[1:6]}} y = f64[6] concatenate(b, a), dimensions={{0}} z = f64[] constant(0)
           m = f64[2,3] reshape(y) s = f64[2] reduce(m, z), dimensions={{1}}, to_apply=add
           ROOT r = {state} tuple(j, y, s) }}
         ENTRY e {{ i = s32[] constant(0) x = f64[6] parameter(0) s = f64[2] parameter(1)
           t = {state} tuple(i, x, s) ROOT w = {state} while(t), condition=less, body=next }}"
    );
    let of = |values: &[f64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let dims = [i64::try_from(values.len()).unwrap()];
        Literal::from_bytes(hlo::ArrayShape::new(hlo::ElementType::F64, dims.as_slice()), &bytes)
            .unwrap()
    };
    let (a, b) = (f64::MAX, -f64::MAX);
    let arguments = [of(&[a, a, b, b, b, a]), of(&[0.0; 2])];
    let [fast, exact] = [Engine::Fast, Engine::Exact].map(|engine| compiled(&text, engine));
    for _ in 0..3 {
        let options = RunOptions::default();
        let [found, expected] = [&fast, &exact].map(|e| run(e, &arguments, &options).result);
        assert_eq!(found, expected);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let functions = "HloModule m\nENTRY e { a = f32[50000] parameter(0) b = f32[50000] tanh(a) c = f32[50000] exponential(b) ROOT d = f32[50000] log(c) }";
    for text in programs().into_iter().chain([functions.to_owned()]) {
        let fast = compiled(&text, Engine::Fast);
        let arguments = arguments(&fast, |i| f64::from(i32::try_from(i).unwrap()) / 65_536.0 - 0.4);
        let results = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fast.execute(&arguments, &RunOptions::default()).unwrap())
        });
        assert!(results.iter().all(|result| *result == results[0]), "{text}");
    }
}

#[test]
fn plans_name_the_engine_and_what_is_exact() {
    let text = "HloModule m\nENTRY e { a = f32[9] parameter(0) b = f32[9] tanh(a) c = f32[9] cbrt(b) ROOT d = f32[9] add(b, c) }";
    let plan = |engine| compiled(text, engine).plan().to_string();
    let fast = plan(Engine::Fast);
    assert!(fast.starts_with("engine fast\n") && fast.contains(", exact in c,"), "{fast}");
    assert!(!plan(Engine::Exact).contains("exact in"), "{fast}");
}
