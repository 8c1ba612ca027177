//! The floating-point environment of threads.
#![expect(unsafe_code, reason = "reads and sets a control register")]
use std::marker::PhantomData;

/// Arithmetic as IEEE 754 and Rust define it, on this thread until it is dropped: results are
/// rounded to nearest, and subnormal numbers are kept. A host may have set its threads to flush
/// them to zero, as XLA and PyTorch do.
///
/// [`Executable`](crate::Executable) and [`Machine`](crate::Machine) hold one while they compile
/// and run. Threads that are started meanwhile have the same environment.
///
/// ```
/// let environment = interp::FloatEnvironment::enter();
/// assert!(std::hint::black_box(1e-40f32) + 1e-40 > 0.0);
/// drop(environment);
/// ```
#[derive(Debug)]
pub struct FloatEnvironment {
    /// The control register before, if it was another one.
    before: Option<ControlRegister>,
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl FloatEnvironment {
    /// Sets the environment of this thread.
    #[must_use = "it ends when it is dropped"]
    pub fn enter() -> Self {
        let before = control();
        let default = (before & !CONTROL) | DEFAULT;
        let is_default = before == default;
        if !is_default {
            set_control(default);
        }
        Self { before: (!is_default).then_some(before), thread: PhantomData }
    }
}
impl Drop for FloatEnvironment {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            set_control(before);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::asm;

    /// MXCSR.
    pub(super) type ControlRegister = u32;
    /// All bits but the flags of exceptions that have occurred.
    pub(super) const CONTROL: ControlRegister = 0xffc0;
    /// No exception traps.
    pub(super) const DEFAULT: ControlRegister = 0x1f80;

    pub(super) fn control() -> ControlRegister {
        let mut value = 0;
        // SAFETY: the instruction stores 4 bytes to the address of a variable of 4 bytes.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value
    }
    pub(super) fn set_control(value: ControlRegister) {
        // SAFETY: the value is that of `control`, or Rust's own environment.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags));
        }
    }
}
#[cfg(target_arch = "aarch64")]
mod register {
    use std::arch::asm;

    /// FPCR.
    pub(super) type ControlRegister = u64;
    pub(super) const CONTROL: ControlRegister = u64::MAX;
    pub(super) const DEFAULT: ControlRegister = 0;

    pub(super) fn control() -> ControlRegister {
        let value;
        // SAFETY: reading the register has no effects.
        unsafe { asm!("mrs {}, fpcr", out(reg) value, options(nomem, nostack, preserves_flags)) };
        value
    }
    pub(super) fn set_control(value: ControlRegister) {
        // SAFETY: the value is that of `control`, or Rust's own environment.
        unsafe {
            asm!("msr fpcr, {}", in(reg) value, options(nostack, preserves_flags));
        }
    }
}
/// Other processors have no such register, or none that hosts are known to set.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub(super) type ControlRegister = u32;
    pub(super) const CONTROL: ControlRegister = 0;
    pub(super) const DEFAULT: ControlRegister = 0;

    pub(super) fn control() -> ControlRegister {
        0
    }
    pub(super) fn set_control(_: ControlRegister) {}
}
use register::{CONTROL, ControlRegister, DEFAULT, control, set_control};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::{CompileOptions, Engine, Executable, RunOptions};
    use hlo::{Literal, Module};

    /// Flush-to-zero and denormals-are-zero.
    const FLUSHES: ControlRegister = 0x8040;

    #[test]
    fn subnormal_numbers_are_kept_on_threads_that_flush_them() {
        let text = "HloModule m
            ENTRY e { c = f32[] constant(1e-40) x = f32[100000] broadcast(c), dimensions={} y = f32[100000] parameter(0)
            ROOT r = f32[100000] add(x, y) }";
        let verified = Module::parse(text).unwrap().verify().unwrap();
        let input: Literal = Literal::from_slice(&[100_000], &vec![1e-40f32; 100_000]);
        let run = move || {
            set_control(control() | FLUSHES);
            for engine in [Engine::Reference, Engine::Exact, Engine::Fast] {
                let options = CompileOptions::default().engine(engine);
                let executable = Executable::compile(verified.clone(), &options).unwrap();
                let result = executable
                    .execute(std::slice::from_ref(&input), &RunOptions::default())
                    .unwrap();
                // Sums of subnormal numbers are sums of their bits.
                let expected = 2 * 1e-40f32.to_bits();
                let bits = result.as_slice::<f32>().unwrap().iter().map(|x| x.to_bits());
                assert_eq!(bits.filter(|&bits| bits != expected).count(), 0, "{engine:?}");
            }
            assert_eq!(control() & FLUSHES, FLUSHES, "the host has its own environment again");
        };
        std::thread::spawn(run).join().unwrap();
    }
}
