//! Arguments drawn at random: the same for the same seed, on every machine.
use crate::error::{Code, Failure};
use hlo::{ArrayShape, Class, ElementType, Literal, Scalar, Shape};

/// `SplitMix64`: a sequence of 64-bit numbers from a seed.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    /// A number from -1 to 1, with 52 bits.
    fn unit(&mut self) -> f64 {
        // The bits of a number from 1 to 2.
        let one_to_two = f64::from_bits(self.next() >> 12 | 0x3ff0_0000_0000_0000);
        2.0 * one_to_two - 3.0
    }
    fn element(&mut self, ty: ElementType) -> Scalar {
        match ty.class() {
            Class::Pred => Scalar::Pred(self.next() >> 63 == 1),
            Class::Signed => {
                Scalar::Signed(i64::try_from(self.next() >> 62).unwrap_or(0)).round_to(ty)
            }
            Class::Unsigned => Scalar::Unsigned(self.next() >> 62).round_to(ty),
            Class::Float => Scalar::Float(self.unit()),
            Class::Complex => Scalar::Complex(self.unit(), self.unit()),
        }
    }
    fn value(&mut self, shape: &Shape) -> Result<Literal, String> {
        match shape {
            Shape::Array(array) => self.array(array),
            Shape::Tuple(shapes) => {
                let elements: Result<_, _> = shapes.iter().map(|s| self.value(s)).collect();
                Ok(Literal::tuple(elements?))
            }
            Shape::Token => Ok(Literal::token()),
            Shape::Opaque | Shape::Buffer(_) => Err(format!("{shape} has no values")),
        }
    }
    fn array(&mut self, shape: &ArrayShape) -> Result<Literal, String> {
        // The allocator is asked before it is used: its refusal would end the process.
        let bytes = shape.byte_count();
        if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
            let size =
                bytes.map_or("more bytes than can be counted".into(), |b| format!("{b} bytes"));
            return Err(format!("{shape:#} takes {size}, and the system has not so many"));
        }
        let mut literal = Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() });
        let width = shape.ty.storage_bytes();
        for slot in literal.bytes_mut().chunks_exact_mut(width) {
            self.element(shape.ty).write(shape.ty, slot);
        }
        Ok(literal)
    }
}

/// A value for each shape, or the first that cannot be drawn and why.
pub(crate) fn draw(seed: u64, shapes: &[&Shape]) -> Result<Vec<Literal>, Failure> {
    let mut sequence = Sequence(seed);
    let draw = |(number, shape): (usize, &&Shape)| {
        let refused = |message| Failure::new(&Code::NotDrawn { number, message }, None);
        sequence.value(shape).map_err(refused)
    };
    shapes.iter().enumerate().map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same() {
        let shape: Shape = "(f32[3], s32[4], pred[2], c64[1])".parse().unwrap();
        let first = draw(7, &[&shape]).unwrap();
        assert_eq!(first, draw(7, &[&shape]).unwrap());
        assert_ne!(first, draw(8, &[&shape]).unwrap());
        let floats = first[0].leaves()[0].as_slice::<f32>().unwrap();
        assert!(floats.iter().all(|x| (-1.0..=1.0).contains(x)));
    }
}
