//! The plugin through our own host: the library is loaded as a framework loads it.
use hlo::Literal;
use pjrt::{Client, Error, OptionValue, Plugin, Program, Status};
use std::path::PathBuf;

/// Returns the path of the library, which cargo builds beside the tests.
fn library() -> PathBuf {
    let name = format!(
        "{}etalon_pjrt_plugin{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let program = std::env::current_exe().expect("the path of the test");
    let deps = program.parent().expect("a folder");
    let found = [deps.join(&name), deps.parent().expect("a folder").join(&name)];
    found.into_iter().find(|path| path.exists()).expect("cargo builds the library with the tests")
}

fn client(options: &[(&str, OptionValue)]) -> Client {
    let options: Vec<_> =
        options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let plugin = Plugin::load(&library()).expect("a plugin");
    plugin.create(&options).expect("a client")
}

fn literal(text: &str) -> Literal {
    text.parse().expect("a literal")
}

fn mlir(code: &str) -> Program {
    Program { format: "mlir".to_owned(), code: code.into(), ..Program::default() }
}
fn proto(text: &str) -> Program {
    let module = hlo::Module::parse(text).expect("a module");
    let code = hlo::proto::encode(&module).expect("a message");
    Program { code, ..Program::default() }
}

const ADD: &str = "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xi1>) {
  %s = stablehlo.add %x, %y : tensor<2x2xf32>
  %c = stablehlo.compare LT, %x, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  return %s, %c : tensor<2x2xf32>, tensor<2x2xi1>
}";

#[test]
fn stablehlo_runs() {
    let executable = client(&[]).compile(&mlir(ADD)).unwrap();
    let x = literal("f32[2,2] {{1, 2}, {3, 4}}");
    let y = literal("f32[2,2] {{10, 2}, {-3, 40}}");
    let results = executable.execute(&[vec![x, y]]).unwrap();
    assert_eq!(results[0][0], literal("f32[2,2] {{11, 4}, {0, 44}}"));
    assert_eq!(results[0][1], literal("pred[2,2] {{1, 0}, {0, 1}}"));
}

#[test]
fn the_version_of_stablehlo_is_an_attribute() {
    let attributes = Plugin::load(&library()).expect("a plugin").attributes().unwrap();
    let version = |name: &str, numbers: [i64; 3]| {
        (format!("stablehlo_{name}_version"), OptionValue::Ints(numbers.into()))
    };
    let [xla, current, minimum] = attributes.as_slice() else { panic!("{attributes:?}") };
    assert_eq!(*xla, ("xla_version".to_owned(), OptionValue::Int(2)));
    assert_eq!(*current, version("current", [1, 13, 0]));
    assert_eq!(*minimum, version("minimum", [0, 9, 0]));
}

#[test]
fn targets_without_a_handler_are_refused() {
    let call = |target: &str| {
        mlir(&format!(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
               %y = stablehlo.custom_call @{target}(%x) {{api_version = 4 : i32}} : (tensor<2xf32>) -> tensor<2xf32>
               return %y : tensor<2xf32>
             }}"
        ))
    };
    let client = client(&[]);
    let Err(Error::Plugin { status, message, .. }) = client.compile(&call("nobody")) else {
        panic!("it has no handler")
    };
    assert_eq!(status, Status::NOT_FOUND);
    assert!(message.contains("the target `nobody`"), "{message}");
    assert!(client.compile(&call("Sharding")).is_ok());
}

#[test]
fn hlo_messages_run() {
    let text = "HloModule m
        ENTRY e { x = s4[3] parameter(0) y = bf16[] parameter(1) n = s4[3] negate(x)
          k = token[] after-all() ROOT t = (s4[3], bf16[], token[]) tuple(n, y, k) }";
    let executable = client(&[]).compile(&proto(text)).unwrap();
    let results =
        executable.execute(&[vec![literal("s4[3] {1, -7, 0}"), literal("bf16[] 1.5")]]).unwrap();
    assert_eq!(results[0][0], literal("s4[3] {-1, 7, 0}"));
    assert_eq!(results[0][1], literal("bf16[] 1.5"));
    assert_eq!(results[0][2], Literal::token());
}

#[test]
fn replicas_communicate() {
    let text = "HloModule m, replica_count=2
        add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
        ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), replica_groups={}, to_apply=add }";
    let client = client(&[("device_count", OptionValue::Int(2))]);
    let executable = client.compile(&Program { replicas: 2, ..proto(text) }).unwrap();
    let results =
        executable.execute(&[vec![literal("s32[] 3")], vec![literal("s32[] 4")]]).unwrap();
    assert_eq!(results, [[literal("s32[] 7")], [literal("s32[] 7")]]);
}

