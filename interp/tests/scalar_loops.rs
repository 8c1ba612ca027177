//! Loops over scalars, with and without generated code.
use hlo::{Literal, Module};
use interp::{Code, CompileOptions, Executable, RunOptions};
use std::time::{Duration, Instant};

/// A loop of `s`, which counts to the parameter.
const LOOP: &str = "
body {
  s = (s32[], f32[], u8[], bf16[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  u = u8[] get-tuple-element(s), index=2
  h = bf16[] get-tuple-element(s), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  f = f32[] convert(i)
  sine = f32[] sine(f)
  y = f32[] add(x, sine)
  v = u8[] convert(next)
  w = u8[] xor(u, v)
  k = u8[] multiply(w, v)
  g = bf16[] convert(sine)
  j = bf16[] multiply(g, h)
  a = bf16[] add(j, g)
  ROOT r = (s32[], f32[], u8[], bf16[]) tuple(next, y, k, a)
}
condition {
  s = (s32[], f32[], u8[], bf16[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(ROUNDS)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = s32[] constant(0)
  x = f32[] parameter(0)
  u = u8[] constant(3)
  h = bf16[] constant(0.5)
  s = (s32[], f32[], u8[], bf16[]) tuple(i, x, u, h)
  ROOT w = (s32[], f32[], u8[], bf16[]) while(s), condition=condition, body=body
}";

fn executable(rounds: &str, jit: bool) -> Executable {
    let module = Module::parse(&LOOP.replace("ROUNDS", rounds)).expect("the text is correct");
    let verified = module.verify().expect("the module is correct");
    let options = CompileOptions::default().jit(jit);
    Executable::compile(verified, &options).expect("the module is supported")
}

#[test]
fn code_has_the_bits_of_the_interpreter() {
    let argument: Literal = "f32[] 0.25".parse().unwrap();
    let [with, without] = [true, false].map(|jit| {
        let executable = executable("20000", jit);
        // The second run is code from the first round on.
        [(); 2].map(|()| {
            executable.execute(std::slice::from_ref(&argument), &RunOptions::default()).unwrap()
        })
    });
    assert_eq!(with, without);
    assert_eq!(with[0], with[1]);
}

#[test]
fn fuel_ends_at_the_same_round() {
    let argument: Literal = "f32[] 0.25".parse().unwrap();
    let executables = [true, false].map(|jit| executable("20000", jit));
    // An iteration is 22 steps: around the end of the interpreted iterations, of steps that are
    // charged at once, and of the loop.
    let fuels = (0..50).chain(16_380..16_410).chain(22_000..22_050).chain(440_000..440_060);
    for fuel in fuels {
        let options = RunOptions::default().fuel(fuel);
        let [with, without] = executables
            .each_ref()
            .map(|executable| executable.execute(std::slice::from_ref(&argument), &options));
        match (with, without) {
            (Ok(with), Ok(without)) => assert_eq!(with, without, "{fuel}"),
            (Err(with), Err(without)) => {
                assert!(matches!(with.code(), Code::OutOfFuel { .. }), "{with}");
                assert_eq!(with.to_string(), without.to_string(), "{fuel}");
            }
            (with, without) => panic!("{fuel}: {with:?}, {without:?}"),
        }
    }
}

#[test]
fn a_loop_without_end_stops_in_time() {
    let argument: Literal = "f32[] 0.25".parse().unwrap();
    let text = LOOP.replace("compare(i, n), direction=LT", "compare(i, i), direction=EQ");
    let verified = Module::parse(&text.replace("ROUNDS", "1")).unwrap().verify().unwrap();
    let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
    let options = RunOptions::default().time_limit(Duration::from_millis(100));
    let start = Instant::now();
    let error = executable.execute(&[argument], &options).unwrap_err();
    assert!(matches!(error.code(), Code::OutOfTime { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// The largest element and its index, as JAX computes them, and a function of each element.
const ELEMENTS: &str = "
larger {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  first = pred[] or(gt, nan)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  keep = pred[] or(first, tie)
  x = f32[] select(first, a, b)
  k = s32[] select(keep, i, j)
  ROOT r = (f32[], s32[]) tuple(x, k)
}
curve {
  x = f32[] parameter(0)
  y = f32[] multiply(x, x)
  z = f32[] subtract(y, x)
  s = f32[] sine(z)
  c = f32[] clamp(x, s, y)
  d = f32[] divide(c, z)
  h = f16[] convert(d)
  f = f32[] convert(h)
  g = f32[] maximum(f, s)
  e = f32[] add(g, c)
  ROOT r = f32[] negate(e)
}
ENTRY e {
  x = f32[3,20000] parameter(0)
  i = s32[3,20000] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  m = (f32[3], s32[3]) reduce(x, i, low, zero), dimensions={1}, to_apply=larger
  y = f32[3,20000] map(x), dimensions={0,1}, to_apply=curve
  ROOT t = ((f32[3], s32[3]), f32[3,20000]) tuple(m, y)
}";

#[test]
fn functions_of_elements_have_the_bits_of_the_interpreter() {
    let value = |i: usize| f32::from(u16::try_from(i * 7919 % 30_011).unwrap()) / 256.0 - 50.0;
    let values: Vec<f32> = (0..60_000).map(value).collect();
    let argument = Literal::from_slice(&[3, 20_000], &values);
    let [with, without] = [true, false].map(|jit| {
        let verified = Module::parse(ELEMENTS).unwrap().verify().unwrap();
        let options = CompileOptions::default().jit(jit);
        let executable = Executable::compile(verified, &options).unwrap();
        executable.execute(std::slice::from_ref(&argument), &RunOptions::default()).unwrap()
    });
    assert_eq!(with, without);
}
