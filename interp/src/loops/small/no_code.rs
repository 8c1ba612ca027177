//! What stands for machine code where none can be generated: there is none.
use super::SmallLoop;
use super::operation::Run;
use crate::Result;

/// Has no value.
#[derive(Debug)]
pub(super) enum Code {}

pub(super) fn compile(_: &SmallLoop) -> Option<Code> {
    None
}
pub(super) fn run(code: &Code, _: &SmallLoop, _: &mut Run<'_>) -> Result<()> {
    match *code {}
}
