//! The conversion of an op by its row.
use super::elementwise;
use super::scope::Scope;
use crate::error::{Code, Result};
use crate::ir::Op;
use crate::ops::{self, Conversion};

/// How ops begin that later stages of compilers have, with what a program has in their place.
const LOWERED: [(&str, &str); 3] = [
    (
        "cf.",
        "write `stablehlo.if`, `stablehlo.case` or `stablehlo.while` in place of branches between blocks",
    ),
    ("scf.", "write `stablehlo.if`, `stablehlo.case` or `stablehlo.while`"),
    ("tensor.empty", "its elements are undefined: write a constant"),
];

/// Converts an op.
pub(super) fn convert<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    match ops::find(&op.name).map(|row| row.conversion) {
        Some(Conversion::Regions(convert)) => convert(scope, op),
        _ => convert_plain(scope, op),
    }
}

/// Converts an op without regions, which need not be one of the program's.
pub(super) fn convert_plain(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    match ops::find(&op.name).map_or(Conversion::None, |row| row.conversion) {
        Conversion::Unary(unary) => elementwise::unary(scope, op, unary),
        Conversion::Binary(binary) => {
            let [x, y] = scope.exactly(op)?;
            let id = scope.emit(op, binary, &[x, y])?;
            scope.bind(op, id)
        }
        Conversion::Plain(convert) => convert(scope, op),
        Conversion::Regions(_) => {
            let message = format!("`{}` has regions, which it cannot have here", op.name);
            Err(scope.unsupported(op, message))
        }
        Conversion::None => {
            let name = op.name.to_string();
            let error = scope.error(op, Code::UnknownOp { name, at: String::new() });
            let known = ops::all().filter(|row| row.is_converted()).map(|row| row.name);
            Err(match (LOWERED.iter().find(|(name, _)| op.name.starts_with(name)), known) {
                (Some((_, help)), _) => error.with_help(*help),
                (None, known) => match hlo::diag::nearest(&op.name, known) {
                    Some(name) => error.with_help(format!("did you mean `{name}`?")),
                    None => error,
                },
            })
        }
    }
}
