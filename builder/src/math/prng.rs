//! Counter-based random numbers: Threefry, Philox, and distributions made from their bits.
//!
//! Source: Salmon, Moraes, Dror, Shaw, *Parallel random numbers: as easy as 1, 2, 3* (2011). The
//! bits are those of XLA's `rng-bit-generator`.
use super::bits;
use crate::arguments::{cast, size};
use crate::{Builder, Error, IntoShape, Result, Value};
use hlo::{ArrayShape, Dims, ElementType};

/// Random numbers and the state to go on from: XLA's `RngOutput`.
#[derive(Debug, Clone, Copy)]
pub struct RngOutput<'b> {
    /// The numbers.
    pub value: Value<'b>,
    /// The state for the next call.
    pub state: Value<'b>,
}
impl<'b> RngOutput<'b> {
    /// Runs a call by the user that starts with this key.
    #[track_caller]
    fn record(key: Value<'b>, make: impl FnOnce(&'b Builder) -> Result<Self>) -> Self {
        let invalid = Value::invalid(key.builder());
        key.builder().record_or(Self { value: invalid, state: invalid }, make)
    }
}

/// The types of XLA's normal numbers.
const NORMAL: [ElementType; 3] = [ElementType::F16, ElementType::F32, ElementType::F64];

/// A source of random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitGenerator {
    /// Threefry-2x32 of 20 rounds. The state counts blocks of 64 bits: one `u64`, of shape `u64[]`
    /// or `u64[1]`.
    ThreeFry,
    /// Philox-4x32 of 10 rounds. The state counts blocks of 128 bits: `u64[2]`, the low half first.
    Philox,
}

