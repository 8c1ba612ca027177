//! The libraries of `--custom-call-library`, the process that runs one, and the declarations of `--custom-calls`.
use crate::args::{CustomCallArgs, TimeArgs};
use crate::error::{Code, Failure, Result};
use conformance::backend::{IsolatedLibrary, serve_custom_calls};
use hlo::Literal;
use interp::{Call, Hooks};
use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Returns hooks with the libraries; the inner error is that of a library that cannot be loaded.
pub(super) fn hooks(args: &CustomCallArgs, time: &TimeArgs) -> Result<interp::Result<Hooks>> {
    let add = |hooks: Hooks, path: &std::path::PathBuf| {
        if args.trust_custom_calls {
            return hooks.library(path);
        }
        let host = crate::host::command("custom-call-host");
        // A call also ends with the run; loading is no part of it.
        let limit = [args.custom_call_time_limit, time.time_limit].into_iter().flatten().min();
        let library = IsolatedLibrary::open(path, host, limit)?;
        Ok(hooks.custom_call_library(Arc::new(library)))
    };
    let declared = args.custom_calls.as_deref().map(declarations).transpose()?;
    let hooks = declared.into_iter().flatten().fold(Hooks::new(), declare);
    Ok(args.custom_call_library.iter().try_fold(hooks, add))
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
    fn of(self, call: &Call<'_>) -> interp::Result<Literal> {
        let operands = call.operands;
        let number = match self {
            Self::Identity if operands.len() == 1 => 0,
            Self::Operand(number) if number < operands.len() => number,
            Self::Tuple => {
                return Ok(Literal::tuple(operands.iter().map(|&one| one.clone()).collect()));
            }
            Self::Identity | Self::Operand(_) => {
                let target = &call.op.custom_call_target.0;
                let message = format!(
                    "--custom-calls declares `{target}` as {self}, and the call has {} operands",
                    operands.len()
                );
                return Err(interp::Code::Trap { message }.into());
            }
        };
        Ok(operands[number].clone())
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

fn declare(hooks: Hooks, (target, meaning): (String, Meaning)) -> Hooks {
    hooks.custom_call(target, move |call| meaning.of(call))
}
/// Reads the file of `--custom-calls`.
fn declarations(path: &Path) -> Result<Vec<(String, Meaning)>> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file(path, &e))?;
    let mut found: Vec<(String, Meaning)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |message: String| {
            let code =
                Code::CustomCalls { path: path.display().to_string(), line: number, message };
            let help = "write `TARGET = identity`, `TARGET = operand 1` or `TARGET = tuple`";
            Failure::new(&code, Some(help.to_owned()))
        };
        let declared = line.rsplit_once('=').and_then(|(target, meaning)| {
            let target = target.trim().trim_matches('"');
            let meaning = Meaning::parse(meaning)?;
            (!target.is_empty()).then(|| (target.to_owned(), meaning))
        });
        let (target, meaning) =
            declared.ok_or_else(|| wrong(format!("`{line}` is not a declaration")))?;
        if found.iter().any(|(known, _)| *known == target) {
            return Err(wrong(format!("`{target}` is declared twice")));
        }
        found.push((target, meaning));
    }
    Ok(found)
}

/// `etalon custom-call-host`: runs a library for a parent process.
pub(crate) fn host() -> Result<ExitCode> {
    serve_custom_calls().map_err(|e| Failure::file(Path::new("<stdin>"), &e))?;
    Ok(ExitCode::SUCCESS)
}
