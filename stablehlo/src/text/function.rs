//! Programs, modules and functions.
use super::Parser;
use super::parsed_op::ParsedOp;
use super::region::Argument;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Program, Region, Type};

impl<'a> Parser<'a> {
    /// Parses a program: a module, or the ops of one.
    pub(super) fn program(mut self) -> Result<Program> {
        let mut ops = Vec::new();
        self.location_aliases();
        while self.cursor.peek().is_some() {
            if self.cursor.eat("{-#") {
                // Resources belong to attributes that are refused where they are used.
                let rest = &self.cursor.text()[self.cursor.offset()..];
                let length = rest.find("#-}").ok_or_else(|| self.cursor.expected("`#-}`"))?;
                self.cursor.jump(self.cursor.offset() + length + "#-}".len());
            } else if !self.alias_definition()? {
                ops.push(self.op()?);
            }
        }
        let mut modules = ops.iter().filter(|op| op.name == "builtin.module");
        let (first, second) = (modules.next(), modules.next());
        if let Some(second) = second.or(first.filter(|_| ops.len() > 1)) {
            let error = Error::unsupported("the text has several modules; a program is one");
            return Err(error
                .at(second.span.unwrap_or_default())
                .with_help("split the text at `// -----`"));
        }
        let (values, locations, unread) = (self.scopes.count(), self.locations, self.unread);
        let program = Program { values, locations, unread, ..Program::default() };
        Ok(match first {
            None => Program { ops, ..program },
            Some(_) => Program::from_module(ops.swap_remove(0), program),
        })
    }
    /// Parses `module @name attributes {...} { ... }`.
    pub(super) fn module(&mut self) -> Result<ParsedOp> {
        let mut body = ParsedOp::default();
        if self.cursor.peek() == Some(b'@') {
            let name = self.symbol_name()?;
            body.set("sym_name", Attribute::String(name.as_bytes().to_vec()));
        }
        if self.cursor.eat_word("attributes") {
            body.attributes.0.extend(self.dictionary()?.0);
        }
        body.regions.push(self.region(Vec::new(), true)?);
        Ok(body)
    }
    /// Parses `func.func public @name(%a: type {...}) -> (type {...}) attributes {...} { ... }`.
    pub(super) fn function(&mut self) -> Result<ParsedOp> {
        let mut body = ParsedOp::default();
        for visibility in ["public", "private", "nested"] {
            if self.cursor.eat_word(visibility) {
                body.set("sym_visibility", Attribute::String(visibility.as_bytes().to_vec()));
                break;
            }
        }
        let name = self.symbol_name()?;
        body.set("sym_name", Attribute::String(name.as_bytes().to_vec()));
        let arguments = self.items("(", ")", Self::function_argument)?;
        let results = if !self.cursor.eat("->") {
            Vec::new()
        } else if self.cursor.peek() == Some(b'(') {
            self.items("(", ")", |parser| Ok((parser.ty()?, parser.optional_dictionary()?)))?
        } else {
            vec![(self.ty()?, Attributes::default())]
        };
        let (results, result_attributes): (Vec<Type>, Vec<_>) = results.into_iter().unzip();
        let types = arguments.iter().map(|(argument, _)| argument.ty.clone()).collect();
        let (arguments, argument_attributes): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
        body.set("function_type", Attribute::Type(Type::Function(types, results)));
        let dictionaries = |all: Vec<Attributes>| {
            Attribute::Array(all.into_iter().map(Attribute::Dictionary).collect())
        };
        body.set("arg_attrs", dictionaries(argument_attributes));
        body.set("res_attrs", dictionaries(result_attributes));
        if self.cursor.eat_word("attributes") {
            body.attributes.0.extend(self.dictionary()?.0);
        }
        if self.cursor.peek() == Some(b'{') {
            let unnamed = arguments.iter().find(|argument| argument.name.is_empty());
            if let Some(argument) = unnamed {
                let code = Code::Syntax {
                    expected: "an argument such as `%arg0`".into(),
                    found: "a type".into(),
                };
                return Err(Error::from(code).at(argument.span));
            }
            let region = self.function_body(arguments, &mut body)?;
            body.regions.push(region);
        } else {
            body.regions.push(Region::default());
        }
        Ok(body)
    }
    /// Parses the body of a function. One that uses what Etalon does not support is passed over:
    /// that matters only where the function is called.
    pub(super) fn function_body(
        &mut self,
        arguments: Vec<Argument<'a>>,
        body: &mut ParsedOp,
    ) -> Result<Region> {
        let (before, outermost) = (self.cursor, self.scopes.is_empty());
        match self.region(arguments, true) {
            Err(error) if outermost && error.code().is_unsupported() => {
                self.scopes.clear();
                self.cursor = before;
                self.skip_braces()?;
                body.unread = Some(error);
                Ok(Region::default())
            }
            region => region,
        }
    }
    /// Parses `%name: type {...}`; only the type in a function without a body.
    fn function_argument(&mut self) -> Result<(Argument<'a>, Attributes)> {
        let start = self.cursor.start();
        let argument = if self.cursor.peek() == Some(b'%') {
            let name = self.cursor.suffix("%", "an argument")?;
            let span = self.cursor.span_from(start);
            self.cursor.expect(":")?;
            Argument { name, ty: self.ty()?, span }
        } else {
            let ty = self.ty()?;
            Argument { name: "", ty, span: self.cursor.span_from(start) }
        };
        let attributes = self.optional_dictionary()?;
        self.trailing_location()?;
        Ok((argument, attributes))
    }
}
