//! Limits of a run: exact memory accounting over many steps, concurrent machines, results of any
//! size.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
use hlo::{ArrayShape, ElementType, Literal, Module, Opcode, Scalar, Verified};
use interp::{CompileOptions, Engine, Executable, Hooks, RunOptions};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

fn verified(text: &str) -> Verified {
    Module::parse(text).unwrap().verify().unwrap()
}

/// Returns the error of a run with arguments and this many bytes; empty if there is none.
fn error(text: &str, bytes: usize) -> String {
    let module = verified(text);
    let arguments = module.module().entry().program_shape().parameters;
    let zeros = arguments.iter().map(|s| Literal::zeros(s.array().unwrap().clone()));
    let zeros: Vec<Literal> = zeros.collect();
    let bytes = bytes + zeros.iter().map(|zeros| zeros.bytes().len()).sum::<usize>();
    let executable = Executable::compile(module, &CompileOptions::default()).unwrap();
    let result = executable.execute(&zeros, &RunOptions::default().max_memory(bytes));
    result.err().map_or(String::new(), |e| e.to_string())
}

/// Returns a loop of 2000 iterations of `step`, which computes `y` from `x = f32[100]` and the
/// iteration `i`.
fn repeated(computations: &str, step: &str) -> String {
    format!(
        "{computations}
less {{ t = (s32[], f32[100]) parameter(0) i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(2000) ROOT l = pred[] compare(i, n), direction=LT }}
body {{ t = (s32[], f32[100]) parameter(0) i = s32[] get-tuple-element(t), index=0
  x = f32[100] get-tuple-element(t), index=1 one = s32[] constant(1) j = s32[] add(i, one)
  {step} ROOT r = (s32[], f32[100]) tuple(j, y) }}
ENTRY e {{ p = f32[100] parameter(0) q = f32[100] add(p, p) z = s32[] constant(0) t = (s32[], f32[100]) tuple(z, q)
  ROOT w = (s32[], f32[100]) while(t), condition=less, body=body }}"
    )
}

/// One array is 400 bytes; no case needs more than five of them at a time and three times as much
/// again as scratch memory. All that the loop makes is 2000 times that.
#[test]
fn dropped_values_return_their_memory() {
    let add = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";
    let slow = "slow { a = f32[] parameter(0) b = f32[] parameter(1) v = f32[1] reshape(a)
      w = f32[1] add(v, v) s = f32[] reshape(w) ROOT c = f32[] add(s, b) }";
    let sum = "sum { x = f32[] parameter(0) c = f32[100] parameter(1) b = f32[100] broadcast(x), dimensions={}
      d = f32[100] add(c, b) ROOT t = (f32[], f32[100]) tuple(x, d) }";
    for (computations, step) in [
        ("", "y = f32[100] add(x, x)"),
        (
            "f { a = f32[100] parameter(0) ROOT r = f32[100] negate(a) }",
            "h = pred[] compare(i, one), direction=LT o = f32[100] add(x, x) y = f32[100] conditional(h, x, o), true_computation=f, false_computation=f",
        ),
        (
            sum,
            "s = (f32[100], f32[100]) scan(x, x), dimensions={0}, num_carries=1, to_apply=sum y = f32[100] get-tuple-element(s), index=1",
        ),
        (
            slow,
            "z = f32[] constant(0) s = f32[] reduce(x, z), dimensions={0}, to_apply=slow y = f32[100] broadcast(s), dimensions={}",
        ),
        (
            add,
            "z = f32[] constant(0) y = f32[100] reduce-window(x, z), window={size=2 pad=1_0}, to_apply=add",
        ),
        ("", "s = (f32[100], f32[100], u32[]) copy-start(x) y = f32[100] copy-done(s)"),
        ("", "y = f32[100] custom-call(x), custom_call_target=\"Sharding\""),
        (
            "f { a = f32[100] parameter(0) b = f32[100] parameter(1) ROOT r = f32[100] add(a, b) }",
            "s = ((f32[100]), f32[100]) async-start(x), calls=f y = f32[100] async-done(s, x), calls=f",
        ),
    ] {
        assert_eq!(error(&repeated(computations, step), 20 * 400), "", "{step}");
    }
}

