//! Small attribute values: numbers, strings, pairs, and values that are parsed and dropped.
use crate::Result;
use crate::ir::{ComputationId, Sharding};
use crate::literal::ConstantValue;
use crate::op::{AttrValue, AttrWriter};
use crate::text::grammar::{delimited, int, list, map, separated_pair, symbol};
use crate::text::{Parser, balanced, number, strings};
use smol_str::SmolStr;

/// The text between the parentheses of a parameter or a constant.
pub(crate) enum Positional {
    Parameter(i64),
    Constant(Box<ConstantValue>),
}

/// A string in quotes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Text(pub SmolStr);

impl AttrValue for Text {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        Ok(Self(strings::string(&mut p.cursor)?.into()))
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        strings::print_string(out.out, &self.0);
    }
}
impl AttrValue for SmolStr {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        Ok(strings::string(&mut p.cursor)?.into())
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        strings::print_string(out.out, self);
    }
}

/// A number printed as C's `%g` does. Two are equal if their bits are: `1 / sqrt(x + epsilon)`
/// differs for `epsilon` 0 and -0.
#[derive(Debug, Clone, Copy)]
pub struct Float(pub f32);

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl AttrValue for Float {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        p.cursor.blank();
        let start = p.cursor.offset();
        let value = p.cursor.number()?.to_f64();
        let fits = value.is_nan() || value.is_infinite() || value.abs() <= f64::from(f32::MAX);
        if !fits {
            let message = format!("{value:e} does not fit an f32");
            let error = crate::Error::from(crate::diag::Code::NumberRange { message });
            return Err(error.at(p.cursor.span_from(start)));
        }
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "rounds to f32, as XLA keeps it"
        )]
        Ok(Self(value as f32))
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        number::general(out.out, f64::from(self.0), 6);
    }
}

/// `{{0,1},{1,2}}`: pairs of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairs(pub Vec<(i64, i64)>);

impl AttrValue for Pairs {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        let pair = delimited(symbol('{'), separated_pair(int, symbol(','), int), symbol('}'));
        p.cursor.parse(map(list('{', pair, '}'), Self))
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        let pairs: Vec<Vec<i64>> = self.0.iter().map(|&(a, b)| vec![a, b]).collect();
        pairs.print(out);
    }
}

/// A value that is parsed and dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignored;

impl AttrValue for Ignored {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        balanced::balanced_value(&mut p.cursor)?;
        Ok(Self)
    }
    fn print(&self, _: &mut AttrWriter<'_>) {}
}

/// The computation that combines values of devices; texts of 2018 omit it for a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reducer(pub Option<ComputationId>);

impl AttrValue for Reducer {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        Ok(Self(Some(p.computation_ref()?)))
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        if let Some(id) = self.0 {
            id.print(out);
        }
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        self.0.iter().copied().for_each(visit);
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        self.0.iter_mut().for_each(visit);
    }
}

/// `{kind="sharding", entry={...}, exit={...}}`
#[derive(Debug, Clone, PartialEq)]
pub struct DomainMetadata {
    /// Sharding of the operand's side.
    pub entry: Sharding,
    /// Sharding of the result's side.
    pub exit: Sharding,
}

impl AttrValue for DomainMetadata {
    fn parse(p: &mut Parser<'_>) -> Result<Self> {
        let c = &mut p.cursor;
        c.expect(b'{')?;
        c.expect_token("kind=")?;
        let start = c.offset();
        let kind = strings::string(c)?;
        if kind != "sharding" {
            let message = format!("expected \"sharding\" as the kind of a domain, found {kind:?}");
            let error = crate::Error::from(crate::diag::Code::AttributeValue { message });
            return Err(error.at(c.span_from(start)));
        }
        c.expect(b',')?;
        c.expect_token("entry=")?;
        let entry = Sharding::parse(c)?;
        c.expect(b',')?;
        c.expect_token("exit=")?;
        let exit = Sharding::parse(c)?;
        c.expect(b'}')?;
        Ok(Self { entry, exit })
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        out.out.push_str("{kind=\"sharding\", entry=");
        self.entry.print(out.out, true);
        out.out.push_str(", exit=");
        self.exit.print(out.out, true);
        out.out.push('}');
    }
}
