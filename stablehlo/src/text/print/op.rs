//! Ops: their results, the generic form, functions.
use super::{Printer, TextStyle, put};
use crate::ir::{Attribute, Attributes, Op, Type, Value, ValueId};
use crate::ops;
use smol_str::SmolStr;

type Entry = (SmolStr, Attribute);

/// The attributes of a function that its form shows.
const SHOWN: [&str; 5] = ["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"];

impl Printer<'_> {
    pub(super) fn op(&mut self, op: &Op) {
        if let Some(first) = op.results.first() {
            let name = self.names.get(first.id);
            if let Some((name, _)) = name.split_once('#') {
                self.out.push('%');
                self.out += name;
                put!(self, ":{}", op.results.len());
            } else {
                let results: Vec<ValueId> = op.results.iter().map(|value| value.id).collect();
                self.values(&results);
            }
            self.out += " = ";
        }
        let row = ops::find(&op.name).filter(|_| self.style == TextStyle::Pretty);
        match row.filter(|row| super::form::is_printed(row, op)) {
            Some(_) if op.name == "func.func" => self.function(op),
            Some(row) => self.pretty(row.form, op),
            None => self.generic(op),
        }
        self.location_of(op.location);
    }
    pub(super) fn value(&mut self, id: ValueId) {
        put!(self, "%{}", self.names.get(id));
    }
    pub(super) fn values(&mut self, ids: &[ValueId]) {
        for (i, &id) in ids.iter().enumerate() {
            self.comma(i);
            self.value(id);
        }
    }
    fn generic(&mut self, op: &Op) {
        self.string(op.name.as_bytes());
        self.out.push('(');
        self.values(&op.operands);
        self.out.push(')');
        let (inherent, others) = split(&op.attributes);
        if !inherent.is_empty() {
            self.out += " <";
            self.dictionary(&inherent);
            self.out.push('>');
        }
        if !op.regions.is_empty() {
            self.out += " (";
            for (i, region) in op.regions.iter().enumerate() {
                self.comma(i);
                self.region(region, true);
            }
            self.out.push(')');
        }
        if !others.is_empty() {
            self.out.push(' ');
            self.dictionary(&others);
        }
        self.out += " : ";
        self.signature(op);
    }
    /// Prints `(types) -> types`.
    pub(super) fn signature(&mut self, op: &Op) {
        let operands: Vec<Type> = self.operand_types(op);
        let results: Vec<&Type> = op.results.iter().map(|value| &value.ty).collect();
        self.out.push('(');
        self.types(operands.iter());
        self.out += ") -> ";
        self.result_types(&results);
    }
    /// Prints the types of results: one, or several in parentheses.
    pub(super) fn result_types(&mut self, types: &[&Type]) {
        match types {
            [one] if !matches!(one, Type::Function(..)) => self.ty(one),
            types => {
                self.out.push('(');
                self.types(types.iter().copied());
                self.out.push(')');
            }
        }
    }
    pub(super) fn types<'t>(&mut self, types: impl Iterator<Item = &'t Type>) {
        for (i, ty) in types.enumerate() {
            self.comma(i);
            self.ty(ty);
        }
    }
    /// Returns the types of operands.
    pub(super) fn operand_types(&self, op: &Op) -> Vec<Type> {
        op.operands.iter().map(|&id| self.names.ty(id).clone()).collect()
    }

    /// Prints `func.func public @name(%a: type {...}) -> type {...}`.
    fn function(&mut self, op: &Op) {
        self.out += "func.func ";
        let string = |name| match op.attributes.get(name) {
            Some(Attribute::String(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        let visibility = string("sym_visibility");
        if !visibility.is_empty() {
            put!(self, "{visibility} ");
        }
        self.out.push('@');
        self.symbol(&string("sym_name"));
        let Some(Attribute::Type(Type::Function(arguments, results))) =
            op.attributes.get("function_type")
        else {
            return;
        };
        let body = op.regions.first().filter(|region| !region.ops.is_empty());
        let of = |name| match op.attributes.get(name) {
            Some(Attribute::Array(all)) => all.as_slice(),
            _ => &[],
        };
        self.out.push('(');
        for (i, ty) in arguments.iter().enumerate() {
            self.comma(i);
            if let Some(Value { id, .. }) = body.and_then(|body| body.arguments.get(i)) {
                self.value(*id);
                self.out += ": ";
            }
            self.ty(ty);
            self.attributes_at(of("arg_attrs"), i);
            self.argument_location();
        }
        self.out.push(')');
        let result_attributes = of("res_attrs");
        match results.as_slice() {
            [] => {}
            [one]
                if result_attributes.iter().all(is_empty) && !matches!(one, Type::Function(..)) =>
            {
                self.out += " -> ";
                self.ty(one);
            }
            results => {
                self.out += " -> (";
                for (i, ty) in results.iter().enumerate() {
                    self.comma(i);
                    self.ty(ty);
                    self.attributes_at(result_attributes, i);
                }
                self.out.push(')');
            }
        }
        let others = without(&op.attributes, &SHOWN);
        if !others.is_empty() {
            self.out += " attributes ";
            self.dictionary(&others);
        }
        if let Some(body) = body {
            self.out.push(' ');
            self.body(body, false, true);
        }
    }
    fn attributes_at(&mut self, all: &[Attribute], i: usize) {
        if let Some(Attribute::Dictionary(attributes)) = all.get(i)
            && !attributes.0.is_empty()
        {
            self.out.push(' ');
            self.dictionary(&attributes.0);
        }
    }
}

fn is_empty(attributes: &Attribute) -> bool {
    matches!(attributes, Attribute::Dictionary(attributes) if attributes.0.is_empty())
}
/// Returns the attributes without those of these names.
pub(super) fn without(attributes: &Attributes, names: &[&str]) -> Vec<Entry> {
    let others = attributes.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    others.cloned().collect()
}
/// Divides attributes into those of the op and others, whose names have that of a dialect.
fn split(attributes: &Attributes) -> (Vec<Entry>, Vec<Entry>) {
    attributes.0.iter().cloned().partition(|(name, _)| !name.contains('.'))
}
