//! Custom calls whose meaning the user declares.
use crate::Subject;
use hlo::diag::quantity;
use hlo::ir::rewrite::ModuleRewriter;
use hlo::ir::{Computation, Instruction};
use hlo::op::Tuple;
use hlo::{Literal, Module, Op, Shape};
use interp::{Call, Code, Hooks};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What custom calls return, by target: lines `TARGET = identity`, `TARGET = operand K`,
/// `TARGET = tuple`.
///
/// ```
/// use conformance::Declarations;
/// let declared: Declarations = "vendor.note = identity # an annotation".parse()?;
/// assert!(!declared.is_empty());
/// assert_eq!("a = 7".parse::<Declarations>().unwrap_err().line, 1);
/// # Ok::<(), conformance::WrongDeclaration>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declarations(BTreeMap<String, Meaning>);

/// A line that is no declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct WrongDeclaration {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// What a custom call returns, of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The only operand.
    Identity,
    /// The operand of this number.
    Operand(usize),
    /// All, as a tuple.
    Tuple,
}

impl Meaning {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let meaning = match (words.next()?, words.next()) {
            ("identity", None) => Self::Identity,
            ("tuple", None) => Self::Tuple,
            ("operand", Some(number)) => Self::Operand(number.parse().ok()?),
            _ => return None,
        };
        words.next().is_none().then_some(meaning)
    }
    /// Returns the number of the operand that a call returns; `None` if it returns all.
    fn operand(self, target: &str, operands: usize) -> Result<Option<usize>, String> {
        match self {
            Self::Identity if operands == 1 => Ok(Some(0)),
            Self::Operand(number) if number < operands => Ok(Some(number)),
            Self::Tuple => Ok(None),
            Self::Identity | Self::Operand(_) => Err(format!(
                "--custom-calls declares `{target}` as {self}, and the call has {}",
                quantity(operands, "operand")
            )),
        }
    }
    fn of(self, call: &Call<'_>) -> interp::Result<Literal> {
        let operands = call.operands;
        let operand = self.operand(&call.op.custom_call_target.0, operands.len());
        Ok(match operand.map_err(|message| Code::Trap { message })? {
            Some(number) => operands[number].clone(),
            None => Literal::tuple(operands.iter().map(|&one| one.clone()).collect()),
        })
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("its only operand"),
            Self::Operand(number) => write!(f, "operand {number}"),
            Self::Tuple => f.write_str("the tuple of its operands"),
        }
    }
}

impl std::str::FromStr for Declarations {
    type Err = WrongDeclaration;
    fn from_str(text: &str) -> Result<Self, WrongDeclaration> {
        let mut found = BTreeMap::new();
        for (text, line) in text.lines().zip(1..) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let declared = text.rsplit_once('=').and_then(|(target, meaning)| {
                let target = target.trim().trim_matches('"');
                let meaning = Meaning::parse(meaning)?;
                (!target.is_empty()).then(|| (target.to_owned(), meaning))
            });
            let wrong = |message| WrongDeclaration { line, message };
            let (target, meaning) =
                declared.ok_or_else(|| wrong(format!("`{text}` is not a declaration")))?;
            if found.contains_key(&target) {
                return Err(wrong(format!("`{target}` is declared twice")));
            }
            found.insert(target, meaning);
        }
        Ok(Self(found))
    }
}

impl Declarations {
    /// Returns whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Adds the functions to those of a run.
    pub fn hooks(self, hooks: Hooks) -> Hooks {
        let add = |hooks: Hooks, (target, meaning): (String, Meaning)| {
            hooks.custom_call(target, move |call| meaning.of(call))
        };
        self.0.into_iter().fold(hooks, add)
    }
    /// Returns a module in which operands stand for the calls; the same one if it has none of them.
    ///
    /// # Errors
    /// The message of a call that has other operands, or another result, than its declaration says.
    pub fn subject(&self, subject: &Subject) -> Result<Subject, String> {
        match self.module(subject.module.module())? {
            None => Ok(subject.clone()),
            Some(module) => {
                let text = module.to_string();
                let module = module.verify().map_err(|errors| errors.to_string())?;
                Ok(Subject { text, module: Arc::new(module), ..subject.clone() })
            }
        }
    }
    fn module(&self, module: &Module) -> Result<Option<Module>, String> {
        let mut rewriter = ModuleRewriter::new(module);
        let mut any = false;
        for (id, computation) in module.computations.iter() {
            for (at, instruction) in computation.instructions.iter() {
                let Op::CustomCall(call) = &instruction.op else { continue };
                let target = call.custom_call_target.0.as_str();
                let Some(meaning) = self.0.get(target) else { continue };
                any = true;
                let operand = meaning.operand(target, instruction.operands.len())?;
                check(computation, instruction, operand, target)?;
                let computation = rewriter.computation_mut(id);
                // An earlier call may have been an operand of this one.
                let operands = computation.instruction(at).operands.clone();
                match operand {
                    Some(number) => {
                        computation.replace_uses(at, operands[number]);
                        computation.remove(at);
                    }
                    None => {
                        let shape = instruction.shape.clone();
                        computation.replace(at, Instruction::new(Tuple {}, shape, operands));
                    }
                }
            }
        }
        any.then(|| rewriter.finish().map_err(|error| error.to_string())).transpose()
    }
}