#[test]
fn live_values_count() {
    // Three arrays at once, of which the limit allows two; the scalars of nested machines must not
    // reduce the count.
    let slow = "slow { a = f32[] parameter(0) b = f32[] parameter(1) v = f32[1] reshape(a)
      w = f32[1] add(v, v) s = f32[] reshape(w) ROOT c = f32[] add(s, b) }";
    let text = format!(
        "{slow} ENTRY e {{ p = f32[1000] parameter(0) q = f32[1000] add(p, p) z = f32[] constant(0)
        s = f32[] reduce(q, z), dimensions={{0}}, to_apply=slow b = f32[1000] broadcast(s), dimensions={{}}
        c = f32[1000] add(b, b) ROOT t = (f32[1000], f32[1000], f32[1000]) tuple(q, b, c) }}"
    );
    let found = error(&text, 2 * 4000 + 100);
    assert!(found.contains("E0405"), "{found}");
    // The broadcast is read in tiles of 512 elements.
    assert_eq!(error(&text, 3 * 4000 + 100 + 512 * 4), "");
}

#[test]
fn arguments_count() {
    let text = "ENTRY e { p = f32[100] parameter(0) q = f32[25] parameter(1) r = f32[100] negate(p)
      ROOT t = (f32[100], f32[25]) tuple(r, q) }";
    let executable = Executable::compile(verified(text), &CompileOptions::default()).unwrap();
    assert_eq!(executable.planned_bytes(), 400 + 100 + 400);
    let plan = executable.plan().to_string();
    assert!(plan.contains("peak 900 bytes\n  arguments, 500 bytes of the peak\n"), "{plan}");
    let zeros = |n: i64| Literal::zeros(ArrayShape::new(ElementType::F32, [n].as_slice()));
    let arguments = [zeros(100), zeros(25)];
    let run = |bytes| {
        let result = executable.execute(&arguments, &RunOptions::default().max_memory(bytes));
        result.err().map(|error| error.to_string())
    };
    assert_eq!(run(900), None);
    let error = run(899).unwrap();
    assert!(error.contains("400 bytes are needed, 500 bytes are in use, and 899"), "{error}");
    let error = run(499).unwrap();
    assert!(error.contains("500 bytes are needed, 0 bytes are in use, and 499"), "{error}");
}

/// An argument that is smaller than the bounds of its parameter is held twice: as it is given, and
/// extended.
#[test]
fn extended_arguments_count_twice() {
    let text = "ENTRY e { p = f32[<=100] parameter(0) ROOT r = f32[<=100] negate(p) }";
    let executable = Executable::compile(verified(text), &CompileOptions::default()).unwrap();
    let small = Literal::zeros(ArrayShape::new(ElementType::F32, [50].as_slice()));
    let run = |bytes| {
        let options = RunOptions::default().max_memory(bytes);
        executable.execute(std::slice::from_ref(&small), &options).err().map(|e| e.number())
    };
    assert_eq!(run(executable.planned_bytes()), None);
    assert_eq!(run(200 + 399), Some("E0405"));
}

#[test]
fn results_larger_than_memory_are_rejected() {
    let scan = "f { c = f32[] parameter(0) ROOT t = (f32[], f32[]) tuple(c, c) }
      ENTRY e { z = f32[] parameter(0)
        ROOT s = (f32[100000000000000], f32[]) scan(z), dimensions={0}, num_carries=1, to_apply=f }";
    let start = "f { c = f32[] parameter(0) d = f32[] parameter(1) ROOT t = f32[100000000000000] broadcast(d), dimensions={} }
      ENTRY e { z = f32[] parameter(0) s = ((f32[]), f32[100000000000000]) async-start(z), calls=f
        ROOT d = f32[100000000000000] async-done(s, z), calls=f }";
    for text in [scan, start] {
        let found = error(text, 1 << 30);
        assert!(found.contains("E0405"), "{found}");
    }
}