impl BitGenerator {
    /// Returns random bits of this shape, from a key (`u64[]`) and a state: XLA's
    /// `ThreeFryBitGenerator` and `PhiloxBitGenerator`.
    ///
    /// The bits are unsigned integers as wide as the shape's elements; of 32 and fewer bits each
    /// takes a word of its own.
    ///
    /// ```
    /// use builder::math::BitGenerator;
    /// let b = builder::Builder::new("m");
    /// let bits = BitGenerator::ThreeFry.generate(b.constant(1u64), b.constant(0u64), "f32[8]");
    /// assert_eq!(bits.value.shape()?.to_string(), "u32[8]{0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// `E0801` for `pred`, complex elements and those of other than 8, 16, 32 or 64 bits; for keys
    /// and states of other shapes.
    #[track_caller]
    pub fn generate<'b>(
        self,
        key: Value<'b>,
        initial_state: Value<'b>,
        shape: impl IntoShape,
    ) -> RngOutput<'b> {
        RngOutput::record(key, |_| self.bits(key, initial_state, &array(shape)?))
    }
    fn bits<'b>(
        self,
        key: Value<'b>,
        state: Value<'b>,
        shape: &ArrayShape,
    ) -> Result<RngOutput<'b>> {
        let ty = shape.ty;
        let unsigned = bits::unsigned(ty.bits())
            .filter(|_| !ty.is_complex() && ty != ElementType::Pred)
            .ok_or_else(|| {
                Error::argument(format!("random bits cannot be {ty}"))
                    .with_help("numbers of 8, 16, 32 or 64 bits can be made")
            })?;
        let _ = word(key, 0, "the key")?;
        match self {
            Self::ThreeFry if ty.bits() == 64 => three_fry_64(key, state, shape),
            Self::ThreeFry => three_fry_32(key, state, shape),
            Self::Philox => philox(key, state, shape),
        }
        .and_then(|output| Ok(RngOutput { value: cast(output.value, unsigned)?, ..output }))
    }
    /// Returns uniform floats from `minval` up to, but without, `maxval`, two scalars of the
    /// shape's type: XLA's `UniformFloatingPointDistribution`.
    ///
    /// The highest bits of a word become a multiple of `2^-m` in `[0, 1)`, m the explicit bits of
    /// the mantissa, which is scaled: `u (maxval - minval) + minval`. (For `f16` it is the lowest
    /// ten bits of the word.)
    ///
    /// # Errors
    /// As [`BitGenerator::generate`], and `E0801` unless the type is a real float.
    #[track_caller]
    pub fn uniform_floating_point_distribution<'b>(
        self,
        key: Value<'b>,
        initial_state: Value<'b>,
        minval: Value<'b>,
        maxval: Value<'b>,
        shape: impl IntoShape,
    ) -> RngOutput<'b> {
        RngOutput::record(key, |_| {
            let RngOutput { value, state } = self.bits(key, initial_state, &array(shape)?)?;
            Ok(RngOutput { value: uniform(value, minval, maxval)?, state })
        })
    }
    /// Returns uniform integers from `minval` up to, but without, `maxval`, two scalars of the
    /// shape's type: XLA's `UniformIntDistribution`. Remainders of words by the size of the range,
    /// so a range that does not divide `2^32` (or `2^64`) is not quite even.
    ///
    /// # Errors
    /// As [`BitGenerator::generate`], and `E0801` unless the type is an integer of 32 or 64 bits.
    #[track_caller]
    pub fn uniform_int_distribution<'b>(
        self,
        key: Value<'b>,
        initial_state: Value<'b>,
        minval: Value<'b>,
        maxval: Value<'b>,
        shape: impl IntoShape,
    ) -> RngOutput<'b> {
        RngOutput::record(key, |_| {
            let shape = array(shape)?;
            let ty = shape.ty;
            if !(ty.is_integral() && ty.bits() >= 32) {
                let message = format!("uniform integers are s32, u32, s64 or u64, not {ty}");
                return Err(Error::argument(message));
            }
            let RngOutput { value: bits, state } = self.bits(key, initial_state, &shape)?;
            let unsigned = bits.element_type()?;
            let range =
                maxval.bitcast_convert_type(unsigned) - minval.bitcast_convert_type(unsigned);
            let distance = bits % range;
            let half = distance.shift_right_logical(1);
            // In two steps: the whole distance may not fit the signed type.
            let value =
                half.bitcast_convert_type(ty) + minval + (distance - half).bitcast_convert_type(ty);
            Ok(RngOutput { value, state })
        })
    }
    /// Returns normal numbers of mean 0 and deviation 1: XLA's `NormalFloatingPointDistribution`,
    /// the transform of Box and Muller.
    ///
    /// Two uniform numbers u, v give `sqrt(-2 ln max(u, 1e-7))` times the sine and the cosine of
    /// `2 pi v`; they stand side by side along the first dimension of even size, or else the
    /// largest one.
    ///
    /// # Errors
    /// As [`BitGenerator::generate`], and `E0801` unless the type is `f16`, `f32` or `f64`.
    #[track_caller]
    pub fn normal_floating_point_distribution<'b>(
        self,
        key: Value<'b>,
        initial_state: Value<'b>,
        shape: impl IntoShape,
    ) -> RngOutput<'b> {
        RngOutput::record(key, |b| {
            let shape = array(shape)?;
            let ty = shape.ty;
            if !NORMAL.contains(&ty) {
                return Err(Error::argument(format!(
                    "normal numbers are f16, f32 or f64, not {ty}"
                )));
            }
            let split = PairArrangement::of(&shape);
            let pairs = ArrayShape::new(ty, Dims::from_slice(&split.pairs));
            let RngOutput { value: bits, state } = self.bits(key, initial_state, &pairs)?;
            let (zero, one) = (b.zero(ty), b.one(ty));
            let numbers = uniform(bits, zero, one)?;
            let axis = size(split.axis);
            let first = numbers.slice_in_dim(0, 1, 1, axis);
            let second = numbers.slice_in_dim(1, 2, 1, axis);
            // XLA's smallest argument of the logarithm is an f32.
            let radius = ((first.max(1e-7f32)).log() * -2.0).sqrt();
            let angle = second * std::f64::consts::TAU;
            let value = split.join([angle.sin() * radius, angle.cos() * radius]);
            Ok(RngOutput { value, state })
        })
    }
}

