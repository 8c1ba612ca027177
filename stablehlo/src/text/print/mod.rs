//! Programs as MLIR text, by the forms of [`crate::ops`].
mod attribute;
mod dense;
mod float;
mod form;
mod locations;
mod names;
mod op;
#[cfg(test)]
mod tests;

pub(crate) use attribute::dictionary;

use crate::ir::{LocationId, Op, Program, Region};
use locations::{Locations, alias};
use names::Names;
use std::fmt;

/// A style of MLIR text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextStyle {
    /// The form of each op that StableHLO prints: `%1 = stablehlo.abs %0 : tensor<f32>`.
    #[default]
    Pretty,
    /// The same form for every op: `%1 = "stablehlo.abs"(%0) : (tensor<f32>) -> tensor<f32>`.
    Generic,
}

impl Program {
    /// Prints the program in a style; [`Display`](fmt::Display) prints [`TextStyle::Pretty`].
    ///
    /// ```
    /// use stablehlo::TextStyle;
    /// let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
    ///   %y = stablehlo.abs %x : tensor<f32>
    ///   return %y : tensor<f32>
    /// }";
    /// let text = stablehlo::read(text.as_bytes())?.to_text(TextStyle::Generic);
    /// assert!(text.contains("%0 = \"stablehlo.abs\"(%arg0) : (tensor<f32>) -> tensor<f32>"));
    /// # Ok::<(), stablehlo::Error>(())
    /// ```
    pub fn to_text(&self, style: TextStyle) -> String {
        let names = Names::of(self);
        let mut printer = Printer {
            out: String::new(),
            indent: 0,
            style,
            locations: Locations::of(self, &names, style),
            names,
            in_function: false,
        };
        printer.program(self);
        printer.out
    }
}
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(TextStyle::Pretty))
    }
}

/// A program while it is printed.
struct Printer<'p> {
    out: String,
    indent: usize,
    style: TextStyle,
    names: Names,
    locations: Locations<'p>,
    /// Whether the ops are those of a function, not of a region in one.
    in_function: bool,
}

/// Writes to a string, which does not fail.
macro_rules! put {
    ($printer:expr, $($arguments:tt)*) => {
        std::fmt::Write::write_fmt(&mut $printer.out, format_args!($($arguments)*))
            .expect("a string grows")
    };
}
use put;

impl Printer<'_> {
    fn program(&mut self, program: &Program) {
        let [before, after] = self.locations.lines();
        self.out += &before;
        let has_header = program.name.is_some() || !program.attributes.0.is_empty();
        match self.style {
            TextStyle::Pretty => {
                self.out += "module";
                if let Some(name) = &program.name {
                    self.out += " @";
                    self.symbol(name);
                }
                if !program.attributes.0.is_empty() {
                    self.out += " attributes ";
                    self.dictionary(&program.attributes.0);
                }
                self.out += " {";
                self.lines(&program.ops);
                self.out += "\n}";
            }
            TextStyle::Generic => {
                self.out += "\"builtin.module\"() ";
                if let Some(name) = &program.name {
                    self.out += "<{sym_name = ";
                    self.string(name.as_bytes());
                    self.out += "}> ";
                }
                self.out += "({";
                self.lines(&program.ops);
                self.out += "\n})";
                if has_header && !program.attributes.0.is_empty() {
                    self.out += " ";
                    self.dictionary(&program.attributes.0);
                }
                self.out += " : () -> ()";
            }
        }
        self.location_of(None);
        self.out += "\n";
        self.out += &after;
    }
    /// Prints ops, each on a line that it begins.
    fn lines(&mut self, ops: &[Op]) {
        self.indent += 2;
        for op in ops {
            self.line();
            self.op(op);
        }
        self.indent -= 2;
    }
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }
    /// Prints the ops of a region in braces, and its arguments unless they stand elsewhere.
    fn region(&mut self, region: &Region, arguments: bool) {
        self.body(region, arguments, false);
    }
    fn body(&mut self, region: &Region, arguments: bool, is_function: bool) {
        self.out.push('{');
        if arguments && !region.arguments.is_empty() {
            self.line();
            self.out += "^bb0(";
            for (i, argument) in region.arguments.iter().enumerate() {
                self.comma(i);
                self.value(argument.id);
                self.out += ": ";
                self.ty(&argument.ty);
                self.argument_location();
            }
            self.out += "):";
        }
        let outer = std::mem::replace(&mut self.in_function, is_function);
        self.lines(&region.ops);
        self.in_function = outer;
        self.line();
        self.out.push('}');
    }
    fn comma(&mut self, i: usize) {
        self.out += if i > 0 { ", " } else { "" };
    }

    /// Prints the location of an op, if the program has any.
    fn location_of(&mut self, location: Option<LocationId>) {
        if !self.locations.is_empty() {
            put!(self, " loc({})", alias(self.locations.number(location)));
        }
    }
    /// Prints the location of an argument, which is not kept.
    fn argument_location(&mut self) {
        if !self.locations.is_empty() {
            self.out += " loc(unknown)";
        }
    }
}