#[test]
fn a_program_with_shardings_gets_and_returns_shards() {
    let text = "HloModule m
        ENTRY e { x = s32[4] parameter(0), sharding={devices=[2]<=[2]} r = s32[4] reverse(x), dimensions={0}
          s = s32[4] negate(x) ROOT t = (s32[4], s32[4]) tuple(r, s), sharding={{devices=[2]<=[2]}, {replicated}} }";
    let client = client(&[("device_count", OptionValue::Int(2))]);
    let executable = client.compile(&Program { partitions: 2, ..proto(text) }).unwrap();
    let results = executable
        .execute(&[vec![literal("s32[2] {1, 2}")], vec![literal("s32[2] {3, 4}")]])
        .unwrap();
    assert_eq!(results[0], [literal("s32[2] {4, 3}"), literal("s32[4] {-1, -2, -3, -4}")]);
    assert_eq!(results[1], [literal("s32[2] {2, 1}"), literal("s32[4] {-1, -2, -3, -4}")]);
}

#[test]
fn arrays_with_dynamic_sizes_are_returned() {
    let text = "HloModule m
        ENTRY e { x = s32[4] parameter(0) n = s32[] constant(3) ROOT r = s32[<=4] set-dimension-size(x, n), dimensions={0} }";
    let executable = client(&[]).compile(&proto(text)).unwrap();
    let results = executable.execute(&[vec![literal("s32[4] {1, 2, 3, 4}")]]).unwrap();
    assert_eq!(results[0][0], literal("s32[3] {1, 2, 3}"));
}

fn status(error: Error) -> (Status, String) {
    match error {
        Error::Plugin { status, message, .. } => (status, message),
        other => panic!("{other}"),
    }
}

#[test]
fn errors_have_our_numbers_and_the_user_s_lines() {
    let invalid = "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  %y = stablehlo.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32> loc(\"train.py\":7:3)
  return %y : tensor<3xf32>
}";
    let client = client(&[]);
    let (code, message) = status(client.compile(&mlir(invalid)).unwrap_err());
    assert_eq!(code, Status(3), "{message}");
    assert!(
        message.starts_with("error[E0") && message.contains("2 |   %y = stablehlo.add"),
        "{message}"
    );

    let unknown = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.custom_call @launch(%x) : (tensor<2xf32>) -> tensor<2xf32> loc(\"train.py\":9:3)
  return %y : tensor<2xf32>
}";
    let executable = client.compile(&mlir(unknown)).unwrap();
    let (code, message) =
        status(executable.execute(&[vec![literal("f32[2] {1, 2}")]]).unwrap_err());
    assert_eq!(code, Status::UNIMPLEMENTED, "{message}");
    assert!(message.contains("error[E0402]") && message.contains("--> train.py:9"), "{message}");

    let arguments =
        client.compile(&mlir(ADD)).unwrap().execute(&[vec![literal("f32[2] {1, 2}"); 2]]);
    let (code, message) = status(arguments.unwrap_err());
    assert_eq!(code, Status(3), "{message}");
    assert!(message.contains("argument 0 of `main` is f32[2], expected f32[2,2]"), "{message}");
}

#[test]
fn limits_are_options_of_the_client() {
    let text = "HloModule m
        body { i = s32[] parameter(0) one = s32[] constant(1) ROOT n = s32[] add(i, one) }
        cond { i = s32[] parameter(0) ROOT c = pred[] constant(true) }
        ENTRY e { x = s32[] parameter(0) ROOT w = s32[] while(x), condition=cond, body=body }";
    let client = client(&[("fuel", OptionValue::Int(10_000))]);
    let executable = client.compile(&proto(text)).unwrap();
    let (code, message) = status(executable.execute(&[vec![literal("s32[] 0")]]).unwrap_err());
    assert_eq!(code, Status(8), "{message}");
    assert!(message.contains("error[E0404]"), "{message}");

    let refused =
        Plugin::load(&library()).unwrap().create(&[("speed".to_owned(), OptionValue::Int(1))]);
    let (code, message) = status(refused.unwrap_err());
    assert_eq!(code, Status(3));
    assert!(message.contains("unknown option `speed`"), "{message}");
}

/// A program whose last run was brief runs on the thread of the host, with the same results and errors.
#[test]
fn brief_and_long_runs_alternate() {
    let text = "HloModule m
        body { t = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] get-tuple-element(t), index=1
          one = s32[] constant(1) j = s32[] add(i, one) ROOT r = (s32[], s32[]) tuple(j, n) }
        cond { t = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] get-tuple-element(t), index=1
          ROOT l = pred[] compare(i, n), direction=LT }
        ENTRY e { n = s32[] parameter(0) z = s32[] constant(0) t = (s32[], s32[]) tuple(z, n)
          w = (s32[], s32[]) while(t), condition=cond, body=body ROOT i = s32[] get-tuple-element(w), index=0 }";
    let client = client(&[("fuel", OptionValue::Int(500_000))]);
    let executable = client.compile(&proto(text)).unwrap();
    for round in 0..20 {
        for n in [3, 20_000, 3, 1_000_000, 4, 5] {
            let argument = literal(&format!("s32[] {n}"));
            match executable.execute(&[vec![argument.clone()]]) {
                Ok(results) => assert_eq!(results[0][0], argument, "round {round}"),
                Err(error) => {
                    let (code, message) = status(error);
                    assert_eq!((code, n), (Status(8), 1_000_000), "{message}");
                }
            }
        }
    }
}
