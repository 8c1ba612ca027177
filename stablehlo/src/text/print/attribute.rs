//! Attributes and types.
use super::{Printer, TextStyle, put};
use crate::element;
use crate::ir::{Attribute, Attributes, Fields, Type};
use crate::ops;
use hlo::ElementType;
use smol_str::SmolStr;

/// The fields of attributes in the order of their text; those of attributes that VHLO splits are in
/// its table.
const ORDERS: [(&str, &[&str]); 3] = [
    (
        "chlo.ragged_dot",
        &[
            "lhs_batching_dimensions",
            "rhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "rhs_contracting_dimensions",
            "lhs_ragged_dimensions",
            "rhs_group_dimensions",
        ],
    ),
    (
        "stablehlo.output_operand_alias",
        &["output_tuple_indices", "operand_index", "operand_tuple_indices"],
    ),
    ("stablehlo.result_accuracy", &["atol", "rtol", "ulps", "mode"]),
];

/// Returns the text of a dictionary.
pub(crate) fn dictionary(fields: &Attributes) -> String {
    let mut fields = fields.clone();
    crate::normal::sort(&mut fields);
    let mut printer = Printer {
        out: String::new(),
        indent: 0,
        style: TextStyle::Generic,
        names: super::Names::default(),
        locations: super::Locations::default(),
        in_function: false,
    };
    printer.dictionary(&fields.0);
    printer.out
}

