//! Random numbers: the published test vectors of the generators, XLA's arrangement of their words,
//! distributions.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests; exact results are meant")]
use crate::support::{evaluate, near, reals, run};
use builder::math::{BitGenerator, philox_increase_counter, scramble_philox_key};
use builder::{Builder, Value};
use hlo::ElementType;

const KEY: u64 = 0x0123_4567_89AB_CDEF;

const UNIT_F32: [f64; 5] = [
    0.689_895_749_092_102,
    0.490_309_953_689_575_2,
    0.424_375_891_685_485_84,
    0.641_531_586_647_033_7,
    0.781_528_830_528_259_3,
];
const WIDE_F32: [f32; 5] = [1.449_478_6, 0.451_549_77, 0.121_879_58, 1.207_657_8, 1.907_644_3];
const UNIT_F64: [f64; 3] =
    [0.490_309_968_984_195_9, 0.641_531_659_621_832_8, 0.126_820_172_830_840_68];
const UNIT_F16: [f64; 4] = [670.0 / 1024.0, 65.0 / 1024.0, 818.0 / 1024.0, 825.0 / 1024.0];
const UNIT_BF16: [f64; 4] = [1.0 / 128.0, 122.0 / 128.0, 115.0 / 128.0, 53.0 / 128.0];
const INTEGERS: &str = "s32[5]{0} {5, -2, -1, 4, -2}";
const ALL_INTEGERS: &str = "s32[5]{0} {815596190, -41618367, -324802766, 607873849, 1209157143}";
const NORMAL: [f64; 5] = [
    0.052_428_206_493_817_194,
    -0.860_047_001_808_682,
    -1.016_818_955_286_946_2,
    -0.824_833_662_725_411_4,
    0.502_136_179_471_854_2,
];
const SCRAMBLED: &str = "( u64[2]{0} {0, 11426694314874103384}, u64[] 18365403558354384361 )";

fn bits(generator: BitGenerator, key: u64, state: &[u64], shape: &str) -> String {
    let b = Builder::new("bits");
    let output = generator.generate(b.constant(key), b.constant(state), shape);
    run(&b, b.tuple(&[output.value, output.state]), &[])
}

/// The known answers that come with the paper of Salmon and others (Random123, `kat_vectors`).
#[test]
fn published_vectors() {
    let three_fry = |key, counter| bits(BitGenerator::ThreeFry, key, &[counter], "u64[1]");
    assert!(
        three_fry(0, 0).starts_with(&format!("( u64[1]{{0}} {{{}}}", 0x99BA_4EFE_6B20_0159u64))
    );
    assert!(
        three_fry(u64::MAX, u64::MAX)
            .starts_with(&format!("( u64[1]{{0}} {{{}}}", 0xBB00_2BE7_1CB9_96FCu64))
    );
    let pi = three_fry(0x0370_7344_1319_8A2E, 0x85A3_08D3_243F_6A88);
    assert!(pi.starts_with(&format!("( u64[1]{{0}} {{{}}}", 0x483D_F7A0_C492_3A9Cu64)), "{pi}");

    let philox = |key, low, high| bits(BitGenerator::Philox, key, &[low, high], "u32[4]");
    let text = |words: [u32; 4]| {
        format!("( u32[4]{{0}} {{{}, {}, {}, {}}}", words[0], words[1], words[2], words[3])
    };
    assert!(philox(0, 0, 0).starts_with(&text([
        0x6627_E8D5,
        0xE169_C58D,
        0xBC57_AC4C,
        0x9B00_DBD8
    ])));
    let ones = philox(u64::MAX, u64::MAX, u64::MAX);
    assert!(
        ones.starts_with(&text([0x408F_276D, 0x41C8_3B0E, 0xA20B_C7C6, 0x6D54_51FD])),
        "{ones}"
    );
    assert!(ones.ends_with("u64[2]{0} {0, 0} )"), "the counter goes round: {ones}");
    let pi = philox(0x299F_31D0_A409_3822, 0x85A3_08D3_243F_6A88, 0x0370_7344_1319_8A2E);
    assert!(pi.starts_with(&text([0xD16C_FE09, 0x94FD_CCEB, 0x5001_E420, 0x2412_6EA1])), "{pi}");
}

/// The words of a shape and the new state are those of `rng-bit-generator`.
#[test]
fn arrangement_is_that_of_the_instruction() {
    let shapes = [
        "u32[4]",
        "u32[5]",
        "u32[3]",
        "u32[]",
        "u32[3,2]",
        "u32[2,4]",
        "u32[3,5]",
        "u64[2]",
        "u64[3,2]",
        "u64[]",
        "u8[4]",
        "u16[3]",
        "u32[1]",
        "u32[0]",
        "u32[1,3,3]",
    ];
    for shape in shapes {
        for counter in [5, u64::MAX] {
            let three_fry = bits(BitGenerator::ThreeFry, KEY, &[counter], shape);
            let (value, state) = instruction("rng_three_fry", &[KEY, counter], shape);
            let state = state.rsplit_once(", ").unwrap().1.trim_end_matches('}').to_owned();
            assert_eq!(three_fry, format!("( {value}, u64[1]{{0}} {{{state}}} )"), "{shape}");
            let philox = bits(BitGenerator::Philox, KEY, &[counter, 7], shape);
            let (value, state) = instruction("rng_philox", &[KEY, counter, 7], shape);
            let state = state.split_once(", ").unwrap().1.to_owned();
            assert_eq!(philox, format!("( {value}, u64[2]{{0}} {{{state} )"), "{shape}");
        }
    }
}
/// What `rng-bit-generator` gives: the array, and the new state.
fn instruction(algorithm: &str, state: &[u64], shape: &str) -> (String, String) {
    let n = state.len();
    let words: Vec<String> = state.iter().map(u64::to_string).collect();
    let text = format!(
        "HloModule m\nENTRY main {{\n  s = u64[{n}] constant({{{}}})\n  r = (u64[{n}], {shape}) rng-bit-generator(s), algorithm={algorithm}\n  \
         a = {shape} get-tuple-element(r), index=1\n  b = u64[{n}] get-tuple-element(r), index=0\n  ROOT t = ({shape}, u64[{n}]) tuple(a, b)\n}}\n",
        words.join(", ")
    );
    let module = hlo::Module::parse(&text).unwrap().verify().unwrap();
    let result = interp::run(&module, &[]).unwrap();
    let [value, state] = result.elements().unwrap() else { panic!("{result}") };
    (value.to_string(), state.to_string())
}