impl Builder {
    /// Returns a vector of scalars: XLA's `ConcatScalars`.
    #[track_caller]
    pub fn concat_scalars<'b>(&'b self, scalars: &[Value<'b>]) -> Value<'b> {
        self.record(|b| {
            let vectors: Vec<Value<'b>> = scalars.iter().map(|x| x.reshape(&[1])).collect();
            Ok(b.concat_in_dim(&vectors, 0))
        })
    }
}

/// Returns state and key of Philox from a key of which any bits may be weak: XLA's
/// `ScramblePhiloxKey`. The state is `u64[2]`, the key `u64[]`.
#[track_caller]
pub fn scramble_philox_key(key: Value<'_>) -> (Value<'_>, Value<'_>) {
    let b = key.builder();
    let invalid = (Value::invalid(b), Value::invalid(b));
    b.record_or(invalid, |b| {
        let [low, high] = halves(word(key, 0, "the key")?);
        let zero = b.constant(0u32);
        let fixed = [b.constant(0x3EC8_F720u32), b.constant(0x0246_1E29u32)];
        let mixed = philox_block([low, zero, high, zero], fixed);
        let state = b.concat_scalars(&[b.constant(0u64), joined([mixed[2], mixed[3]])]);
        Ok((state, joined([mixed[0], mixed[1]])))
    })
}

/// Returns a counter of 128 bits, `u64[2]` with the low half first, plus a `u64`: XLA's
/// `PhiloxIncreaseCounter`.
#[track_caller]
pub fn philox_increase_counter<'b>(counter: Value<'b>, delta: Value<'b>) -> Value<'b> {
    counter.record(|b| {
        let [low, high] = counter_halves(counter)?;
        let [low, high] = increased([low, high], delta);
        Ok(b.concat_scalars(&[low, high]))
    })
}

fn array(shape: impl IntoShape) -> Result<ArrayShape> {
    let shape = shape.into_shape()?;
    shape
        .array()
        .cloned()
        .ok_or_else(|| Error::argument(format!("random numbers fill an array, {shape:#} is none")))
}

/// Returns the element `index` of an array of `u64`, as a scalar. A scalar has one element.
fn word<'b>(x: Value<'b>, index: i64, what: &str) -> Result<Value<'b>> {
    let shape = x.array()?;
    let fits = shape.ty == ElementType::U64
        && match shape.dims.as_slice() {
            [] => index == 0,
            [count] => index < *count,
            _ => false,
        };
    if !fits {
        let message = format!("{what} is {shape:#}, expected a u64 element at index {index}");
        return Err(Error::argument(message).with_help("keys and states are of type u64"));
    }
    if shape.rank() == 0 {
        return Ok(x);
    }
    Ok(x.slice_in_dim(index, index + 1, 1, 0).reshape(&[]))
}
fn counter_halves(state: Value<'_>) -> Result<[Value<'_>; 2]> {
    Ok([word(state, 0, "the state")?, word(state, 1, "the state")?])
}

/// Returns the low and the high half of a `u64`.
fn halves(x: Value<'_>) -> [Value<'_>; 2] {
    let high = x.shift_right_logical(32);
    [x, high].map(|half| half.convert_element_type(ElementType::U32))
}
/// Returns the `u64` of two halves, the low one first.
fn joined([low, high]: [Value<'_>; 2]) -> Value<'_> {
    let wide = [low, high].map(|half| half.convert_element_type(ElementType::U64));
    wide[0] | (wide[1] << 32)
}
/// Returns a number of 128 bits, low half first, plus one of 64.
fn increased<'b>([low, high]: [Value<'b>; 2], by: Value<'b>) -> [Value<'b>; 2] {
    let sum = low + by;
    let carry = sum.lt(low).convert_element_type(ElementType::U64);
    [sum, carry + high]
}