impl Printer<'_> {
    /// Prints `{name = value, name}`.
    pub(super) fn dictionary(&mut self, entries: &[(SmolStr, Attribute)]) {
        self.out.push('{');
        for (i, (name, value)) in entries.iter().enumerate() {
            self.comma(i);
            match is_identifier(name) {
                true => self.out += name,
                false => self.string(name.as_bytes()),
            }
            if *value != Attribute::Unit {
                self.out += " = ";
                self.named_attribute(name, value);
            }
        }
        self.out.push('}');
    }
    /// Prints the attribute of this name, whose type the name tells where it is none of 64 bits.
    fn named_attribute(&mut self, name: &str, value: &Attribute) {
        match value {
            Attribute::Integers(all) if name.ends_with("SegmentSizes") => self.array("i32", all),
            Attribute::Integers(all) if name == "window_reversal" => {
                let words: Vec<_> = all.iter().map(|value| *value != 0).collect();
                self.array("i1", &words);
            }
            value => self.attribute(value),
        }
    }
    /// Prints `array<i64: 1, 2>`.
    fn array(&mut self, ty: &str, all: &[impl std::fmt::Display]) {
        put!(self, "array<{ty}");
        for (i, value) in all.iter().enumerate() {
            put!(self, "{} {value}", if i == 0 { ":" } else { "," });
        }
        self.out.push('>');
    }
    pub(super) fn attribute(&mut self, value: &Attribute) {
        match value {
            Attribute::Unit => self.out += "unit",
            Attribute::Bool(value) => put!(self, "{value}"),
            Attribute::Integer(value, Type::Element(ElementType::Pred)) => {
                put!(self, "{}", *value != 0);
            }
            Attribute::Integer(value, ty) => {
                put!(self, "{value} : ");
                self.ty(ty);
            }
            Attribute::Float(value, ty) => {
                self.number(*value, ty);
                self.out += " : ";
                self.ty(ty);
            }
            Attribute::String(bytes) => self.string(bytes),
            Attribute::Array(items) => {
                self.out.push('[');
                for (i, item) in items.iter().enumerate() {
                    self.comma(i);
                    self.item(item);
                }
                self.out.push(']');
            }
            Attribute::Dictionary(fields) => self.dictionary(&fields.0),
            Attribute::Type(ty) => self.ty(ty),
            Attribute::Dense(dense) => self.dense(dense),
            Attribute::Strings(all) => {
                self.out += "dense<[";
                for (i, text) in all.iter().enumerate() {
                    self.comma(i);
                    self.string(text);
                }
                put!(self, "]> : tensor<{}x!tf_type.string>", all.len());
            }
            Attribute::Integers(all) => self.array("i64", all),
            Attribute::Symbol(path) => {
                for (i, name) in path.iter().enumerate() {
                    self.out += if i > 0 { "::@" } else { "@" };
                    self.symbol(name);
                }
            }
            Attribute::Dialect(name, Fields::Keyword(word)) => match name.split_once('.') {
                Some((dialect, name)) if !word.starts_with('#') => {
                    put!(self, "#{dialect}<{name} {word}>");
                }
                _ => self.out += word,
            },
            Attribute::Dialect(name, Fields::Named(fields)) => {
                put!(self, "#{name}<");
                match name.as_str() {
                    "stablehlo.conv" => self.convolution(fields),
                    _ => self.fields(name, fields),
                }
                self.out.push('>');
            }
        }
    }
    /// Prints an attribute in a list, where 64 bits need no type.
    fn item(&mut self, value: &Attribute) {
        match value {
            Attribute::Integer(value, Type::Element(ElementType::S64)) => put!(self, "{value}"),
            Attribute::Float(value, ty @ Type::Element(ElementType::F64)) => {
                self.number(*value, ty);
            }
            value => self.attribute(value),
        }
    }
    fn number(&mut self, value: f64, ty: &Type) {
        match ty {
            Type::Element(element) => self.float(*element, value),
            _ => put!(self, "{value:e}"),
        }
    }
    /// Prints `name = value, ...` of an attribute of this name.
    pub(super) fn fields(&mut self, name: &str, fields: &Attributes) {
        let mut splits = ops::all().flat_map(ops::OpRow::split);
        let split = splits.find(|split| split.value == name).map(|split| split.fields);
        let order = split
            .or_else(|| ORDERS.iter().find(|(known, _)| *known == name).map(|(_, order)| *order));
        let names: Vec<&str> = match order {
            Some(order) => order.to_vec(),
            None => fields.0.iter().map(|(name, _)| name.as_str()).collect(),
        };
        let mut first = true;
        for field in names {
            let Some(value) = fields.get(field) else { continue };
            if matches!(value, Attribute::Integers(all) if all.is_empty())
                && name != "stablehlo.output_operand_alias"
            {
                continue;
            }
            self.comma(usize::from(!std::mem::take(&mut first)));
            put!(self, "{field} = ");
            match value {
                Attribute::Integers(values) => put!(self, "{values:?}"),
                Attribute::Float(value, ty) => self.number(*value, ty),
                value => self.item(value),
            }
        }
    }
    /// Prints `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn convolution(&mut self, fields: &Attributes) {
        let sides = [
            ("input", [("b", "batch"), ("f", "feature")], ""),
            ("kernel", [("i", "input_feature"), ("o", "output_feature")], "x"),
            ("output", [("b", "batch"), ("f", "feature")], "->"),
        ];
        for (side, letters, before) in sides {
            let spatial = match fields.get(&format!("{side}_spatial_dimensions")) {
                Some(Attribute::Integers(dims)) => dims.as_slice(),
                _ => &[],
            };
            let mut dims: Vec<(i128, String)> = spatial
                .iter()
                .enumerate()
                .map(|(i, dim)| (i128::from(*dim), i.to_string()))
                .collect();
            for (letter, name) in letters {
                if let Some(Attribute::Integer(dim, _)) =
                    fields.get(&format!("{side}_{name}_dimension"))
                {
                    dims.push((*dim, letter.to_owned()));
                }
            }
            dims.sort();
            let dims: Vec<_> = dims.into_iter().map(|(_, word)| word).collect();
            put!(self, "{before}[{}]", dims.join(", "));
        }
    }
    /// Prints bytes in quotes.
    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.out += &quoted(bytes);
    }
    /// Prints the name of a symbol after its `@`.
    pub(super) fn symbol(&mut self, name: &str) {
        match is_identifier(name) {
            true => self.out += name,
            false => self.string(name.as_bytes()),
        }
    }
    pub(super) fn ty(&mut self, ty: &Type) {
        self.out += &element::type_text(ty);
    }
}

/// Returns whether a name needs no quotes.
fn is_identifier(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_first)
        && name.chars().all(|c| is_first(c) || c.is_ascii_digit() || "$.".contains(c))
}
fn hex(digit: u8) -> char {
    char::from_digit(digit.into(), 16).unwrap_or('0').to_ascii_uppercase()
}
/// Returns bytes in quotes.
pub(super) fn quoted(bytes: impl AsRef<[u8]>) -> String {
    let mut out = "\"".to_owned();
    for &byte in bytes.as_ref() {
        match byte {
            b'\\' => out += "\\\\",
            b'"' => out += "\\22",
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.extend(['\\', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    out.push('"');
    out
}
