//! Cost of an instruction beyond one step and its arrays: fuel, and bytes that it works in.
//!
//! A step reserves these bytes before it runs, and they are part of the planned peak.
//! `interp/tests/memory` compares them with what the allocator sees.
use crate::custom;
use hlo::ir::Instruction;
use hlo::op::Kind;
use hlo::{Op, Shape};
use kernels::{Cost, array_op, at_site};
use num::Arithmetic;

/// Returns the cost of an op on arrays, or of a custom call, by the function of `spec`.
pub(crate) fn cost(op: &Op, operands: &[&Shape], result: &Shape, arithmetic: Arithmetic) -> Cost {
    if let Op::CustomCall(call) = op {
        return custom::cost(&call.custom_call_target.0, operands, result, arithmetic);
    }
    let cost =
        array_op(op).and_then(|op| at_site(operands, result, arithmetic, |site| op.cost(site)));
    cost.unwrap_or(Cost::LINEAR)
}

/// Returns the fuel of an op on operands of these shapes.
pub(crate) fn fuel(op: &Op, operands: &[&Shape], result: &Shape) -> u64 {
    // As many in every arithmetic.
    let cost = cost(op, operands, result, Arithmetic::Exact);
    u64::try_from(cost.steps).unwrap_or(u64::MAX)
}

/// Returns the bytes of a member of a group that exchanges values.
pub(super) fn of_exchange(instruction: &Instruction) -> usize {
    // The whole is reduced before it is split, and parts are cut before they are joined.
    if let Op::ReduceScatter(_) | Op::AllToAll(_) = instruction.op {
        return bytes(&[&instruction.shape]);
    }
    0
}

/// Returns the bytes beyond those of the function itself where operands may be smaller than their
/// bounds: what is cut from them, and the result before it is put into an array of the bounds.
pub(super) fn of_resizing(instruction: &Instruction, operands: &[&Shape]) -> usize {
    let results = bytes(&[&instruction.shape]);
    match instruction.opcode().kind() {
        Kind::Array | Kind::Value => bytes(operands).saturating_add(results),
        Kind::Custom
        | Kind::Device
        | Kind::Host
        | Kind::Random
        | Kind::Transfer
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Control => 0,
    }
}

fn bytes(shapes: &[&Shape]) -> usize {
    let leaves = shapes.iter().flat_map(|shape| shape.leaves());
    let arrays = leaves.filter_map(Shape::array);
    arrays.map(|a| a.byte_count().unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Executable, RunOptions};
    use hlo::{ArrayShape, ElementType, Literal};

    /// Returns the fuel of a module of one op with these operands, the instructions not counted.
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
