//! How many steps an op takes beyond the one of its instruction, where it is more than its arrays have elements
//!
//! Fuel must bound the time of a run, and memory does not bound the time of these: a product of matrices of n x n numbers
//! takes n^3 steps. A step is a multiplication or a comparison, up to a factor that does not grow with the sizes. Ops that
//! call a computation for each element count those calls themselves.
use crate::custom;
use hlo::op::{Convolution, Fft};
use hlo::{Op, Shape};
use num::index::{others, pick, to_usize};

/// Steps of an op on operands of these shapes.
pub(crate) fn steps(op: &Op, operands: &[&Shape]) -> u64 {
    let steps = match op {
        Op::Dot(op) => {
            products(operands, &[&op.rhs_batch_dims[..], &op.rhs_contracting_dims].concat())
        }
        Op::ScaledDot(op) => {
            products(operands, &[&op.rhs_batch_dims[..], &op.rhs_contracting_dims].concat())
        }
        Op::RaggedDot(op) => {
            let kept = [&op.rhs_batch_dims[..], &op.rhs_contracting_dims, &op.rhs_group_dims];
            products(operands, &kept.concat())
        }
        Op::Convolution(op) => convolution(op, operands),
        Op::Cholesky(_) => len(operands[0]).saturating_mul(side(operands[0])),
        Op::TriangularSolve(_) => len(operands[1]).saturating_mul(side(operands[0])),
        Op::Fft(op) => fft(op, len(operands[0])),
        Op::TopK(_) => sorted(operands),
        Op::CustomCall(call) if call.custom_call_target.0 == "TopK" => sorted(operands),
        Op::CustomCall(call) if custom::is_cubic(&call.custom_call_target.0) => {
            let numbers = operands.iter().map(|shape| len(shape)).fold(0, usize::saturating_add);
            numbers.saturating_mul(operands.first().map_or(1, |shape| side(shape)))
        }
        _ => 0,
    };
    u64::try_from(steps).unwrap_or(u64::MAX)
}

/// Each element of the left operand, times the columns of the right one: what `bound` does not list.
fn products(operands: &[&Shape], bound: &[i64]) -> usize {
    let Some(rhs) = operands[1].array() else { return 0 };
    let (columns, _) = pick(rhs, &others(rhs.rank(), bound));
    columns.iter().fold(len(operands[0]), |n, &c| n.saturating_mul(to_usize(c)))
}

/// Each element of the left operand meets at most all of the kernel's of its feature group.
fn convolution(op: &Convolution, operands: &[&Shape]) -> usize {
    let Some(kernel) = operands[1].array() else { return 0 };
    let features = to_usize(kernel.dims[to_usize(op.dim_labels.rhs_input_feature)]).max(1);
    let groups = to_usize(op.feature_group_count).max(1);
    len(operands[0]).saturating_mul(len(operands[1]) / features / groups)
}

/// Comparisons of a sort of each row.
fn sorted(operands: &[&Shape]) -> usize {
    let Some(operand) = operands.first() else { return 0 };
    let row = sizes(operand).last().map_or(1, |&n| to_usize(n));
    len(operand).saturating_mul(bits(row))
}

fn fft(op: &Fft, numbers: usize) -> usize {
    op.fft_length.iter().map(|&n| numbers.saturating_mul(bits(to_usize(n)))).sum()
}

/// The larger side of the matrices of an operand.
fn side(operand: &Shape) -> usize {
    sizes(operand).iter().rev().take(2).map(|&n| to_usize(n)).max().unwrap_or(1)
}

fn sizes(shape: &Shape) -> &[i64] {
    shape.array().map_or(&[], |array| &array.dims)
}
fn len(shape: &Shape) -> usize {
    shape.array().and_then(hlo::ArrayShape::element_count).unwrap_or(0)
}

/// The digits of a number in base 2: about its logarithm, and at least 1.
fn bits(n: usize) -> usize {
    to_usize(i64::from(usize::BITS - n.leading_zeros())).max(1)
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable, RunOptions};
    use hlo::{ArrayShape, ElementType, Literal};

    /// What a module of one op with these operands takes, the instructions not counted.
    fn taken(operands: &[&[i64]], op: &str) -> u64 {
        let shape = |dims: &&[i64]| ArrayShape::new(ElementType::F32, *dims);
        let shapes: Vec<ArrayShape> = operands.iter().map(shape).collect();
        let parameters = shapes.iter().enumerate();
        let parameters: Vec<String> =
            parameters.map(|(i, s)| format!("p{i} = {s} parameter({i})")).collect();
        let parameters = parameters.join("\n");
        let text = format!("ENTRY e {{ {parameters} ROOT r = {op} }}");
        let module = hlo::Module::parse(&text).unwrap().verify().unwrap();
        let arguments: Vec<Literal> = shapes.into_iter().map(Literal::zeros).collect();
        let executable = Executable::compile(module, &CompileOptions::default()).unwrap();
        let mut machine = executable.start(None, arguments, &RunOptions::default()).unwrap();
        machine.finish().unwrap();
        machine.steps() - (u64::try_from(operands.len()).unwrap() + 1)
    }

    #[test]
    fn what_takes_longer_than_its_memory_pays_for_it() {
        let dot = "f32[2,6] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        assert_eq!(taken(&[&[2, 5], &[5, 6]], dot), 2 * 5 * 6);
        let batch = "f32[3,2,6] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
        assert_eq!(taken(&[&[3, 2, 5], &[3, 5, 6]], batch), 3 * 2 * 5 * 6);
        // Batch 2, 3 features, 8 places, 4 kernels of 5 places.
        let convolution =
            "f32[2,4,4] convolution(p0, p1), window={size=5}, dim_labels=bf0_io0->bf0";
        assert_eq!(taken(&[&[2, 3, 8], &[3, 4, 5]], convolution), (2 * 3 * 8) * (4 * 5));
        assert_eq!(taken(&[&[7, 3, 3]], "f32[7,3,3] cholesky(p0), lower=true"), 7 * 27);
        let solve = "f32[3,2] triangular-solve(p0, p1), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE";
        assert_eq!(taken(&[&[3, 3], &[3, 2]], solve), 3 * 3 * 2);
        // 8 has four binary digits.
        let fft = "c64[2,8,5] fft(p0), fft_type=RFFT, fft_length={8,8}";
        assert_eq!(taken(&[&[2, 8, 8]], fft), 2 * 64 * (4 + 4));
        assert_eq!(taken(&[&[3, 8]], "(f32[3,2], s32[3,2]) topk(p0), k=2, largest=true"), 24 * 4);
        let svd = "(f32[4,3], f32[3], f32[4,3], f32[3,3], s32[]) custom-call(p0), custom_call_target=\"lapack_sgesdd_ffi\", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 83 : ui8}";
        assert_eq!(taken(&[&[4, 3]], svd), 12 * 4);
    }
}
