//! What stands for compiled programs where no code can be generated: there are none.
use super::Program;
use super::register_loop::Rounds;
use hlo::{ElementType, Scalar};

/// Has no value.
#[derive(Debug)]
pub(super) enum Code {}

impl Code {
    pub(super) fn compile(_: Option<&Program>, _: &Program, _: usize) -> Option<Self> {
        None
    }
    pub(super) fn rounds(&self, _: &mut [Scalar], _: &[ElementType], _: u64) -> Rounds {
        match *self {}
    }
    pub(super) fn apply(&self, _: (&[Scalar], &[ElementType]), _: (&mut [Scalar], &[ElementType])) {
        match *self {}
    }
}
