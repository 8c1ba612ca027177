//! Pretty forms, by their words.
use super::names::Names;
use super::op::without;
use super::{Printer, put};
use crate::dense;
use crate::ir::{Attribute, Fields, Op, Tensor, Type};
use crate::ops::OpRow;
use crate::text::special::REDUCERS;
use std::sync::Arc;

/// The parts of forms that are printed, each with the attributes that it shows; ops with other
/// parts have the generic form.
const PARTS: [(&str, &[&str]); 15] = [
    ("barrier", &[]),
    ("compare_type", &["compare_type"]),
    ("constant", &["value"]),
    ("convolution", &["dimension_numbers"]),
    ("dot_dimensions", &["dot_dimension_numbers"]),
    ("format", &["exponent_bits", "mantissa_bits"]),
    ("function", &[]),
    ("is_stable", &["is_stable"]),
    ("lower", &["lower"]),
    ("precision", &["precision_config", "algorithm"]),
    ("reduce", &["dimensions"]),
    ("returned", &[]),
    ("scan", &["dimension", "operandSegmentSizes", "resultSegmentSizes"]),
    ("slice_ranges", &["start_indices", "limit_indices", "strides"]),
    ("window", &["window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"]),
];
/// The parts that print nothing here, or the whole op.
const OTHERS: [&str; 2] = ["regions", "while"];

