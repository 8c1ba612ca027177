//! The printer: HLO text, byte for byte as XLA prints it.
mod computation;
pub(super) mod header;
mod instruction;
mod literal;
mod order;
mod shape;

pub(crate) use literal::print as literal;
pub(crate) use order::is_in_order;
pub(crate) use shape::{array_shape, separator, shape};

use crate::Module;
use crate::ir::{ComputationId, InstructionId};
use crate::text::number::push_int;
use std::cell::RefCell;

/// The printing style of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// XLA's `to_string()`: `%` before names, signatures, metadata; large constants elided.
    #[default]
    Default,
    /// XLA's `ShortParsable`: only what parsing needs, constants in full.
    Short,
    /// The default style with all elements of constants: it omits nothing.
    Full,
    /// XLA's `Canonical`: names replaced by numbers, called computations printed in place. For
    /// comparison, not for parsing.
    Canonical,
}

/// The options of a style.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "one switch for each of XLA's printing options")]
pub(crate) struct Options {
    percent: bool,
    signature: bool,
    operand_shapes: bool,
    operand_index: bool,
    large_constants: bool,
    metadata: bool,
    backend_config: bool,
    control_predecessors: bool,
    bodies_in_place: bool,
    numbered_names: bool,
}

impl Style {
    fn options(self) -> Options {
        let long = matches!(self, Self::Default | Self::Full);
        let canonical = self == Self::Canonical;
        Options {
            percent: long,
            signature: long,
            operand_shapes: canonical,
            operand_index: long,
            large_constants: matches!(self, Self::Short | Self::Full),
            metadata: long,
            backend_config: !canonical,
            control_predecessors: long,
            bodies_in_place: canonical,
            numbered_names: canonical,
        }
    }
}

/// Bodies nested deeper than this are not printed in place: a computation that is not verified can
/// call itself.
const DEEPEST_BODY: usize = 200;
/// After this many bytes no more bodies are printed in place: a text with 20 doubling calls prints
/// a million.
const LONGEST_IN_PLACE: usize = 1 << 26;

/// The printer of one module.
pub(crate) struct Printer<'m> {
    module: &'m Module,
    order: order::Order<'m>,
    options: Options,
    /// Numbers of the instructions of the computations being printed, the innermost last.
    numbers: RefCell<Vec<Vec<Option<u32>>>>,
}

impl<'m> Printer<'m> {
    pub(crate) fn new(module: &'m Module, style: Style) -> Self {
        Self {
            module,
            order: order::Order::new(module),
            options: style.options(),
            numbers: RefCell::new(Vec::new()),
        }
    }

    /// Prints the whole module.
    pub(crate) fn module(&self) -> String {
        // About the text of an instruction, so that the string is rarely reallocated.
        let count: usize = self.module.computations.iter().map(|(_, c)| c.instructions.len()).sum();
        let mut out = String::with_capacity(256 + count * 96);
        let entry = self.module.entry().program_shape();
        header::print(&mut out, &self.module.name, &self.module.config, &entry);
        out.push('\n');
        if self.options.metadata && !self.module.frames.is_empty() {
            self.module.frames.print(&mut out);
        }
        out.push('\n');
        for id in self.order.computations() {
            self.computation(&mut out, id, 0, true);
            out.push_str("\n\n");
        }
        out
    }

    /// Returns whether called computations are printed in place.
    pub(crate) fn bodies_in_place(&self) -> bool {
        self.options.bodies_in_place
    }

    /// Prints a computation that an attribute names: its name, or its body.
    pub(crate) fn computation_ref(&self, out: &mut String, id: ComputationId, indent: usize) {
        let is_deep = self.numbers.borrow().len() >= DEEPEST_BODY;
        if self.options.bodies_in_place && !is_deep && out.len() < LONGEST_IN_PLACE {
            out.push('\n');
            self.computation(out, id, indent, false);
            return;
        }
        self.name(out, &self.module.computations[id].name);
    }

    /// Prints a name; a word of the grammar has a `%` in every style.
    fn name(&self, out: &mut String, name: &str) {
        if self.options.percent || matches!(name, "ENTRY" | "ROOT" | "FileNames") {
            out.push('%');
        }
        out.push_str(name);
    }

    /// Prints the name of an instruction of the innermost computation being printed.
    fn instruction_name(&self, out: &mut String, computation: ComputationId, id: InstructionId) {
        if !self.options.numbered_names {
            return self.name(out, self.module.computations[computation].name(id));
        }
        let mut numbers = self.numbers.borrow_mut();
        let table = numbers.last_mut().expect("a computation is being printed");
        let next = table.iter().flatten().count();
        let next = u32::try_from(next).expect("fewer than 2^32 instructions");
        let number = *table[id.index()].get_or_insert(next);
        out.push_str("tmp_");
        push_int(out, i64::from(number));
    }
}

fn push_indent(out: &mut String, levels: usize) {
    for _ in 0..levels {
        out.push_str("  ");
    }
}
