//! Functions that check their own values, run as tests.
use super::*;
use crate::Summary;

fn options(print: PrintLine) -> CheckOptions {
    CheckOptions { engines: Engine::ALL.to_vec(), run: RunOptions::default(), print }
}
fn reports(text: &str) -> Vec<Report> {
    let file = CheckFile::new("t.mlir", text.as_bytes());
    assert!(file.has_checks());
    let options = options(Arc::new(|_| {}));
    file.cases.iter().map(|case| case.run(&options)).collect()
}
fn summary(text: &str) -> Summary {
    Summary::of(&reports(text))
}
fn shown(text: &str) -> String {
    let reports = reports(text);
    let bad: Vec<_> = reports.iter().filter(|report| report.is_bad()).collect();
    let [bad] = bad.as_slice() else { panic!("{reports:?}") };
    format!("{}: {}", bad.name, bad.details(false))
}

/// The files of the project, each function of which passes in each engine.
#[test]
fn the_files_of_tests_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/mlir");
    let mut count = 0;
    for path in find(&folder).unwrap() {
        let file = CheckFile::read(&path).unwrap().unwrap();
        for case in &file.cases {
            let report = case.run(&options(Arc::new(|_| {})));
            let agrees = matches!(report.outcome, Outcome::Agree(_));
            assert!(agrees, "{}: {}", report.name, report.details(false));
            count += 1;
        }
    }
    assert_eq!(count, 20);
}

#[test]
fn a_failure_names_the_function_the_op_and_the_element() {
    let text = "// A comment.
func.func @third_is_wrong() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %x, dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %x, dense<[1, 2, 4]> : tensor<3xi32>
  check.expect_eq_const %x, dense<0> : tensor<3xi32>
  return
}";
    let expected = "t.mlir::third_is_wrong: engine exact: t.mlir:5: `check.expect_eq_const` of `@third_is_wrong` (and 1 other check): 1 of 3 elements differ\nworst: result 0 at [2]: found s32[] 3, expected s32[] 4\n";
    assert_eq!(shown(text), expected);
}

/// A check that does not hold, for each rule.
#[test]
fn each_rule_can_fail() {
    let checks = [
        "check.expect_eq %nan, %nan : tensor<f32>",
        "check.expect_eq(%zero, %minus) : tensor<f32>",
        "check.expect_almost_eq %one, %near : tensor<f32>",
        "check.expect_almost_eq %one, %nan : tensor<f32>",
        "check.expect_almost_eq(%one, %near, atol 0.0, rtol 1.0e-4) : tensor<f32>",
        "check.expect_close %one, %near, max_ulp_difference = 9 : tensor<f32>, tensor<f32>",
        "check.expect_close %one, %one, max_ulp_difference = 9, min_ulp_difference = 1 : tensor<f32>, tensor<f32>",
        "check.expect_true(%false) : tensor<i1>",
        "check.expect_false(%true) : tensor<i1>",
        "stablehlo.custom_call @check.expect_almost_eq(%one, %far) : (tensor<f32>, tensor<f32>) -> ()",
        "%r = stablehlo.custom_call @check.eq(%one, %near) : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "%p = interpreter.probe %one, probe_id = \"p\" : tensor<f32>\n check.expect_serialized_eq %near, probe_id = \"p\" : tensor<f32>",
    ];
    for check in checks {
        let text = format!(
            "func.func @f() {{
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %near = stablehlo.constant dense<1.0005> : tensor<f32>
  %far = stablehlo.constant dense<1.0015> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<-0.0> : tensor<f32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  {check}
  return
}}"
        );
        assert_eq!(summary(&text), Summary { differ: 1, ..Summary::default() }, "{check}");
    }
}

