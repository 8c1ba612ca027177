//! Aliases: `#loc3 = loc(...)`, `#map = ...`, `!t = tensor<2xf32>`; they may be defined after their
//! uses.
use super::Parser;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, LocationId, Type};
use hlo::Span;
use hlo::diag::BYTE_ORDER_MARK;
use hlo::diag::quantity;
use rustc_hash::FxHashMap;

/// Where aliases are defined, and their values once they are known.
#[derive(Debug, Default)]
pub(super) struct Aliases<'a> {
    /// The offset of the value.
    attributes: FxHashMap<&'a str, usize>,
    types: FxHashMap<&'a str, usize>,
    locations: FxHashMap<&'a str, Option<LocationId>>,
}

impl<'a> Aliases<'a> {
    /// Finds the definitions of a text: lines such as `#name = value`.
    pub(super) fn find(text: &'a str) -> Self {
        let mut aliases = Self::default();
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let body = line.trim_start_matches(BYTE_ORDER_MARK).trim_start();
            let (sigil, rest) =
                body.split_at(body.bytes().next().map_or(0, |byte| usize::from(byte.is_ascii())));
            if let ("#" | "!", Some((name, value))) = (sigil, rest.split_once('=')) {
                let at = offset + line.len() - value.len();
                let table = if sigil == "#" { &mut aliases.attributes } else { &mut aliases.types };
                // The first of two definitions counts here; the second one is an error where it is
                // parsed.
                table.entry(name.trim_end()).or_insert(at);
            }
            offset += line.len();
        }
        aliases
    }
    /// Returns the offset of the value of an attribute's alias.
    pub(super) fn attribute(&self, name: &str) -> Option<usize> {
        self.attributes.get(name).copied()
    }
}

impl<'a> Parser<'a> {
    /// Runs `parse` at the definition of an alias.
    fn at_definition<T>(
        &mut self,
        at: Option<usize>,
        name: &str,
        span: Span,
        parse: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let undefined =
            || Error::from(Code::Undefined { kind: "alias", name: name.to_owned() }).at(span);
        let at = at.ok_or_else(undefined)?;
        let after = self.cursor;
        // An alias of itself ends at the limit of nesting.
        self.cursor.down()?;
        self.cursor.jump(at);
        self.check_expanded(span)?;
        let value = parse(self)?;
        self.expanded += self.cursor.offset() - at;
        self.cursor = after;
        Ok(value)
    }
    /// Aliases of aliases may stand for much more than the text has.
    fn check_expanded(&self, span: Span) -> Result<()> {
        const FACTOR: usize = 64;
        let limit = self.cursor.text().len().saturating_mul(FACTOR);
        if self.expanded <= limit {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "the aliases stand for more than {} of text",
            quantity(limit, "byte")
        ))
        .at(span))
    }
    pub(super) fn attribute_alias(&mut self, name: &'a str, span: Span) -> Result<Attribute> {
        self.at_definition(self.aliases.attribute(name), name, span, Self::attribute)
    }
    pub(super) fn type_alias(&mut self, name: &'a str, span: Span) -> Result<Type> {
        self.at_definition(self.aliases.types.get(name).copied(), name, span, Self::ty)
    }
    pub(super) fn location_alias(
        &mut self,
        name: &'a str,
        span: Span,
    ) -> Result<Option<LocationId>> {
        if let Some(known) = self.aliases.locations.get(name) {
            return Ok(*known);
        }
        let location =
            self.at_definition(self.aliases.attribute(name), name, span, Self::trailing_location)?;
        self.aliases.locations.insert(name, location);
        Ok(location)
    }
    /// Reads the locations that have aliases, in the order of the text: each comes after those it
    /// is made of, so a chain of callers is not nested here, however long it is.
    pub(super) fn location_aliases(&mut self) {
        let (start, text) = (self.cursor, self.cursor.text());
        let is_location = |at: usize| text[at..].trim_start().starts_with("loc(");
        let names = self.aliases.attributes.iter().map(|(name, at)| (*at, *name));
        let mut names: Vec<(usize, &str)> = names.filter(|(at, _)| is_location(*at)).collect();
        names.sort_unstable();
        for (_, name) in names {
            // What is malformed is an error where the text is parsed.
            if self.location_alias(name, Span::default()).is_err() {
                self.cursor = start;
            }
        }
        self.cursor = start;
    }
    /// Parses the definition of an alias, if one comes next.
    pub(super) fn alias_definition(&mut self) -> Result<bool> {
        let start = self.cursor.start();
        match self.cursor.peek() {
            Some(b'#') => {
                let name = self.cursor.suffix("#", "an alias")?;
                let span = self.cursor.span_from(start);
                self.cursor.expect("=")?;
                self.check_definition(self.aliases.attribute(name), name, span)?;
                if self.cursor.clone().eat_word("loc") {
                    let location = self.trailing_location()?;
                    self.aliases.locations.insert(name, location);
                } else {
                    self.attribute()?;
                }
            }
            Some(b'!') => {
                let name = self.cursor.suffix("!", "an alias")?;
                let span = self.cursor.span_from(start);
                self.cursor.expect("=")?;
                self.check_definition(self.aliases.types.get(name).copied(), name, span)?;
                self.ty()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
    fn check_definition(&self, known: Option<usize>, name: &str, span: Span) -> Result<()> {
        if known == Some(self.cursor.offset()) {
            return Ok(());
        }
        Err(Error::from(Code::Duplicate { kind: "alias", name: name.to_owned() }).at(span))
    }
}
