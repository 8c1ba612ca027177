//! Ops that StableHLO lacks, spelled out: each is within the bounds of the op itself.
use conformance::backend::{
    Backend, BackendError, Capabilities, Code, EngineBackend, LoadedModule,
};
use conformance::results::Verdict;
use conformance::suite::{Selection, Suite};
use conformance::{Engine, Subject, conform};
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Literal, Module, Opcode, Verified};
use interp::DeviceGrid;
use stablehlo::{Chlo, ExportOptions, from_hlo};
use std::sync::Arc;

/// The engine `exact`, given the StableHLO program of a module without ops of CHLO.
struct Expanded;

impl Backend for Expanded {
    fn name(&self) -> String {
        "expanded".to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        EngineBackend(Engine::Exact).capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        let program = from_hlo(module, &ExportOptions { chlo: Chlo::Expand })
            .map_err(|error| Code::Unsupported { message: error.to_string() })?;
        assert!(!program.to_string().contains("chlo."), "{program}");
        let module = stablehlo::convert::module(&program)
            .map_err(|error| Code::Rejected { message: error.to_string() })?;
        let module = module.verify().unwrap();
        EngineBackend(Engine::Exact).compile(&Arc::new(module), grid)
    }
}

/// The ops that StableHLO lacks, whose results a backend's own arithmetic rounds.
const FUNCTIONS: [&str; 8] = ["acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh"];

#[test]
fn the_suite_of_expanded_ops_agrees() {
    let others = ["mulhi", "ragged-dot", "scaled-dot", "scan", "stochastic-convert", "topk"];
    let (mut agree, mut bad) = (0, Vec::new());
    for op in FUNCTIONS.into_iter().chain(others) {
        let pattern = Some(format!("{op}/*"));
        let suite = Suite::load(&Selection { pattern, ..Selection::full() }).unwrap();
        let results = suite.run(&mut Expanded, |_| {});
        for record in results.records() {
            let has_type = !["s1", "u1"].iter().any(|ty| record.reason.contains(ty));
            let is_exact = !FUNCTIONS.contains(&op);
            match record.verdict {
                Verdict::Agrees | Verdict::Undefined => agree += 1,
                Verdict::WithinBound if !is_exact => agree += 1,
                Verdict::Unsupported if !has_type => {}
                _ => bad.push(format!("{}: {:?} {}", record.name, record.verdict, record.reason)),
            }
        }
    }
    assert!(bad.is_empty(), "{} cases\n{}", bad.len(), bad.join("\n"));
    assert!(agree > 500, "{agree} cases");
}

/// Returns random bits as an array of a type: each exponent is as frequent as any other.
fn random(ty: ElementType, count: i64) -> Literal {
    let mut rng = fastrand::Rng::with_seed(7);
    let shape = hlo::ArrayShape::new(ty, [count].as_slice());
    let bytes: Vec<u8> =
        std::iter::repeat_with(|| rng.u8(..)).take(shape.byte_count().unwrap()).collect();
    Literal::from_bytes(shape, &bytes).unwrap()
}

#[test]
fn expanded_functions_are_within_the_bounds_of_the_op() {
    for op in FUNCTIONS {
        for ty in ["f16", "bf16", "f32", "f64", "c64", "c128"] {
            if op == "erf" && ty.starts_with('c') {
                continue;
            }
            let count = 1 << 14;
            let text = format!(
                "HloModule m\nENTRY e {{ x = {ty}[{count}] parameter(0) ROOT r = {op}(x) }}"
            );
            let module = Module::parse(&text).unwrap().verify().unwrap();
            let ty = ElementType::from_name(ty).unwrap();
            let subject = Subject {
                name: format!("{op}/{ty}"),
                file: String::new(),
                text,
                module: Arc::new(module),
                arguments: vec![vec![random(ty, count)]],
            };
            let record = conform(&subject, &mut EngineBackend(Engine::Exact), &mut Expanded);
            // Of complex numbers the specification leaves some open, such as infinities.
            let is_right = match record.verdict {
                Verdict::Agrees | Verdict::WithinBound => true,
                verdict => verdict == Verdict::Undefined && ty.is_complex(),
            };
            let most = record.measures.as_ref().map(|measures| measures.max_ulps);
            println!("{op}/{ty}: {:?}, at most {most:?} ulp", record.verdict);
            assert!(is_right, "{op}/{ty}: {:?} {}", record.verdict, record.reason);
        }
    }
}

/// Every elementwise op of every type that StableHLO has.
#[test]
fn no_elementwise_op_is_refused() {
    let ops = Unary::ALL.iter().map(|op| (op.opcode(), 1));
    let ops = ops.chain(Binary::ALL.iter().map(|op| (op.opcode(), 2)));
    let mut programs = 0;
    for (op, operands) in ops {
        for &ty in ElementType::ALL {
            if !allows(op, ty) || ty.bits() == 1 && ty != ElementType::Pred {
                continue;
            }
            let operands = if operands == 1 { "x" } else { "x, x" };
            let text = format!(
                "HloModule m\nENTRY e {{ x = {ty}[3] parameter(0) ROOT r = {op}({operands}) }}"
            );
            let module = Module::parse(&text).unwrap().verify().unwrap();
            let program = from_hlo(&module, &ExportOptions { chlo: Chlo::Expand })
                .unwrap_or_else(|error| panic!("{text}\n{error}"));
            program.to_bytecode(None).unwrap_or_else(|error| panic!("{text}\n{error}"));
            programs += 1;
        }
    }
    assert!(programs > 500, "{programs}");
}
fn allows(op: Opcode, ty: ElementType) -> bool {
    op.types().is_some_and(|types| types.contains(ty)) && op.result_type(ty).is_some()
}
