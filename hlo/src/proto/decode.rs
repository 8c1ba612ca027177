//! Messages as modules.
mod header;
mod instruction;

pub(super) use header::apply;

use super::message;
use super::{bad, wire};
use crate::Result;
use crate::diag::Site;
use crate::id::Arena;
use crate::ir::{Computation, ComputationId, Module, SourceText, StackFrames};
use crate::text::{names, print, strings};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::cell::Cell;

/// Reads the bytes of an `HloModuleProto`. Unknown fields of the module, its computations and its
/// instructions are kept.
///
/// # Errors
/// `E0121` if they are not such a message; the codes of the text for values that are not valid.
pub fn decode(bytes: &[u8]) -> Result<Module> {
    let (proto, unknown) = wire::decode::<message::Module>("HloModuleProto", bytes)?;
    module(proto, unknown, COPIES + bytes.len().saturating_mul(COPIES_PER_BYTE))
}

/// The most bytes of names and payloads in a module of any size, counted wherever they are used.
const COPIES: usize = 64 << 20;
/// The additional bytes of them for each byte of the message.
const COPIES_PER_BYTE: usize = 64;

fn module(mut proto: message::Module, unknown: Vec<u8>, copies: usize) -> Result<Module> {
    let messages = std::mem::take(&mut proto.computations);
    if messages.is_empty() {
        return Err(bad("the module has no computations"));
    }
    let mut headers = Vec::with_capacity(messages.len());
    for bytes in &messages {
        headers.push(wire::decode::<message::Computation>("HloComputationProto", bytes)?);
    }
    drop(messages);
    let mut ids = FxHashMap::default();
    for (i, (computation, _)) in headers.iter().enumerate() {
        if ids.insert(computation.id, ComputationId::new(i)).is_some() {
            let (id, name) = (computation.id, &computation.name);
            return Err(bad(format!("computation `{name}` has the id {id} of another one")));
        }
    }
    let schedule = header::schedule(proto.schedule.as_ref())?;
    let name_bytes = headers.iter().map(|(header, _)| header.name.len()).collect();
    let copies = Cell::new(copies);
    let decoder = Decoder { ids, name_bytes, payloads: &proto.payloads, schedule, copies };
    let mut computations = Arena::default();
    for (header, unknown) in headers {
        computations.push(decoder.computation(&header, unknown)?);
    }
    let id = proto.entry_computation_id;
    let entry = *decoder
        .ids
        .get(&id)
        .ok_or_else(|| bad(format!("no computation has the id {id} of the entry computation")))?;
    names::make_unique(&mut computations);
    let (config, mut frames) =
        (header::config(&mut proto, &computations[entry], unknown)?, header::frames(&mut proto));
    let name = name(&proto.name).unwrap_or_else(|| "module".into());
    let mut module = Module {
        name,
        computations,
        entry,
        config,
        frames: StackFrames::default(),
        source: SourceText::default(),
    };
    let settled = !frames.is_empty() && print::is_in_order(&module);
    let metadata = module.computations.iter_mut().flat_map(|(_, c)| c.instructions.iter_mut());
    let metadata = metadata.filter_map(|(_, i)| i.common.as_mut()?.metadata.as_mut());
    frames.rebuild(settled, metadata.map(|metadata| &mut metadata.stack_frame_id));
    module.frames = frames;
    module.check_printable()?;
    Ok(module)
}

/// The instructions of a computation in the order in which they run.
type Schedule = FxHashMap<i64, Vec<i64>>;

struct Decoder<'p> {
    /// Computations by their id in the message.
    ids: FxHashMap<i64, ComputationId>,
    /// The length of the name of each computation.
    name_bytes: Vec<usize>,
    /// Bytes that instructions refer to by index.
    payloads: &'p [Vec<u8>],
    schedule: Schedule,
    /// Bytes of names and payloads that instructions may still refer to.
    copies: Cell<usize>,
}

impl Decoder<'_> {
    /// Counts bytes that the message has once, and the module and its text wherever they are used:
    /// a message of a few kilobytes could otherwise stand for gigabytes.
    fn count_copy(&self, bytes: usize) -> Result<()> {
        let left = self.copies.get().checked_sub(bytes).ok_or_else(|| {
            bad("the names and payloads of the module, repeated wherever they are used, are too large for a message of this size")
        })?;
        self.copies.set(left);
        Ok(())
    }
    fn computation(&self, header: &message::Computation, unknown: Vec<u8>) -> Result<Computation> {
        let name = name(&header.name)
            .ok_or_else(|| bad(format!("computation {} has no name", header.id)))?;
        let at = |error: crate::Error| {
            error.at(Site { instruction: Some(name.to_string()), ..Site::default() })
        };
        let mut computation = Computation::new(name.clone());
        computation.execution_thread = strings::from_bytes(header.execution_thread.clone()).into();
        computation.unknown_fields = unknown;
        let ids = self.instructions(header, &mut computation).map_err(at)?;
        let root = ids.get(&header.root_id);
        computation.root = *root.ok_or_else(|| {
            at(bad(format!("no instruction has the id {} of the root", header.root_id)))
        })?;
        computation.shrink_to_fit();
        Ok(computation)
    }
}

/// Returns a name with the characters that a text can have, as XLA does; `None` if it is empty.
fn name(name: &str) -> Option<SmolStr> {
    let legal = |(i, c): (usize, char)| match c {
        'a'..='z' | 'A'..='Z' | '_' => c,
        '0'..='9' | '.' | '-' if i > 0 => c,
        _ => '_',
    };
    (!name.is_empty()).then(|| name.chars().enumerate().map(legal).collect())
}