/// The limit of nested machines does not apply to concurrent ones: 255 rows are computed on many
/// threads.
#[test]
fn concurrent_machines_are_not_nested() {
    const MACHINES: usize = 70;
    let text = "f { a = f32[] parameter(0) b = f32[] parameter(1) m = f32[] custom-call(b), custom_call_target=\"meet\"
        ROOT c = f32[] add(a, m) }
      ENTRY e { x = f32[255,130] parameter(0) z = f32[] constant(0) ROOT r = f32[255] reduce(x, z), dimensions={1}, to_apply=f }";
    let module = verified(text);
    // The number of machines inside now, and whether there were ever enough.
    let inside = Arc::new((Mutex::new((0, false)), Condvar::new()));
    let hooks = Hooks::new().custom_call("meet", move |call| {
        let (state, changed) = &*inside;
        let mut now = state.lock().unwrap();
        now.0 += 1;
        if now.0 >= MACHINES {
            now.1 = true;
            changed.notify_all();
        }
        let long = Duration::from_secs(60);
        let (mut now, late) = changed.wait_timeout_while(now, long, |now| !now.1).unwrap();
        assert!(!late.timed_out(), "only {} machines ran concurrently", now.0);
        now.0 -= 1;
        Ok(call.operands[0].clone())
    });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(MACHINES + 10).build().unwrap();
    let ones = Literal::zeros(ArrayShape::new(ElementType::F32, [255, 130].as_slice()));
    let executable = Executable::compile(module, &CompileOptions::default()).unwrap();
    let options = RunOptions::default().hooks(hooks);
    let result = pool.install(|| executable.execute(&[ones], &options));
    assert_eq!(result.unwrap().get(0), Scalar::Float(0.0));
}

/// Arrays of more dimensions would overflow the stack.
#[test]
fn the_number_of_dimensions_is_bounded() {
    for (rank, is_read) in [(90, true), (91, false), (100_000, false)] {
        let shape = format!("f32[{}]", vec!["1"; rank].join(","));
        let module = Module::parse(&format!("ENTRY e {{ ROOT p = {shape} parameter(0) }}"));
        let verified = module.ok().and_then(|module| module.verify().ok());
        assert_eq!(verified.is_some(), is_read, "{rank}");
        if let Some(verified) = verified {
            assert!(Executable::compile(verified, &CompileOptions::default()).is_ok());
        }
    }
}

/// Modules that run for minutes in both engines, and the instruction that takes the time.
const ENDLESS: [(&str, &str, &str); 8] = [
    (
        "f { p = s32[] parameter(0) ROOT t = pred[] constant(true) } g { ROOT p = s32[] parameter(0) }",
        "z = s32[] constant(0) ROOT r = s32[] while(z), condition=f, body=g",
        "",
    ),
    (
        "f { p = s32[2] parameter(0) ROOT t = pred[] constant(true) } g { p = s32[2] parameter(0) ROOT q = s32[2] add(p, p) }",
        "p = s32[2] parameter(0) ROOT r = s32[2] while(p), condition=f, body=g",
        "",
    ),
    (
        "",
        "p = f32[3000,3000] parameter(0) d = f32[3000,3000] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = f32[3000,3000] negate(d)",
        "e/d",
    ),
    (
        "",
        "p = f32[16,60,60,64] parameter(0) k = f32[11,11,64,256] parameter(1) ROOT d = f32[16,50,50,256] convolution(p, k), window={size=11x11}, dim_labels=b01f_01io->b01f",
        "e/d",
    ),
    (
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
        "p = f32[2000,2000] parameter(0) z = f32[] constant(0) ROOT w = f32[1001,1001] reduce-window(p, z), window={size=1000x1000}, to_apply=add",
        "e/w",
    ),
    (
        "slow { a = f32[] parameter(0) b = f32[] parameter(1) v = f32[1] reshape(a) w = f32[1] add(v, v) s = f32[] reshape(w) ROOT c = f32[] add(s, b) }",
        "p = f32[2000,2000] parameter(0) z = f32[] constant(0) ROOT w = f32[2000] reduce(p, z), dimensions={1}, to_apply=slow",
        "",
    ),
    (
        "",
        "p = f64[1500,1500] parameter(0) o = f64[] constant(1) b = f64[1500,1500] broadcast(o), dimensions={} i = s32[1500,1500] iota(), iota_dimension=0 j = s32[1500,1500] iota(), iota_dimension=1 e = pred[1500,1500] compare(i, j), direction=EQ a = f64[1500,1500] select(e, b, p) ROOT c = f64[1500,1500] cholesky(a), lower=true",
        "",
    ),
    (
        "",
        "p = c64[64,65537] parameter(0) ROOT f = c64[64,65537] fft(p), fft_type=FFT, fft_length={65537}",
        "",
    ),
];

