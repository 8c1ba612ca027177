//! Floats as MLIR prints them.
use hlo::elem::FloatFormat;

/// The digits of the scientific notation that is tried first.
const SHORT: usize = 6;
/// The most zeros between the point and a digit outside the scientific notation.
const PADDING: i32 = 3;
/// More digits than a number of f64 has.
const ALL_DIGITS: usize = 780;

/// Returns the text of the number with these bits: six digits in scientific notation if it reads
/// back, else as many as numbers of the format need, else its bits.
pub(super) fn text(format: FloatFormat, width: u32, bits: u64) -> String {
    let value = format.decode(bits);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value == 0.0 {
        return format!("{sign}0.000000e+00");
    }
    if value.is_finite() {
        // As many digits as tell numbers with this many bits apart.
        let digits = format.mantissa_bits + 1;
        let enough = 2 + usize::try_from(digits * 59 / 196).unwrap_or(0);
        let decimal = |precision| Decimal::of(value.abs(), precision);
        let texts = [decimal(SHORT).short(), decimal(enough).full(enough)];
        let reads_back = |text: &String| {
            text.contains('.') && text.parse().is_ok_and(|read| format.encode(read) == bits)
        };
        let signed = texts.into_iter().map(|text| format!("{sign}{text}"));
        if let Some(text) = signed.into_iter().find(reads_back) {
            return text;
        }
    }
    let digits = usize::try_from(width.div_ceil(4)).unwrap_or(2);
    format!("0x{bits:0digits$X}")
}

/// Decimal digits, times a power of ten.
struct Decimal {
    /// The most significant digit first; the last is not 0.
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// Returns a positive number in so many digits. Like LLVM it drops most of the digits beyond
    /// them, and rounds the rest half up.
    fn of(value: f64, precision: usize) -> Self {
        let text = format!("{value:.ALL_DIGITS$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mut digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_digit).collect();
        let first: i32 = exponent.parse().unwrap_or(0);
        let significant = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |i| i + 1);
        // The digits of an integer: the number itself, or one without its fraction's point.
        let whole = usize::try_from(first + 1).unwrap_or(0);
        let is_whole = significant <= whole;
        digits.resize(if is_whole { whole } else { significant }, b'0');
        let count = |digits: &[u8]| i32::try_from(digits.len()).unwrap_or(i32::MAX);
        let exponent = if is_whole { 0 } else { first + 1 - count(&digits) };
        let mut decimal = Self { digits, exponent };
        let needed = (precision * 196).div_ceil(59);
        if let Some(spare) = decimal.bits(value).checked_sub(needed) {
            decimal.drop_last(spare * 59 / 196);
        }
        decimal.trim();
        decimal.round(precision);
        decimal
    }
    /// Returns the number of bits of the digits as an integer.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::as_conversions,
        reason = "below 4000"
    )]
    fn bits(&self, value: f64) -> usize {
        let text = std::str::from_utf8(&self.digits).unwrap_or_default();
        match text.parse::<u128>() {
            Ok(integer) => (u128::BITS - integer.leading_zeros()) as usize,
            Err(_) => {
                let log = value.log2() - f64::from(self.exponent) * std::f64::consts::LOG2_10;
                log.floor() as usize + 1
            }
        }
    }
    fn drop_last(&mut self, count: usize) {
        let count = count.min(self.digits.len() - 1);
        self.digits.truncate(self.digits.len() - count);
        self.exponent += i32::try_from(count).unwrap_or(0);
    }
    /// Drops zeros at the end.
    fn trim(&mut self) {
        while self.digits.len() > 1 && self.digits.last() == Some(&b'0') {
            self.drop_last(1);
        }
    }
    fn round(&mut self, precision: usize) {
        let Some(&next) = self.digits.get(precision) else { return };
        self.drop_last(self.digits.len() - precision);
        if next < b'5' {
            return self.trim();
        }
        while self.digits.last() == Some(&b'9') {
            self.digits.pop();
            self.exponent += 1;
        }
        match self.digits.last_mut() {
            Some(last) => *last += 1,
            None => self.digits.push(b'1'),
        }
    }
    /// Returns the power of ten of the first digit.
    fn magnitude(&self) -> i32 {
        self.exponent + i32::try_from(self.digits.len()).unwrap_or(0) - 1
    }
    fn text(&self) -> &str {
        std::str::from_utf8(&self.digits).unwrap_or_default()
    }
    /// Returns `1.500000e+00`.
    fn short(&self) -> String {
        let (first, rest) = self.text().split_at(1);
        let (sign, magnitude) = sign_of(self.magnitude());
        format!("{first}.{rest:0<SHORT$}e{sign}{magnitude:02}")
    }
    /// Returns `0.333333343`, or `1.5E+10` of numbers with many zeros.
    fn full(&self, precision: usize) -> String {
        let (digits, magnitude) = (self.text(), self.magnitude());
        let count = digits.len();
        let is_scientific = match usize::try_from(self.exponent) {
            Ok(zeros) => self.exponent > PADDING || count + zeros > precision,
            Err(_) => magnitude < -PADDING,
        };
        if is_scientific {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { "0" } else { rest };
            let (sign, magnitude) = sign_of(magnitude);
            return format!("{first}.{rest}E{sign}{magnitude}");
        }
        let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
        match usize::try_from(magnitude + 1) {
            _ if self.exponent >= 0 => format!("{digits}{}", zeros(self.exponent)),
            Ok(whole) if whole > 0 => {
                let (whole, rest) = digits.split_at(whole);
                format!("{whole}.{rest}")
            }
            Ok(_) | Err(_) => format!("0.{}{digits}", zeros(-magnitude - 1)),
        }
    }
}

fn sign_of(exponent: i32) -> (char, u32) {
    (if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}
