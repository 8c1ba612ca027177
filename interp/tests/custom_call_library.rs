//! Custom calls of a shared library: a small one is compiled from C, loaded and called.
#![expect(clippy::unwrap_used, reason = "tests")]
use interp::{CompileOptions, Engine, Executable, Hooks, RunOptions};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = r"
#include <stdint.h>
/* out[i] = in0[i] - in1[i] of four floats, in the order of memory. */
void difference(void* out, const void** in) {
  const float *a = in[0], *b = in[1];
  for (int i = 0; i < 4; i++) ((float*)out)[i] = a[i] - b[i];
}
/* Six floats as they lie in memory. */
void memory(void* out, const void** in) {
  for (int i = 0; i < 6; i++) ((float*)out)[i] = ((const float*)in[0])[i];
}
/* (sum, (smallest, whether all are positive)) of a tuple of two whole numbers. */
void nested(void* out, const void** in) {
  void** result = out;
  void** inner = result[1];
  const void* const* pair = in[0];
  int32_t a = *(const int32_t*)pair[0], b = *(const int32_t*)pair[1];
  *(int64_t*)result[0] = (int64_t)a + b;
  *(int32_t*)inner[0] = a < b ? a : b;
  *(uint8_t*)inner[1] = a > 0 && b > 0;
}
void nothing(void* out, const void** in) { (void)out; (void)in; }
";

/// Returns the compiled library; `None`, with a message, if there is no C compiler.
fn library() -> Option<PathBuf> {
    static ONCE: std::sync::OnceLock<Option<PathBuf>> = std::sync::OnceLock::new();
    ONCE.get_or_init(compile).clone()
}

fn compile() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, library) = (folder.join("calls.c"), folder.join("libcalls.so"));
    std::fs::write(&source, SOURCE).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status =
        Command::new(compiler).args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    let done = status.is_ok_and(|status| status.success());
    if !done {
        #[expect(clippy::print_stderr, reason = "reports that tests are skipped")]
        {
            eprintln!("skipped: there is no C compiler");
        }
    }
    done.then_some(library)
}

/// Returns the result of a module whose entry computation is `body`, or the error; `None` without a
/// compiler.
fn run(body: &str, arguments: &[&str]) -> Option<Result<String, String>> {
    let hooks = Hooks::new().library(library()?).unwrap();
    let text = format!("HloModule m\nENTRY e {{ {body} }}");
    let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
    let arguments: Vec<hlo::Literal> = arguments.iter().map(|a| a.parse().unwrap()).collect();
    let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
    let result = executable.execute(&arguments, &RunOptions::default().hooks(hooks));
    Some(result.map(|r| r.to_string()).map_err(|e| e.to_string()))
}

#[test]
fn arrays_are_pointers_to_elements() {
    let body = "a = f32[4] parameter(0) b = f32[4] parameter(1)
        ROOT r = f32[4] custom-call(a, b), custom_call_target=\"difference\"";
    let Some(result) = run(body, &["f32[4] {5, 6, 7, 8}", "f32[4] {1, 2, 3, 5}"]) else { return };
    assert_eq!(result.unwrap(), "f32[4]{0} {4, 4, 4, 3}");
}

#[test]
fn elements_are_in_the_order_of_the_layouts() {
    let call = |operand: &str, result: &str| {
        let body = format!(
            "a = f32[2,3] parameter(0) ROOT r = f32[2,3]{result} custom-call(a),
            custom_call_target=\"memory\", operand_layout_constraints={{f32[2,3]{operand}}}"
        );
        run(&body, &["f32[2,3] {{1, 2, 3}, {4, 5, 6}}"]).map(Result::unwrap)
    };
    // In column-major order the memory is 1 4 2 5 3 6, which read in row-major order is another
    // matrix.
    let Some(turned) = call("{0,1}", "{1,0}") else { return };
    assert_eq!(turned, "f32[2,3]{1,0} { { 1, 4, 2 }, { 5, 3, 6 } }");
    assert_eq!(call("{1,0}", "{0,1}").unwrap(), "f32[2,3]{0,1} { { 1, 3, 5 }, { 2, 4, 6 } }");
    assert_eq!(call("{0,1}", "{0,1}").unwrap(), "f32[2,3]{0,1} { { 1, 2, 3 }, { 4, 5, 6 } }");
}

#[test]
fn tuples_are_arrays_of_pointers() {
    let body = "a = (s32[], s32[]) parameter(0)
        ROOT r = (s64[], (s32[], pred[])) custom-call(a), custom_call_target=\"nested\"";
    let Some(result) = run(body, &["( s32[] 2000000000, s32[] 1000000000 )"]) else { return };
    assert_eq!(result.unwrap(), "( s64[] 3000000000, ( s32[] 1000000000, pred[] true ) )");
}

