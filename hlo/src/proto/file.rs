//! Files that contain a module, recognized by content.
use super::message::{self, Known, ModuleConfig};
use super::{bad, decode, literal, wire};
use crate::ir::{Computation, InstructionSpans, Module, ParseOptions};
use crate::text::print::Style;
use crate::{Literal, Result, Span};
use rustc_hash::FxHashMap;

/// What a file of XLA contains.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// The module. Its spans refer to `text`.
    pub module: Module,
    /// The module as HLO text, for errors to refer to.
    pub text: String,
    /// The arguments of each device, or a single list for all devices; empty if the file has none.
    pub arguments: Vec<Vec<Literal>>,
}

/// The messages that contain a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageKind {
    Module,
    WithConfig,
    HloProto,
    Snapshot,
    UnoptimizedSnapshot,
}

/// Returns whether the bytes are a message of XLA that contains a module, rather than HLO text.
///
/// A message has control characters near its start, which no text has. One that is damaged counts
/// if it starts as a module does, with a field 1.
pub fn is_message(bytes: &[u8]) -> bool {
    kind(bytes).is_some() || bytes.first() == Some(&b'\n') && has_control_characters(bytes)
}

fn has_control_characters(bytes: &[u8]) -> bool {
    /// How far it looks.
    const START: usize = 4096;
    let is_control = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace();
    bytes[..bytes.len().min(START)].iter().any(is_control)
}

/// Opens an `HloModuleProto`, or a message of XLA that contains one: `HloModuleProtoWithConfig`,
/// `HloProto`, `HloSnapshot`, `HloUnoptimizedSnapshot`.
///
/// # Errors
/// As [`decode`]; `E0121` for any other bytes.
pub fn open(bytes: &[u8]) -> Result<Contents> {
    let (kind, bytes) = kind(bytes).ok_or_else(|| {
        bad("the bytes are not a message with an HLO module").with_help(
            "check that the file is complete; --xla_dump_hlo_as_proto writes such messages",
        )
    })?;
    let (module, arguments) = match kind {
        MessageKind::Module => (decode(bytes)?, Vec::new()),
        MessageKind::HloProto => (decode(field(bytes, 1))?, Vec::new()),
        MessageKind::WithConfig => {
            let mut module = decode(field(bytes, 1))?;
            let (config, _) =
                wire::decode::<ModuleConfig>("HloModuleConfigProto", field(bytes, 2))?;
            decode::apply(config, &mut module.config);
            (module, Vec::new())
        }
        MessageKind::Snapshot => {
            let module = decode(field(field(bytes, 1), 1))?;
            let (rest, _) = wire::decode::<message::Arguments>("HloSnapshot", bytes)?;
            (module, vec![literals(rest.arguments)?])
        }
        MessageKind::UnoptimizedSnapshot => {
            let module = decode(field(bytes, 1))?;
            let (rest, _) = wire::decode::<message::Partitions>("HloUnoptimizedSnapshot", bytes)?;
            let partitions = rest.partitions.into_iter().map(|one| literals(one.arguments));
            (module, partitions.collect::<Result<_>>()?)
        }
    };
    let (module, text) = with_spans(module);
    // A file that was written without arguments has empty lists.
    let arguments = if arguments.iter().all(Vec::is_empty) { Vec::new() } else { arguments };
    Ok(Contents { module, text, arguments })
}

fn literals(list: Vec<message::Literal>) -> Result<Vec<Literal>> {
    list.into_iter().map(literal::decode).collect()
}

/// Returns the kind of message, and its bytes.
fn kind(bytes: &[u8]) -> Option<(MessageKind, &[u8])> {
    if !has_control_characters(bytes) {
        return None;
    }
    let plain = kind_of(bytes).map(|kind| (kind, bytes));
    // XLA writes the length before a large snapshot, and its arguments behind.
    plain.or_else(|| {
        let mut rest = bytes;
        let length = prost::encoding::decode_varint(&mut rest).ok()?;
        let inner = rest.get(..usize::try_from(length).ok()?)?;
        (kind_of(inner) == Some(MessageKind::UnoptimizedSnapshot))
            .then_some((MessageKind::UnoptimizedSnapshot, inner))
    })
}

fn kind_of(bytes: &[u8]) -> Option<MessageKind> {
    let fields = wire::fields(bytes)?;
    let first = field(bytes, 1);
    // The inner message is looked at first: the buffer assignment of an `HloProto` looks like the
    // computations of a module.
    if is_module(field(first, 1)) && wire::fields(first).is_some() {
        return Some(MessageKind::Snapshot);
    }
    if !is_module(first) {
        return is_module(bytes).then_some(MessageKind::Module);
    }
    let second = wire::fields(field(bytes, 2))?;
    let is_inputs = second.iter().all(|(tag, _)| message::Inputs::TAGS.contains(tag) || *tag == 2);
    let has = |tag: u32| fields.iter().any(|(found, _)| *found == tag);
    match has(2) {
        true if is_inputs => Some(MessageKind::UnoptimizedSnapshot),
        true => Some(MessageKind::WithConfig),
        // The version of a snapshot is a number, the buffers of an `HloProto` are a message.
        false if fields.iter().any(|(tag, value)| *tag == 3 && value.is_none()) => {
            Some(MessageKind::UnoptimizedSnapshot)
        }
        false => Some(MessageKind::HloProto),
    }
}

/// Returns whether the bytes are a module: they have computations, and these have a name and
/// instructions.
fn is_module(bytes: &[u8]) -> bool {
    let Some(fields) = wire::fields(bytes) else { return false };
    let mut computations = fields.iter().filter(|(tag, _)| *tag == 3).peekable();
    let is_computation = |value: Option<&[u8]>| {
        value.and_then(wire::fields).is_some_and(|fields| {
            fields.iter().any(|(tag, value)| {
                *tag == 2 && value.is_some_and(|value| wire::fields(value).is_some())
            })
        })
    };
    computations.peek().is_some() && computations.all(|(_, value)| is_computation(*value))
}

/// Returns the bytes of the first field with this number; none if there is none.
fn field(bytes: &[u8], tag: u32) -> &[u8] {
    let fields = wire::fields(bytes).unwrap_or_default();
    fields
        .into_iter()
        .find(|(found, _)| *found == tag)
        .and_then(|(_, value)| value)
        .unwrap_or_default()
}

/// Returns the module with spans in its text. Large constants are elided there.
pub(crate) fn with_spans(mut module: Module) -> (Module, String) {
    let text = module.print(Style::Default);
    let Ok(parsed) = Module::parse_with(&text, ParseOptions { lenient: true }) else {
        return (module, text);
    };
    let by_name: FxHashMap<_, _> = parsed
        .module
        .computations
        .iter()
        .map(|(_, computation)| (&computation.name, computation))
        .collect();
    for (_, computation) in module.computations.iter_mut() {
        if let Some(printed) = by_name.get(&computation.name) {
            copy_spans(printed, computation);
        }
    }
    (module, text)
}

fn copy_spans(from: &Computation, to: &mut Computation) {
    let spans: FxHashMap<_, _> =
        from.instructions.ids().map(|id| (from.name(id), from.spans(id))).collect();
    let found: Vec<InstructionSpans> = (to.instructions.ids())
        .map(|id| spans.get(to.name(id)).copied().unwrap_or_default())
        .collect();
    to.set_spans(|id| found[id.index()]);
    to.span = Span::new(from.span.range().start, from.span.range().end);
}