/// Returns the attributes that a form shows; none if a part of it is not printed.
fn shown(form: &'static str) -> Option<Vec<&'static str>> {
    let mut all = Vec::new();
    for word in form.split_ascii_whitespace() {
        if let Some(part) = word.strip_prefix('~') {
            match PARTS.iter().find(|(known, _)| *known == part) {
                Some((_, names)) => all.extend_from_slice(names),
                None if OTHERS.contains(&part) => {}
                None => return None,
            }
        } else if let Some((name, _)) = word.strip_prefix('$').and_then(|word| word.split_once(':'))
        {
            all.push(name);
        }
    }
    Some(all)
}
/// Returns whether an op is printed in its pretty form.
pub(super) fn is_printed(row: &OpRow, op: &Op) -> bool {
    let dialect = op.name.split('.').next().unwrap_or_default();
    let is_known = matches!(dialect, "stablehlo" | "chlo" | "func");
    let has_all = |names: Vec<&str>| {
        // Attributes that the form shows must be there, unless a part may leave them out.
        let is_stated = |name: &&str| row.form.contains(&format!("${name}:"));
        names.iter().filter(|name| is_stated(name)).all(|name| op.attributes.get(name).is_some())
    };
    // An op of several regions, such as a composite with some, has no other place for them.
    let has_place =
        op.regions.is_empty() || ["~while", "~reduce", "~scan", "~function"].contains(&row.form);
    // StableHLO prints the slice of a scalar in a form that it does not read.
    let is_read = op.name != "stablehlo.dynamic_slice" || op.operands.len() > 1;
    is_known && row.is_pretty() && has_place && is_read && shown(row.form).is_some_and(has_all)
}

impl Printer<'_> {
    pub(super) fn pretty(&mut self, form: &'static str, op: &Op) {
        self.out += match op.name.as_str() {
            "func.call" if self.in_function => "call",
            "func.return" => "return",
            name => name,
        };
        let shown = shown(form).unwrap_or_default();
        let mut operands = op.operands.as_slice();
        for word in form.split_ascii_whitespace() {
            match word {
                "%" => {
                    self.space();
                    if let Some((&first, rest)) = operands.split_first() {
                        self.value(first);
                        operands = rest;
                    }
                }
                "%*" if !operands.is_empty() => {
                    self.space();
                    self.values(operands);
                    operands = &[];
                }
                "%*," => {
                    for &operand in std::mem::take(&mut operands) {
                        self.space();
                        self.value(operand);
                        self.out.push(',');
                    }
                }
                // Operands that are not there leave the space before them.
                "%*" if form.starts_with(word) => self.out += "  ",
                "%*" => {}
                "{}" => {
                    let others = without(&op.attributes, &shown);
                    if !others.is_empty() {
                        self.space();
                        self.dictionary(&others);
                    }
                }
                "," | ")" | "]" | "}" | "(" | "[" => self.out += word,
                _ => match (word.split_at(1), word.split_once(':')) {
                    (("$", _), Some((name, kind))) => {
                        self.space();
                        self.short(op, &name[1..], kind);
                    }
                    (("~", part), _) => self.part(part, op),
                    (("&", types), _) => {
                        self.space();
                        self.form_types(types, op);
                    }
                    _ => {
                        self.space();
                        self.out += word;
                    }
                },
            }
        }
    }
    /// Adds a space, unless a bracket was opened.
    fn space(&mut self) {
        if !self.out.ends_with(['(', '[', '{', ' ']) {
            self.out.push(' ');
        }
    }
    /// Prints an attribute in the short form of its kind.
    fn short(&mut self, op: &Op, name: &str, kind: &str) {
        match (kind, op.attributes.get(name)) {
            ("i64" | "i32", Some(Attribute::Integer(value, _))) => put!(self, "{value}"),
            ("list", Some(Attribute::Integers(values))) => self.integers(values),
            ("name", Some(Attribute::String(bytes))) => {
                self.out.push('@');
                self.symbol(&String::from_utf8_lossy(bytes));
            }
            (_, Some(Attribute::Dialect(_, Fields::Keyword(word)))) => self.out += word,
            (_, Some(value)) => self.attribute(value),
            (_, None) => {}
        }
    }
    fn integers(&mut self, values: &[i64]) {
        self.out.push('[');
        for (i, value) in values.iter().enumerate() {
            self.comma(i);
            put!(self, "{value}");
        }
        self.out.push(']');
    }
    /// Prints an attribute that is a list of integers.
    fn list(&mut self, op: &Op, name: &str) {
        if let Some(Attribute::Integers(values)) = op.attributes.get(name) {
            self.integers(values);
        }
    }

    fn form_types(&mut self, kind: &str, op: &Op) {
        let operands = self.operand_types(op);
        let results: Vec<&Type> = op.results.iter().map(|value| &value.ty).collect();
        match (kind, operands.as_slice(), results.as_slice()) {
            ("same", operands, [ty]) if operands.iter().all(|other| other == *ty) => self.ty(ty),
            ("results", _, types) => self.types(types.iter().copied()),
            ("arrow", operands, results) => {
                self.types(operands.iter());
                self.out += " -> ";
                self.result_types(results);
            }
            ("select", [pred, x, y], [ty]) if x == y && x == *ty => {
                self.ty(pred);
                self.out += ", ";
                self.ty(ty);
            }
            ("complex" | "tuple", _, [ty]) => self.ty(ty),
            _ => self.signature(op),
        }
    }

    fn part(&mut self, part: &str, op: &Op) {
        match part {
            "barrier" if op.operands.is_empty() => self.out += "()",
            "barrier" => {
                self.space();
                self.values(&op.operands);
                self.returned(op);
            }
            "returned" => self.returned(op),
            "compare_type" | "lower" | "is_stable" => match op.attributes.get(part) {
                Some(Attribute::Dialect(_, Fields::Keyword(word))) => put!(self, ", {word}"),
                Some(Attribute::Bool(value)) => put!(self, ", {part} = {value}"),
                _ => {}
            },
            "constant" => {
                let others = without(&op.attributes, &["value"]);
                if !others.is_empty() {
                    self.space();
                    self.dictionary(&others);
                }
                self.space();
                if let Some(value) = op.attributes.get("value") {
                    self.attribute(value);
                }
            }
            "convolution" => {
                self.space();
                if let Some(Attribute::Dialect(_, Fields::Named(fields))) =
                    op.attributes.get("dimension_numbers")
                {
                    self.convolution(fields);
                }
            }
            "dot_dimensions" => self.dot_dimensions(op),
            "format" => {
                let bits = |name| match op.attributes.get(name) {
                    Some(Attribute::Integer(bits, _)) => *bits,
                    _ => 0,
                };
                put!(self, " e{}m{}", bits("exponent_bits"), bits("mantissa_bits"));
            }
            "precision" => self.precision(op),
            "slice_ranges" => self.slice_ranges(op),
            "window" => self.window(op),
            "reduce" => self.reduce(op),
            "scan" => self.scan(op),
            "while" => self.while_loop(op),
            _ => {}
        }
    }
    /// Prints `: types` of operands, if there are any.
    fn returned(&mut self, op: &Op) {
        if !op.operands.is_empty() {
            self.out += " : ";
            let types = self.operand_types(op);
            self.types(types.iter());
        }
    }
    fn dot_dimensions(&mut self, op: &Op) {
        let Some(Attribute::Dialect(_, Fields::Named(fields))) =
            op.attributes.get("dot_dimension_numbers")
        else {
            return;
        };
        let list = |side: &str, kind: &str| match fields.get(&format!("{side}_{kind}_dimensions")) {
            Some(Attribute::Integers(values)) => values.clone(),
            _ => Vec::new(),
        };
        for (kind, may_be_absent) in [("batching", true), ("contracting", false)] {
            let [left, right] = ["lhs", "rhs"].map(|side| list(side, kind));
            if left.is_empty() && may_be_absent {
                continue;
            }
            self.space();
            put!(self, "{kind}_dims = ");
            self.integers(&left);
            self.out += " x ";
            self.integers(&right);
            self.out += if may_be_absent { "," } else { "" };
        }
    }
    fn precision(&mut self, op: &Op) {
        if let Some(Attribute::Array(words)) = op.attributes.get("precision_config") {
            self.out += ", precision = [";
            for (i, word) in words.iter().enumerate() {
                self.comma(i);
                if let Attribute::Dialect(_, Fields::Keyword(word)) = word {
                    self.out += word;
                }
            }
            self.out.push(']');
        }
        if let Some(Attribute::Dialect(name, Fields::Named(fields))) =
            op.attributes.get("algorithm")
        {
            self.out += ", algorithm = <";
            self.fields(name, fields);
            self.out.push('>');
        }
    }
    fn slice_ranges(&mut self, op: &Op) {
        let list = |name| match op.attributes.get(name) {
            Some(Attribute::Integers(values)) => values.as_slice(),
            _ => &[],
        };
        let [starts, limits, strides] = ["start_indices", "limit_indices", "strides"].map(list);
        self.out += " [";
        for (i, ((start, limit), stride)) in starts.iter().zip(limits).zip(strides).enumerate() {
            self.comma(i);
            put!(self, "{start}:{limit}");
            if *stride != 1 {
                put!(self, ":{stride}");
            }
        }
        self.out.push(']');
    }
    fn window(&mut self, op: &Op) {
        let mut first = true;
        let words = [
            ("stride", "window_strides"),
            ("pad", "padding"),
            ("lhs_dilate", "lhs_dilation"),
            ("rhs_dilate", "rhs_dilation"),
            ("reverse", "window_reversal"),
        ];
        for (word, name) in words {
            let Some(value) = op.attributes.get(name) else { continue };
            self.comma(usize::from(!std::mem::take(&mut first)));
            put!(self, "{word} = ");
            match (word, value) {
                ("reverse", Attribute::Integers(values)) => {
                    let values: Vec<_> = values.iter().map(|value| *value != 0).collect();
                    put!(self, "{values:?}");
                }
                ("pad", value) => {
                    let pairs = dense::integers(value).unwrap_or_default();
                    let pairs: Vec<_> = pairs.chunks(2).collect();
                    put!(self, "{pairs:?}");
                }
                _ => self.list(op, name),
            }
        }
    }

    /// Prints `(%a init: %b), (%c init: %d)`, and an op or a region.
    fn reduce(&mut self, op: &Op) {
        let (inputs, initial) = op.operands.split_at(op.operands.len() / 2);
        for (i, (&input, &initial)) in inputs.iter().zip(initial).enumerate() {
            self.comma(i);
            self.out.push('(');
            self.value(input);
            self.out += " init: ";
            self.value(initial);
            self.out.push(')');
        }
        let region = op.regions.first();
        let reducer = reducer(&self.names, op);
        if let Some(reducer) = reducer {
            put!(self, " applies {reducer}");
        }
        self.out += " across dimensions = ";
        self.list(op, "dimensions");
        let others = without(&op.attributes, &["dimensions"]);
        if !others.is_empty() {
            self.space();
            self.dictionary(&others);
        }
        self.out += " : ";
        self.signature(op);
        if let Some(region) = region.filter(|_| reducer.is_none()) {
            self.line();
            self.out += " reducer";
            let (accumulators, elements) = region.arguments.split_at(region.arguments.len() / 2);
            for pair in accumulators.iter().zip(elements) {
                self.out.push('(');
                for (i, argument) in [pair.0, pair.1].into_iter().enumerate() {
                    self.comma(i);
                    self.value(argument.id);
                    self.out += ": ";
                    self.ty(&argument.ty);
                    self.argument_location();
                }
                self.out += ") ";
            }
            self.space();
            self.out.push(' ');
            self.region(region, false);
        }
    }
    /// Prints `(%a) inits (%b) dimension=0  attributes {...} {...} : (types) -> types`.
    fn scan(&mut self, op: &Op) {
        let inputs = match op.attributes.get("operandSegmentSizes") {
            Some(Attribute::Integers(sizes)) => sizes.first().copied().unwrap_or(0),
            _ => 0,
        };
        let inputs = usize::try_from(inputs).unwrap_or(0).min(op.operands.len());
        let (inputs, initial) = op.operands.split_at(inputs);
        self.out.push('(');
        self.values(inputs);
        self.out += ") inits (";
        self.values(initial);
        self.out += ") dimension=";
        self.short(op, "dimension", "i64");
        let others = without(&op.attributes, shown("~scan").unwrap_or_default().as_slice());
        if !others.is_empty() {
            self.out += "  attributes ";
            self.dictionary(&others);
        }
        self.out.push(' ');
        if let Some(region) = op.regions.first() {
            self.region(region, true);
        }
        self.out += " : ";
        self.signature(op);
    }
    /// Prints `(%a = %init) : type`, then the regions.
    fn while_loop(&mut self, op: &Op) {
        let [condition, body] = op.regions.as_slice() else { return };
        self.out.push('(');
        for (i, (argument, &operand)) in condition.arguments.iter().zip(&op.operands).enumerate() {
            self.comma(i);
            self.value(argument.id);
            self.out += " = ";
            self.value(operand);
        }
        self.out.push(')');
        self.returned(op);
        if !op.attributes.0.is_empty() {
            self.out += " attributes ";
            self.dictionary(&op.attributes.0);
        }
        self.line();
        self.out += "cond ";
        self.region(condition, false);
        self.out += " do ";
        self.region(body, false);
    }
}

/// Returns the op that the region of a `reduce` applies, if it is the one that `applies` stands for,
/// whatever its location is.
pub(super) fn reducer<'o>(names: &Names, op: &'o Op) -> Option<&'o str> {
    let region = op.regions.first()?;
    let [inner, end] = region.ops.as_slice() else { return None };
    let [left, right] = region.arguments.as_slice() else { return None };
    let [result] = inner.results.as_slice() else { return None };
    let Type::Tensor(Tensor { element, .. }) = names.ty(*op.operands.first()?) else {
        return None;
    };
    let scalar = Type::Tensor(Tensor { dims: Arc::default(), element: element.clone() });
    let is_known = REDUCERS.contains(&inner.name.strip_prefix("stablehlo.")?);
    let is_plain = inner.attributes.0.is_empty()
        && inner.operands.as_slice() == [left.id, right.id]
        && end.operands.as_slice() == [result.id]
        && [left, right, result].iter().all(|value| value.ty == scalar);
    (is_known && is_plain).then_some(inner.name.as_str())
}
