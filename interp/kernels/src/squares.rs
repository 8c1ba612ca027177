//! Squares of words of 32 or 64 bits, transposed in registers.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions that were detected")
)]

/// Rows and columns of a square.
pub(crate) const SIDE: usize = 16;

/// Returns whether the processor transposes squares of these words faster than loops do.
pub(crate) fn is_fast<W>() -> bool {
    #[cfg(target_arch = "x86_64")]
    return [size_of::<u32>(), size_of::<u64>()].contains(&size_of::<W>())
        && std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Writes the first columns of a square as rows that begin `step` apart in `to`, as many as lie
/// there; its own rows are elements of `from` that begin at `starts`.
pub(crate) fn transpose<W: bytemuck::Pod>(
    from: &[W],
    starts: [usize; SIDE],
    to: &mut [W],
    step: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if is_fast::<W>() {
        // SAFETY: the processor has the instructions.
        return unsafe {
            if size_of::<W>() == size_of::<u32>() {
                x86::single(from, starts, to, step);
            } else {
                x86::double(from, starts, to, step);
            }
        };
    }
    for (j, to) in to.chunks_mut(step).take(SIDE).enumerate() {
        to[..SIDE].iter_mut().zip(starts).for_each(|(to, start)| *to = from[start + j]);
    }
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
    pub(super) fn double<W>(from: &[W], starts: [usize; SIDE], to: &mut [W], step: usize) {
        blocks::<4, W>(from, starts, (to, step), |rows| {
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
    pub(super) fn single<W>(from: &[W], starts: [usize; SIDE], to: &mut [W], step: usize) {
        blocks::<8, W>(from, starts, (to, step), |rows| {
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
        from: &[W],
        starts: [usize; SIDE],
        (to, step): (&mut [W], usize),
        transposed: impl Fn([__m256d; LANES]) -> [__m256d; LANES],
    ) {
        let rows = to.len().div_ceil(step).min(SIDE);
        assert!(
            size_of::<W>() * LANES == 32
                && starts.iter().all(|start| start + SIDE <= from.len())
                && (rows == 0 || (rows - 1) * step + SIDE <= to.len())
        );
        for i in (0..SIDE).step_by(LANES) {
            for j in (0..rows).step_by(LANES) {
                let mut block = [_mm256_setzero_pd(); LANES];
                for (row, start) in block.iter_mut().zip(&starts[i..]) {
                    // SAFETY: each row of the square is inside of `from`.
                    *row = unsafe { _mm256_loadu_pd(from.as_ptr().add(start + j).cast()) };
                }
                for (row, column) in (j..rows).zip(transposed(block)) {
                    // SAFETY: each row that is written is inside of `to`.
                    unsafe {
                        _mm256_storeu_pd(to.as_mut_ptr().add(row * step + i).cast(), column);
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
    fn columns_become_rows() {
        let single: Vec<i32> = (0..400).collect();
        let double: Vec<f64> = single.iter().map(|&x| x.into()).collect();
        let starts = std::array::from_fn(|i| 23 * i % 380);
        for (rows, step) in [(0, 16), (1, 16), (7, 19), (8, 16), (16, 17), (16, 40)] {
            let length = if rows == 0 { 0 } else { (rows - 1) * step + SIDE };
            let (mut narrow, mut wide) = (vec![-1; length], vec![-1.0; length]);
            transpose(&single, starts, &mut narrow, step);
            transpose(&double, starts, &mut wide, step);
            for (at, (narrow, wide)) in narrow.iter().zip(&wide).enumerate() {
                let expected = starts.get(at % step).map_or(-1, |start| single[start + at / step]);
                assert_eq!((*narrow, wide.to_bits()), (expected, f64::from(expected).to_bits()));
            }
        }
    }
}