/// A run ends soon after its time, on each engine, and its error names the instruction.
#[test]
fn time_limits_end_steps_that_take_long() {
    for (computations, body, place) in ENDLESS {
        let text = format!("{computations}\nENTRY e {{ {body} }}");
        for engine in Engine::ALL {
            let (error, taken) = end_of(&text, engine, Duration::from_millis(10));
            let error = error.unwrap();
            let name = engine.name();
            assert_eq!(error.number(), "E0412", "{name}: {body}: {error}");
            assert!(place.is_empty() || error.instruction() == Some(place), "{name}: {error}");
            // Other processes may have the processor.
            assert!(taken < Duration::from_secs(10), "{name}: {taken:?}: {body}");
        }
    }
}

/// One op each, on arrays that take some seconds in one engine at least.
const LARGE: [&str; 46] = [
    "p = f32[67108864] parameter(0) ROOT r = f32[67108864] tan(p)",
    "p = f32[67108864] parameter(0) q = f32[67108864] parameter(1) ROOT r = f32[67108864] power(p, q)",
    "p = f32[67108864] parameter(0) q = f32[67108864] parameter(1) ROOT r = pred[67108864] compare(p, q), direction=LT",
    "p = f32[67108864] parameter(0) z = f32[] parameter(1) ROOT r = f32[67108864] clamp(z, p, z)",
    "p = pred[67108864] parameter(0) q = f32[67108864] parameter(1) ROOT r = f32[67108864] select(p, q, q)",
    "p = f32[67108864] parameter(0) ROOT r = bf16[67108864] convert(p)",
    "p = f32[67108864] parameter(0) q = u32[67108864] parameter(1) ROOT r = s32[67108864] stochastic-convert(p, q)",
    "p = f32[67108864] parameter(0) ROOT r = f32[67108864] reduce-precision(p), exponent_bits=5, mantissa_bits=10",
    "p = s4[33554432,4] parameter(0) ROOT r = s16[33554432] bitcast-convert(p)",
    "p = f32[8192,8192]{0,1} parameter(0) ROOT r = f32[8192,8192]{1,0} bitcast(p)",
    "p = f32[67108864] parameter(0) ROOT r = f32[2,67108864] broadcast(p), dimensions={1}",
    "ROOT r = f32[67108864] iota(), iota_dimension=0",
    "p = f32[8192,8192] parameter(0) ROOT r = f32[8192,8192] transpose(p), dimensions={1,0}",
    "p = f32[8192,8192] parameter(0) ROOT r = f32[8192,8192] reverse(p), dimensions={0,1}",
    "p = f32[67108864] parameter(0) ROOT r = f32[33554432] slice(p), slice={[0:67108864:2]}",
    "p = f32[67108864] parameter(0) i = s32[] parameter(1) ROOT r = f32[67000000] dynamic-slice(p, i), dynamic_slice_sizes={67000000}",
    "p = f32[67108864] parameter(0) u = f32[67000000] parameter(1) i = s32[] parameter(2) ROOT r = f32[67108864] dynamic-update-slice(p, u, i)",
    "p = f32[67108864] parameter(0) ROOT r = f32[134217728] concatenate(p, p), dimensions={0}",
    "p = f32[67108864] parameter(0) z = f32[] parameter(1) ROOT r = f32[134217727] pad(p, z), padding=0_0_1",
    "p = f32[1] parameter(0) z = f32[] parameter(1) ROOT r = f32[67108864] pad(p, z), padding=0_67108863",
    "p = f32[67108864] parameter(0) i = s32[67108864,1] parameter(1) ROOT r = f32[67108864] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
    "p = f32[67108864] parameter(0) i = s32[67108864,1] parameter(1) ROOT r = f32[67108864] scatter(p, i, p), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "p = f32[8192,8192] parameter(0) q = f32[4096,4096] parameter(1) z = f32[] parameter(2) ROOT r = f32[8192,8192] select-and-scatter(p, q, z), window={size=2x2 stride=2x2}, select=less, scatter=add",
    "p = f32[67108864] parameter(0) ROOT r = f32[67108864] map(p), dimensions={0}, to_apply=slow",
    "p = f32[67108864] parameter(0) z = f32[] parameter(1) ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add",
    "p = f32[8192,8192] parameter(0) z = f32[] parameter(1) ROOT r = f32[8192] reduce(p, z), dimensions={0}, to_apply=less_of",
    "p = f32[67108864] parameter(0) z = f32[] parameter(1) ROOT r = f32[67108864] reduce-window(p, z), window={size=67108864 pad=67108863_0}, to_apply=add",
    "p = f32[67108864] parameter(0) ROOT r = f32[67108864] sort(p), dimensions={0}, to_apply=less",
    "p = f32[8192,8192] parameter(0) q = f32[8192,8192] parameter(1) ROOT r = (f32[8192,8192], f32[8192,8192]) sort(p, q), dimensions={0}, to_apply=two",
    "p = f32[67108864] parameter(0) ROOT r = (f32[1000000], s32[1000000]) topk(p), k=1000000, largest=true",
    "p = f32[4,16777216] parameter(0) ROOT r = (f32[4,3], s32[4,3]) topk(p), k=3, largest=false",
    "s = u64[2] parameter(0) ROOT r = (u64[2], u32[67108864]) rng-bit-generator(s), algorithm=rng_three_fry",
    "s = u64[3] parameter(0) ROOT r = (u64[3], u32[67108864]) rng-bit-generator(s), algorithm=rng_philox",
    "a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[67108864] rng(a, b), distribution=rng_normal",
    "p = f32[8192,8192] parameter(0) s = f32[8192] parameter(1) ROOT r = (f32[8192,8192], f32[8192], f32[8192]) batch-norm-training(p, s, s), epsilon=1, feature_index=1",
    "p = f32[8192,8192] parameter(0) s = f32[8192] parameter(1) ROOT r = f32[8192,8192] batch-norm-inference(p, s, s, s, s), epsilon=1, feature_index=1",
    "p = f32[8192,8192] parameter(0) s = f32[8192] parameter(1) ROOT r = (f32[8192,8192], f32[8192], f32[8192]) batch-norm-grad(p, s, s, s, p), epsilon=1, feature_index=1",
    "p = c64[4000037] parameter(0) ROOT r = c64[4000037] fft(p), fft_type=FFT, fft_length={4000037}",
    "p = f64[4000037] parameter(0) ROOT r = c128[2000019] fft(p), fft_type=RFFT, fft_length={4000037}",
    "p = f32[16777216,2,2] parameter(0) ROOT r = f32[16777216,2,2] cholesky(p), lower=true",
    "p = f32[16777216,2,2] parameter(0) ROOT r = f32[16777216,2,2] triangular-solve(p, p), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    "p = f32[16777216,2,2] parameter(0) ROOT r = f32[16777216,2,2] dot(p, p), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
    "p = f32[1000000,8] parameter(0) q = f32[100,8,8] parameter(1) g = s32[100] parameter(2) ROOT r = f32[1000000,8] ragged-dot(p, q, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
    "p = f32[1,8192,8192,1] parameter(0) k = f32[3,3,1,1] parameter(1) ROOT r = f32[1,8190,8190,1] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f",
    "p = f32[67108864] parameter(0) z = f32[] parameter(1) ROOT r = (f32[67108864], f32[]) scan(p, z), dimensions={0}, num_carries=1, to_apply=running",
    "p = f32[16777216,2,2] parameter(0) ROOT r = (f32[16777216,2,2], f32[16777216,2]) custom-call(p), custom_call_target=\"lapack_sgeqrf_ffi\"",
];

