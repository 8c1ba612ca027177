//! Cases of slots, updates in place and reused frames, with results computed by hand.
use crate::{agree, compiled, ramp};
use hlo::{ArrayShape, Literal};
use interp::{Engine, Hooks, RunOptions};
use std::sync::{Arc, Mutex};

fn literal(text: &str) -> Literal {
    text.parse().unwrap()
}

/// Returns a loop of `rounds` iterations over `(s32[], carried)`.
fn repeated(rounds: usize, carried: &str, init: &str, body: &str) -> String {
    format!(
        "less {{ t = (s32[], {carried}) parameter(0) i = s32[] get-tuple-element(t), index=0
  n = s32[] constant({rounds}) ROOT l = pred[] compare(i, n), direction=LT }}
body {{ t = (s32[], {carried}) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) {body} }}
ENTRY e {{ {init} z = s32[] constant(0) t = (s32[], {carried}) tuple(z, x, y)
  ROOT w = (s32[], {carried}) while(t), condition=less, body=body }}"
    )
}

const PAIR: &str = "f32[2], f32[2]";
const PAIR_PARTS: &str =
    "x = f32[2] get-tuple-element(t), index=1 y = f32[2] get-tuple-element(t), index=2";
const PAIR_INIT: &str = "x = f32[2] parameter(0) y = f32[2] parameter(1)";

/// The first argument is {-3, 0}, the second {-2, 1}.
fn pair(rounds: usize, rest: &str) -> String {
    agree(&repeated(rounds, PAIR, PAIR_INIT, &format!("{PAIR_PARTS} {rest}"))).to_string()
}

#[test]
fn loops_permute_and_duplicate_their_leaves() {
    let swap = "ROOT r = (s32[], f32[2], f32[2]) tuple(j, y, x)";
    assert_eq!(pair(3, swap), "( s32[] 3, f32[2]{0} {-2, 1}, f32[2]{0} {-3, 0} )");
    let negated = "a = f32[2] negate(x) ROOT r = (s32[], f32[2], f32[2]) tuple(j, y, a)";
    assert_eq!(pair(3, negated), "( s32[] 3, f32[2]{0} {2, -1}, f32[2]{0} {-3, 0} )");
    let double = "a = f32[2] add(x, x) ROOT r = (s32[], f32[2], f32[2]) tuple(j, a, a)";
    assert_eq!(pair(2, double), "( s32[] 2, f32[2]{0} {-12, 0}, f32[2]{0} {-12, 0} )");
    let same = "a = f32[2] add(x, y) ROOT r = (s32[], f32[2], f32[2]) tuple(j, a, y)";
    assert_eq!(pair(2, same), "( s32[] 2, f32[2]{0} {-7, 2}, f32[2]{0} {-2, 1} )");
    assert_eq!(pair(0, same), "( s32[] 0, f32[2]{0} {-3, 0}, f32[2]{0} {-2, 1} )");
    let constant = "a = f32[2] constant({5, 6}) b = f32[2] multiply(y, a)
      ROOT r = (s32[], f32[2], f32[2]) tuple(j, b, a)";
    assert_eq!(pair(3, constant), "( s32[] 3, f32[2]{0} {25, 36}, f32[2]{0} {5, 6} )");
}

#[test]
fn old_values_outlive_an_update() {
    // `x` is read after the update, and the update is the operand itself.
    let body = "k = s32[] constant(1) u = f32[1] slice(y), slice={[0:1]}
      a = f32[2] dynamic-update-slice(x, u, k) b = f32[2] subtract(a, x)
      ROOT r = (s32[], f32[2], f32[2]) tuple(j, a, b)";
    assert_eq!(pair(1, body), "( s32[] 1, f32[2]{0} {-3, -2}, f32[2]{0} {0, -2} )");
    let itself =
        "k = s32[] constant(1) a = f32[2] add(x, y) b = f32[2] dynamic-update-slice(a, a, k)
      ROOT r = (s32[], f32[2], f32[2]) tuple(j, b, a)";
    assert_eq!(pair(1, itself), "( s32[] 1, f32[2]{0} {-5, 1}, f32[2]{0} {-5, 1} )");
}

