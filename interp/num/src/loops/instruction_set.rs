//! Loops compiled for several instruction sets, of which the best that the processor has is chosen
//! at run time.
//!
//! It is chosen by speed alone: a loop gives the same bits with each.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls functions compiled for instructions that were detected")
)]

/// A loop over elements.
pub trait Task {
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
    use std::arch::x86_64::_mm256_zeroupper;

    // The compiler ends functions that name registers of 256 bits with `vzeroupper`. A conversion of
    // four f64 from memory names none, and leaves the upper halves in use all the same: each switch
    // to instructions of SSE then takes a hundred times as long, in whatever runs next.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) fn avx512(task: impl Task) {
        task.run();
        _mm256_zeroupper();
    }
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2(task: impl Task) {
        task.run();
        _mm256_zeroupper();
    }
}

/// The instruction sets for which loops are compiled, beside that of every processor.
enum Vectors {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Returns the widest vectors of this processor.
fn widest() -> Vectors {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! has {
            ($($feature:tt)+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
        }
        if has!("avx2" "fma") {
            let has_wide = has!("avx512f" "avx512bw" "avx512dq" "avx512vl");
            return if has_wide { Vectors::Avx512 } else { Vectors::Avx2 };
        }
    }
    Vectors::Baseline
}

/// Runs a loop with the best instructions.
#[inline]
pub fn run<T: Task>(task: T) {
    match widest() {
        // SAFETY: the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Vectors::Avx512 if T::IS_LONG => unsafe { x86::avx512(task) },
        // SAFETY: the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Vectors::Avx512 | Vectors::Avx2 => unsafe { x86::avx2(task) },
        // The vectors of other 64-bit processors have fused multiply-add.
        Vectors::Baseline if cfg!(target_arch = "aarch64") => task.run(),
        Vectors::Baseline => task.run_baseline(),
    }
}
