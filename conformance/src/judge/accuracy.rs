//! The accuracy that a backend states for its functions.
use hlo::{ElementType, Opcode};
use std::collections::BTreeMap;

/// Errors of ops that a backend states, in units in the last place: its own row for an op, and for
/// one type of it.
///
/// ```
/// use conformance::judge::Accuracies;
/// use hlo::{ElementType, Opcode};
/// let stated = Accuracies::default()
///     .with(Opcode::Divide, None, 2.5)
///     .with(Opcode::Divide, Some(ElementType::F16), 1.0);
/// assert_eq!(stated.of(Opcode::Divide, ElementType::F32), 2.5);
/// assert_eq!(stated.of(Opcode::Divide, ElementType::F16), 1.0);
/// assert_eq!(stated.of(Opcode::Tanh, ElementType::F32), 0.0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accuracies {
    rows: Vec<(Opcode, Option<ElementType>, f64)>,
}

impl Accuracies {
    /// Adds a row: the error of an op, of all types or of one. Of equal rows, the last one counts.
    #[must_use]
    pub fn with(mut self, op: Opcode, ty: Option<ElementType>, ulps: f64) -> Self {
        self.rows.push((op, ty, ulps));
        self
    }

    /// Returns the rows of a table such as `{"tanh": 4, "tanh.f16": 2}`.
    ///
    /// # Errors
    /// If a key is no op, or no op and type, or a number is none of units.
    pub fn parse(table: &BTreeMap<String, f64>) -> Result<Self, String> {
        let mut accuracies = Self::default();
        for (key, &ulps) in table {
            let (op, ty) = key.split_once('.').map_or((&**key, None), |(op, ty)| (op, Some(ty)));
            let op =
                Opcode::from_name(op).ok_or_else(|| format!("`{key}`: `{op}` is no opcode"))?;
            let parsed = ty.map(|ty| {
                let parsed = ElementType::from_name(ty);
                parsed.ok_or_else(|| format!("`{key}`: `{ty}` is no element type"))
            });
            if !(ulps.is_finite() && ulps >= 0.0) {
                return Err(format!("`{key}`: {ulps} is no number of units in the last place"));
            }
            accuracies = accuracies.with(op, parsed.transpose()?, ulps);
        }
        Ok(accuracies)
    }

    /// Returns the stated error, 0 without a row. A row for the type has precedence.
    pub fn of(&self, op: Opcode, ty: ElementType) -> f64 {
        let row = |wanted: Option<ElementType>| {
            self.rows.iter().rev().find(|&&(row, ty, _)| row == op && ty == wanted)
        };
        row(Some(ty)).or_else(|| row(None)).map_or(0.0, |&(_, _, ulps)| ulps)
    }
    /// Returns whether there are no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