/// A bitcast reads memory in the layout that its operand states, whatever instruction computed the
/// value.
#[test]
fn layouts_are_those_of_the_operand() {
    let copied = "ENTRY e { p = s32[2,3]{1,0} parameter(0) c = s32[2,3]{0,1} copy(p) ROOT b = s32[6] bitcast(c) }";
    assert_eq!(agree(copied).to_string(), "s32[6]{0} {-3, 6, 0, 9, 3, 12}");
    let called = "f { q = s32[2,3]{0,1} parameter(0) ROOT b = s32[6] bitcast(q) }
      ENTRY e { p = s32[2,3]{1,0} parameter(0) ROOT c = s32[6] call(p), to_apply=f }";
    assert_eq!(agree(called).to_string(), "s32[6]{0} {-3, 6, 0, 9, 3, 12}");
}

/// A loop on registers keeps the bits of the values it carries, like one in frames.
#[test]
fn registers_keep_signaling_nans() {
    let text = repeated(
        2,
        "f32[], f32[]",
        "a = s32[] constant(2139095041) x = f32[] bitcast-convert(a) y = f32[] constant(0)",
        "x = f32[] get-tuple-element(t), index=1 ROOT r = (s32[], f32[], f32[]) tuple(j, x, x)",
    );
    let result = agree(&text);
    assert_eq!(result.elements().unwrap()[2].bytes(), 2_139_095_041_i32.to_le_bytes());
}

#[test]
fn fuel_is_one_step_per_instruction() {
    let steps = |text: &str| {
        let executable = compiled(text, Engine::Exact);
        let mut machine = executable.start(None, &[], &RunOptions::default()).unwrap();
        machine.finish().unwrap();
        machine.steps()
    };
    // 5 in the entry; 4 of the condition, 6 of the body and 1 of the loop in each iteration; 4 of
    // the final condition.
    let text = repeated(
        7,
        "s32[], s32[]",
        "x = s32[] constant(1) y = s32[] constant(1)",
        "ROOT r = (s32[], s32[], s32[]) tuple(j, j, i)",
    );
    agree(&text);
    assert_eq!(steps(&text), 5 + 7 * (4 + 5 + 1) + 4);
    let arrays = repeated(
        7,
        "s32[1], s32[1]",
        "x = s32[1] constant({1}) y = s32[1] constant({1})",
        "k = s32[1] reshape(j) ROOT r = (s32[], s32[1], s32[1]) tuple(j, k, k)",
    );
    agree(&arrays);
    assert_eq!(steps(&arrays), 5 + 7 * (4 + 6 + 1) + 4);
}

#[test]
fn out_of_fuel_names_the_instruction() {
    let text = "ENTRY e { p = f32[] parameter(0) q = f32[] add(p, p) ROOT t = (f32[]) tuple(q) }";
    let executable = compiled(text, Engine::Exact);
    for (fuel, instruction) in [(1, "e/q"), (2, "e/t")] {
        let error = executable
            .execute(&[literal("f32[] 1")], &RunOptions::default().fuel(fuel))
            .unwrap_err();
        assert_eq!((error.code().number(), error.instruction()), ("E0404", Some(instruction)));
    }
    executable.execute(&[literal("f32[] 1")], &RunOptions::default().fuel(3)).unwrap();
    let call = "f { a = f32[] parameter(0) b = f32[] add(a, a) ROOT c = (f32[]) tuple(b) }
      ENTRY e { p = f32[] parameter(0) q = (f32[]) call(p), to_apply=f ROOT t = f32[] get-tuple-element(q), index=0 }";
    let executable = compiled(call, Engine::Exact);
    // The call is inlined; instructions without a step belong to the step after them.
    for (fuel, instruction) in [(1, "f/b"), (3, "f/b"), (4, "e/t"), (5, "e/t")] {
        let error = executable
            .execute(&[literal("f32[] 1")], &RunOptions::default().fuel(fuel))
            .unwrap_err();
        assert_eq!((error.code().number(), error.instruction()), ("E0404", Some(instruction)));
    }
}

