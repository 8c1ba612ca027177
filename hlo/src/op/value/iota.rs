//! `[2,4]<=[4,2]T(1,0)`: device numbers counted off along dimensions that are then transposed.
use crate::diag::Code;
use crate::text::print::push_int;
use crate::text::{Cursor, pattern};
use crate::{Dims, Error, Result, Span};

/// The numbers from 0 in the shape `reshape`, transposed, and read in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IotaDims {
    /// Sizes before the transposition.
    pub reshape: Dims,
    /// Order of the dimensions; absent of a single dimension.
    pub transpose: Option<Dims>,
}

/// More devices than any text means.
const DEVICE_LIMIT: i64 = 1 << 31;

impl IotaDims {
    /// Reads `[4,2]T(1,0)`.
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        c.blank();
        let start = c.offset();
        let ((reshape, transpose), length) =
            pattern::iota(c.rest()).ok_or_else(|| c.wanted("`[sizes]T(order)`"))?;
        let span = Span::new(start, start + length);
        let wrong = |message: &str| {
            Err(Error::from(Code::AttributeValue { message: message.to_owned() }).at(span))
        };
        match &transpose {
            None if reshape.len() > 1 => return wrong("several sizes need an order, T(...)"),
            Some(_) if reshape.len() < 2 => return wrong("one size has no order T(...)"),
            Some(order) if !crate::Layout { minor_to_major: order.clone(), tail: None }.is_permutation(reshape.len()) => {
                return wrong("T(...) must list every dimension once");
            }
            _ => {}
        }
        let count = reshape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        if count.is_none_or(|n| n > DEVICE_LIMIT) {
            return wrong("more devices than any machine has");
        }
        c.skip(length);
        Ok(Self { reshape, transpose })
    }
    pub(crate) fn print(&self, out: &mut String) {
        let list = |out: &mut String, dims: &[i64]| {
            for (i, &d) in dims.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                push_int(out, d);
            }
        };
        out.push('[');
        list(out, &self.reshape);
        out.push(']');
        if let Some(order) = &self.transpose {
            out.push_str("T(");
            list(out, order);
            out.push(')');
        }
    }
    /// The numbers in order.
    pub fn expand(&self) -> Vec<i64> {
        let rank = self.reshape.len();
        let order: Vec<usize> = match &self.transpose {
            Some(order) => order.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect(),
            None => (0..rank).collect(),
        };
        let mut strides = vec![1i64; rank];
        for d in (1..rank).rev() {
            strides[d - 1] = strides[d] * self.reshape[d];
        }
        let mut numbers = vec![0];
        for d in order {
            let steps = (0..self.reshape[d]).map(|i| i * strides[d]).collect::<Vec<_>>();
            numbers = numbers.iter().flat_map(|&n| steps.iter().map(move |s| n + s)).collect();
        }
        numbers
    }
}