/// Returns the row-major numbers of the elements of an array of these sizes, from `first` on.
fn counters<'b>(first: Value<'b>, dims: &[i64]) -> Value<'b> {
    let count: i64 = dims.iter().product();
    if dims.is_empty() {
        return first;
    }
    (first.builder().iota((ElementType::U64, &[count]), 0) + first).reshape(dims)
}
/// Returns a state of one word, increased.
fn advanced(state: Value<'_>, count: i64) -> Value<'_> {
    state.record(|b| Ok(state + b.constant_r0_with_type(ElementType::U64, count)))
}

fn rotated(x: Value<'_>, left: i32) -> Value<'_> {
    (x << left) | x.shift_right_logical(32 - left)
}

/// Returns a block of Threefry-2x32: five groups of four rounds, a part of the key after each.
fn three_fry_block<'b>(key: [Value<'b>; 2], input: [Value<'b>; 2]) -> [Value<'b>; 2] {
    let parity = key[0] ^ key[1] ^ bits::word(key[0], 0x1BD1_1BDA);
    let keys = [key[0], key[1], parity];
    let rotations = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let [mut x, mut y] = [input[0] + keys[0], input[1] + keys[1]];
    for group in 0..5usize {
        for rotation in rotations[group % 2] {
            x = x + y;
            y = rotated(y, rotation) ^ x;
        }
        x = x + keys[(group + 1) % 3];
        y = y + keys[(group + 2) % 3] + bits::word(y, u64::try_from(group + 1).unwrap_or(0));
    }
    [x, y]
}

/// Computes one block for each element.
fn three_fry_64<'b>(key: Value<'b>, state: Value<'b>, shape: &ArrayShape) -> Result<RngOutput<'b>> {
    let inputs = counters(word(state, 0, "the state")?, &shape.dims);
    let value = joined(three_fry_block(halves(word(key, 0, "the key")?), halves(inputs)));
    Ok(RngOutput { value, state: advanced(state, shape.dims.iter().product()) })
}
/// Computes one block for two elements, which stand side by side.
fn three_fry_32<'b>(key: Value<'b>, state: Value<'b>, shape: &ArrayShape) -> Result<RngOutput<'b>> {
    let split = PairArrangement::of(shape);
    let mut half = split.pairs.clone();
    half[split.axis] = 1;
    let inputs = counters(word(state, 0, "the state")?, &half);
    let words = three_fry_block(halves(word(key, 0, "the key")?), halves(inputs));
    Ok(RngOutput { value: split.join(words), state: advanced(state, half.iter().product()) })
}

/// The arrangement of pairs of numbers in an array.
struct PairArrangement {
    /// Sizes of the array.
    dims: Vec<i64>,
    /// Sizes of the array of pairs: the dimension that is split has half its size, rounded up.
    pairs: Vec<i64>,
    /// The dimension of size 2 that runs through a pair, right after the one that is split.
    axis: usize,
}
impl PairArrangement {
    /// Returns the split: the first dimension of even size is halved, else the first of the
    /// largest; a scalar is half of a pair.
    fn of(shape: &ArrayShape) -> Self {
        let dims = shape.dims.to_vec();
        let even = dims.iter().position(|d| d % 2 == 0);
        let largest = dims.iter().max().and_then(|most| dims.iter().position(|d| d == most));
        let Some(split) = even.or(largest) else { return Self { dims, pairs: vec![2], axis: 0 } };
        let mut pairs = dims.clone();
        pairs[split] = (dims[split] + 1) / 2;
        pairs.insert(split + 1, 2);
        Self { dims, pairs, axis: split + 1 }
    }
    /// Returns the array of first and second numbers of pairs.
    fn join<'b>(&self, [first, second]: [Value<'b>; 2]) -> Value<'b> {
        if self.dims.is_empty() {
            return first.reshape(&[]);
        }
        let axis = size(self.axis);
        let pairs = first.builder().concat_in_dim(&[first, second], axis);
        let mut even = self.dims.clone();
        even[self.axis - 1] += even[self.axis - 1] % 2;
        let whole = pairs.reshape(&even);
        if even == self.dims {
            return whole;
        }
        whole.slice_in_dim(0, self.dims[self.axis - 1], 1, axis - 1)
    }
}

