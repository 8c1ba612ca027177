//! The C code: compiled, called by the engine as custom calls, and compared with the instructions
//! on edges and random numbers.
//!
//! Exact operations agree bit for bit (NaN being NaN); functions of C's library within the bounds
//! below, which hold for the GNU library.
use super::numbers::{MIXED, Random, SAME, TYPES, elements, literal};
use super::{parts, ulps};
use crate::support::{build, run_with_hooks};
use builder::Builder;
use builder_compat::pytensor::{CAReduce, Elemwise, ScalarOp};
use hlo::{ElementType, Literal, Scalar};
use interp::Hooks;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Units in the last place between C's library and the instructions.
fn bound(op: ScalarOp) -> f64 {
    let bounds = [
        (1.0, "arccos arcsin arctan arctan2 cos erf exp exp2 expm1 log log1p pow sin tan"),
        (2.0, "arccosh arcsinh arctanh cosh log2 log10 sigmoid sinh softplus tanh"),
    ];
    let listed = |names: &str| names.split(' ').any(|name| name == op.name());
    bounds.iter().find(|(_, names)| listed(names)).map_or(0.0, |(bound, _)| *bound)
}

/// Compiles a library; nothing, and a message, if there is no C compiler.
fn compile(name: &str, source: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, library) = (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
    std::fs::write(&file, source).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o"];
    let output = Command::new(compiler).args(flags).args([&library, &file]).arg("-lm").output();
    match output {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            Some(library)
        }
        Err(_) => {
            #[expect(clippy::print_stderr, reason = "says why nothing is tested")]
            {
                eprintln!("skipped: there is no C compiler");
            }
            None
        }
    }
}

/// What the functions of one library are compared with.
#[derive(Debug)]
struct Case {
    what: String,
    inputs: Vec<Literal>,
    expected: Literal,
    bound: f64,
}

