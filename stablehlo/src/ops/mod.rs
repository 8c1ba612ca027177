//! The ops that Etalon reads: for each a row with its conversion to HLO, its form in text and its
//! form in bytecode.
//!
//! The pretty form of an op in text is a list of words:
//!
//! | word | meaning |
//! |---|---|
//! | `%` | an operand |
//! | `%*` | operands, separated by commas |
//! | `%*,` | operands, each followed by a comma |
//! | `{}` | the attributes that the form does not show |
//! | `$name:kind` | an attribute |
//! | `~name` | a part with a function of its own |
//! | `&name` | the types of operands and results |
//! | any other | itself |
mod chlo;
mod module;
mod shape;
mod stablehlo;
mod testing;

use crate::convert::Scope;
use crate::error::Result;
use crate::export::Expansion;
use crate::ir::Op;
use crate::version::Version;
use hlo::op::{Binary, Unary};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The properties of an op.
#[derive(Debug)]
pub(crate) struct OpRow {
    /// Its name, with that of its dialect.
    pub(crate) name: &'static str,
    pub(crate) conversion: Conversion,
    /// The words of its pretty form; empty if it has the generic form only.
    pub(crate) form: &'static str,
    pub(crate) bytecode: Bytecode,
    /// What the op computes, in ops of StableHLO: for one of CHLO, which not every reader knows.
    pub(crate) expansion: Option<Expansion>,
}

/// The conversion of an op to HLO.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Conversion {
    /// To an elementwise op of one operand.
    Unary(Unary),
    /// To an elementwise op of two operands.
    Binary(Binary),
    /// Of another op without regions.
    Plain(for<'c, 'p> fn(&mut Scope<'c, 'p>, &Op) -> Result<()>),
    /// Of an op with regions, which live as long as the program.
    Regions(for<'c, 'p> fn(&mut Scope<'c, 'p>, &'p Op) -> Result<()>),
    /// With the op that it belongs to, or not at all.
    None,
}

/// The form of an op in bytecode. Lists have the names of attributes, sorted; that of a version may
/// begin with the version of StableHLO that introduced it, where that is not 0.9.
#[derive(Debug)]
pub(crate) enum Bytecode {
    /// It does not occur in bytecode.
    Absent,
    /// An op of VHLO: the attributes of each of its versions, the first of which is 1.
    Vhlo(&'static [&'static str]),
    /// An op of VHLO with attributes that are split there.
    Split(&'static [&'static str], &'static [SplitAttribute]),
    /// An op of its own dialect; attributes with a `?` may be absent.
    Own(&'static str),
    /// Version 1 of an op of VHLO, or an op of its own dialect.
    Both(&'static str, &'static str),
}

/// An attribute whose fields are attributes of the op in VHLO.
#[derive(Debug)]
pub(crate) struct SplitAttribute {
    /// The name of the attribute.
    pub(crate) name: &'static str,
    /// The name of its value: `stablehlo.gather` for `#stablehlo.gather<...>`.
    pub(crate) value: &'static str,
    /// In the order in which the text has them.
    pub(crate) fields: &'static [&'static str],
}

const fn row(
    name: &'static str,
    conversion: Conversion,
    form: &'static str,
    bytecode: Bytecode,
) -> OpRow {
    OpRow { name, conversion, form, bytecode, expansion: None }
}
/// The form of an op that has no pretty one.
const GENERIC: &str = "";
/// The form of an op of VHLO that has one version and no attributes.
const V1: Bytecode = Bytecode::Vhlo(&[""]);

impl OpRow {
    /// Returns the row of an op that is computed by others.
    const fn computed_by(self, expansion: Expansion) -> Self {
        Self { expansion: Some(expansion), ..self }
    }
    /// Returns the attributes of a version of the op in VHLO.
    fn vhlo(&self, version: usize) -> Option<&'static str> {
        self.versions().nth(version.checked_sub(1)?).map(|(_, attributes)| attributes)
    }
    /// Returns the versions of the op in VHLO: the version of StableHLO that introduced it, and its
    /// attributes.
    pub(crate) fn versions(&self) -> impl DoubleEndedIterator<Item = (Version, &'static str)> {
        let versions = match &self.bytecode {
            Bytecode::Vhlo(versions) | Bytecode::Split(versions, _) => *versions,
            Bytecode::Both(attributes, _) => std::slice::from_ref(attributes),
            Bytecode::Own(_) | Bytecode::Absent => &[],
        };
        versions.iter().map(|version| {
            if !version.starts_with(|first: char| first.is_ascii_digit()) {
                return (Version::MINIMUM, *version);
            }
            let (since, attributes) = version.split_once(' ').unwrap_or((version, ""));
            (since.parse().expect("the table has versions of StableHLO"), attributes)
        })
    }
    /// Returns whether some version of the op has this attribute in VHLO.
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.versions().any(|(_, attributes)| has(attributes, attribute))
    }
    /// Returns the attributes of the op in its own dialect.
    pub(crate) fn own(&self) -> Option<&'static str> {
        match self.bytecode {
            Bytecode::Own(attributes) | Bytecode::Both(_, attributes) => Some(attributes),
            Bytecode::Vhlo(_) | Bytecode::Split(..) | Bytecode::Absent => None,
        }
    }
    /// Returns the attributes of the op that VHLO splits.
    pub(crate) fn split(&self) -> &'static [SplitAttribute] {
        match self.bytecode {
            Bytecode::Split(_, attributes) => attributes,
            Bytecode::Vhlo(_) | Bytecode::Own(_) | Bytecode::Both(..) | Bytecode::Absent => &[],
        }
    }
    /// Returns whether the op has a pretty form.
    pub(crate) fn is_pretty(&self) -> bool {
        !self.form.is_empty()
    }
    /// Returns whether the op becomes HLO.
    pub(crate) fn is_converted(&self) -> bool {
        !matches!(self.conversion, Conversion::None)
    }
}

/// Returns whether a list of the table has this attribute.
pub(crate) fn has(attributes: &str, attribute: &str) -> bool {
    attributes.split_ascii_whitespace().any(|known| known == attribute)
}

/// Returns every op, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = &'static OpRow> {
    SORTED.iter().copied()
}
static SORTED: LazyLock<Vec<&'static OpRow>> = LazyLock::new(|| {
    let tables = [stablehlo::ROWS, chlo::ROWS, shape::ROWS, module::ROWS, testing::ROWS];
    let mut rows: Vec<_> = tables.into_iter().flatten().collect();
    rows.sort_unstable_by_key(|row| row.name);
    rows
});
static BY_NAME: LazyLock<FxHashMap<&'static str, &'static OpRow>> =
    LazyLock::new(|| all().map(|row| (row.name, row)).collect());

/// Returns the op of this name.
pub(crate) fn find(name: &str) -> Option<&'static OpRow> {
    BY_NAME.get(name).copied()
}
/// Returns the op of StableHLO that an op of VHLO stands for, and the attributes of its version,
/// which is the end of the name: `add_v1`.
pub(crate) fn of_vhlo(name: &str) -> Option<(&'static OpRow, &'static str)> {
    let (name, version) = name.rsplit_once("_v")?;
    let row = match name {
        "func" | "call" => find(&format!("func.{name}"))?,
        _ => find(&format!("stablehlo.{name}"))?,
    };
    Some((row, row.vhlo(version.parse().ok()?)?))
}
/// Returns the attributes of an op in bytecode of its own dialect.
pub(crate) fn own_attributes(name: &str) -> Option<&'static str> {
    find(name)?.own()
}

#[cfg(test)]
mod tests;