#[test]
fn unsupported_calls_are_rejected() {
    let body = |attributes: &str| {
        format!(
            "a = s4[2] parameter(0) ROOT r = s4[2] custom-call(a), custom_call_target={attributes}"
        )
    };
    let Some(narrow) = run(&body("\"nothing\""), &["s4[2] {1, 2}"]) else { return };
    assert!(narrow.unwrap_err().contains("cannot take a value of shape s4[2]"));
    let typed = run(&body("\"nothing\", api_version=API_VERSION_TYPED_FFI"), &["s4[2] {1, 2}"]);
    assert!(typed.unwrap().unwrap_err().contains("requires API_VERSION_ORIGINAL"));
    let absent = run(&body("\"absent\""), &["s4[2] {1, 2}"]);
    assert!(absent.unwrap().unwrap_err().contains("unknown custom call target `absent`"));
}

#[test]
fn a_missing_library_has_its_own_error() {
    let error = Hooks::new().library("no/such/library.so").unwrap_err();
    assert!(error.to_string().starts_with("error[E0410]: library `no/such/library.so`"), "{error}");
}

#[test]
fn a_registered_function_must_return_the_stated_shape() {
    let text = "HloModule m\nENTRY e { a = f32[2] parameter(0) ROOT r = f32[3] custom-call(a), custom_call_target=\"f\" }";
    let verified = hlo::Module::parse(text).unwrap().verify().unwrap();
    let hooks = Hooks::new().custom_call("f", |call| Ok(call.operands[0].clone()));
    let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
    let options = RunOptions::default().hooks(hooks);
    let error = executable.execute(&["f32[2] {1, 2}".parse().unwrap()], &options);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("E0411") && error.contains("`f` returned f32[2]{0}"), "{error}");
}

/// A function that is registered for a routine of linear algebra is called in its place: in a
/// frame, and in a loop, of few and of so many iterations that it becomes machine code.
#[test]
fn a_registered_function_replaces_a_routine() {
    let call = "custom-call(x), custom_call_target=\"lapack_spotrf_ffi\", backend_config={uplo = 76 : ui8}";
    let text = format!(
        "HloModule m
         less {{ t = (s32[], f32[2,2], s32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] get-tuple-element(t), index=2
           ROOT l = pred[] compare(i, n), direction=LT }}
         next {{ t = (s32[], f32[2,2], s32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
           n = s32[] get-tuple-element(t), index=2 x = f32[2,2] get-tuple-element(t), index=1
           c = (f32[2,2]{{0,1}}, s32[]) {call} y = f32[2,2] get-tuple-element(c), index=0 ROOT r = (s32[], f32[2,2], s32[]) tuple(j, y, n) }}
         ENTRY e {{ x = f32[2,2]{{0,1}} parameter(0) n = s32[] parameter(1) z = s32[] constant(0) c = (f32[2,2]{{0,1}}, s32[]) {call}
           t = (s32[], f32[2,2], s32[]) tuple(z, x, n) w = (s32[], f32[2,2], s32[]) while(t), condition=less, body=next
           y = f32[2,2] get-tuple-element(w), index=1 ROOT r = ((f32[2,2]{{0,1}}, s32[]), f32[2,2]) tuple(c, y) }}"
    );
    let function = |call: &interp::Call<'_>| {
        let first = call.operands[0].get(0).as_f64();
        let sum = if first < 1e6 { first + 1.0 } else { 0.0 };
        let [shape, info] = call.shape.tuple().unwrap() else { panic!("a pair") };
        let mut matrix = hlo::Array::zeros(shape.array().unwrap().clone());
        (0..4).for_each(|i| matrix.set(i, hlo::Scalar::Float(sum)));
        let mut number = hlo::Array::zeros(info.array().unwrap().clone());
        number.set(0, hlo::Scalar::Signed(7));
        Ok(hlo::Literal::tuple(vec![matrix.into(), number.into()]))
    };
    for engine in [Engine::Reference, Engine::Exact, Engine::Fast] {
        let verified = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let executable =
            Executable::compile(verified, &CompileOptions::default().engine(engine)).unwrap();
        let plan = executable.plan().to_string();
        assert_eq!(plan.contains("while (small arrays)"), engine != Engine::Reference, "{plan}");
        for count in [3, 40_000] {
            let arguments: Vec<hlo::Literal> =
                ["f32[2,2] {{4, 2}, {2, 10}}", &format!("s32[] {count}")]
                    .into_iter()
                    .map(|text| text.parse().unwrap())
                    .collect();
            let run = |hooks| {
                let result = executable.execute(&arguments, &RunOptions::default().hooks(hooks));
                result.unwrap().to_string()
            };
            let own = run(Hooks::new().custom_call("lapack_spotrf_ffi", function));
            let sums = 4 + count;
            assert_eq!(
                own,
                format!(
                    "( ( f32[2,2]{{0,1}} {{ {{ 5, 5 }}, {{ 5, 5 }} }}, s32[] 7 ), f32[2,2]{{1,0}} {{ {{ {sums}, {sums} }}, {{ {sums}, {sums} }} }} )"
                ),
            );
            let built_in = run(Hooks::new().custom_call("lapack_dpotrf_ffi", function));
            assert!(
                built_in.starts_with("( ( f32[2,2]{0,1} { { 2, 2 }, { 1, 3 } }, s32[] 0 )"),
                "{built_in}"
            );
        }
    }
}
