//! Programs that are wrong in small ways are refused, without a panic.
use std::path::Path;

/// Splits a text into words and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_.%@".contains(c);
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// Reads and converts a program, and verifies what becomes of it.
fn run(text: &str) {
    if let Ok(module) = stablehlo::parse(text.as_bytes()) {
        drop(module.verify());
    }
}

#[test]
fn mutated_programs_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let program = |case: &str| -> String {
            case.split_inclusive('\n').filter(|line| !line.starts_with("//")).collect()
        };
        for case in text.split("// -----\n").map(program) {
            let tokens = tokens(&case);
            for (i, token) in
                tokens.iter().enumerate().filter(|(_, token)| !token.trim().is_empty())
            {
                let other = tokens[(i * 7 + 3) % tokens.len()];
                let number = if token.parse::<u32>().is_ok() {
                    ["0", "-1", "4611686018427387904"]
                } else {
                    ["", other, "?"]
                };
                for replacement in number {
                    let mut changed = tokens.clone();
                    changed[i] = replacement;
                    run(&changed.concat());
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10_000);
}

/// A module of operations nested deeper than any program is refused, not followed until the stack
/// ends.
#[test]
fn deep_nesting_is_refused() {
    for depth in [20, 1000] {
        let mut lines = vec!["func.func @main(%p: tensor<i1>) -> tensor<i1> {".to_owned()];
        lines.extend((0..depth).map(|i| format!("%v{i} = \"stablehlo.if\"(%p) ({{")));
        lines.push("stablehlo.return %p : tensor<i1>".to_owned());
        for i in (0..depth).rev() {
            lines.push("}, {\nstablehlo.return %p : tensor<i1>".to_owned());
            lines.push("}) : (tensor<i1>) -> tensor<i1>".to_owned());
            let end = if i == 0 { "return" } else { "stablehlo.return" };
            lines.push(format!("{end} %v{i} : tensor<i1>"));
        }
        lines.push("}".to_owned());
        let text = lines.join("\n");
        assert_eq!(stablehlo::parse(text.as_bytes()).is_ok(), depth == 20);
    }
}

/// Calls are followed as deep as regions.
#[test]
fn deep_calls_are_refused() {
    for depth in [199, 1000] {
        let function = |i: usize| {
            let name = if i == 0 { "main".to_owned() } else { format!("f{i}") };
            let (call, result) = match i + 1 == depth {
                true => (String::new(), "%x"),
                false => {
                    let next = i + 1;
                    (format!("%0 = func.call @f{next}(%x) : (tensor<f32>) -> tensor<f32>\n"), "%0")
                }
            };
            format!(
                "func.func @{name}(%x: tensor<f32>) -> tensor<f32> {{\n{call}return {result} : tensor<f32>\n}}\n"
            )
        };
        let text: String = (0..depth).map(function).collect::<Vec<_>>().concat();
        assert_eq!(stablehlo::parse(text.as_bytes()).is_ok(), depth == 199);
    }
}

/// An op of bytecode has no text; its error names the line of the user's program.
#[test]
fn errors_name_the_line_of_the_user() {
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = \"stablehlo.negate\"(%x) : (tensor<2xf32>) -> tensor<3xf32> loc(\"f\"(\"model.py\":12:3))
  return %0 : tensor<3xf32>
}";
    let mut program = stablehlo::read(text.as_bytes()).unwrap();
    program.ops[0].regions[0].ops[0].span = None;
    let error = stablehlo::convert::module(&program).unwrap_err();
    assert_eq!(error.number(), "E0926");
    assert!(error.to_string().ends_with("but is f32[2] (model.py:12)"), "{error}");
}

#[test]
fn the_metadata_has_names_lines_and_frames() {
    let text = "func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.sine %x : tensor<2xf32> loc(\"jit(f)/scope/sin\"(callsite(\"g\"(\"a.py\":2:3) at \"f\"(\"a.py\":7:1))))
  %1 = stablehlo.tanh %0 : tensor<2xf32> loc(\"b.py\":4:5)
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}";
    let module = stablehlo::parse(text.as_bytes()).unwrap();
    let printed = module.to_string();
    for expected in [
        "%sin = f32[2]{0} sine(%Arg_0), metadata={op_name=\"jit(f)/scope/sin\" stack_frame_id=2}",
        "tanh(%sin), metadata={source_file=\"b.py\" source_line=4 source_column=5}",
        "1 \"f\"\n2 \"g\"\n",
        "2 {file_location_id=2 parent_frame_id=2}",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
}
