//! What stands for compiled programs where no code can be generated: there are none.
use super::register_loop::Rounds;
use hlo::{ElementType, Scalar};
use num::scalar_program::RegisterProgram;

/// Has no value.
#[derive(Debug)]
pub(super) enum Code {}

impl Code {
    pub(super) fn compile(
        _: Option<&RegisterProgram>,
        _: &RegisterProgram,
        _: usize,
    ) -> Option<Self> {
        None
    }
    pub(super) fn rounds(&self, _: &mut [Scalar], _: &[ElementType], _: u64) -> Rounds {
        match *self {}
    }
}

/// Returns nothing: no code can be generated.
pub(crate) fn compiler(_: bool) -> Option<num::scalar_program::Compiler> {
    None
}
