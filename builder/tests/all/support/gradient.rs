//! Derivatives are held against each other and against differences.
//!
//! `check` takes a function and a point. There, in random directions,
//!
//! - both directions must be transposes, `<jvp(t), c> = <t, vjp(c)>`, to 1e-12 of the sum of
//!   magnitudes;
//! - the tangent must be the central difference `(f(x + ht) - f(x - ht)) / 2h`, to 1e-6 of the
//!   largest component.
//!
//! The pairing of complex arrays is the real part of the sum of products, without a conjugate: the
//! one under which a holomorphic function's pull-back multiplies by its derivative. Directions have
//! real and imaginary parts, and each alone.
use super::{Builder, Value, evaluate_on};
use hlo::{ElementType, Literal, Scalar, Shape};

const STEP: f64 = 1e-5;

/// Numbers that look random and are the same each time.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to 1. (`SplitMix64`.)
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    /// An array whose components lie between the two.
    pub fn array(&mut self, shape: &str, low: f64, high: f64) -> Literal {
        let shape: Shape = shape.parse().unwrap();
        let zeros = Literal::zeros(shape.array().unwrap().clone());
        let count = components(&zeros).len();
        let numbers: Vec<f64> = (0..count).map(|_| self.between(low, high)).collect();
        with_components(&zeros, &mut numbers.into_iter())
    }
}

/// Arrays of these shapes with components between the two: a different one for each position, the
/// same each time.
pub fn inputs(shapes: &[&str], low: f64, high: f64) -> Vec<Literal> {
    let mut random = Random(7);
    shapes.iter().map(|shape| random.array(shape, low, high)).collect()
}

fn varies(ty: ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}

/// The real numbers a value consists of, of a complex one its parts in turn; integers and truths
/// are none.
pub fn components(literal: &Literal) -> Vec<f64> {
    let parts = |leaf: &&Literal| -> Vec<f64> {
        (0..leaf.len())
            .flat_map(|i| match leaf.get(i) {
                Scalar::Float(x) => vec![x],
                Scalar::Complex(re, im) => vec![re, im],
                Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => vec![],
            })
            .collect()
    };
    literal.leaves().iter().filter(|leaf| leaf.array_shape().is_some()).flat_map(parts).collect()
}

/// A value of the shape of `like` that consists of these real numbers; integers stay.
fn with_components(like: &Literal, numbers: &mut impl Iterator<Item = f64>) -> Literal {
    if let Some(elements) = like.elements() {
        return Literal::tuple(elements.iter().map(|e| with_components(e, numbers)).collect());
    }
    let mut made = like.clone();
    let Some(shape) = like.array_shape().filter(|shape| varies(shape.ty)) else { return made };
    let mut next = || numbers.next().unwrap();
    for bytes in made.bytes_mut().chunks_exact_mut(shape.ty.storage_bytes()) {
        let scalar = match shape.ty.is_complex() {
            true => Scalar::Complex(next(), next()),
            false => Scalar::Float(next()),
        };
        scalar.write(shape.ty, bytes);
    }
    made
}

/// The value moved along a direction.
fn moved(value: &Literal, direction: &Literal, step: f64) -> Literal {
    let along = components(direction);
    let sums: Vec<f64> = components(value).iter().zip(along).map(|(x, t)| x + step * t).collect();
    with_components(value, &mut sums.into_iter())
}

/// The terms of the real part of the sum of products.
fn pairing(a: &Literal, b: &Literal) -> Vec<f64> {
    let mut terms = Vec::new();
    for (a, b) in a.leaves().into_iter().zip(b.leaves()) {
        let complex = a.array_shape().is_some_and(|shape| shape.ty.is_complex());
        let products: Vec<f64> =
            components(a).iter().zip(components(b)).map(|(a, b)| a * b).collect();
        let sign = |i: usize| if complex && !i.is_multiple_of(2) { -1.0 } else { 1.0 };
        terms.extend(products.iter().enumerate().map(|(i, x)| x * sign(i)));
    }
    terms
}

/// Which parts of a direction are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Parts {
    Both,
    Real,
    Imaginary,
}

fn direction(like: &Literal, parts: Parts, random: &mut Random) -> Literal {
    let complex = like.leaves().iter().any(|l| l.array_shape().is_some_and(|s| s.ty.is_complex()));
    let kept = |i: usize| match parts {
        Parts::Both => true,
        Parts::Real => !complex || i.is_multiple_of(2),
        Parts::Imaginary => !complex || !i.is_multiple_of(2),
    };
    let numbers: Vec<f64> = (0..components(like).len())
        .map(|i| if kept(i) { random.between(-1.0, 1.0) } else { 0.0 })
        .collect();
    with_components(like, &mut numbers.into_iter())
}

fn parameters<'b>(b: &'b Builder, arguments: &[Literal], name: &str) -> Vec<Value<'b>> {
    arguments.iter().map(|argument| b.input(name, argument.shape())).collect()
}

