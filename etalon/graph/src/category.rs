//! The categories of instructions, which have a color each. They follow from the op table.
use hlo::Opcode;
use hlo::op::{Accuracy, Kind};

/// What an instruction does, as far as a picture shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Value,
    Elementwise,
    Movement,
    Sum,
    Array,
    Control,
    Collective,
    Transfer,
    Random,
    Custom,
}

/// The name, the fill and the line of a category in pictures on white.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) fill: &'static str,
    pub(super) line: &'static str,
}

impl Category {
    pub(super) const ALL: [Self; 10] = [
        Self::Value,
        Self::Elementwise,
        Self::Movement,
        Self::Sum,
        Self::Array,
        Self::Control,
        Self::Collective,
        Self::Transfer,
        Self::Random,
        Self::Custom,
    ];

    pub(super) fn of(opcode: Opcode) -> Self {
        match opcode.kind() {
            Kind::Array if opcode.is_elementwise() => Self::Elementwise,
            Kind::Array if opcode.moves_data() => Self::Movement,
            Kind::Array => match opcode.accuracy() {
                Accuracy::Order => Self::Sum,
                Accuracy::Exact | Accuracy::Ulp(_) | Accuracy::Random => Self::Array,
            },
            Kind::Value | Kind::Device => Self::Value,
            Kind::Control | Kind::Asynchronous => Self::Control,
            Kind::Collective => Self::Collective,
            Kind::Transfer | Kind::Host => Self::Transfer,
            Kind::Random => Self::Random,
            Kind::Custom => Self::Custom,
        }
    }

    /// Returns its position in the list of all.
    pub(super) fn index(self) -> usize {
        Self::ALL.iter().position(|&other| other == self).unwrap_or(0)
    }

    pub(super) const fn look(self) -> Look {
        let (key, label, fill, line) = match self {
            Self::Value => ("value", "parameters, constants, tuples", "#f1f3f5", "#868e96"),
            Self::Elementwise => ("elementwise", "elementwise", "#e7f5ff", "#4d9de0"),
            Self::Movement => ("movement", "moves data", "#f3f0e7", "#a89a6f"),
            Self::Sum => ("sum", "sums: dot, convolution, reduce", "#e6f4e6", "#3a9144"),
            Self::Array => ("array", "other array ops", "#e3f5f2", "#2a9d8f"),
            Self::Control => ("control", "calls, fusions, loops, branches", "#f0e9fb", "#8455c9"),
            Self::Collective => ("collective", "collectives", "#ffe1d6", "#e8590c"),
            Self::Transfer => ("transfer", "send, recv, infeed, outfeed", "#ffdeeb", "#d6336c"),
            Self::Random => ("random", "random numbers", "#fff3bf", "#c79a00"),
            Self::Custom => ("custom", "custom calls", "#e5e0dc", "#6d4c41"),
        };
        Look { key, label, fill, line }
    }
}
