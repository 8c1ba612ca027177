//! Instructions: name, shape, opcode, operands, attributes.
use super::shape::{at_shape, shape};
use super::{Parser, literal, names};
use crate::diag::{Code, nearest, quantity};
use crate::ir::{CommonAttrs, Instruction, InstructionId, InstructionSpans};
use crate::op::value::Positional;
use crate::op::{Arity, AttrReader, GetTupleElement, Infer, Parameter, ShapeText};
use crate::{Error, Op, Opcode, Result, Shape, Span};
use smallvec::SmallVec;
use smol_str::format_smolstr;

/// Operands of one instruction; most have at most three.
type Operands = SmallVec<[InstructionId; 3]>;

/// The text of an instruction before the parentheses: its shape and opcode.
struct Head<'a> {
    shape: Option<Shape>,
    shape_span: Span,
    word: &'a str,
    span: Span,
    kind: InstructionKind,
}

#[derive(Clone, Copy)]
enum InstructionKind {
    Plain {
        opcode: Opcode,
        implied: &'static str,
    },
    /// `<opcode>-start`, `-update`, `-done` of an opcode without its own asynchronous form.
    Async {
        wrapped: Opcode,
        phase: Opcode,
    },
}

impl<'a> Parser<'a> {
    /// Parses `[ROOT] name = [shape] opcode(operands), attributes`.
    pub(super) fn instruction(&mut self) -> Result<()> {
        let start = {
            self.cursor.blank();
            self.cursor.offset()
        };
        let is_root = self.cursor.eat_token("ROOT");
        let root_span = self.cursor.span_from(start);
        let name = self.instruction_name()?;
        let head = self.head()?;
        let (instruction, body) = self.rest(head)?;
        let id = match name {
            Some((name, span)) => {
                let spans = InstructionSpans { name: span, body };
                self.scope().add_named(name, spans, instruction)?
            }
            None => {
                let spans = InstructionSpans { name: body, body };
                self.scope().computation.push(instruction, "root".into(), spans)
            }
        };
        if is_root { self.scope().set_root(id, root_span) } else { Ok(()) }
    }

    /// Parses `name =`, which is optional in a text that is a single instruction.
    fn instruction_name(&mut self) -> Result<Option<(&'a str, Span)>> {
        if self.single {
            let mut ahead = self.cursor;
            if ahead.name("").is_err() || ahead.peek() != Some(b'=') {
                return Ok(None);
            }
        }
        let (name, span) = self.cursor.name("an instruction's name or `}`")?;
        if self.cursor.next_byte() == Some(b'=')
            && self.cursor.text().as_bytes()[span.range().start] != b'%'
        {
            let error = self.cursor.expected(&format!("a blank after `{name}`"));
            let is_first = self.scope().computation.instructions.is_empty();
            return Err(error.with_help(match is_first {
                true => format!("write `{name} =`: `{name}=` starts an attribute"),
                false => format!(
                    "`{name}=` starts an attribute: write a comma before it if it is one, else `{name} =`"
                ),
            }));
        }
        // XLA accepts `name: =` too: the colon belongs to the name.
        if self.cursor.next_byte() == Some(b':') {
            self.cursor.skip(1);
        }
        if names::is_illegal(name) {
            let code = Code::IllegalName { name: name.into() };
            let better = names::sanitize(name).unwrap_or_default();
            return Err(Error::from(code)
                .at(span)
                .with_help(format!("rename it, for example to `{better}`")));
        }
        self.cursor.expect(b'=')?;
        Ok(Some((name, span)))
    }

