//! Regions and their blocks.
use super::Parser;
use super::scope::NamedValues;
use crate::error::{Error, Result};
use crate::ir::{Op, Region, Type, Value};
use hlo::Span;

/// The argument of a block, before it is a value.
#[derive(Debug)]
pub(super) struct Argument<'a> {
    pub(super) name: &'a str,
    pub(super) ty: Type,
    pub(super) span: Span,
}

impl<'a> Parser<'a> {
    /// Parses `{ ops }` or `{ ^bb0(arguments): ops }`. Arguments are given where they stand outside
    /// of the braces.
    pub(super) fn region(
        &mut self,
        arguments: Vec<Argument<'a>>,
        isolated: bool,
    ) -> Result<Region> {
        self.cursor.expect("{")?;
        let outer = self.scopes.enter(isolated);
        let mut region = Region { arguments: self.define_arguments(arguments)?, ops: Vec::new() };
        if self.cursor.peek() == Some(b'^') {
            self.block_name()?;
            if self.cursor.peek() == Some(b'(') {
                let arguments = self.items("(", ")", Self::argument)?;
                region.arguments.extend(self.define_arguments(arguments)?);
            }
            self.cursor.expect(":")?;
        }
        region.ops = self.ops()?;
        self.cursor.expect("}")?;
        self.scopes.leave(outer);
        Ok(region)
    }
    /// Parses ops up to a closing brace.
    pub(super) fn ops(&mut self) -> Result<Vec<Op>> {
        let mut ops = Vec::new();
        loop {
            match self.cursor.peek() {
                Some(b'}') | None => return Ok(ops),
                Some(b'^') => {
                    let start = self.cursor.start();
                    let message = "regions of several blocks are not supported";
                    return Err(Error::unsupported(message).at(Span::new(start, start + 1)));
                }
                Some(_) => ops.push(self.op()?),
            }
        }
    }
    fn block_name(&mut self) -> Result<()> {
        self.cursor.suffix("^", "a block such as `^bb0`").map(drop)
    }
    /// Parses `%name: type`.
    pub(super) fn argument(&mut self) -> Result<Argument<'a>> {
        let start = self.cursor.start();
        let name = self.cursor.suffix("%", "an argument such as `%arg0`")?;
        let span = self.cursor.span_from(start);
        self.cursor.expect(":")?;
        let ty = self.ty()?;
        self.trailing_location()?;
        Ok(Argument { name, ty, span })
    }
    fn define_arguments(&mut self, arguments: Vec<Argument<'a>>) -> Result<Vec<Value>> {
        let define = |Argument { name, ty, span }| {
            let id = self.scopes.add(Type::clone(&ty));
            self.define(name, NamedValues { first: id, count: 1 }, span)?;
            Ok(Value { id, ty })
        };
        arguments.into_iter().map(define).collect()
    }
}
