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

    // LLVM emits `vzeroupper` at the end of functions with 256-bit register operands. `vcvtpd2ps` of
    // a memory operand has none, but leaves the upper halves of the registers in use. On some
    // processors each SSE instruction that follows a VEX one then takes about 100 ns.
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

#[cfg(all(test, target_arch = "x86_64"))]
#[expect(unsafe_code, reason = "reads which registers are in use")]
mod tests {
    use crate::Arithmetic;
    use crate::loops::{binary_loop, convert_loop};
    use hlo::ElementType::{F32, F64};
    use hlo::op::Binary;
    use std::arch::x86_64::{__cpuid_count, _mm256_zeroupper, _xgetbv};

    /// The bit of the upper halves of 256-bit registers. Only optimized builds use them.
    const UPPER: u64 = 1 << 2;

    #[target_feature(enable = "xsave")]
    fn in_use() -> u64 {
        // SAFETY: the caller has found that the processor has this register.
        unsafe { _xgetbv(1) }
    }

    #[target_feature(enable = "avx")]
    fn clear() {
        _mm256_zeroupper();
    }

    /// Returns whether the processor reports the use of upper halves, and none after `vzeroupper`.
    fn reports_use() -> bool {
        if !(is_x86_feature_detected!("xsave") && is_x86_feature_detected!("avx")) {
            return false;
        }
        if __cpuid_count(0xd, 1).eax & (1 << 2) == 0 {
            return false;
        }
        // SAFETY: the processor has these instructions.
        unsafe {
            clear();
            in_use() & UPPER == 0
        }
    }

    #[test]
    fn loops_leave_no_upper_half_in_use() {
        if !reports_use() {
            return;
        }
        let from = [1.5_f64; 64];
        let (mut singles, mut doubles) = ([0.0_f32; 64], [0.0_f64; 64]);
        let narrow = convert_loop(F64, F32).expect("a loop of floats");
        let add = binary_loop(Binary::Add, F64, Arithmetic::Exact).expect("a loop of floats");
        for length in [1, 4, 7, 8, 33, 64] {
            let bytes: &[u8] = bytemuck::cast_slice(&from[..length]);
            narrow(&[bytes], bytemuck::cast_slice_mut(&mut singles[..length]));
            // SAFETY: as above.
            assert_eq!(unsafe { in_use() } & UPPER, 0, "{length}");
            add(&[bytes, bytes], bytemuck::cast_slice_mut(&mut doubles[..length]));
            // SAFETY: as above.
            assert_eq!(unsafe { in_use() } & UPPER, 0, "{length}");
        }
        assert_eq!((singles, doubles), ([1.5; 64], [3.0; 64]));
    }
}
