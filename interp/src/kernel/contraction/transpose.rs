//! Squares of 32-bit words, transposed in registers.
#![expect(unsafe_code, reason = "vector instructions that were detected")]

/// Rows and columns of a square.
pub(super) const SIDE: usize = 16;

/// Whether the processor transposes squares of these words faster than loops do.
pub(super) fn is_fast<W>() -> bool {
    #[cfg(target_arch = "x86_64")]
    return size_of::<W>() == size_of::<u32>() && std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Exchanges rows and columns.
pub(super) fn transpose<W: bytemuck::Pod>(square: &mut [[W; SIDE]; SIDE]) {
    #[cfg(target_arch = "x86_64")]
    if is_fast::<W>() {
        let words: &mut [u32] = bytemuck::cast_slice_mut(square.as_flattened_mut());
        let words = words.try_into().expect("as many words of 32 bits");
        // SAFETY: the processor has the instructions.
        return unsafe { x86::transpose(words) };
    }
    *square = std::array::from_fn(|i| std::array::from_fn(|j| square[j][i]));
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::SIDE;
    use std::arch::x86_64::{
        __m512i, _mm512_loadu_si512, _mm512_permutex2var_epi32, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    /// The lanes that two rows `STEP` apart exchange: for each lane of the first or the second of them, which of the lanes of both it
    /// becomes.
    const fn lanes<const STEP: u32>(is_second: bool) -> [u32; SIDE] {
        /// Marks a lane of the second row.
        const OTHER: u32 = 16;
        let mut lanes = [0; SIDE];
        let (mut i, mut lane) = (0, 0);
        while i < SIDE {
            lanes[i] = match (is_second, lane & STEP != 0) {
                (false, false) => lane,
                (false, true) => lane - STEP + OTHER,
                (true, false) => lane + STEP,
                (true, true) => lane + OTHER,
            };
            (i, lane) = (i + 1, lane + 1);
        }
        lanes
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn transpose(square: &mut [u32; SIDE * SIDE]) {
        let mut rows = [_mm512_setzero_si512(); SIDE];
        let (lines, _) = square.as_chunks_mut::<SIDE>();
        for (row, line) in rows.iter_mut().zip(&*lines) {
            *row = load(line);
        }
        exchange::<8>(&mut rows, const { &[lanes::<8>(false), lanes::<8>(true)] });
        exchange::<4>(&mut rows, const { &[lanes::<4>(false), lanes::<4>(true)] });
        exchange::<2>(&mut rows, const { &[lanes::<2>(false), lanes::<2>(true)] });
        exchange::<1>(&mut rows, const { &[lanes::<1>(false), lanes::<1>(true)] });
        for (&row, line) in rows.iter().zip(lines) {
            // SAFETY: the line has sixteen words.
            unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), row) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(words: &[u32; SIDE]) -> __m512i {
        // SAFETY: there are sixteen words.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    /// Exchanges the quarters of all blocks of `2 * STEP` rows that are not on their diagonals.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn exchange<const STEP: usize>(rows: &mut [__m512i; SIDE], [first, second]: &[[u32; SIDE]; 2]) {
        let (first, second) = (load(first), load(second));
        for i in 0..SIDE {
            if i & STEP == 0 {
                let (a, b) = (rows[i], rows[i + STEP]);
                rows[i] = _mm512_permutex2var_epi32(a, first, b);
                rows[i + STEP] = _mm512_permutex2var_epi32(a, second, b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut square: [[i32; SIDE]; SIDE] = [[0; SIDE]; SIDE];
        let mut wide = [[0.0_f64; SIDE]; SIDE];
        for (number, i) in (0..).zip(0..SIDE * SIDE) {
            square[i / SIDE][i % SIDE] = number;
            wide[i / SIDE][i % SIDE] = number.into();
        }
        let (before, wide_before) = (square, wide);
        transpose(&mut square);
        transpose(&mut wide);
        for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
            assert_eq!(square[i][j], before[j][i], "{i} {j}");
            assert_eq!(wide[i][j].to_bits(), wide_before[j][i].to_bits(), "{i} {j}");
        }
    }
}
