//! Loops compiled for several instruction sets, of which the best that the processor has is chosen at run time.
//!
//! It is chosen by speed alone: a loop gives the same bits with each.
#![expect(unsafe_code, reason = "calls functions compiled for instructions that were detected")]

/// A loop over elements.
pub(crate) trait Task {
    /// Whether the loop gains from vectors of 512 bits: those that compute much with each element.
    const IS_LONG: bool = false;
    /// Runs the loop; it must be inlined, to be compiled for each instruction set.
    fn run(self);
    /// Runs the loop without vectors of f64 and fused multiply-add.
    fn run_baseline(self)
    where
        Self: Sized,
    {
        self.run();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Task;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) fn avx512(task: impl Task) {
        task.run();
    }
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2(task: impl Task) {
        task.run();
    }
}

/// Runs a loop with the best instructions.
#[inline]
pub(crate) fn run<T: Task>(task: T) {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! has {
            ($($feature:tt)+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
        }
        let has_avx2 = has!("avx2" "fma");
        if T::IS_LONG && has_avx2 && has!("avx512f" "avx512bw" "avx512dq" "avx512vl") {
            // SAFETY: the processor has these instructions.
            return unsafe { x86::avx512(task) };
        }
        if has_avx2 {
            // SAFETY: the processor has these instructions.
            return unsafe { x86::avx2(task) };
        }
    }
    // The vectors of other 64-bit processors have fused multiply-add.
    if cfg!(target_arch = "aarch64") { task.run() } else { task.run_baseline() }
}