/// Those that a derivative can be taken by.
fn varying<T: Clone>(all: &[T], inputs: &[Literal]) -> Vec<T> {
    let varies =
        |x: &&Literal| x.leaves().iter().any(|l| l.array_shape().is_some_and(|s| varies(s.ty)));
    all.iter().zip(inputs).filter(|(_, x)| varies(x)).map(|(one, _)| one.clone()).collect()
}

/// The function's value at the inputs.
#[track_caller]
pub fn value(
    name: &str,
    inputs: &[Literal],
    f: &impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) -> Literal {
    let b = Builder::new(name);
    let x = parameters(&b, inputs, "x");
    evaluate_on(&b, f(&b, &x), inputs)
}

/// The function's tangent along `tangents`, one for each input that is no integer.
#[track_caller]
pub fn pushed(
    name: &str,
    inputs: &[Literal],
    tangents: &[Literal],
    f: &impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) -> Literal {
    let b = Builder::new(&format!("{name}_jvp"));
    let x = parameters(&b, inputs, "x");
    let t = parameters(&b, tangents, "t");
    let tangent = b.jvp(f(&b, &x), &varying(&x, inputs), &t);
    evaluate_on(&b, tangent, &[inputs, tangents].concat())
}

/// The cotangents of the inputs that are no integers.
#[track_caller]
pub fn pulled(
    name: &str,
    inputs: &[Literal],
    cotangent: &Literal,
    f: &impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) -> Literal {
    let b = Builder::new(&format!("{name}_vjp"));
    let x = parameters(&b, inputs, "x");
    let c = b.input("c", cotangent.shape());
    let cotangents = b.vjp(f(&b, &x), &varying(&x, inputs), c);
    evaluate_on(&b, b.tuple(&cotangents), &[inputs, std::slice::from_ref(cotangent)].concat())
}

/// The gradients of a scalar function by the inputs that are no integers, each as its components.
#[track_caller]
pub fn gradients(
    name: &str,
    inputs: &[Literal],
    f: impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) -> Vec<Vec<f64>> {
    let b = Builder::new(&format!("{name}_grad"));
    let x = parameters(&b, inputs, "x");
    let gradients = b.grad(f(&b, &x), &varying(&x, inputs));
    let result = evaluate_on(&b, b.tuple(&gradients), inputs);
    result.elements().unwrap().iter().map(components).collect()
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Checks both directions of differentiation of a function of `f64` and `c128` arrays at `inputs`;
/// integers among them are held fixed.
#[track_caller]
pub fn check(
    name: &str,
    inputs: &[Literal],
    f: impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) {
    let result = value(name, inputs, &f);
    let mut random = Random(11);
    for parts in [Parts::Both, Parts::Real, Parts::Imaginary] {
        let point = varying(inputs, inputs);
        let tangents: Vec<Literal> =
            point.iter().map(|x| direction(x, parts, &mut random)).collect();
        let cotangent = direction(&result, parts, &mut random);
        let pushed = pushed(name, inputs, &tangents, &f);
        let pulled = pulled(name, inputs, &cotangent, &f);
        let left = pairing(&pushed, &cotangent);
        let right = pairing(&Literal::tuple(tangents.clone()), &pulled);
        let (l, r): (f64, f64) = (left.iter().sum(), right.iter().sum());
        let scale: f64 = left.iter().chain(&right).map(|x| x.abs()).sum();
        assert!((l - r).abs() <= 1e-12 * scale, "{name}: <jvp, c> = {l:e}, <t, vjp> = {r:e}");

        let [above, below] = [STEP, -STEP].map(|step| {
            let mut next = tangents.iter();
            let at: Vec<Literal> = (inputs.iter())
                .map(|x| match varying(&[()], std::slice::from_ref(x)).is_empty() {
                    true => x.clone(),
                    false => moved(x, next.next().unwrap(), step),
                })
                .collect();
            components(&value(name, &at, &f))
        });
        let tangent = components(&pushed);
        let allowed = 1e-6 * largest(&tangent) + 1e-10 * largest(&above);
        for (i, t) in tangent.iter().enumerate() {
            let difference = (above[i] - below[i]) / (2.0 * STEP);
            let near = (difference - t).abs() <= allowed;
            assert!(
                near,
                "{name}: component {i} of the jvp is {t:e}, by differences {difference:e}"
            );
        }
        let complex = (point.iter().chain([&result]))
            .flat_map(Literal::leaves)
            .any(|leaf| leaf.array_shape().is_some_and(|s| s.ty.is_complex()));
        if !complex {
            break;
        }
    }
}

/// Checks both directions of differentiation of the gradients of a scalar function.
#[track_caller]
pub fn twice(
    name: &str,
    inputs: &[Literal],
    f: impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) {
    check(name, inputs, |b, x| b.tuple(&b.grad(f(b, x), &varying(x, inputs))));
}