/// Errors name the instruction in reused frames, and failed machines cannot be resumed.
#[test]
fn errors_in_recycled_frames_name_the_instruction() {
    let body = "a = f32[2] call(x), to_apply=f ROOT r = (s32[], f32[2], f32[2]) tuple(j, a, y)";
    let text = repeated(5, PAIR, PAIR_INIT, &format!("{PAIR_PARTS} {body}"));
    let text = format!(
        "f {{ q = f32[2] parameter(0) n = f32[2] negate(q) ROOT c = f32[2] custom-call(n), custom_call_target=\"third\" }}
{text}"
    );
    let calls = Arc::new(Mutex::new(0));
    let hooks = Hooks::new().custom_call("third", move |call| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        if *calls < 3 {
            Ok(call.operands[0].clone())
        } else {
            Err(interp::Error::internal("third"))
        }
    });
    let x = literal("f32[2] {1, 2}");
    let executable = compiled(&text, Engine::Exact);
    let options = RunOptions::default().hooks(hooks);
    let mut machine = executable.start(None, &[x.clone(), x], &options).unwrap();
    let error = machine.finish().unwrap_err();
    assert_eq!(error.instruction(), Some("f/c"));
    for _ in 0..2 {
        assert!(machine.resume().unwrap_err().to_string().contains("after its end"));
    }
}

/// Every instruction of every iteration is observed and checked, also in loops that otherwise run
/// on registers.
#[test]
fn scalar_loops_are_observed() {
    let text = repeated(
        3,
        "f32[], f32[]",
        "x = f32[] constant(1e30) y = f32[] constant(1)",
        "x = f32[] get-tuple-element(t), index=1 a = f32[] multiply(x, x) ROOT r = (s32[], f32[], f32[]) tuple(j, a, x)",
    );
    agree(&text);
    for engine in [Engine::Reference, Engine::Exact] {
        let executable = compiled(&text, engine);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let names = Arc::clone(&seen);
        let hooks =
            Hooks::new().observe(move |event| names.lock().unwrap().push(event.name().to_owned()));
        executable.execute(&[], &RunOptions::default().hooks(hooks)).unwrap();
        let round = ["l", "j", "a"];
        let expected: Vec<&str> = round.iter().cycle().take(9).copied().chain(["l", "w"]).collect();
        assert_eq!(*seen.lock().unwrap(), expected);
        let error = executable.execute(&[], &RunOptions::default().check_nan(true)).unwrap_err();
        assert_eq!((error.code().number(), error.instruction()), ("E0409", Some("body/a")));
    }
}

#[test]
fn numbers_that_are_not_finite_by_their_bits_are_found() {
    let text = "ENTRY e { x = s32[2] parameter(0) f = f32[2] bitcast-convert(x) ROOT y = f32[2] negate(f) }";
    let infinity = literal("s32[2] {1, 2139095040}");
    for engine in [Engine::Reference, Engine::Exact, Engine::Fast] {
        let options = RunOptions::default().check_nan(true);
        let error =
            compiled(text, engine).execute(std::slice::from_ref(&infinity), &options).unwrap_err();
        assert_eq!((error.code().number(), error.instruction()), ("E0409", Some("e/f")));
    }
}

/// Frames kept for the next iteration own each other; dropping them must not recurse once per call.
#[test]
fn deep_calls_in_a_loop_end() {
    use std::fmt::Write as _;
    const DEPTH: usize = 6000;
    let mut text = "f0 { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }\n".to_owned();
    for i in 1..DEPTH {
        let callee = i - 1;
        writeln!(
            text,
            "f{i} {{ a = f32[2] parameter(0) ROOT b = f32[2] call(a), to_apply=f{callee} }}"
        )
        .unwrap();
    }
    let body = format!(
        "a = f32[2] call(x), to_apply=f{} ROOT r = (s32[], f32[2], f32[2]) tuple(j, a, y)",
        DEPTH - 1
    );
    text += &repeated(3, PAIR, PAIR_INIT, &format!("{PAIR_PARTS} {body}"));
    let x = literal("f32[2] {1, 2}");
    let result = compiled(&text, Engine::Exact).execute(&[x.clone(), x], &RunOptions::default());
    assert_eq!(result.unwrap().elements().unwrap()[1].to_string(), "f32[2]{0} {-1, -2}");
}

/// Sizes whose sum overflows are rejected where they are needed, not earlier.
#[test]
fn sizes_that_overflow_are_rejected() {
    let huge = "u8[4611686018427387904]";
    let list = |line: &dyn Fn(usize) -> String| (0..12).map(line).collect::<Vec<_>>();
    let shapes = list(&|_| huge.to_owned()).join(", ");
    let made = list(&|i| format!("a{i} = {huge} broadcast(p), dimensions={{}}")).join(" ");
    let names = list(&|i| format!("a{i}")).join(", ");
    let text = format!(
        "f {{ ROOT q = ({shapes}) parameter(0) }}
ENTRY e {{ p = u8[] parameter(0) {made} b = {huge} add(a0, a1) c = {huge} add(b, a2) d = {huge} add(c, a3)
  t = ({shapes}) tuple({names}) o = ({shapes}) call(t), to_apply=f
  ROOT r = (({shapes}), {huge}) tuple(o, d) }}"
    );
    let executable = compiled(&text, Engine::Exact);
    let error =
        executable.execute(&[literal("u8[] 1")], &RunOptions::default().max_memory(1 << 30));
    assert_eq!(error.unwrap_err().code().number(), "E0405");
}

