//! The dataflow of a module as pictures show it: computations, their instructions, and how they
//! fold.
use super::category::Category;
use super::fold::{self, Item};
use super::node::Node;
use super::text::without_comments;
use hlo::ir::{Computation, Instruction, InstructionId};
use hlo::op::Kind;
use hlo::{Module, Opcode, Verified};

/// The most bytes of an instruction's text in a picture: a constant may have many elements.
const TEXT: usize = 2000;

/// The dataflow of a module.
#[derive(Debug)]
pub struct Model {
    pub(super) name: String,
    pub(super) computations: Vec<Flow>,
    /// The index of the entry computation.
    pub(super) entry: usize,
}

/// A computation.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) name: String,
    /// Its instructions in text order.
    pub(super) nodes: Vec<Node>,
    pub(super) root: usize,
    /// The instructions that are drawn, in groups.
    pub(super) items: Vec<Item>,
}

impl Model {
    /// Returns the dataflow of a module whose spans refer to `text`.
    pub fn of(module: &Verified, text: &str) -> Self {
        let module = module.module();
        let lines: Vec<usize> = line_starts(text);
        let computations = module.computations.iter();
        let flow = |(_, computation)| Flow::of(computation, module, text, &lines);
        Self {
            name: module.name.to_string(),
            computations: computations.map(flow).collect(),
            entry: module.entry.index(),
        }
    }

    /// Returns the index of a computation.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.computations.iter().position(|flow| flow.name == name)
    }

    /// Returns the indices of the computation and the instruction at the end of a path such as
    /// `entry/while.3 round 2/body/add.7`.
    pub fn at(&self, path: &str) -> Option<(usize, usize)> {
        let mut parts = path.rsplit('/');
        let (name, computation) = (parts.next()?, self.find(parts.next()?)?);
        let nodes = &self.computations[computation].nodes;
        Some((computation, nodes.iter().position(|node| node.name == name)?))
    }

    /// Returns the names of the computations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.computations.iter().map(|flow| flow.name.as_str())
    }
}

impl Flow {
    fn of(computation: &Computation, module: &Module, text: &str, lines: &[usize]) -> Self {
        let mut nodes: Vec<Node> = Vec::with_capacity(computation.instructions.len());
        for (id, instruction) in computation.instructions.iter() {
            let mut node = Node::of(computation, (id, instruction), module, text);
            let at = usize::try_from(computation.spans(id).name.start).unwrap_or(0);
            node.line = lines.partition_point(|&start| start <= at);
            let constants = node.operands.iter().all(|&operand| nodes[operand].is_constant);
            node.is_constant = constants && is_constant_op(instruction, computation.root == id);
            nodes.push(node);
        }
        let items = fold::fold(&nodes);
        let (name, root) = (computation.name.to_string(), computation.root.index());
        Self { name, nodes, root, items }
    }
}

impl Node {
    fn of(
        computation: &Computation,
        (id, instruction): (InstructionId, &Instruction),
        module: &Module,
        text: &str,
    ) -> Self {
        let common = instruction.common.as_deref();
        let metadata = instruction.metadata();
        let before = common.map(hlo::ir::CommonAttrs::control_predecessors).unwrap_or_default();
        let mut callees = Vec::new();
        instruction.op.each_callee(&mut |callee| callees.push(callee.index()));
        let place = metadata.and_then(|metadata| metadata.places(&module.frames).next());
        let source = place.map(|at| format!("{}:{}", at.file, at.line));
        Self {
            name: computation.name(id).to_string(),
            opcode: instruction.opcode(),
            category: Category::of(instruction.opcode()),
            shape: without_comments(&format!("{:#}", instruction.shape)),
            operands: instruction.operands.iter().map(|id| id.index()).collect(),
            before: before.iter().map(|id| id.index()).collect(),
            callees,
            text: body(computation, id, text),
            line: 0,
            op_name: metadata.map(|metadata| metadata.op_name.to_string()).unwrap_or_default(),
            source: source.unwrap_or_default(),
            is_constant: false,
        }
    }
}

/// Returns whether the op has a constant value if its operands have one, and is small enough to be
/// listed by its users.
fn is_constant_op(instruction: &Instruction, is_root: bool) -> bool {
    let mut calls = false;
    instruction.op.each_callee(&mut |_| calls = true);
    let is_array = instruction.shape.array().is_some();
    let is_parameter = instruction.opcode() == Opcode::Parameter;
    let kind = match instruction.opcode().kind() {
        Kind::Array | Kind::Value => true,
        Kind::Control
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Transfer
        | Kind::Host
        | Kind::Device
        | Kind::Random
        | Kind::Custom => false,
    };
    kind && is_array && !calls && !is_parameter && !is_root
}

/// Returns the text of an instruction without its name and its shape, or the beginning of it.
fn body(computation: &Computation, id: InstructionId, text: &str) -> String {
    let span = computation.span(id);
    let at = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
    let body = text.get(at(span.start)..at(span.end)).unwrap_or_default();
    match body.char_indices().map(|(at, _)| at).find(|&at| at >= TEXT) {
        Some(end) => format!("{}…", &body[..end]),
        None => body.to_owned(),
    }
}

/// Returns the offsets of the lines of a text.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}