/// The computations that the ops of [`LARGE`] apply.
const APPLIED: &str = "
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
less_of { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] minimum(a, b) }
slow { a = f32[] parameter(0) v = f32[1] reshape(a) w = f32[1] add(v, v) ROOT s = f32[] reshape(w) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
two { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) ROOT l = pred[] compare(c, d), direction=LT }
running { c = f32[] parameter(0) x = f32[] parameter(1) s = f32[] add(c, x) ROOT t = (f32[], f32[]) tuple(s, s) }
";

/// The ops that are not in [`LARGE`]: they take as long as what they call or wait for, or share the
/// memory of their operands.
const OTHERS: &str = "add-dependency after-all all-gather all-gather-done all-gather-start all-reduce all-reduce-done
    all-reduce-start all-to-all async-done async-start async-update call collective-broadcast collective-permute
    collective-permute-done collective-permute-start conditional constant copy copy-done copy-start domain
    dynamic-reshape fusion get-dimension-size get-tuple-element infeed opt-barrier outfeed partition-id
    ragged-all-to-all recv recv-done reduce-scatter replica-id reshape rng-get-and-update-state scaled-dot send
    send-done set-dimension-size tuple while";

/// No op goes on for long after the time: every loop over elements looks at it.
#[test]
fn time_limits_end_every_op() {
    let others: Vec<&str> = OTHERS.split_whitespace().collect();
    let is_missing = |op: &&Opcode| !op.is_elementwise() && !others.contains(&op.name());
    let mut missing: Vec<&str> =
        Opcode::ALL.iter().filter(is_missing).map(|op| op.name()).collect();
    let mut wrong = Vec::new();
    for body in LARGE {
        let text = format!("{APPLIED}\nENTRY e {{ {body} }}");
        let module = verified(&text);
        for (_, instruction) in module.module().entry().instructions.iter() {
            missing.retain(|name| *name != instruction.op.opcode().name());
        }
        for engine in Engine::ALL {
            let (error, taken) = end_of(&text, engine, Duration::from_millis(2));
            let name = engine.name();
            // Other processes may have the processor.
            let is_over = error.as_ref().is_some_and(|error| error.number() == "E0412");
            if !is_over || taken > Duration::from_secs(5) {
                wrong.push(format!("{name}: {taken:?}: {body}: {error:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(missing.is_empty(), "{missing:?}");
}

/// Runs a module on zeros; returns the error that ends it, if one does, and the time from the
/// start.
fn end_of(text: &str, engine: Engine, limit: Duration) -> (Option<interp::Error>, Duration) {
    let module = verified(text);
    let parameters = module.module().entry().program_shape().parameters;
    let zeros = parameters.iter().map(|s| Literal::zeros(s.array().unwrap().clone()));
    let zeros: Vec<Literal> = zeros.collect();
    let options = CompileOptions::default().engine(engine);
    let executable = Executable::compile(module, &options).unwrap();
    let start = std::time::Instant::now();
    let error = executable.execute(&zeros, &RunOptions::default().time_limit(limit)).err();
    (error, start.elapsed())
}

#[test]
fn a_clock_may_be_shared_by_runs() {
    let module = verified("ENTRY e { p = s32[] parameter(0) ROOT r = s32[] add(p, p) }");
    let executable = Executable::compile(module, &CompileOptions::default()).unwrap();
    let one = [Literal::from_slice(&[], &[1i32])];
    let run = |options: &RunOptions| executable.execute(&one, options).err().map(|e| e.number());
    let long = RunOptions::default().time_limit(Duration::from_secs(1 << 20));
    assert_eq!(run(&long), None);
    let started = long.start_clock();
    assert_eq!(run(&started), None);
    let short = RunOptions::default().time_limit(Duration::from_millis(100));
    let started = short.clone().start_clock();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(run(&started), Some("E0412"));
    assert_eq!(run(&RunOptions::default().time_limit(Duration::ZERO)), Some("E0412"));
}

#[test]
fn the_memory_of_donated_arguments_is_used_again() {
    let text = "ENTRY e { x = f32[1024] parameter(0) w = f32[1024] parameter(1) y = f32[1024] sine(x)
        z = f32[1024] sort(y), dimensions={0}, to_apply=less ROOT r = (f32[1024], f32[1024]) tuple(z, w) }
        less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }";
    let verified = verified(text);
    let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
    let argument = || Literal::zeros(ArrayShape::new(ElementType::F32, [1024].as_slice()));
    let run = |arguments: Vec<Literal>| {
        let mut machine = executable.start(None, arguments, &RunOptions::default()).unwrap();
        (machine.finish().unwrap(), machine.peak_bytes())
    };
    let (kept, other) = (argument(), argument());
    let (shared, most) = run(vec![kept.clone(), other.clone()]);
    assert_eq!(kept, argument(), "an argument that the host holds keeps its elements");
    let (donated, least) = run(vec![argument(), argument()]);
    assert_eq!(donated, shared);
    assert_eq!((least + 4096).cmp(&most), std::cmp::Ordering::Equal, "{least} and {most} bytes");
    // An argument that is donated twice is shared by both parameters.
    let twice = argument();
    assert_eq!(run(vec![twice.clone(), twice]).0, shared);
}
