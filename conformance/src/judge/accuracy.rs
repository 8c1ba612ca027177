//! The accuracy that a backend states for its functions.
use hlo::{ElementType, Opcode};

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
