//! Parses a computation: signature, instructions, root.
use super::balanced::balanced_value;
use super::parser::Scope;
use super::{Cursor, Parser};
use crate::diag::Code;
use crate::ir::{Computation, ComputationId, Instruction, InstructionId, InstructionSpans};
use crate::op::Arity;
use crate::{Error, Result, Shape, Span};
use smol_str::{SmolStr, format_smolstr};

impl Parser<'_> {
    /// Parses `name [signature] { ... } [, execution_thread="t"]`.
    pub(super) fn computation(&mut self) -> Result<ComputationId> {
        let (name, span) = self.cursor.name("the name of a computation")?;
        let signature = match self.cursor.peek() {
            Some(b'(') => Some(self.signature()?),
            _ => None,
        };
        let mut computation = self.body(name, span)?;
        computation.signature = signature.map(Box::new);
        while self.cursor.eat(b',') {
            let (key, span) = self.cursor.attribute_name()?;
            if key != "execution_thread" {
                let code = Code::UnknownAttribute { op: "computation".into(), name: key.into() };
                let help = "write only `execution_thread` after a computation";
                return Err(Error::from(code).at(span).with_help(help));
            }
            computation.execution_thread = super::strings::string(&mut self.cursor)?.into();
        }
        if computation.execution_thread == "main" {
            computation.execution_thread = SmolStr::default();
        }
        self.define(Some(name), span, computation)
    }

    /// Parses `(p: shape, ...) -> shape`. Skips the parameters, which the instructions repeat.
    fn signature(&mut self) -> Result<Shape> {
        balanced_value(&mut self.cursor)?;
        self.cursor.expect_token("->")?;
        super::shape::shape(&mut self.cursor)
    }

    /// Parses `{ instruction ... }`.
    fn body(&mut self, name: &str, span: Span) -> Result<Computation> {
        self.cursor.expect(b'{')?;
        let open = Span::new(self.cursor.offset() - 1, self.cursor.offset());
        self.cursor.down()?;
        self.scopes.push(Scope::new(name, span));
        let depth = self.scopes.len();
        while self.cursor.peek() != Some(b'}') {
            let before = self.cursor;
            if let Err(error) = self.instruction() {
                self.scopes.truncate(depth);
                match unclosed(before, open, name) {
                    Some(unclosed) => return Err(unclosed),
                    None => self.recover(before, error)?,
                }
            }
        }
        let end = self.cursor.offset();
        self.cursor.skip(1);
        self.cursor.up();
        let scope = self.scopes.pop().expect("pushed above");
        if scope.computation.instructions.is_empty() {
            let message = format!("computation `{name}` has no instructions");
            return Err(Error::from(Code::Structure { message }).at(Span::new(end, end + 1)));
        }
        Ok(scope.finish())
    }

    /// Parses a computation that an attribute names or contains.
    pub(crate) fn computation_ref(&mut self) -> Result<ComputationId> {
        if self.cursor.peek() == Some(b'{') {
            let start = self.cursor.offset();
            let computation = self.body("_", Span::new(start, start + 1))?;
            return self.define(None, Span::new(start, start + 1), computation);
        }
        let (name, span) = self.cursor.name("the name of a computation, or `{`")?;
        Ok(self.computation_named(name, span))
    }

    /// Parses a text that is one instruction, and returns the entry computation around it.
    pub(super) fn lone_instruction(&mut self) -> Result<ComputationId> {
        let span = Span::default();
        self.scopes.push(Scope::new("entry", span));
        self.instruction()?;
        let scope = self.scopes.pop().expect("pushed above");
        self.define(None, span, scope.finish())
    }

    /// Adds a computation that wraps one op of an asynchronous instruction; its operands are the
    /// parameters.
    pub(super) fn wrap(
        &mut self,
        wrapped: Instruction,
        span: Span,
        thread: &str,
    ) -> Result<ComputationId> {
        let shapes = wrapped.operands.iter().map(|&id| self.scope().instruction(id).shape.clone());
        let shapes = shapes.collect();
        let id = self.define(None, span, wrapping(wrapped, shapes, span)?)?;
        self.set_thread(id, &SmolStr::from(if thread == "main" { "" } else { thread }));
        Ok(id)
    }

    /// Adds parameters of these shapes to a computation that wraps one op, which gets them as
    /// further operands and has this result: those of an update or a done.
    pub(super) fn bind_late(
        &mut self,
        id: ComputationId,
        late: &[InstructionId],
        result: Option<Shape>,
    ) -> Result<()> {
        let late: Vec<_> =
            late.iter().map(|&id| self.scope().instruction(id).shape.clone()).collect();
        let Some(computation) = self.computation_mut(id) else { return Ok(()) };
        let mut root = computation.instructions[computation.root].clone();
        let parameter = |&id: &InstructionId| computation.instructions[id].shape.clone();
        let mut shapes: Vec<_> = root.operands.iter().map(parameter).collect();
        let bound = shapes.len();
        shapes.extend(late);
        let is_same = result.as_ref().is_none_or(|result| result.compatible(&root.shape));
        if !computation.is_single_op() || (is_same && shapes.len() == bound) {
            return Ok(());
        }
        root.shape = result.unwrap_or(root.shape);
        if root.opcode().arity() == Arity::Fixed(shapes.len()) && shapes.len() > bound {
            let stated = root.shape.tuple().is_none_or(|elements| !elements.is_empty());
            let stated = stated.then_some(&root.shape);
            root.op.complete(&shapes.iter().collect::<Vec<_>>(), stated)?;
        }
        let thread = computation.execution_thread.clone();
        let span = computation.span(computation.root);
        *computation = wrapping(root, shapes, span)?;
        computation.execution_thread = thread;
        Ok(())
    }
}

/// Returns a computation of one op whose operands are the parameters, which have these shapes.
fn wrapping(mut wrapped: Instruction, shapes: Vec<Shape>, span: Span) -> Result<Computation> {
    let mut scope = Scope::new("async_wrapped", span);
    let parameters = shapes.into_iter().zip(0..).map(|(shape, number)| {
        let op = crate::Op::Parameter(crate::op::Parameter { number });
        let instruction =
            Instruction { op, shape, operands: smallvec::SmallVec::new(), common: None };
        scope.computation.push(instruction, "async_param".into(), InstructionSpans::default())
    });
    wrapped.operands = parameters.collect();
    let name = format_smolstr!("{}.async", wrapped.op.opcode());
    let spans = InstructionSpans { name: span, body: span };
    let id = scope.computation.push(wrapped, name, spans);
    scope.set_root(id, span)?;
    Ok(scope.finish())
}

/// Returns the error for a body that is not closed before the text ends or another computation
/// starts, if that is the case at the cursor.
#[cold]
fn unclosed(mut cursor: Cursor<'_>, open: Span, name: &str) -> Option<Error> {
    let expected = format!("`}}` at the end of `{name}`");
    if cursor.peek().is_none() {
        return Some(cursor.expected(&expected).label(open, "opened here"));
    }
    let start = cursor.offset();
    let is_entry = cursor.eat_token("ENTRY");
    let entry = cursor.span_from(start);
    let (_, named) = cursor.name("").ok()?;
    let is_computation = match cursor.peek() {
        Some(b'{') => true,
        Some(b'(') => balanced_value(&mut cursor).is_ok() && cursor.eat_token("->"),
        _ => false,
    };
    let span = if is_entry { entry } else { named };
    let found = format!("`{}`", &cursor.text()[span.range()]);
    let error = Error::from(Code::Syntax { expected, found }).at(span).label(open, "opened here");
    is_computation.then_some(error)
}