/// Returns a block of Philox-4x32.
fn philox_block<'b>(counter: [Value<'b>; 4], key: [Value<'b>; 2]) -> [Value<'b>; 4] {
    let (mut x, mut key) = (counter, key);
    for round in 0..10 {
        if round > 0 {
            key = [
                key[0] + bits::word(key[0], 0x9E37_79B9),
                key[1] + bits::word(key[1], 0xBB67_AE85),
            ];
        }
        let [low0, high0] = product(x[0], 0xD251_1F53);
        let [low1, high1] = product(x[2], 0xCD9E_8D57);
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0];
    }
    x
}
/// Returns the halves of the 64-bit product of 32-bit numbers, low one first.
fn product(x: Value<'_>, factor: u64) -> [Value<'_>; 2] {
    let wide = x.convert_element_type(ElementType::U64);
    halves(wide * bits::word(wide, factor))
}

/// Blocks of four words, used up one after the other; elements of 64 bits take two words.
fn philox<'b>(key: Value<'b>, state: Value<'b>, shape: &ArrayShape) -> Result<RngOutput<'b>> {
    let b = key.builder();
    let count: i64 = shape.dims.iter().product();
    let wide = shape.ty.bits() == 64;
    let in_block = if wide { 2 } else { 4 };
    let blocks = count / in_block + i64::from(count % in_block != 0);
    let start = counter_halves(state)?;
    let [low, high] = increased(start, key.builder().iota((ElementType::U64, &[blocks]), 0));
    let ([a, b0], [c, d]) = (halves(low), halves(high));
    let words = philox_block([a, b0, c, d], halves(word(key, 0, "the key")?));
    let columns = match wide {
        true => vec![joined([words[0], words[1]]), joined([words[2], words[3]])],
        false => words.to_vec(),
    };
    let columns: Vec<Value<'b>> = columns.iter().map(|c| c.reshape(&[blocks, 1])).collect();
    let all = key.builder().concat_in_dim(&columns, 1).reshape(&[blocks * in_block]);
    let value = all.slice_in_dim(0, count, 1, 0).reshape(&shape.dims);
    let used = b.constant_r0_with_type(ElementType::U64, blocks);
    let [low, high] = increased(start, used);
    Ok(RngOutput { value, state: b.concat_scalars(&[low, high]) })
}

/// Bits as uniform floats of the type of the bounds.
fn uniform<'b>(bits: Value<'b>, minval: Value<'b>, maxval: Value<'b>) -> Result<Value<'b>> {
    let (ty, own) = (minval.element_type()?, bits.element_type()?);
    let Some(format) = ty.float_format() else {
        return Err(Error::argument(format!("expected float bounds, found {ty}")));
    };
    if ty == ElementType::F16 && own == ElementType::U16 {
        // A number in [1, 2) of random mantissa, minus 1.
        let mantissa = bits & bits::word(bits, 0x3FF);
        let unit = (mantissa | bits::word(bits, 15 << 10)).bitcast_convert_type(ty);
        return Ok(unit - 1.0);
    }
    let (width, digits) = (own.bits(), format.mantissa_bits);
    if digits > width {
        let message = format!("{own} has too few bits for the {digits} digits of {ty}");
        return Err(Error::argument(message).with_help("make the bits of the type of the bounds"));
    }
    let kept = bits.shift_right_logical(i64::from(width - digits));
    let step = (0..digits).fold(1.0, |step, _| step / 2.0);
    let unit = kept.convert_element_type(ty) * step;
    Ok(unit * (maxval - minval) + minval)
}
