//! Numbers to try operations on: edges of every type, and random ones.
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};

pub(crate) const TYPES: [ElementType; 11] = [
    ElementType::Pred,
    ElementType::S8,
    ElementType::S16,
    ElementType::S32,
    ElementType::S64,
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::F32,
    ElementType::F64,
];
/// Those that operations of two inputs are tried on; the others are no different.
pub(crate) const SAME: [ElementType; 8] = [
    ElementType::Pred,
    ElementType::S8,
    ElementType::S32,
    ElementType::S64,
    ElementType::U8,
    ElementType::U64,
    ElementType::F32,
    ElementType::F64,
];
/// Types that meet in one operation.
pub(crate) const MIXED: [(ElementType, ElementType); 8] = [
    (ElementType::S8, ElementType::U8),
    (ElementType::F32, ElementType::S32),
    (ElementType::F32, ElementType::F64),
    (ElementType::S64, ElementType::U64),
    (ElementType::U64, ElementType::S64),
    (ElementType::Pred, ElementType::S8),
    (ElementType::U8, ElementType::F32),
    (ElementType::U16, ElementType::S64),
];

/// Numbers without pattern, always the same (a linear congruential generator, its upper half).
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);
impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        let mut step = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            self.0 >> 32
        };
        step() << 32 | step()
    }
    /// A number of either sign, of any of 40 sizes about 1.
    pub(crate) fn float(&mut self) -> f64 {
        let size = f64::from(u8::try_from(self.next() % 40).unwrap()) - 20.0;
        let fraction = f64::from(u32::try_from(self.next() >> 32).unwrap()) / 2f64.powi(32);
        let sign = if self.next() >> 63 == 0 { 1.0 } else { -1.0 };
        sign * (1.0 + fraction) * 2f64.powf(size)
    }
}

/// Edges of a type, and random numbers.
pub(crate) fn elements(ty: ElementType, count: usize, random: &mut Random) -> Vec<Scalar> {
    let wrapped = |n: u64| Scalar::Unsigned(n).convert(ElementType::U64, ty);
    let float = |x: f64| Scalar::Float(x).convert(ElementType::F64, ty);
    if ty.is_float() {
        let top = if ty == ElementType::F32 { f64::from(f32::MAX) } else { f64::MAX };
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            3.0,
            -7.0,
            88.0,
            -90.0,
            1e-40,
            1e-320,
            0.3,
            top,
            -top,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            127.5,
            -128.5,
            255.9,
            1e10,
            -9.3e18,
            1.9e19,
        ];
        let more = (0..count).map(|_| float(random.float()));
        return edges.iter().map(|&x| float(x)).chain(more).collect();
    }
    let bits = ty.bits();
    let half = 1u64 << (bits - 1);
    let edges = [0, 1, 2, 3, 7, 5u64.wrapping_neg(), 1u64.wrapping_neg(), half, half - 1, half + 1];
    let more = (0..count).map(|_| wrapped(random.next() >> (random.next() % 64)));
    edges.iter().map(|&n| wrapped(n)).chain(more).collect()
}

pub(crate) fn literal(ty: ElementType, dims: &[i64], elements: &[Scalar]) -> Literal {
    let shape = ArrayShape::new(ty, Dims::from_slice(dims));
    let scalars: Vec<u8> =
        elements.iter().flat_map(|&x| Literal::scalar(ty, x).bytes().to_vec()).collect();
    Literal::from_bytes(shape, &scalars).unwrap()
}
