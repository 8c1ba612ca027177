//! The grid: rows of ops, columns of element types.
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType, Opcode};
use std::collections::BTreeSet;
use std::ops::Range;

/// The elements of an array, about.
const ELEMENTS: usize = 1024;

/// A module of one op in one type.
pub(crate) struct Cell {
    /// What limits its instructions.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) ty: &'static str,
    /// The elements, or multiplications, by which its instructions are divided.
    pub(crate) elements: usize,
    pub(crate) text: String,
    /// The range of its arguments.
    pub(crate) range: Range<f64>,
}

/// An op in several types. `{t}` stands for the type, `{c}` for that of its components.
struct Row {
    /// What limits its instructions.
    kind: &'static str,
    name: &'static str,
    /// The classes of types, by their first letters as in the op table, `N` for floats below 16
    /// bits, or names of types.
    types: &'static str,
    /// The elements by which the instructions are divided.
    elements: usize,
    /// The instructions of the entry.
    body: &'static str,
}

macro_rules! rows {
    ($($kind:ident $name:literal $types:literal $elements:literal: $body:literal;)*) => {
        const ROWS: &[Row] = &[$(Row {
            kind: stringify!($kind), name: $name, types: $types, elements: $elements, body: $body,
        }),*];
    };
}
rows! {
    moves "bitcast-convert" "PSUFC" 1024: "x = {t}[32,32] parameter(0) ROOT r = {t}[32,32] bitcast-convert(x)";
    moves "broadcast" "PSUFC" 1024: "x = {t}[32] parameter(0) ROOT r = {t}[32,32] broadcast(x), dimensions={1}";
    moves "broadcast of a column" "PSUFC" 1024: "x = {t}[32] parameter(0) ROOT r = {t}[32,32] broadcast(x), dimensions={0}";
    moves "copy" "PSUFC" 1024: "x = {t}[32,32] parameter(0) ROOT r = {t}[32,32] copy(x)";
    moves "concatenate" "PSUFC" 1024: "x = {t}[32,16] parameter(0) y = {t}[32,16] parameter(1) ROOT r = {t}[32,32] concatenate(x, y), dimensions={1}";
    moves "dynamic-slice" "PSUFC" 1024: "x = {t}[40,40] parameter(0) i = s32[] constant(3) ROOT r = {t}[32,32] dynamic-slice(x, i, i), dynamic_slice_sizes={32,32}";
    moves "dynamic-update-slice" "PSUFC" 1024: "x = {t}[40,40] parameter(0) y = {t}[32,32] parameter(1) i = s32[] constant(3)
        ROOT r = {t}[40,40] dynamic-update-slice(x, y, i, i)";
    moves "pad" "PSUFC" 1024: "x = {t}[28,28] parameter(0) z = {t}[] parameter(1) ROOT r = {t}[32,32] pad(x, z), padding=2_2x3_1";
    moves "pad between elements" "PSUFC" 1024: "x = {t}[16,17] parameter(0) z = {t}[] parameter(1) ROOT r = {t}[31,33] pad(x, z), padding=0_0_1x0_0_1";
    moves "reshape" "PSUFC" 1024: "x = {t}[32,32] parameter(0) ROOT r = {t}[16,64] reshape(x)";
    moves "reverse" "PSUFC" 1024: "x = {t}[32,32] parameter(0) ROOT r = {t}[32,32] reverse(x), dimensions={1}";
    moves "slice" "PSUFC" 1024: "x = {t}[32,40] parameter(0) ROOT r = {t}[32,32] slice(x), slice={[0:32],[3:35]}";
    moves "slice with steps" "PSUFC" 1024: "x = {t}[32,64] parameter(0) ROOT r = {t}[32,32] slice(x), slice={[0:32],[0:64:2]}";
    moves "transpose" "PSUFC" 1024: "x = {t}[32,32] parameter(0) ROOT r = {t}[32,32] transpose(x), dimensions={1,0}";
    moves "iota" "SUFC" 1024: "ROOT r = {t}[32,32] iota(), iota_dimension=1";
    indexing "gather" "PSUFC" 1024: "x = {t}[1024] parameter(0) i = s32[1024] iota(), iota_dimension=0 j = s32[1024] reverse(i), dimensions={0}
        k = s32[1024,1] reshape(j) ROOT r = {t}[1024] gather(x, k), offset_dims={}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1}";
    indexing "gather of rows" "PSUFC" 1024: "x = {t}[32,32] parameter(0) i = s32[32] iota(), iota_dimension=0 j = s32[32] reverse(i), dimensions={0}
        k = s32[32,1] reshape(j) ROOT r = {t}[32,32] gather(x, k), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}";
    indexing "scatter" "PSUFC" 1024: "x = {t}[1024] parameter(0) u = {t}[1024] parameter(1) i = s32[1024] iota(), iota_dimension=0
        j = s32[1024] reverse(i), dimensions={0} k = s32[1024,1] reshape(j) ROOT r = {t}[1024] scatter(x, k, u),
        update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second";
    indexing "scatter of sums" "SUFC" 1024: "x = {t}[1024] parameter(0) u = {t}[1024] parameter(1) i = s32[1024] iota(), iota_dimension=0
        j = s32[1024] reverse(i), dimensions={0} k = s32[1024,1] reshape(j) ROOT r = {t}[1024] scatter(x, k, u),
        update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
    arithmetic "clamp" "SUF" 1024: "x = {t}[1024] parameter(0) a = {t}[] parameter(1) b = {t}[] parameter(2) ROOT r = {t}[1024] clamp(a, x, b)";
    arithmetic "compare" "PSUFC" 1024: "x = {t}[1024] parameter(0) y = {t}[1024] parameter(1) ROOT r = pred[1024] compare(x, y), direction=EQ";
    arithmetic "select" "PSUFC" 1024: "p = pred[1024] parameter(0) x = {t}[1024] parameter(1) y = {t}[1024] parameter(2) ROOT r = {t}[1024] select(p, x, y)";
    arithmetic "reduce-precision" "F" 1024: "x = {t}[1024] parameter(0) ROOT r = {t}[1024] reduce-precision(x), exponent_bits=4, mantissa_bits=2";
    arithmetic "stochastic-convert" "s8 s16 s32 s64" 1024: "x = f32[1024] parameter(0) b = u32[1024] parameter(1) ROOT r = {t}[1024] stochastic-convert(x, b)";
    arithmetic "map" "SUFC" 1024: "x = {t}[1024] parameter(0) y = {t}[1024] parameter(1) ROOT r = {t}[1024] map(x, y), dimensions={0}, to_apply=add";
    folds "reduce of rows" "SUFC" 1024: "x = {t}[32,32] parameter(0) z = {t}[] constant(0) ROOT r = {t}[32] reduce(x, z), dimensions={1}, to_apply=add";
    folds "reduce of columns" "SUFC" 1024: "x = {t}[32,32] parameter(0) z = {t}[] constant(0) ROOT r = {t}[32] reduce(x, z), dimensions={0}, to_apply=add";
    folds "reduce of all" "SUFC" 1024: "x = {t}[32,32] parameter(0) z = {t}[] constant(0) ROOT r = {t}[] reduce(x, z), dimensions={0,1}, to_apply=add";
    folds "reduce by or" "PSU" 1024: "x = {t}[32,32] parameter(0) z = {t}[] constant(0) ROOT r = {t}[32] reduce(x, z), dimensions={1}, to_apply=or";
    folds "reduce to the maximum" "PSUF" 1024: "x = {t}[32,32] parameter(0) z = {t}[] parameter(1) ROOT r = {t}[32] reduce(x, z), dimensions={1}, to_apply=max";
    folds "reduce to the maximum of columns" "PSUF" 1024: "x = {t}[32,32] parameter(0) z = {t}[] parameter(1) ROOT r = {t}[32] reduce(x, z), dimensions={0}, to_apply=max";
    folds "reduce to the product" "SUFC" 1024: "x = {t}[32,32] parameter(0) z = {t}[] parameter(1) ROOT r = {t}[32] reduce(x, z), dimensions={1}, to_apply=mul";
    searches "reduce to the place of the maximum" "SUF" 1024: "x = {t}[32,32] parameter(0) z = {t}[] parameter(1) i = s32[32,32] iota(), iota_dimension=1 y = s32[] constant(0)
        ROOT r = ({t}[32], s32[32]) reduce(x, i, z, y), dimensions={1}, to_apply=most";
    windows "reduce-window" "SUFC" 1024: "x = {t}[32,32] parameter(0) z = {t}[] constant(0) ROOT r = {t}[32,32] reduce-window(x, z), window={size=3x3 pad=1_1x1_1}, to_apply=add";
    windows "reduce-window to the maximum" "SUF" 1024: "x = {t}[32,32] parameter(0) z = {t}[] parameter(1) ROOT r = {t}[32,32] reduce-window(x, z), window={size=3x3 pad=1_1x1_1}, to_apply=max";
    windows "reduce-window over all before" "SUFC" 1024: "x = {t}[32,32] parameter(0) z = {t}[] constant(0) ROOT r = {t}[32,32] reduce-window(x, z), window={size=1x64 pad=0_0x63_0}, to_apply=add";
    windows "select-and-scatter" "SUF" 1024: "x = {t}[32,32] parameter(0) s = {t}[16,16] parameter(1) z = {t}[] constant(0)
        ROOT r = {t}[32,32] select-and-scatter(x, s, z), window={size=2x2 stride=2x2}, select=greater, scatter=add";
    sorts "sort" "SUF" 1024: "x = {t}[1024] parameter(0) ROOT r = {t}[1024] sort(x), dimensions={0}, to_apply=less";
    sorts "sort with places" "SUF" 1024: "x = {t}[1024] parameter(0) i = s32[1024] iota(), iota_dimension=0
        ROOT r = ({t}[1024], s32[1024]) sort(x, i), dimensions={0}, is_stable=true, to_apply=less_of_pairs";
    searches "topk" "SUF" 1024: "x = {t}[1024] parameter(0) ROOT r = ({t}[8], s32[8]) topk(x), k=8, largest=true";
    products "dot" "SUFC" 32768: "x = {t}[32,32] parameter(0) y = {t}[32,32] parameter(1) ROOT r = {t}[32,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    products "dot of a transpose" "SUFC" 32768: "x = {t}[32,32] parameter(0) y = {t}[32,32] parameter(1) ROOT r = {t}[32,32] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1}";
    small_products "dot of a vector" "SUFC" 1024: "x = {t}[32] parameter(0) y = {t}[32,32] parameter(1) ROOT r = {t}[32] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    small_products "dot of small matrices" "SUFC" 4096: "x = {t}[64,4,4] parameter(0) y = {t}[64,4,4] parameter(1)
        ROOT r = {t}[64,4,4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
    products "ragged-dot" "SUFC" 16384: "x = {t}[16,32] parameter(0) y = {t}[2,32,32] parameter(1) g = s32[2] constant({8, 8})
        ROOT r = {t}[16,32] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
    products "scaled-dot" "f8e4m3fn f8e5m2 bf16" 8192: "x = {t}[16,32] parameter(0) y = {t}[16,32] parameter(1) a = f8e8m0fnu[16,2] parameter(2) b = f8e8m0fnu[16,2] parameter(3)
        ROOT r = f32[16,16] scaled-dot(x, y, a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}";
    products "convolution" "SUFC" 36864: "x = {t}[1,8,8,8] parameter(0) k = {t}[3,3,8,8] parameter(1)
        ROOT r = {t}[1,8,8,8] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
    small_products "convolution by channels" "SUFC" 4608: "x = {t}[1,8,8,8] parameter(0) k = {t}[3,3,1,8] parameter(1)
        ROOT r = {t}[1,8,8,8] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=8";
    transforms "fft" "C" 1024: "x = {t}[2,512] parameter(0) ROOT r = {t}[2,512] fft(x), fft_type=FFT, fft_length={512}";
    transforms "fft of real numbers" "f32 f64" 1024: "x = {t}[2,512] parameter(0) ROOT r = {z}[2,257] fft(x), fft_type=RFFT, fft_length={512}";
    transforms "fft of a prime length" "C" 1009: "x = {t}[1,1009] parameter(0) ROOT r = {t}[1,1009] fft(x), fft_type=FFT, fft_length={1009}";
    factorizations "cholesky" "f16 bf16 f32 f64 c64 c128" 10922: "d = {t}[32,32] parameter(0) i = s32[32,32] iota(), iota_dimension=0 j = s32[32,32] iota(), iota_dimension=1
        e = pred[32,32] compare(i, j), direction=EQ c = {t}[32,32] convert(e) k = {t}[] constant(64) b = {t}[32,32] broadcast(k), dimensions={}
        m = {t}[32,32] multiply(c, b) a = {t}[32,32] add(d, m) ROOT r = {t}[32,32] cholesky(a), lower=true";
    factorizations "triangular-solve" "f16 bf16 f32 f64 c64 c128" 32768: "x = {t}[32,32] parameter(0) y = {t}[32,32] parameter(1)
        ROOT r = {t}[32,32] triangular-solve(x, y), left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE";
    normalizations "batch-norm-inference" "f16 bf16 f32 f64" 1024: "x = {t}[32,32] parameter(0) s = {t}[32] parameter(1) o = {t}[32] parameter(2) m = {t}[32] parameter(3) v = {t}[32] parameter(4)
        ROOT r = {t}[32,32] batch-norm-inference(x, s, o, m, v), epsilon=2, feature_index=1";
    normalizations "batch-norm-training" "f16 bf16 f32 f64" 1024: "x = {t}[32,32] parameter(0) s = {t}[32] parameter(1) o = {t}[32] parameter(2)
        ROOT r = ({t}[32,32], {t}[32], {t}[32]) batch-norm-training(x, s, o), epsilon=2, feature_index=1";
    normalizations "batch-norm-grad" "f16 bf16 f32 f64" 1024: "x = {t}[32,32] parameter(0) s = {t}[32] parameter(1) m = {t}[32] parameter(2) v = {t}[32] parameter(3) g = {t}[32,32] parameter(4)
        ROOT r = ({t}[32,32], {t}[32], {t}[32]) batch-norm-grad(x, s, m, v, g), epsilon=2, feature_index=1";
    random "rng-bit-generator" "u8 u16 u32 u64" 1024: "s = u64[2] constant({1, 2}) ROOT r = (u64[2], {t}[1024]) rng-bit-generator(s), algorithm=rng_three_fry";
    random "rng-bit-generator by philox" "u8 u16 u32 u64" 1024: "s = u64[2] constant({1, 2}) ROOT r = (u64[2], {t}[1024]) rng-bit-generator(s), algorithm=rng_philox";
    random "rng" "f16 bf16 f32 f64" 1024: "a = {t}[] constant(0) b = {t}[] constant(1) ROOT r = {t}[1024] rng(a, b), distribution=rng_normal";
    loops "while over a number" "s32 s64 u32 f32 f64" 4096: "z = {t}[] constant(0) i = s32[] constant(0) s = (s32[], {t}[]) tuple(i, z) w = (s32[], {t}[]) while(s), condition=below, body=rounds
        ROOT r = {t}[] get-tuple-element(w), index=1";
    loops "while over a vector" "s32 s64 f16 bf16 f32 f64 c64" 65536: "z = {t}[16] parameter(0) i = s32[] constant(0) s = (s32[], {t}[16]) tuple(i, z) w = (s32[], {t}[16]) while(s), condition=below16, body=rounds16
        ROOT r = {t}[16] get-tuple-element(w), index=1";
}