#[test]
fn threads_share_an_executable() {
    let body =
        "k = s32[] constant(1) u = f32[1] slice(y), slice={[0:1]} c = f32[2] call(x), to_apply=f
      a = f32[2] dynamic-update-slice(c, u, k) ROOT r = (s32[], f32[2], f32[2]) tuple(j, a, c)";
    let text = repeated(50, PAIR, PAIR_INIT, &format!("{PAIR_PARTS} {body}"));
    let text = format!("f {{ q = f32[2] parameter(0) ROOT n = f32[2] negate(q) }}\n{text}");
    agree(&text);
    let executable = compiled(&text, Engine::Exact);
    let run = |seed: f32| {
        let x = Literal::from_slice(&[2], &[seed, seed + 1.0]);
        let mut machine = executable.start(None, &[x.clone(), x], &RunOptions::default()).unwrap();
        let result = machine.finish().unwrap();
        (result, machine.steps(), machine.peak_bytes())
    };
    let seeds = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let expected: Vec<_> = seeds.iter().map(|&seed| run(seed)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (seeds
            .iter()
            .map(|&seed| scope.spawn(move || (0..20).map(|_| run(seed)).collect::<Vec<_>>())))
        .collect();
        for (thread, expected) in threads.into_iter().zip(&expected) {
            assert!(thread.join().unwrap().iter().all(|found| found == expected));
        }
    });
}

/// Each op runs as a kernel, and what it works in is part of the planned memory.
#[test]
fn kernels_work_in_planned_memory() {
    let add = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
lt { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=LT }
two { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)
  s = f32[] add(a, c) m = f32[] maximum(b, d) ROOT t = (f32[], f32[]) tuple(s, m) }";
    for (parameters, op) in [
        ("x = f32[5,6] parameter(0)", "f32[6] reduce(x, z), dimensions={0}, to_apply=add"),
        (
            "x = f32[5,6] parameter(0) y = f32[5,6] parameter(1)",
            "(f32[5], f32[5]) reduce(x, y, z, z), dimensions={1}, to_apply=two",
        ),
        (
            "x = f32[7,6] parameter(0)",
            "f32[7,6] reduce-window(x, z), window={size=7x1 pad=6_0x0_0}, to_apply=max",
        ),
        (
            "x = f32[1,4,4,1] parameter(0) y = f32[1,2,2,1] parameter(1)",
            "f32[1,4,4,1] select-and-scatter(x, y, z), window={size=1x2x2x1 stride=1x2x2x1}, select=ge, scatter=add",
        ),
        (
            "x = f32[6,5] parameter(0) y = s32[6,5] parameter(1)",
            "(f32[6,5], s32[6,5]) sort(x, y), dimensions={0}, to_apply=lt",
        ),
        ("x = f32[3,8] parameter(0)", "(f32[3,2], s32[3,2]) topk(x), k=2, largest=true"),
        (
            "x = f32[4] parameter(0) y = f32[4] parameter(1)",
            "f32[4] map(x, y), dimensions={0}, to_apply=max",
        ),
        (
            "x = bf16[4,5] parameter(0) y = bf16[5,3] parameter(1)",
            "bf16[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ),
        (
            "x = f32[2,3,6] parameter(0) y = f32[4,3,2] parameter(1)",
            "f32[2,4,5] convolution(x, y), window={size=2}, dim_labels=bf0_oi0->bf0",
        ),
        (
            "x = f32[6,2] parameter(0) y = f32[3,2,4] parameter(1) g = s32[3] parameter(2)",
            "f32[6,4] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
        ),
        (
            "x = f32[4] parameter(0) y = f32[4] parameter(1) i = s32[2,1] parameter(2) u = f32[2] parameter(3)",
            "(f32[4], f32[4]) scatter(x, y, i, u, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=two",
        ),
        (
            "s = u64[2] parameter(0)",
            "(u64[2], u32[3,5]) rng-bit-generator(s), algorithm=rng_three_fry",
        ),
        ("x = f32[2,3]{0,1} parameter(0)", "f32[3,2]{0,1} bitcast(x)"),
        ("x = u32[3] parameter(0)", "u8[3,4] bitcast-convert(x)"),
    ] {
        let text = format!("{add}\nENTRY e {{ {parameters} z = f32[] constant(0) ROOT r = {op} }}");
        let executable = compiled(&text, Engine::Exact);
        let plan = executable.plan().to_string();
        assert!(
            plan.lines().any(|line| line.contains("  r: ") && line.contains("; kernel")),
            "{plan}"
        );
        let shape = executable.module().entry().program_shape();
        let parameters = shape.parameters.iter().zip(1..);
        let arguments: Vec<Literal> =
            parameters.map(|(shape, i)| ramp(shape.array().unwrap(), i)).collect();
        let mut machine =
            executable.start(None, arguments.as_slice(), &RunOptions::default()).unwrap();
        let result = machine.finish().unwrap();
        let (taken, planned) = (machine.peak_bytes(), executable.planned_bytes());
        assert!(taken <= planned, "{planned} bytes are planned, {taken} are taken\n{plan}");
        let reference = compiled(&text, Engine::Reference);
        assert_eq!(result, reference.execute(&arguments, &RunOptions::default()).unwrap(), "{op}");
    }
}

