//! Linear algebra and Fourier transforms. Their results have an error bound and are not taken by
//! other ops, where a comparison or a conversion to an integer could turn a small difference into a
//! large one; their operands are moderate, since an infinity spreads differently in each algorithm.
use super::data::Domain;
use super::generator::Generator;
use super::scope::Scope;
use hlo::{ArrayShape, Class, ElementType};

fn takes(ty: ElementType) -> bool {
    match ty.class() {
        Class::Float => ty.bits() >= 32,
        Class::Complex => true,
        Class::Pred | Class::Signed | Class::Unsigned => false,
    }
}

impl Generator {
    pub(super) fn fft(&mut self, scope: &mut Scope) -> Option<()> {
        (scope.depth == 0).then_some(())?;
        let kind = ["FFT", "IFFT", "RFFT", "IRFFT"][self.pick(4)];
        let is_real = kind == "RFFT";
        let ty = self.ty(|ty| takes(ty) && ty.is_complex() != is_real)?;
        // The reference adds every product of a line of prime length.
        let mut dims: Vec<i64> = self.dims(1).into_iter().map(|size| size.min(300)).collect();
        let count = self.rng.usize(1..=dims.len().min(3));
        let lengths = dims[dims.len() - count..].to_vec();
        scope.execute_each(&[&dims, &[lengths.iter().sum()]]);
        let half = |n: i64| if n == 0 { 0 } else { n / 2 + 1 };
        let mut result = dims.clone();
        let to = match kind {
            "RFFT" => {
                result.last_mut().map(|last| *last = half(*last))?;
                ty.complex()?
            }
            "IRFFT" => {
                dims.last_mut().map(|last| *last = half(*last))?;
                ty.component()
            }
            _ => ty,
        };
        let x = self.leaf(scope, &ArrayShape::new(ty, dims.as_slice()), &Domain::Moderate);
        let text =
            format!("fft({x}), fft_type={kind}, fft_length={}", super::generator::list(lengths));
        self.push_closed(scope, ArrayShape::new(to, result.as_slice()), &text);
        Some(())
    }
    /// Returns matrices of this domain.
    fn matrices(&mut self, scope: &mut Scope, domain: &Domain) -> Option<(String, ArrayShape)> {
        (scope.depth == 0).then_some(())?;
        let ty = self.ty(takes)?;
        let n = self.size().min(20);
        let mut dims: Vec<i64> = (0..self.pick(3)).map(|_| self.rng.i64(1..=3)).collect();
        dims.extend([n, n]);
        let shape = ArrayShape::new(ty, dims.as_slice());
        Some((self.leaf(scope, &shape, domain), shape))
    }
    pub(super) fn cholesky(&mut self, scope: &mut Scope) -> Option<()> {
        let (a, shape) = self.matrices(scope, &Domain::PositiveDefinite)?;
        let lower = self.rng.bool();
        self.push_closed(scope, shape, &format!("cholesky({a}), lower={lower}"));
        Some(())
    }
    pub(super) fn triangular_solve(&mut self, scope: &mut Scope) -> Option<()> {
        let (a, shape) = self.matrices(scope, &Domain::Triangular)?;
        let [left, lower, unit] = [(); 3].map(|()| self.rng.bool());
        let transpose = self.choose(&["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]);
        let mut dims = shape.dims.to_vec();
        let at = dims.len() - if left { 1 } else { 2 };
        dims[at] = self.size();
        let right = ArrayShape::new(shape.ty, dims.as_slice());
        let b = self.leaf(scope, &right, &Domain::Moderate);
        // A unit diagonal does not outweigh what is beside it.
        let unit = unit && shape.dims.last().is_some_and(|&n| n <= 3);
        let text = format!(
            "triangular-solve({a}, {b}), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose}"
        );
        self.push_closed(scope, right, &text);
        Some(())
    }
}
