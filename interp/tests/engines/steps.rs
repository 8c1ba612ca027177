//! Steps on small arrays as one step with a program.
use super::small_loops::{agree_with_code, module, wide};
use super::{agree, compiled, ramp, run};
use hlo::Literal;
use interp::{Engine, RunOptions};
use proptest::prelude::*;
use std::fmt::Write;

/// Returns the module with the body of its loop executed once, outside of a loop.
fn once(module: &str) -> String {
    module.replace("while(t), condition=condition, body=body", "call(t), to_apply=body")
}

fn has_program(text: &str) -> bool {
    compiled(text, Engine::Exact).plan().to_string().contains("steps (small arrays)")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_steps(choices in prop::collection::vec(any::<u8>(), 20..300)) {
        agree(&once(&module(&choices)));
        agree(&once(&wide(&module(&choices))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_steps_as_code(choices in prop::collection::vec(any::<u8>(), 150..300)) {
        for text in [once(&module(&choices)), once(&wide(&module(&choices)))] {
            agree_with_code(&text, Engine::Exact);
            agree_with_code(&text, Engine::Fast);
        }
    }
}

/// Some of the modules above have programs.
#[test]
fn many_small_steps_have_a_program() {
    let has = |k: usize| {
        let choices: Vec<u8> = (0..=255u8).cycle().skip(k).step_by(37).take(300).collect();
        has_program(&once(&module(&choices)))
    };
    assert!((0..256).any(has));
}

/// A step that is no part of the program reads a value of it, and computes one for the next program.
#[test]
fn a_program_ends_before_a_step_that_reads_it() {
    let sum = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";
    let part = |name: &str, x: &str| {
        let mut text = format!("{name}0 = f32[3] negate({x}) ");
        for i in 0..9 {
            let (op, next) = (["add", "multiply"][i % 2], i + 1);
            let _ = write!(
                text,
                "{name}{next} = f32[3] {op}({name}{i}, {x})
                 {name}r{i} = f32[3] reverse({name}{next}), dimensions={{0}}
                 {name}s{i} = f32[2] slice({name}r{i}), slice={{[1:3]}} "
            );
        }
        text
    };
    let text = format!(
        "{sum} ENTRY e {{ x = f32[3] parameter(0) large = f32[3,4000] parameter(1) z = f32[] constant(0) {}
          w = f32[3,4000] broadcast(a9), dimensions={{0}} v = f32[3,4000] add(w, large)
          y = f32[3] reduce(v, z), dimensions={{1}}, to_apply=sum {}
          ROOT t = (f32[3], f32[2], f32[3], f32[2]) tuple(a9, as8, b9, bs8) }}",
        part("a", "x"),
        part("b", "y")
    );
    let plan = compiled(&text, Engine::Exact).plan().to_string();
    assert_eq!(plan.matches("steps (small arrays)").count(), 2, "{plan}");
    agree(&text);
    agree_with_code(&text, Engine::Exact);
}

/// A program that reads a part of a large array ends before the array is updated where it is.
#[test]
fn a_program_ends_before_a_large_array_that_it_reads_is_taken() {
    let text = "ENTRY e { x = f32[9000] parameter(0) i = s32[] parameter(1) u = f32[4] parameter(2)
      y = f32[9000] negate(x) s = f32[4] dynamic-slice(y, i), dynamic_slice_sizes={4}
      w = f32[9000] dynamic-update-slice(y, u, i)
      a = f32[4] add(s, u) b = f32[4] multiply(a, s) c = f32[4] subtract(b, u)
      d = f32[4] reverse(c), dimensions={0} f = f32[4] add(d, a) g = f32[4] multiply(f, d)
      h = f32[4] subtract(g, u) k = f32[4] add(h, a) ROOT r = (f32[9000], f32[4]) tuple(w, k) }";
    let plan = compiled(text, Engine::Exact).plan().to_string();
    let update = plan.lines().find(|line| line.contains("dynamic-update-slice(")).unwrap();
    assert!(update.contains("in place of") && plan.contains("steps (small arrays)"), "{plan}");
    agree(text);
}

/// A scatter is charged by how many of its windows are inside of the array.
#[test]
fn scatters_are_charged_as_outside_of_a_program() {
    let text = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
      ENTRY e { x = f32[3,8] parameter(0) u = f32[1,8] parameter(1) i = s32[1,1] parameter(2)
      a = f32[3,8] negate(x) b = f32[3,8] multiply(a, x) c = f32[3,8] add(b, x)
      d = f32[3,8] subtract(c, a) e = f32[3,8] multiply(d, d) f = f32[3,8] add(e, c)
      g = f32[3,8] multiply(f, x) h = f32[3,8] add(g, c)
      ROOT o = f32[3,8] scatter(h, i, u), update_window_dims={1}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }";
    let steps = |engine, index: i32| {
        let program = compiled(text, engine);
        let parameters = program.module().entry().program_shape().parameters;
        let mut arguments: Vec<Literal> =
            parameters.iter().zip(1..).map(|(p, i)| ramp(p.array().unwrap(), i)).collect();
        arguments[2] = Literal::from_slice(&[1, 1], &[index]);
        run(&program, &arguments, &RunOptions::default()).steps
    };
    assert!(has_program(text));
    for index in [1, 7] {
        assert_eq!(steps(Engine::Exact, index), steps(Engine::Reference, index), "index {index}");
    }
}