    /// Parses `[shape] opcode`.
    fn head(&mut self) -> Result<Head<'a>> {
        self.cursor.blank();
        let start = self.cursor.offset();
        let shape = if at_shape(&self.cursor) { Some(shape(&mut self.cursor)?) } else { None };
        let shape_span = self.cursor.span_from(start);
        let (word, span) = self.cursor.word("an opcode")?;
        let kind = Self::kind(word).ok_or_else(|| unknown_opcode(word).at(span))?;
        Ok(Head { shape, shape_span, word, span, kind })
    }

    fn kind(word: &str) -> Option<InstructionKind> {
        if let Some(spelling) = Opcode::spelled(word) {
            return Some(InstructionKind::Plain {
                opcode: spelling.opcode,
                implied: spelling.implied,
            });
        }
        let phases = [
            ("-start", Opcode::AsyncStart),
            ("-update", Opcode::AsyncUpdate),
            ("-done", Opcode::AsyncDone),
        ];
        let (wrapped, phase) =
            phases.iter().find_map(|&(suffix, phase)| Some((word.strip_suffix(suffix)?, phase)))?;
        let wrapped = Opcode::spelled(wrapped).filter(|s| s.implied.is_empty())?.opcode;
        let bare = wrapped == Opcode::Parameter || wrapped == Opcode::Constant;
        (!wrapped.has_native_async() && !bare).then_some(InstructionKind::Async { wrapped, phase })
    }

    /// Parses `(operands), attributes`.
    fn rest(&mut self, head: Head<'a>) -> Result<(Instruction, Span)> {
        let (operands, positional) = self.arguments(&head)?;
        let (opcode, implied) = match head.kind {
            InstructionKind::Plain { opcode, implied } => (opcode, implied),
            InstructionKind::Async { wrapped, phase: Opcode::AsyncStart } => {
                let start = head.span.range().start;
                let made =
                    self.sugared_start(head.word, head.span, wrapped, head.shape, operands)?;
                return Ok((made, self.cursor.span_from(start)));
            }
            InstructionKind::Async { wrapped, phase } => {
                if let Some(callee) = self.check_chain(&operands, wrapped, head.span)? {
                    let result = match &head.shape {
                        Some(shape) if phase == Opcode::AsyncUpdate => {
                            shape.tuple().and_then(|parts| parts.get(1).cloned())
                        }
                        shape => shape.clone(),
                    };
                    self.bind_late(callee, &operands[1..], result).map_err(|e| e.at(head.span))?;
                }
                (phase, "")
            }
        };
        let (op, common) = self.attributes(&head, opcode, implied, positional)?;
        let body = self.cursor.span_from(head.span.range().start);
        if let Op::AsyncStart(start) = &op {
            self.set_thread(start.calls, &start.thread().into());
            self.annotate(start.calls, common.as_deref());
        }
        let instruction = self.complete(head, op, operands, common).map_err(|e| e.at(body))?;
        Ok((instruction, body))
    }

    fn attributes(
        &mut self,
        head: &Head<'a>,
        opcode: Opcode,
        implied: &'static str,
        positional: Option<Positional>,
    ) -> Result<(Op, Option<Box<CommonAttrs>>)> {
        let mut attrs = AttrReader {
            p: self,
            opcode,
            op_name: head.word,
            implied,
            common: None,
            positional,
            outer: None,
        };
        let op = Op::parse(opcode, &mut attrs).map_err(|e| e.at(head.span))?;
        Ok((op, attrs.common))
    }

    /// Parses the text between the parentheses.
    fn arguments(&mut self, head: &Head<'a>) -> Result<(Operands, Option<Positional>)> {
        self.cursor.expect(b'(')?;
        let opcode = match head.kind {
            InstructionKind::Plain { opcode, .. } => Some(opcode),
            InstructionKind::Async { .. } => None,
        };
        let positional = if opcode == Some(Opcode::Parameter) {
            self.cursor.blank();
            let start = self.cursor.offset();
            let number = self.cursor.int()?;
            if number < 0 {
                let message = format!("parameter number {number} is negative");
                let error = Error::from(Code::ParameterNumber { message });
                return Err(error.at(self.cursor.span_from(start)));
            }
            Positional::Parameter(number)
        } else if opcode == Some(Opcode::Constant) {
            let Some(shape) = &head.shape else {
                return Err(Error::from(Code::ShapeMissing { op: head.word.into() }).at(head.span));
            };
            Positional::Constant(Box::new(literal::constant(&mut self.cursor, shape)?))
        } else {
            return Ok((self.operands()?, None));
        };
        self.cursor.expect(b')')?;
        Ok((Operands::new(), Some(positional)))
    }

    fn operands(&mut self) -> Result<Operands> {
        let open = self.cursor.offset();
        let mut operands = Operands::new();
        if self.cursor.eat(b')') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if !self.cursor.eat(b',') {
                break;
            }
        }
        if self.cursor.eat(b')') {
            return Ok(operands);
        }
        let error = self.cursor.expected("`,` or `)`");
        // On one line the label is not needed.
        Err(match self.cursor.text()[open..self.cursor.offset()].contains('\n') {
            true => error.label(Span::new(open - 1, open), "opened here"),
            false => error,
        })
    }

    /// Parses `[shape] name`, or a nested instruction.
    fn operand(&mut self) -> Result<InstructionId> {
        self.cursor.blank();
        let start = self.cursor.offset();
        let written = if at_shape(&self.cursor) { Some(shape(&mut self.cursor)?) } else { None };
        if self.single && written.is_some() && matches!(self.cursor.peek(), Some(b',' | b')')) {
            return Ok(self.add_parameter(None, written, self.cursor.span_from(start)));
        }
        let before = self.cursor;
        let (name, span) = self.cursor.name("an operand")?;
        if self.cursor.peek() == Some(b'(') {
            self.cursor = before;
            return self.nested(written, start);
        }
        let Some(&id) = self.scope().by_name.get(name) else {
            if self.single && written.is_some() {
                return Ok(self.add_parameter(Some(name), written, span));
            }
            return Err(self.undefined_operand(name, span));
        };
        let id = self.elements(id, name)?;
        if let Some(written) = written {
            let actual = &self.scope().instruction(id).shape;
            if !actual.compatible(&written) {
                let (written, actual) = (format!("{written:#}"), format!("{actual:#}"));
                let help = format!("write `{actual} {name}`, or only the name");
                let code = Code::OperandShape { name: name.into(), written, actual };
                let defined = self.scope().computation.spans(id).name;
                let span = self.cursor.span_from(start);
                return Err(Error::from(code)
                    .at(span)
                    .label(defined, "defined here")
                    .with_help(help));
            }
        }
        Ok(id)
    }

    /// Parses `#1#0` after the name of an operand: elements of a tuple.
    fn elements(&mut self, mut id: InstructionId, name: &str) -> Result<InstructionId> {
        // Nearly every operand is only a name, which needs no allocation.
        if self.cursor.next_byte() != Some(b'#') {
            return Ok(id);
        }
        let mut path = name.to_owned();
        while self.cursor.next_byte() == Some(b'#') {
            let start = self.cursor.offset();
            self.cursor.skip(1);
            let index = self.cursor.size()?;
            let span = self.cursor.span_from(start);
            path = format!("{path}_{index}");
            let known = self.scope().elements.get(&(id, index)).copied();
            let element = match self.scope().instruction(id).shape.tuple() {
                Some(elements) => {
                    usize::try_from(index).ok().and_then(|i| elements.get(i)).cloned()
                }
                None => None,
            };
            let Some(shape) = element else {
                let found = &self.scope().instruction(id).shape;
                let message = format!("`{name}` has shape {found:#}, without an element {index}");
                return Err(Error::from(Code::Structure { message }).at(span));
            };
            id = known.unwrap_or_else(|| {
                let op = Op::GetTupleElement(GetTupleElement { index });
                let operands = [id].into_iter().collect();
                let made = Instruction { op, shape, operands, common: None };
                let spans = InstructionSpans { name: span, body: span };
                let element = self.scope().computation.push(made, path.as_str().into(), spans);
                self.scope().elements.insert((id, index), element);
                element
            });
        }
        Ok(id)
    }

    /// Parses an instruction in place of an operand: it has no attributes and no name.
    fn nested(&mut self, shape: Option<Shape>, start: usize) -> Result<InstructionId> {
        self.cursor.down()?;
        let shape_span = self.cursor.span_from(start);
        let (word, span) = self.cursor.word("an opcode")?;
        let kind = Self::kind(word).ok_or_else(|| unknown_opcode(word).at(span))?;
        let InstructionKind::Plain { opcode, implied } = kind else {
            let message = format!("`{word}` cannot be written as an operand");
            return Err(Error::from(Code::Async { message }).at(span));
        };
        let head = Head { shape, shape_span, word, span, kind };
        let (operands, positional) = self.arguments(&head)?;
        let body = self.cursor.span_from(span.range().start);
        // A nested instruction ends at its parenthesis; the rest belongs to the outer one.
        let after = self.cursor.enter("");
        let attributes = self.attributes(&head, opcode, implied, positional);
        self.cursor.leave(after);
        let (op, common) = attributes.map_err(|e| {
            e.at(span).with_help(
                "write the instruction on its own line: as an operand it has no attributes",
            )
        })?;
        let instruction = self.complete(head, op, operands, common).map_err(|e| e.at(body))?;
        self.cursor.up();
        let name = format_smolstr!("{opcode}.anon");
        Ok(self.scope().computation.push(instruction, name, InstructionSpans { name: span, body }))
    }

    /// Adds a parameter for an undefined operand with a shape, in a text that is one instruction.
    fn add_parameter(
        &mut self,
        name: Option<&'a str>,
        shape: Option<Shape>,
        span: Span,
    ) -> InstructionId {
        let number = i64::try_from(self.scope().computation.instructions.len()).unwrap_or(i64::MAX);
        let op = Op::Parameter(Parameter { number });
        let shape = shape.expect("called only with a shape");
        let instruction = Instruction { op, shape, operands: Operands::new(), common: None };
        let spans = InstructionSpans { name: span, body: span };
        let written = name.map_or_else(|| format_smolstr!("_{number}"), Into::into);
        let id = self.scope().computation.push(instruction, written, spans);
        if let Some(name) = name {
            self.scope().by_name.insert(name, id);
        }
        id
    }

    /// Returns the error that an instruction is not defined. It is a consequence of another if the
    /// text has tried to define it.
    #[cold]
    pub(super) fn undefined(&mut self, name: &str, span: Span) -> Error {
        self.is_consequence = self.scope().is_broken(name);
        Error::from(Code::UndefinedName { name: name.into() }).at(span)
    }
    #[cold]
    fn undefined_operand(&mut self, name: &str, span: Span) -> Error {
        let error = self.undefined(name, span);
        if self.is_consequence {
            return error;
        }
        if self.single {
            return error.with_help("write its shape before it to make it a parameter");
        }
        let later = self.cursor.rest();
        let definition = [format!("{name} ="), format!("{name}=")];
        if definition.iter().any(|d| later.contains(d.as_str())) {
            return error.with_help("move its definition before its first use");
        }
        let mut names: Vec<_> = self.scope().by_name.keys().copied().collect();
        names.sort_unstable();
        match nearest(name, names) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    }

    /// Runs the checks that are possible while parsing, and infers the shape.
    fn complete(
        &mut self,
        head: Head<'a>,
        mut op: Op,
        operands: Operands,
        common: Option<Box<CommonAttrs>>,
    ) -> Result<Instruction> {
        let opcode = op.opcode();
        opcode.check_arity(head.word, operands.len())?;
        let scope = self.scopes.last().expect("instructions are read inside a computation");
        let shapes: SmallVec<[&Shape; 4]> =
            operands.iter().map(|&id| &scope.instruction(id).shape).collect();
        op.complete(&shapes, head.shape.as_ref())?;
        let shape = match (opcode.shape_text(), &head.shape) {
            (ShapeText::Stated | ShapeText::Inferred, Some(_)) => None,
            (ShapeText::Stated, None) => {
                let missing = Error::from(Code::ShapeMissing { op: head.word.into() });
                return Err(missing
                    .at(head.span)
                    .with_help("write the shape between `=` and the opcode"));
            }
            (ShapeText::Inferred, None) | (ShapeText::Forced, _) => {
                let stated = head.shape.as_ref();
                // A tuple or a copy has the elements of its operands, which are counted before it
                // is made.
                let operands = shapes.iter().map(|shape| shape.size());
                let limit = self.cursor.text().len().clamp(FEWEST_INFERRED, MOST_INFERRED);
                let too_many = || Error::from(Code::TooManyShapes { limit }).at(head.span);
                if operands.fold(0, usize::saturating_add) > limit {
                    return Err(too_many());
                }
                let shape =
                    op.infer(&Infer { opcode, operands: &shapes, stated, callees: self })?;
                self.inferred += shape.size();
                if self.inferred > limit {
                    return Err(too_many());
                }
                Some(shape)
            }
        };
        // A constant has the shape of its literal: a dynamic dimension gets the size in the text.
        let stated = if let Op::Constant(op) = &op { Some(op.value.shape()) } else { shape };
        let shape = stated.or(head.shape).expect("stated or inferred");
        let mut instruction = Instruction { op, shape, operands, common };
        if let Some(common) = &mut instruction.common {
            super::common::complete(common, opcode, &instruction.shape)
                .map_err(|e| e.at(head.shape_span))?;
        }
        Ok(instruction)
    }
}

