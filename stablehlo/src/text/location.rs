//! Locations: `loc("file":1:2)`, `loc("name"(#loc1))`, `loc(callsite(... at ...))`.
use super::Parser;
use crate::error::Result;
use crate::ir::{Location, LocationId};
use smol_str::SmolStr;

impl Parser<'_> {
    /// Parses `loc(...)`, if it is there; none too for an unknown location.
    pub(super) fn trailing_location(&mut self) -> Result<Option<LocationId>> {
        let before = self.cursor;
        if !self.cursor.eat_word("loc") || !self.cursor.eat("(") {
            self.cursor = before;
            return Ok(None);
        }
        let location = self.location()?;
        self.cursor.expect(")")?;
        Ok(location)
    }
    fn location(&mut self) -> Result<Option<LocationId>> {
        self.cursor.down()?;
        let location = self.nested_location();
        self.cursor.up();
        location
    }
    fn nested_location(&mut self) -> Result<Option<LocationId>> {
        match self.cursor.peek() {
            Some(b'#') => {
                let start = self.cursor.start();
                let name = self.cursor.suffix("#", "a location")?;
                let span = self.cursor.span_from(start);
                self.location_alias(name, span)
            }
            Some(b'"') => self.named_location(),
            _ => match self.cursor.word("a location")? {
                "unknown" => Ok(None),
                "callsite" => self.call_location(),
                "fused" => self.fused_location(),
                _ => Err(self.cursor.expected("`unknown`, `callsite`, `fused` or a string")),
            },
        }
    }
    fn named_location(&mut self) -> Result<Option<LocationId>> {
        let name = self.string("a location")?;
        let name = SmolStr::new(String::from_utf8_lossy(&name));
        if !self.cursor.eat(":") {
            let child = if self.cursor.eat("(") {
                let child = self.location()?;
                self.cursor.expect(")")?;
                child
            } else {
                None
            };
            return Ok(Some(self.add_location(Location::Name(name, child))));
        }
        let line = self.cursor.integer("a line")?;
        self.cursor.expect(":")?;
        let column = self.cursor.integer("a column")?;
        // The end of a range: `to 3:4` or `to :4`.
        if self.cursor.eat_word("to") {
            if self.cursor.peek() != Some(b':') {
                self.cursor.integer::<u32>("a line")?;
            }
            self.cursor.expect(":")?;
            self.cursor.integer::<u32>("a column")?;
        }
        Ok(Some(self.add_location(Location::File { file: name, line, column })))
    }
    fn call_location(&mut self) -> Result<Option<LocationId>> {
        self.cursor.expect("(")?;
        let callee = self.location()?;
        self.cursor.expect("at")?;
        let caller = self.location()?;
        self.cursor.expect(")")?;
        Ok(match (callee, caller) {
            (Some(callee), Some(caller)) => Some(self.add_location(Location::Call(callee, caller))),
            (callee, caller) => callee.or(caller),
        })
    }
    fn fused_location(&mut self) -> Result<Option<LocationId>> {
        if self.cursor.eat("<") {
            self.attribute()?;
            self.cursor.expect(">")?;
        }
        let parts = self.items("[", "]", Self::location)?;
        let parts: Vec<LocationId> = parts.into_iter().flatten().collect();
        Ok((!parts.is_empty()).then(|| self.add_location(Location::Fused(parts))))
    }
    fn add_location(&mut self, location: Location) -> LocationId {
        let id = LocationId(u32::try_from(self.locations.len()).unwrap_or(u32::MAX));
        self.locations.push(location);
        id
    }
}
