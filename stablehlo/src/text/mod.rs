//! MLIR text: the pretty forms of StableHLO's ops, and the generic form of any op.
mod alias;
mod attribute;
mod cursor;
mod dense;
mod dialect;
mod function;
mod location;
mod op;
mod parsed_op;
mod parts;
mod pretty;
pub(crate) mod print;
mod region;
mod scope;
mod sharding;
mod special;
mod types;
mod vhlo;

use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Location, Program, Type};
use alias::Aliases;
use cursor::Cursor;
use scope::Scopes;
use smol_str::SmolStr;

/// Reads a program from MLIR text.
pub(crate) fn read(text: &str) -> Result<Program> {
    Parser::new(text)?.program()
}
/// Reads an attribute that bytecode has as text.
pub(crate) fn read_attribute(text: &str) -> Result<Attribute> {
    let mut parser = Parser::new(text)?;
    let attribute = parser.attribute()?;
    parser.end().map(|()| attribute)
}
/// Reads a type that bytecode has as text.
pub(crate) fn read_type(text: &str) -> Result<Type> {
    let mut parser = Parser::new(text)?;
    let ty = parser.ty()?;
    parser.end().map(|()| ty)
}

/// A parser of MLIR text.
#[derive(Debug)]
struct Parser<'a> {
    cursor: Cursor<'a>,
    aliases: Aliases<'a>,
    scopes: Scopes<'a>,
    locations: Vec<Location>,
    /// The bytes of aliases that were parsed where they are used.
    expanded: usize,
    /// The functions whose bodies were passed over, and why.
    unread: Vec<(SmolStr, Error)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            let message =
                format!("the text has {} bytes; at most {} can be read", text.len(), u32::MAX);
            return Err(Code::Encoding { message }.into());
        }
        let (aliases, scopes) = (Aliases::find(text), Scopes::default());
        Ok(Self {
            cursor: Cursor::new(text),
            aliases,
            scopes,
            locations: Vec::new(),
            expanded: 0,
            unread: Vec::new(),
        })
    }
    fn end(&mut self) -> Result<()> {
        if self.cursor.peek().is_none() {
            Ok(())
        } else {
            Err(self.cursor.expected("the end of the text"))
        }
    }
    /// Parses `open item, item, ... close`.
    fn items<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.cursor.expect(open)?;
        let mut items = Vec::new();
        if self.cursor.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        if self.cursor.eat(close) {
            return Ok(items);
        }
        Err(self.cursor.expected(&format!("`,` or `{close}`")))
    }
    /// Skips brackets with everything in them.
    fn balanced(&mut self) -> Result<()> {
        let mut open = Vec::new();
        loop {
            let Some(byte) = self.cursor.peek() else {
                return Err(self.cursor.expected("a closing bracket"));
            };
            match byte {
                b'"' => {
                    self.cursor.string()?;
                    continue;
                }
                b'<' => open.push(b'>'),
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b'-' if self.cursor.eat("->") => continue,
                b'>' | b')' | b']' | b'}' if open.pop() != Some(byte) => {
                    return Err(self
                        .cursor
                        .expected("the closing bracket of what was opened last"));
                }
                _ => {}
            }
            self.skip_character();
            if open.is_empty() {
                return Ok(());
            }
        }
    }
    /// Skips braces with everything in them; other brackets need not match.
    fn skip_braces(&mut self) -> Result<()> {
        let mut open = 0;
        loop {
            match self.cursor.peek() {
                None => return Err(self.cursor.expected("`}`")),
                Some(b'"') => {
                    self.cursor.string()?;
                    continue;
                }
                Some(b'{') => open += 1,
                Some(b'}') => open -= 1,
                Some(_) => {}
            }
            self.skip_character();
            if open == 0 {
                return Ok(());
            }
        }
    }
    fn skip_character(&mut self) {
        let mut rest = self.cursor.text()[self.cursor.offset()..].chars();
        let length = rest.next().map_or(1, char::len_utf8);
        self.cursor.jump(self.cursor.offset() + length);
    }
    /// Returns the error of a name that is not visible, with the nearest one that is.
    #[cold]
    fn undefined(&self, name: &str, span: hlo::Span) -> Error {
        const COMPARED: usize = 1000;
        let code = Code::Undefined { kind: "value", name: format!("%{name}") };
        let error = Error::from(code).at(span);
        match hlo::diag::nearest(name, self.scopes.names().take(COMPARED)) {
            Some(near) => error.with_help(format!("did you mean `%{near}`?")),
            None => error,
        }
    }
}