/// Expectations by the formulas, in `numpy`, from the words XLA:CPU gives for this key and state.
#[test]
fn uniform_floats() {
    let uniform = |low: f64, high: f64, ty: ElementType, shape: &str| {
        let b = Builder::new("uniform");
        let bounds = [low, high].map(|x| b.constant_r0_with_type(ty, x));
        let output = BitGenerator::ThreeFry.uniform_floating_point_distribution(
            b.constant(KEY),
            b.constant([5u64]),
            bounds[0],
            bounds[1],
            shape,
        );
        reals(&evaluate(&b, output.value, &[]))
    };
    let unit = uniform(0.0, 1.0, ElementType::F32, "f32[5]");
    assert_eq!(unit, UNIT_F32);
    assert_eq!(uniform(0.0, 1.0, ElementType::F64, "f64[3]"), UNIT_F64);
    assert_eq!(uniform(0.0, 1.0, ElementType::F16, "f16[4]"), UNIT_F16);
    assert_eq!(uniform(0.0, 1.0, ElementType::Bf16, "bf16[4]"), UNIT_BF16);
    let wide = uniform(-2.0, 3.0, ElementType::F32, "f32[5]");
    assert_eq!(wide, WIDE_F32.map(f64::from));
}

#[test]
fn uniform_integers() {
    let uniform = |low: i32, high: i32| {
        let b = Builder::new("uniform_int");
        let output = BitGenerator::ThreeFry.uniform_int_distribution(
            b.constant(KEY),
            b.constant([5u64]),
            b.constant(low),
            b.constant(high),
            "s32[5]",
        );
        run(&b, output.value, &[])
    };
    assert_eq!(uniform(-3, 7), INTEGERS);
    // A range that the signed type does not hold.
    assert_eq!(uniform(i32::MIN, i32::MAX), ALL_INTEGERS);
}

#[test]
fn normal_floats() {
    let b = Builder::new("normal");
    let output = BitGenerator::ThreeFry.normal_floating_point_distribution(
        b.constant(KEY),
        b.constant([5u64]),
        "f32[5]",
    );
    let result = evaluate(&b, b.tuple(&[output.value, output.state]), &[]);
    let [value, state] = result.elements().unwrap() else { panic!("{result}") };
    near(value, &NORMAL, 1e-6, 1e-6);
    assert_eq!(state.to_string(), "u64[1]{0} {8}");
}

#[test]
fn keys_and_counters() {
    let b = Builder::new("scramble");
    let (state, key) = scramble_philox_key(b.constant(KEY));
    assert_eq!(run(&b, b.tuple(&[state, key]), &[]), SCRAMBLED);
    let b = Builder::new("counter");
    let sum = philox_increase_counter(b.constant([u64::MAX - 1, 41]), b.constant(3u64));
    assert_eq!(run(&b, sum, &[]), "u64[2]{0} {1, 42}");
    let b = Builder::new("concat");
    assert_eq!(
        run(&b, b.concat_scalars(&[b.constant(1i32), b.constant(2i32)]), &[]),
        "s32[2]{0} {1, 2}"
    );
}

#[test]
fn refusals() {
    let refused = |make: for<'b> fn(&'b Builder) -> Value<'b>| {
        let b = Builder::new("m");
        b.build(make(&b)).unwrap_err().to_string()
    };
    let text = refused(|b| {
        BitGenerator::Philox.generate(b.constant(1u64), b.constant([1u64, 2]), "c64[2]").value
    });
    assert!(text.contains("random bits cannot be c64"), "{text}");
    let text = refused(|b| {
        BitGenerator::Philox.generate(b.constant(1u64), b.constant([1u64]), "u32[2]").value
    });
    assert!(text.contains("the state is u64[1], expected a u64 element at index 1"), "{text}");
    let text = refused(|b| {
        BitGenerator::ThreeFry.generate(b.constant(1u32), b.constant([1u64]), "u32[2]").value
    });
    assert!(text.contains("the key is u32[]"), "{text}");
    let text = refused(|b| {
        BitGenerator::ThreeFry
            .normal_floating_point_distribution(b.constant(1u64), b.constant([1u64]), "bf16[2]")
            .value
    });
    assert!(text.contains("normal numbers are f16, f32 or f64, not bf16"), "{text}");
}