/// Fails if a call has another shape than what stands for it.
fn check(
    computation: &Computation,
    instruction: &Instruction,
    operand: Option<usize>,
    target: &str,
) -> Result<(), String> {
    let shape = |at: usize| &computation.instructions[instruction.operands[at]].shape;
    let found = match operand {
        Some(number) => shape(number).clone(),
        None => Shape::Tuple((0..instruction.operands.len()).map(|at| shape(at).clone()).collect()),
    };
    let expected = &instruction.shape;
    if found.compatible(expected) {
        return Ok(());
    }
    Err(format!("the declared result of `{target}` is {found:#}, and the call has {expected:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, BackendError, Capabilities, EngineBackend, LoadedModule};
    use crate::results::Verdict;
    use crate::{Engine, conform_as};
    use hlo::Verified;
    use interp::DeviceGrid;

    const TEXT: &str = "HloModule m
      body { x = f32[2] parameter(0) ROOT y = f32[2] custom-call(x), custom_call_target=\"v.note\" }
      ENTRY e { x = f32[2] parameter(0) s = f32[] parameter(1)
        a = f32[2] custom-call(x, s), custom_call_target=\"v.scratch\"
        b = f32[2] custom-call(a), custom_call_target=\"v.note\"
        c = f32[2] call(b), to_apply=body
        d = f32[2] tanh(c)
        ROOT r = (f32[2], f32[]) custom-call(d, s), custom_call_target=\"v.both\" }";
    const DECLARED: &str =
        "# what a compiler adds\nv.note = identity\n\"v.scratch\" = operand 0\nv.both = tuple\n";

    /// A backend that knows the calls.
    struct Vendor(Declarations);

    impl Backend for Vendor {
        fn name(&self) -> String {
            "vendor".to_owned()
        }
        fn capabilities(&self) -> Capabilities {
            EngineBackend(Engine::Exact).capabilities()
        }
        fn compile(
            &mut self,
            module: &Arc<Verified>,
            grid: DeviceGrid,
        ) -> Result<Box<dyn LoadedModule>, BackendError> {
            let text = module.module().to_string();
            assert_eq!(text.matches("custom-call(").count(), 4, "the calls stay: {text}");
            let meaning = self.0.module(module.module()).unwrap().unwrap().verify().unwrap();
            EngineBackend(Engine::Exact).compile(&Arc::new(meaning), grid)
        }
    }

    fn subject(text: &str) -> Subject {
        let module = Arc::new(Module::parse(text).unwrap().verify().unwrap());
        let arguments = vec![vec!["f32[2] {1, 2}".parse().unwrap(), "f32[] 3".parse().unwrap()]];
        let (name, file) = ("m".to_owned(), String::new());
        Subject { name, file, text: text.to_owned(), module, arguments }
    }

    #[test]
    fn a_backend_has_the_calls_and_the_judge_their_meaning() {
        let subject = subject(TEXT);
        let declared: Declarations = DECLARED.parse().unwrap();
        let meaning = declared.subject(&subject).unwrap();
        assert!(!meaning.text.contains("custom-call"), "{}", meaning.text);
        let mut exact = EngineBackend(Engine::Exact);
        let record = conform_as(&subject, &meaning, &mut exact, &mut Vendor(declared));
        assert_eq!(record.verdict, Verdict::Agrees, "{record:?}");
    }

    #[test]
    fn calls_that_do_not_fit_are_refused() {
        let refused = |text: &str| {
            let declared: Declarations = text.parse().unwrap();
            declared.subject(&subject(TEXT)).unwrap_err()
        };
        let error = refused("v.scratch = identity");
        assert!(error.contains("its only operand, and the call has 2 operands"), "{error}");
        let error = refused("v.scratch = operand 1");
        assert!(error.contains("is f32[], and the call has f32[2]"), "{error}");
        assert!(refused("v.scratch = operand 2").contains("has 2 operands"));
        for (text, line) in [("a = 7", 1), ("a = identity\na = tuple", 2), ("= tuple", 1)] {
            assert_eq!(text.parse::<Declarations>().unwrap_err().line, line, "{text}");
        }
    }
}
