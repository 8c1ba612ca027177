//! Programs without machine code, where none can be generated.
use super::LoopProgram;
use super::operation::LoopRun;
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

/// Returns nothing: no code can be generated.
pub(crate) fn compiler(_: bool) -> Option<num::scalar_program::Compiler> {
    None
}