/// Only what may depend on an array smaller than its bounds looks at sizes when it runs.
#[test]
fn static_parts_of_dynamic_modules_have_kernels() {
    let text = "f { q = f32[<=4] parameter(0) w = f32[4] iota(), iota_dimension=0 v = f32[4] negate(w)
  m = f32[<=4] multiply(q, q) ROOT r = (f32[<=4], f32[4]) tuple(m, v) }
ENTRY e { p = f32[4] parameter(0) n = s32[] constant(2) d = f32[<=4] set-dimension-size(p, n), dimensions={0}
  a = f32[<=4] add(d, d) b = f32[4] add(p, p) c = (f32[<=4], f32[4]) call(a), to_apply=f
  g = f32[<=4] get-tuple-element(c), index=0 h = f32[<=4] exponential(g) ROOT t = (f32[<=4], f32[4]) tuple(h, b) }";
    agree(text);
    let plan = compiled(text, Engine::Exact).plan().to_string();
    let action = |name: &str| {
        let line = plan.lines().find(|line| line.contains(&format!("  {name}: "))).unwrap();
        line.split("; ").nth(1).unwrap().split(',').next().unwrap().to_owned()
    };
    for (name, expected) in
        [("a", "function"), ("b", "kernel"), ("h", "function"), ("m", "function"), ("v", "kernel")]
    {
        assert_eq!(action(name), expected, "{name}\n{plan}");
    }
}

/// Donated arguments of which no clone is left are written over; arguments that the caller keeps
/// never are.
#[test]
fn donated_arguments_are_written_over() {
    let body = "ENTRY e { p = f32[1000] parameter(0) q = f32[1000] parameter(1)
        ROOT a = f32[1000] add(p, q) }";
    let texts = [
        (format!("HloModule m, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}\n{body}"), true),
        (format!("HloModule m, buffer_donor={{ (0, {{}}) }}\n{body}"), true),
        (format!("HloModule m\n{body}"), false),
    ];
    let x = ramp(&ArrayShape::new(hlo::ElementType::F32, vec![1000]), 0);
    for (text, is_donated) in texts {
        for engine in [Engine::Exact, Engine::Fast, Engine::Reference] {
            let executable = compiled(&text, engine);
            let expected =
                executable.execute(&[x.clone(), x.clone()], &RunOptions::default()).unwrap();
            let (p, q) = (x.copied(), x.copied());
            let run = |arguments: Vec<Literal>| {
                let options = RunOptions::default().max_memory(executable.planned_bytes());
                let mut machine = executable.start(None, arguments, &options).unwrap();
                (machine.finish().unwrap(), machine.peak_bytes())
            };
            let (shared, most) = run(vec![p.clone(), q.clone()]);
            assert_eq!((&shared, &p, &q), (&expected, &x, &x), "{text}");
            let (owned, least) = run(vec![p, q.clone()]);
            assert_eq!((&owned, &q), (&expected, &x), "{text}");
            let saves = is_donated && engine != Engine::Reference;
            assert_eq!(most - least, if saves { 4000 } else { 0 }, "{text}");
        }
    }
}
