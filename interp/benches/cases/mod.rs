//! Cases of the benches of kernels: modules of one op on arrays of a given size.
use hlo::{ArrayShape, Class, Literal, Module, Scalar};
use interp::{CompileOptions, Engine, Executable, RunOptions};
use std::hint::black_box;
use std::ops::Range;

/// An op on arrays of about `n` elements.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The instructions of the entry. `{n}` stands for `n`, `{s}` for its square root, `{l}` for
    /// `n / 64`.
    body: &'static str,
    /// The operations that its time is divided by: `n` to this power.
    pub(crate) power: f64,
}

const CALLED: &str = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
";

macro_rules! cases {
    ($($name:literal, $power:literal: $body:literal;)*) => {
        pub(crate) const CASES: &[Case] = &[$(Case { name: $name, body: $body, power: $power }),*];
    };
}
cases! {
    "add", 1.0: "x = f32[{n}] parameter(0) y = f32[{n}] parameter(1) ROOT r = f32[{n}] add(x, y)";
    "exponential", 1.0: "x = f32[{n}] parameter(0) ROOT r = f32[{n}] exponential(x)";
    "convert f32 to bf16", 1.0: "x = f32[{n}] parameter(0) ROOT r = bf16[{n}] convert(x)";
    "chain of five ops", 1.0: "x = f32[{n}] parameter(0) y = f32[{n}] parameter(1) a = f32[{n}] multiply(x, y)
        b = f32[{n}] tanh(a) c = f32[{n}] add(b, x) d = f32[{n}] maximum(c, y) ROOT r = f32[{n}] subtract(d, x)";
    "transpose", 1.0: "x = f32[{s},{s}] parameter(0) ROOT r = f32[{s},{s}] transpose(x), dimensions={1,0}";
    "reduce rows", 1.0: "x = f32[{l},64] parameter(0) z = f32[] constant(0)
        ROOT r = f32[{l}] reduce(x, z), dimensions={1}, to_apply=add";
    "reduce columns", 1.0: "x = f32[{l},64] parameter(0) z = f32[] constant(0)
        ROOT r = f32[64] reduce(x, z), dimensions={0}, to_apply=add";
    "reduce all", 1.0: "x = f32[{n}] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add";
    "softmax", 1.0: "x = f32[{s},{s}] parameter(0) i = f32[] constant(-inf) z = f32[] constant(0)
        m = f32[{s}] reduce(x, i), dimensions={1}, to_apply=max a = f32[{s},{s}] broadcast(m), dimensions={0}
        d = f32[{s},{s}] subtract(x, a) e = f32[{s},{s}] exponential(d) s = f32[{s}] reduce(e, z), dimensions={1}, to_apply=add
        b = f32[{s},{s}] broadcast(s), dimensions={0} ROOT r = f32[{s},{s}] divide(e, b)";
    "cumulative sum", 1.0: "x = f32[{n}] parameter(0) z = f32[] constant(0)
        ROOT r = f32[{n}] reduce-window(x, z), window={size={n} pad={n-1}_0}, to_apply=add";
    "max pool", 1.0: "x = f32[{s},{s}] parameter(0) i = f32[] constant(-inf)
        ROOT r = f32[{s},{s}] reduce-window(x, i), window={size=3x3 pad=1_1x1_1}, to_apply=max";
    "sort", 1.0: "x = f32[{n}] parameter(0) ROOT r = f32[{n}] sort(x), dimensions={0}, to_apply=less";
    "top 8", 1.0: "x = f32[{n}] parameter(0) ROOT r = (f32[8], s32[8]) topk(x), k=8, largest=true";
    "gather rows", 1.0: "x = f32[{l},64] parameter(0) i = s32[{l}] iota(), iota_dimension=0 j = s32[{l}] reverse(i), dimensions={0}
        k = s32[{l},1] reshape(j) ROOT r = f32[{l},64] gather(x, k), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}";
    "scatter rows", 1.0: "x = f32[{l},64] parameter(0) u = f32[{l},64] parameter(1) i = s32[{l}] iota(), iota_dimension=0
        j = s32[{l}] reverse(i), dimensions={0} k = s32[{l},1] reshape(j) ROOT r = f32[{l},64] scatter(x, k, u),
        update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
    "dot f32", 1.5: "x = f32[{s},{s}] parameter(0) y = f32[{s},{s}] parameter(1)
        ROOT r = f32[{s},{s}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    "dot bf16", 1.5: "x = bf16[{s},{s}] parameter(0) y = bf16[{s},{s}] parameter(1)
        ROOT r = bf16[{s},{s}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    "dot s32", 1.5: "x = s32[{s},{s}] parameter(0) y = s32[{s},{s}] parameter(1)
        ROOT r = s32[{s},{s}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    "dot f64", 1.5: "x = f64[{s},{s}] parameter(0) y = f64[{s},{s}] parameter(1)
        ROOT r = f64[{s},{s}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    "dot c64", 1.5: "x = c64[{s},{s}] parameter(0) y = c64[{s},{s}] parameter(1)
        ROOT r = c64[{s},{s}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    "dot of batches", 1.0: "x = f32[{l},8,8] parameter(0) y = f32[{l},8,8] parameter(1)
        ROOT r = f32[{l},8,8] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}";
    "dot of a vector", 1.0: "x = f32[{s}] parameter(0) y = f32[{s},{s}] parameter(1)
        ROOT r = f32[{s}] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    "convolution 3x3", 1.0: "x = f32[1,{s},{s},16] parameter(0) k = f32[3,3,16,16] parameter(1)
        ROOT r = f32[1,{s},{s},16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
    "depthwise 3x3", 1.0: "x = f32[1,16,{s},{s}] parameter(0) k = f32[16,1,3,3] parameter(1)
        ROOT r = f32[1,16,{s},{s}] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, feature_group_count=16";
    "fft", 1.0: "x = c64[{n}] parameter(0) ROOT r = c64[{n}] fft(x), fft_type=FFT, fft_length={{n}}";
    "cholesky", 1.5: "x = f32[{s},{s}] parameter(0) y = f32[{s},{s}] parameter(1)
        d = f32[{s},{s}] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
        i = s32[{s},{s}] iota(), iota_dimension=0 j = s32[{s},{s}] iota(), iota_dimension=1 e = pred[{s},{s}] compare(i, j), direction=EQ
        c = f32[{s},{s}] convert(e) k = f32[] constant({n}) b = f32[{s},{s}] broadcast(k), dimensions={}
        m = f32[{s},{s}] multiply(c, b) a = f32[{s},{s}] add(d, m) ROOT r = f32[{s},{s}] cholesky(a), lower=true";
    "random bits", 1.0: "s = u64[2] constant({1, 2}) ROOT r = (u64[2], u32[{n}]) rng-bit-generator(s), algorithm=rng_philox";
}

impl Case {
    fn text(&self, n: usize) -> String {
        let body = self.body.replace("{n-1}", &(n - 1).to_string()).replace("{n}", &n.to_string());
        let body = body.replace("{s}", &n.isqrt().to_string());
        let body = body.replace("{l}", &(n / 64).max(1).to_string());
        format!("HloModule bench\n{CALLED}ENTRY main {{ {body} }}")
    }
    /// Returns the module for `n` elements, compiled, with its inputs.
    pub(crate) fn prepare(&self, n: usize, engine: Engine) -> Prepared {
        prepare(&self.text(n), engine, -1.0..1.0)
    }
}

/// Returns the module of a text, compiled, with inputs from `range`.
pub(crate) fn prepare(text: &str, engine: Engine, range: Range<f64>) -> Prepared {
    let module: Module = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    let entry = module.entry();
    let parameters = entry.parameters();
    let inputs = (parameters.iter())
        .map(|&id| input(entry.instructions[id].shape.array().expect("an array"), &range))
        .collect();
    let module = module.verify().unwrap_or_else(|error| panic!("{error}: {text}"));
    let options = CompileOptions::default().engine(engine);
    let executable = Executable::compile(module, &options).expect("a program");
    Prepared { executable, inputs }
}

/// A program with its inputs.
pub(crate) struct Prepared {
    executable: Executable,
    inputs: Vec<Literal>,
}

impl Prepared {
    pub(crate) fn run(&self) {
        let result = self.executable.execute(black_box(&self.inputs), &RunOptions::default());
        black_box(result.expect("a result"));
    }
}

/// Returns an array of arbitrary fractions, the same in each run.
fn input(shape: &ArrayShape, range: &Range<f64>) -> Literal {
    let mut literal = Literal::zeros(shape.clone());
    let width = shape.ty.storage_bytes();
    let mut state = 1u32;
    let mut bits = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    for slot in literal.bytes_mut().chunks_exact_mut(width) {
        let mut fraction = || {
            f64::from(bits() >> 8) / f64::from(1 << 24) * (range.end - range.start) + range.start
        };
        let element = match shape.ty.class() {
            Class::Complex => Scalar::Complex(fraction(), fraction()),
            Class::Float => Scalar::Float(fraction()),
            Class::Pred | Class::Signed | Class::Unsigned => {
                Scalar::Signed(i64::from(bits() >> 16))
            }
        };
        element.round_to(shape.ty).write(shape.ty, slot);
    }
    literal
}