/// Computations that rows call.
const CALLED: &str = "less { a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
greater { a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
less_of_pairs { a = {t}[] parameter(0) b = {t}[] parameter(1) d = s32[] parameter(2) e = s32[] parameter(3) ROOT c = pred[] compare(a, b), direction=LT }
add { a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = {t}[] add(a, b) }
mul { a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = {t}[] multiply(a, b) }
or { a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = {t}[] or(a, b) }
max { a = {t}[] parameter(0) b = {t}[] parameter(1) ROOT c = {t}[] maximum(a, b) }
second { a = {t}[] parameter(0) ROOT b = {t}[] parameter(1) }
most { a = {t}[] parameter(0) b = s32[] parameter(1) c = {t}[] parameter(2) d = s32[] parameter(3) g = pred[] compare(c, a), direction=GT
  e = {t}[] select(g, c, a) f = s32[] select(g, d, b) ROOT t = ({t}[], s32[]) tuple(e, f) }
below { s = (s32[], {t}[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(4096) ROOT c = pred[] compare(i, n), direction=LT }
rounds { s = (s32[], {t}[]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = {t}[] get-tuple-element(s), index=1 o = s32[] constant(1)
  j = s32[] add(i, o) c = {t}[] convert(i) y = {t}[] add(x, c) ROOT t = (s32[], {t}[]) tuple(j, y) }
below16 { s = (s32[], {t}[16]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(4096) ROOT c = pred[] compare(i, n), direction=LT }
rounds16 { s = (s32[], {t}[16]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = {t}[16] get-tuple-element(s), index=1 o = s32[] constant(1)
  j = s32[] add(i, o) c = {t}[] convert(i) d = {t}[16] broadcast(c), dimensions={} y = {t}[16] add(x, d) ROOT t = (s32[], {t}[16]) tuple(j, y) }
";

/// Ops without a row, by the reason.
const NOT_COUNTED: [(&str, &[Opcode]); 4] = [
    (
        "returns what it is given, or a part of it",
        &[
            Opcode::AddDependency,
            Opcode::AfterAll,
            Opcode::Bitcast,
            Opcode::Constant,
            Opcode::Domain,
            Opcode::GetDimensionSize,
            Opcode::GetTupleElement,
            Opcode::OptBarrier,
            Opcode::Parameter,
            Opcode::PartitionId,
            Opcode::ReplicaId,
            Opcode::RngGetAndUpdateState,
            Opcode::SetDimensionSize,
            Opcode::Tuple,
            Opcode::DynamicReshape,
        ],
    ),
    (
        "executes a computation, whose ops count",
        &[Opcode::Call, Opcode::Conditional, Opcode::Fusion, Opcode::Scan, Opcode::CustomCall],
    ),
    (
        "is executed by several devices, or by the host",
        &[
            Opcode::AllGather,
            Opcode::AllReduce,
            Opcode::AllToAll,
            Opcode::CollectiveBroadcast,
            Opcode::CollectivePermute,
            Opcode::Infeed,
            Opcode::Outfeed,
            Opcode::RaggedAllToAll,
            Opcode::Recv,
            Opcode::ReduceScatter,
            Opcode::Send,
        ],
    ),
    ("starts or ends another op", &[]),
];

/// Returns the cells in their order.
///
/// # Panics
/// If an op of the table has neither a row nor a reason.
pub(crate) fn cells() -> Vec<Cell> {
    let unary = Unary::ALL.iter().map(|op| (op.opcode(), "x = {t}[1024] parameter(0) "));
    let binary = Binary::ALL
        .iter()
        .map(|op| (op.opcode(), "x = {t}[1024] parameter(0) y = {t}[1024] parameter(1) "));
    let elementwise = unary.chain(binary).flat_map(|(op, parameters)| elementwise(op, parameters));
    let conversions = ElementType::ALL.iter().flat_map(|&from| conversions(from));
    let rows = ROWS.iter().flat_map(of_row);
    let cells: Vec<Cell> = elementwise.chain(conversions).chain(rows).collect();
    let known: BTreeSet<&str> =
        cells.iter().filter_map(|cell| cell.name.split(' ').next()).collect();
    for &op in Opcode::ALL {
        let has_reason =
            NOT_COUNTED.iter().any(|(_, ops)| ops.contains(&op)) || op.async_role().is_some();
        assert!(known.contains(op.name()) != has_reason, "{op} has no row, or a row and a reason");
    }
    cells
}

/// Returns the cells of an elementwise op.
fn elementwise(op: Opcode, parameters: &'static str) -> impl Iterator<Item = Cell> {
    let types = op.types().expect("an elementwise op has types");
    let on = move |&&ty: &&ElementType| types.contains(ty) && op.result_type(ty).is_some();
    ElementType::ALL.iter().filter(on).map(move |&ty| {
        let result = op.result_type(ty).unwrap_or(ty).name();
        let operands = if parameters.contains('y') { "x, y" } else { "x" };
        let text = module(ty, &format!("{parameters} ROOT r = {result}[1024] {op}({operands})"));
        Cell {
            kind: kind_of(op),
            name: op.name().to_owned(),
            ty: ty.name(),
            elements: ELEMENTS,
            text,
            range: range(op),
        }
    })
}

/// Returns what limits the instructions of an elementwise op: whether it is more than a few
/// operations of a processor.
fn kind_of(op: Opcode) -> &'static str {
    let is_function =
        op.accuracy() != Opcode::Add.accuracy() || matches!(op, Opcode::Divide | Opcode::Remainder);
    if is_function { "functions" } else { "arithmetic" }
}

/// Returns arguments on which the function has finite results.
fn range(op: Opcode) -> Range<f64> {
    match op {
        Opcode::Log | Opcode::Sqrt | Opcode::Rsqrt | Opcode::Power | Opcode::Cbrt => 0.5..2.0,
        Opcode::Acosh => 1.0..2.0,
        _ => -1.0..1.0,
    }
}

/// Returns the conversions of a type to each other one.
fn conversions(from: ElementType) -> impl Iterator<Item = Cell> {
    ElementType::ALL.iter().filter(move |&&to| to != from).map(move |&to| Cell {
        kind: "arithmetic",
        name: format!("convert to {}", to.name()),
        ty: from.name(),
        elements: ELEMENTS,
        text: module(
            from,
            &format!("x = {{t}}[1024] parameter(0) ROOT r = {}[1024] convert(x)", to.name()),
        ),
        range: -1.0..1.0,
    })
}

fn of_row(row: &'static Row) -> impl Iterator<Item = Cell> {
    let has = |&&ty: &&ElementType| {
        let class = match ty.class() {
            Class::Pred => 'P',
            Class::Signed => 'S',
            Class::Unsigned => 'U',
            Class::Float => 'F',
            Class::Complex => 'C',
        };
        row.types.contains(class) || row.types.split(' ').any(|name| name == ty.name())
    };
    ElementType::ALL.iter().filter(has).map(|&ty| Cell {
        kind: row.kind,
        name: row.name.to_owned(),
        ty: ty.name(),
        elements: row.elements,
        text: module(ty, row.body),
        range: -1.0..1.0,
    })
}

/// Returns the text of a module with the computations that it calls.
fn module(ty: ElementType, body: &str) -> String {
    let called = CALLED.split_inclusive("}\n").filter(|computation| {
        let name = computation.split(' ').next().unwrap_or_default();
        ["to_apply", "select", "scatter", "condition", "body"].iter().any(|attribute| {
            let named = body.find(&format!("{attribute}={name}"));
            let next =
                named.and_then(|at| body[at + attribute.len() + 1 + name.len()..].chars().next());
            named.is_some() && next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    });
    let text = format!("HloModule grid\n{}ENTRY main {{ {body} }}", called.collect::<String>());
    let complex = ty.complex().map_or("", ElementType::name);
    let number = |n: u8| match ty.class() {
        Class::Complex => format!("constant(({n}, 0))"),
        // It has no zero.
        _ if ty == ElementType::F8E8M0Fnu => format!("constant({})", n.max(1)),
        _ => format!("constant({n})"),
    };
    let text = [0, 64].into_iter().fold(text, |text, n| {
        text.replace(&format!("{{t}}[] constant({n})"), &format!("{{t}}[] {}", number(n)))
    });
    text.replace("{t}", ty.name()).replace("{z}", complex)
}