/// Strides, in elements, of an array in row-major order, stretched to `rank` dimensions.
fn strides(dims: &[i64], rank: usize) -> Vec<i64> {
    let mut strides = vec![0; rank];
    let mut step = 1;
    for (stride, &size) in strides.iter_mut().rev().zip(dims.iter().rev()) {
        if size != 1 {
            *stride = step;
        }
        step *= size;
    }
    strides
}
fn list(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    // C99 has no empty list.
    format!("{{{}}}", if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") })
}
fn dims(array: &Literal) -> Vec<i64> {
    array.array_shape().unwrap().dims.to_vec()
}

/// The function of an operation, and one that the engine calls, which hands over sizes and strides.
fn elemwise_source(op: ScalarOp, number: usize, case: &Case) -> String {
    let types: Vec<ElementType> = case.inputs.iter().map(|x| x.array_shape().unwrap().ty).collect();
    let sizes = dims(&case.expected);
    let mut code = Elemwise::new(op).c_code(&format!("f{number}"), &types, sizes.len()).unwrap();
    let _ = writeln!(code, "void case{number}(void *out, const void **in) {{");
    let _ = writeln!(code, "  static const int64_t dims[] = {};", list(&sizes));
    let mut names = Vec::new();
    for (k, x) in case.inputs.iter().enumerate() {
        let strides = list(&strides(&dims(x), sizes.len()));
        let _ = writeln!(code, "  static const int64_t s{k}[] = {strides};");
        names.push(format!("s{k}"));
    }
    let _ = writeln!(code, "  const int64_t *const strides[] = {{{}}};", names.join(", "));
    let _ = writeln!(code, "  f{number}(dims, (const void *const *)in, strides, out);\n}}");
    code
}

fn elemwise_case(op: ScalarOp, inputs: Vec<Literal>) -> Option<Case> {
    let types: Vec<ElementType> = inputs.iter().map(|x| x.array_shape().unwrap().ty).collect();
    op.output_type(&types).ok()?;
    let b = Builder::new("instructions");
    let x = super::parameters(&b, &inputs);
    let module = build(&b, Elemwise::new(op).apply(&b, &x));
    let expected = interp::run(&module, &inputs).unwrap();
    let complex = expected.array_shape().unwrap().ty.is_complex();
    let what = format!("{op} of {types:?}");
    (!complex).then_some(Case { what, inputs, expected, bound: bound(op) })
}

/// Calls function `number` of the library and compares.
fn check(library: &Path, number: usize, case: &Case) {
    let mut parameters = String::new();
    let mut names = Vec::new();
    for (i, x) in case.inputs.iter().enumerate() {
        let _ = writeln!(parameters, "  x{i} = {} parameter({i})", x.shape());
        names.push(format!("x{i}"));
    }
    let text = format!(
        "HloModule c\nENTRY e {{\n{parameters}  ROOT r = {} custom-call({}), custom_call_target=\"case{number}\"\n}}",
        case.expected.shape(),
        names.join(", ")
    );
    let module = hlo::Module::parse(&text).unwrap().verify().unwrap();
    let hooks = Hooks::new().library(library).unwrap();
    let found = run_with_hooks(module, hooks, &case.inputs);
    let ty = case.expected.array_shape().unwrap().ty;
    for (i, (x, y)) in parts(&found).into_iter().zip(parts(&case.expected)).enumerate() {
        let near = match (x, y) {
            (Scalar::Float(x), Scalar::Float(y)) if case.bound == 0.0 => {
                x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
            }
            (Scalar::Float(x), Scalar::Float(y)) => ulps(x, y, ty) <= case.bound,
            (x, y) => x == y,
        };
        assert!(near, "{}, element {i}: {x:?} in C, {y:?} by instructions", case.what);
    }
}

#[test]
fn scalar_operations() {
    let mut random = Random(1);
    let mut cases: Vec<(ScalarOp, Case)> = Vec::new();
    let add = |op, inputs, cases: &mut Vec<_>| {
        if let Some(case) = elemwise_case(op, inputs) {
            cases.push((op, case));
        }
    };
    let casts = TYPES.map(ScalarOp::Cast);
    let vector = |ty, count, dims: &dyn Fn(i64) -> Vec<i64>, random: &mut Random| {
        let elements = elements(ty, count, random);
        literal(ty, &dims(i64::try_from(elements.len()).unwrap()), &elements)
    };
    for &op in ScalarOp::ALL.iter().chain(&casts) {
        match op.nin() {
            Some(1) => {
                for ty in TYPES {
                    add(op, vec![vector(ty, 60, &|n| vec![n], &mut random)], &mut cases);
                }
            }
            Some(3) => {
                for ty in TYPES {
                    let inputs = vec![
                        vector(ty, 0, &|n| vec![n, 1, 1], &mut random),
                        vector(ty, 0, &|n| vec![n, 1], &mut random),
                        vector(ty, 0, &|n| vec![n], &mut random),
                    ];
                    add(op, inputs, &mut cases);
                }
            }
            Some(_) | None => {
                for (left, right) in SAME.iter().map(|&ty| (ty, ty)).chain(MIXED) {
                    let inputs = vec![
                        vector(left, 12, &|n| vec![n, 1], &mut random),
                        vector(right, 12, &|n| vec![n], &mut random),
                    ];
                    add(op, inputs, &mut cases);
                }
            }
        }
    }
    // Any number of inputs, and no dimension at all.
    for op in [ScalarOp::Add, ScalarOp::Mul] {
        let scalar = |x| literal(ElementType::F32, &[], &[Scalar::Float(x)]);
        add(op, vec![scalar(0.1), scalar(0.2), scalar(0.3)], &mut cases);
        add(op, vec![scalar(0.1)], &mut cases);
    }
    assert!(cases.len() > 500, "{}", cases.len());
    let source: String = (cases.iter().enumerate())
        .map(|(number, (op, case))| elemwise_source(*op, number, case))
        .collect::<Vec<_>>()
        .concat();
    let Some(library) = compile("elemwise", &source) else { return };
    for (number, (_, case)) in cases.iter().enumerate() {
        check(&library, number, case);
    }
}

#[test]
fn reductions() {
    let mut cases = Vec::new();
    let mut source = String::new();
    let mut random = Random(2);
    for op in [
        ScalarOp::Add,
        ScalarOp::Mul,
        ScalarOp::Maximum,
        ScalarOp::Minimum,
        ScalarOp::And,
        ScalarOp::Or,
        ScalarOp::Xor,
    ] {
        for ty in TYPES {
            for axes in [vec![], vec![-1], vec![2, 0]] {
                let reduce = CAReduce::new(op).unwrap().axis(axes.clone());
                let reduce = reduce.upcast_discrete_output(axes.len() % 2 == 0);
                // Integers and halves, whose sums and products are exact.
                let small = |random: &mut Random| match ty.is_float() {
                    true => Scalar::Float(
                        f64::from(u8::try_from(random.next() % 9).unwrap()) / 2.0 - 2.0,
                    ),
                    false => Scalar::Unsigned(random.next()).convert(ElementType::U64, ty),
                };
                let elements: Vec<Scalar> = (0..24).map(|_| small(&mut random)).collect();
                let input = literal(ty, &[2, 3, 4], &elements);
                let b = Builder::new("reduced");
                let x = b.parameter(0, input.shape(), "x");
                let Ok(y) = reduce.make_node(&x.into()) else { continue };
                let module = build(&b, y.value());
                let inputs = vec![input];
                let expected = interp::run(&module, &inputs).unwrap();
                let number = cases.len();
                source += &reduce.c_code(&format!("f{number}"), ty, 3).unwrap();
                let _ = writeln!(
                    source,
                    "void case{number}(void *out, const void **in) {{\n  \
                     static const int64_t dims[] = {{2, 3, 4}}, strides[] = {{12, 4, 1}};\n  \
                     f{number}(dims, strides, in[0], out);\n}}"
                );
                let what = format!("{reduce} of {ty}");
                cases.push(Case { what, inputs, expected, bound: 0.0 });
            }
        }
    }
    assert!(cases.len() > 150, "{}", cases.len());
    let Some(library) = compile("careduce", &source) else { return };
    for (number, case) in cases.iter().enumerate() {
        check(&library, number, case);
    }
}

#[test]
fn what_has_no_c_code_is_refused() {
    let of = |op: ScalarOp, types: &[ElementType]| Elemwise::new(op).c_code("f", types, 1);
    for ty in [ElementType::F16, ElementType::C64] {
        let error = of(ScalarOp::Add, &[ty, ty]).unwrap_err();
        assert_eq!(error.number(), "E0811");
        assert!(error.to_string().contains(&format!("there is no C code for {ty}")), "{error}");
        assert!(CAReduce::new(ScalarOp::Add).unwrap().c_code("f", ty, 1).is_err());
    }
    assert_eq!(of(ScalarOp::Abs, &[ElementType::C64]).unwrap_err().number(), "E0811");
    assert_eq!(of(ScalarOp::Exp, &[]).unwrap_err().number(), "E0801");
    for name in ["", "1f", "f; system(0)", "é"] {
        let error = Elemwise::new(ScalarOp::Exp).c_code(name, &[ElementType::F32], 1).unwrap_err();
        assert_eq!(error.number(), "E0801", "{name}");
    }
    let headers = Elemwise::new(ScalarOp::Exp).c_headers();
    assert_eq!(headers, ["<math.h>", "<stdbool.h>", "<stdint.h>"]);
    let (sum, add) = (CAReduce::new(ScalarOp::Add).unwrap(), Elemwise::new(ScalarOp::Add));
    let code = add.c_code("f", &[ElementType::F32; 2], 1).unwrap();
    assert!(code.contains(add.c_support_code()) && code.contains(sum.c_support_code()));
    assert!(add.c_header_dirs().is_empty() && sum.c_header_dirs().is_empty());
    assert_eq!(add.c_code_cache_version(), sum.c_code_cache_version());
}
