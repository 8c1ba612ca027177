//! Squares of words of 32 or 64 bits, transposed in registers.
#![expect(unsafe_code, reason = "vector instructions that were detected")]

/// Rows and columns of a square.
pub(super) const SIDE: usize = 16;

/// Returns whether the processor transposes squares of these words faster than loops do.
pub(super) fn is_fast<W>() -> bool {
    #[cfg(target_arch = "x86_64")]
    return [size_of::<u32>(), size_of::<u64>()].contains(&size_of::<W>())
        && std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Exchanges rows and columns.
pub(super) fn transpose<W: bytemuck::Pod>(square: &[[W; SIDE]; SIDE]) -> [[W; SIDE]; SIDE] {
    #[cfg(target_arch = "x86_64")]
    if is_fast::<W>() {
        let mut result = [[W::zeroed(); SIDE]; SIDE];
        // SAFETY: the processor has the instructions.
        unsafe {
            if size_of::<W>() == size_of::<u32>() {
                let words = bytemuck::cast_slice(square.as_flattened());
                x86::single(words, bytemuck::cast_slice_mut(result.as_flattened_mut()));
            } else {
                let words = bytemuck::cast_slice(square.as_flattened());
                x86::double(words, bytemuck::cast_slice_mut(result.as_flattened_mut()));
            }
        }
        return result;
    }
    std::array::from_fn(|i| std::array::from_fn(|j| square[j][i]))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::SIDE;
    use std::arch::x86_64::{
        __m256d, _mm256_castpd_ps, _mm256_castps_pd, _mm256_loadu_pd, _mm256_permute2f128_pd,
        _mm256_setzero_pd, _mm256_storeu_pd, _mm256_unpackhi_pd, _mm256_unpackhi_ps,
        _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };

    /// Blocks of four by four words of 64 bits.
    #[target_feature(enable = "avx2")]
    pub(super) fn double(words: &[f64], result: &mut [f64]) {
        blocks::<4, f64>(words, result, |rows| {
            let [a, b, c, d] = rows;
            halves([
                _mm256_unpacklo_pd(a, b),
                _mm256_unpackhi_pd(a, b),
                _mm256_unpacklo_pd(c, d),
                _mm256_unpackhi_pd(c, d),
            ])
        });
    }

    /// Blocks of eight by eight words of 32 bits.
    #[target_feature(enable = "avx2")]
    pub(super) fn single(words: &[f32], result: &mut [f32]) {
        blocks::<8, f32>(words, result, |rows| {
            let [a, b, c, d, e, f, g, h] = rows;
            let ((p, q), (r, s)) = (pairs(a, b), pairs(c, d));
            let ((t, u), (v, w)) = (pairs(e, f), pairs(g, h));
            let [first, second] =
                [(p, r), (t, v)].map(|(x, y)| [_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y)]);
            let [third, fourth] =
                [(q, s), (u, w)].map(|(x, y)| [_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y)]);
            let [i, j, m, n] = halves([first[0], first[1], second[0], second[1]]);
            let [k, l, o, z] = halves([third[0], third[1], fourth[0], fourth[1]]);
            [i, j, k, l, m, n, o, z]
        });
    }

    /// Interleaves the words of 32 bits of two rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn pairs(a: __m256d, b: __m256d) -> (__m256d, __m256d) {
        let (a, b) = (_mm256_castpd_ps(a), _mm256_castpd_ps(b));
        (_mm256_castps_pd(_mm256_unpacklo_ps(a, b)), _mm256_castps_pd(_mm256_unpackhi_ps(a, b)))
    }

    /// Returns the first halves of the first two rows with those of the last two, then the second
    /// halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
        const FIRST: i32 = 0x20;
        const SECOND: i32 = 0x31;
        [
            _mm256_permute2f128_pd::<FIRST>(a, c),
            _mm256_permute2f128_pd::<FIRST>(b, d),
            _mm256_permute2f128_pd::<SECOND>(a, c),
            _mm256_permute2f128_pd::<SECOND>(b, d),
        ]
    }

    /// Transposes a square block by block: a block has as many rows as a register has words.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn blocks<const LANES: usize, W>(
        words: &[W],
        result: &mut [W],
        transposed: impl Fn([__m256d; LANES]) -> [__m256d; LANES],
    ) {
        assert!(
            words.len() == SIDE * SIDE
                && result.len() == SIDE * SIDE
                && size_of::<W>() * LANES == 32
        );
        for i in (0..SIDE).step_by(LANES) {
            for j in (0..SIDE).step_by(LANES) {
                let mut rows = [_mm256_setzero_pd(); LANES];
                for (k, row) in rows.iter_mut().enumerate() {
                    // SAFETY: the block is inside of the square.
                    *row =
                        unsafe { _mm256_loadu_pd(words.as_ptr().add((i + k) * SIDE + j).cast()) };
                }
                for (k, row) in transposed(rows).into_iter().enumerate() {
                    // SAFETY: as above.
                    unsafe {
                        _mm256_storeu_pd(result.as_mut_ptr().add((j + k) * SIDE + i).cast(), row);
                    }
                }
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
        let (after, wide_after) = (transpose(&square), transpose(&wide));
        for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
            assert_eq!(after[i][j], square[j][i], "{i} {j}");
            assert_eq!(wide_after[i][j].to_bits(), wide[j][i].to_bits(), "{i} {j}");
        }
    }
}