impl Opcode {
    /// Fails unless the op, called `word` in messages, takes this many operands.
    pub(crate) fn check_arity(self, word: &str, found: usize) -> Result<()> {
        let expected = match self.arity() {
            Arity::Fixed(expected) if expected != found => expected,
            Arity::Fixed(_) | Arity::Any => return Ok(()),
        };
        let expected = match expected {
            0 => "no operand".to_owned(),
            n => quantity(n, "operand"),
        };
        Err(Code::Arity { op: word.into(), expected, found }.into())
    }
}

/// The most elements of all inferred shapes, about 240 bytes of memory each: one for each byte of
/// the text, within these bounds. Tuples of tuples could otherwise have exponentially many.
const FEWEST_INFERRED: usize = 1 << 15;
const MOST_INFERRED: usize = 1 << 20;

/// Names of ops in other systems.
const FOREIGN_NAMES: [(&str, &str); 22] = [
    ("exp", "exponential"),
    ("sin", "sine"),
    ("cos", "cosine"),
    ("log1p", "log-plus-one"),
    ("expm1", "exponential-minus-one"),
    ("clz", "count-leading-zeros"),
    ("mul", "multiply"),
    ("sub", "subtract"),
    ("div", "divide"),
    ("neg", "negate"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("pow", "power"),
    ("rem", "remainder"),
    ("sigmoid", "logistic"),
    ("optimization-barrier", "opt-barrier"),
    ("conv", "convolution"),
    ("matmul", "dot"),
    ("broadcast_in_dim", "broadcast"),
    ("gte", "get-tuple-element"),
    ("if", "conditional"),
    ("cast", "convert"),
];

#[cold]
fn unknown_opcode(word: &str) -> Error {
    let error = Error::from(Code::UnknownOpcode { name: word.into() });
    if let Some((_, name)) = FOREIGN_NAMES.iter().find(|(typed, _)| *typed == word) {
        return error.with_help(format!("write `{name}`"));
    }
    let spelled = word.to_ascii_lowercase().replace('_', "-");
    let names = Opcode::ALL.iter().map(|o| o.name());
    match nearest(&spelled, names) {
        Some(name) => error.with_help(format!("did you mean `{name}`?")),
        None => error,
    }
}