#[test]
fn functions_that_are_no_tests_are_skipped_with_a_reason() {
    let text = "func.func @helper(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @with_argument(%x: tensor<f32>) { return }
func.func @without_check() { %c = stablehlo.constant dense<1.0> : tensor<f32>
  %r = func.call @helper(%c) : (tensor<f32>) -> tensor<f32>
  return }
// -----
// expected-error@+1 {{wrong}}
func.func @for_another_tool() { check.nothing return }
// -----
func.func @checks() { %c = stablehlo.constant dense<1.0> : tensor<f32> check.expect_eq %c, %c : tensor<f32> return }";
    let reports = reports(text);
    let details: Vec<_> =
        reports.iter().map(|report| (report.name.as_str(), report.details(false))).collect();
    let expected = [
        ("t.mlir::with_argument", "it takes 1 argument\n"),
        ("t.mlir::without_check", "it runs, and checks no value\n"),
        ("t.mlir::for_another_tool", "it expects errors of another tool: `expected-error`\n"),
        ("t.mlir::checks", ""),
    ];
    assert_eq!(details, expected.map(|(name, text)| (name, text.to_owned())));
    let failing = "// RUN: not tool %s\nfunc.func @f() { check.expect_true(%x) : i1 return }";
    assert_eq!(summary(failing), Summary { skipped: 1, ..Summary::default() });
}

#[test]
fn what_is_wrong_has_a_place() {
    for (text, expected) in [
        ("func.func @f() { check.expect_eq %x, %x : tensor<f32> return }", "E0903"),
        (
            "func.func @f() { %x = stablehlo.constant dense<1.0> : tensor<f32>
  check.expect_eq_const %x, dense<[1.0, 2.0]> : tensor<2xf32> return }",
            "`check.expect_eq_const` compares f32[] with f32[2]",
        ),
        (
            "func.func @f() { %x = stablehlo.constant dense<1.0> : tensor<f32>
  check.expect_serialized_eq %x, probe_id = \"no\" : tensor<f32> return }",
            "t.mlir:2: `check.expect_serialized_eq`: the probe `no` has 0 values, none of number 0",
        ),
        (
            "func.func @f() { \"interpreter.run_parallel\"() {programs = [[@g]]} : () -> () return }",
            "names `@g`, which is not a function",
        ),
        (
            "func.func @f() { \"interpreter.run_parallel\"() {programs = [[@f]]} : () -> () return }
func.func @main() { \"interpreter.run_parallel\"() {programs = [[@f]]} : () -> () return }",
            "too deep",
        ),
        (
            "func.func @g(%x: tensor<f32>) { return }
func.func @f() { \"interpreter.run_parallel\"() {programs = [[@g]]} : () -> () return }",
            "has fewer operands than its functions have arguments",
        ),
        (
            "func.func @g(%t: !stablehlo.token) { return }
func.func @q() -> tensor<f32> { %x = stablehlo.constant dense<1.0> : tensor<f32> return %x : tensor<f32> }
func.func @f() { %t = stablehlo.after_all : !stablehlo.token
  \"interpreter.run_parallel\"(%t, %t) {infeed = [@q], programs = [[@g, @g]]} : (!stablehlo.token, !stablehlo.token) -> () return }",
            "take turns at its infeed queue",
        ),
    ] {
        let shown = shown(text);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn printed_values_have_their_line() {
    let text = "func.func @f() -> tensor<2xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  interpreter.print %0 : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @main() {
  %0:2 = \"interpreter.run_parallel\"() {programs = [[@f, @f]]} : () -> (tensor<2xi32>, tensor<2xi32>)
  return
}";
    let lines = Arc::new(Mutex::new(String::new()));
    let into = Arc::clone(&lines);
    let options = options(Arc::new(move |line| into.lock().unwrap().push_str(line)));
    let file = CheckFile::new("t.mlir", text.as_bytes());
    assert_eq!(file.cases.len(), 1);
    assert!(!file.cases[0].run(&options).is_bad());
    assert_eq!(*lines.lock().unwrap(), "t.mlir:3: s32[2] {0, 1}\n".repeat(2));
}
