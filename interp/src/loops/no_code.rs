//! Programs without machine code, where none can be generated.
use super::operation::{KernelCall, LoopRun};
use super::{Block, LoopProgram};
use crate::Result;

/// Machine code, of which there is none.
#[derive(Debug)]
pub(super) enum Code {}

impl Code {
    pub(super) fn run(&self, _: &LoopProgram, _: &mut LoopRun<'_>) -> Result<()> {
        match *self {}
    }
}

pub(super) fn compile(_: &LoopProgram) -> Option<Code> {
    None
}

/// Returns nothing, as no code can be generated.
pub(super) fn work(_: [&Block; 2], _: &[KernelCall]) -> Option<usize> {
    None
}

/// Returns nothing: no code can be generated.
pub(crate) fn compiler(_: bool) -> Option<num::scalar_program::Compiler> {
    None
}
