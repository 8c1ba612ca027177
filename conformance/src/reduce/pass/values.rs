//! Simpler values: arguments and constants of zeros, ones and small integers.
use super::cut::filled_like;
use super::map::map_leaves;
use crate::reduce::draft::{At, Draft, Edit, constant};
use crate::reduce::search::Reduction;
use hlo::literal::ConstantValue;
use hlo::{Class, Literal, Op, Scalar};

/// Simplifies whole values, then single elements.
pub(super) fn values(search: &mut Reduction<'_, '_>) {
    for change in [ValueChange::Fill(false), ValueChange::Fill(true), ValueChange::Round] {
        search.minimize(places(&search.draft()).into_iter().map(|p| whole(p, change)).collect());
    }
    for zero in [true, false] {
        let draft = search.draft();
        let single = places(&draft).into_iter().flat_map(|place| {
            let count = place.value(&draft).map_or(0, |value| elements(&value));
            let count = if count <= ELEMENTS { count } else { 0 };
            (0..count).map(move |i| -> Edit {
                Box::new(move |draft| place.change(draft, |value| with_element(value, i, zero)))
            })
        });
        search.minimize(single.collect());
    }
    while search.first(smaller_constants(&search.draft())) {}
}

/// The most elements of a value that are changed one by one.
const ELEMENTS: usize = 256;

/// A change of a whole value.
#[derive(Debug, Clone, Copy)]
enum ValueChange {
    /// All zeros, or all ones.
    Fill(bool),
    /// The nearest integers.
    Round,
}

/// A value of the candidate.
#[derive(Debug, Clone, Copy)]
enum ValuePlace {
    Argument { device: usize, number: usize },
    Constant(At),
}

impl ValuePlace {
    fn value(self, draft: &Draft) -> Option<Literal> {
        match self {
            Self::Argument { device, number } => draft.arguments.get(device)?.get(number).cloned(),
            Self::Constant(at) => {
                let Op::Constant(constant) = &draft.get(at)?.op else { return None };
                match &*constant.value {
                    ConstantValue::Literal(value) => Some(value.clone()),
                    ConstantValue::Elided(_) => None,
                }
            }
        }
    }
    /// Returns whether the value is another one now.
    fn change(self, draft: &mut Draft, change: impl Fn(&Literal) -> Option<Literal>) -> bool {
        let Some(old) = self.value(draft) else { return false };
        let Some(new) = change(&old).filter(|new| *new != old) else { return false };
        match self {
            Self::Argument { device, number } => draft.arguments[device][number] = new,
            Self::Constant(at) => {
                draft.rewriter.computation_mut(at.0).replace(at.1, constant(new));
            }
        }
        true
    }
}

fn places(draft: &Draft) -> Vec<ValuePlace> {
    let arguments = draft.arguments.iter().enumerate().flat_map(|(device, values)| {
        (0..values.len()).map(move |number| ValuePlace::Argument { device, number })
    });
    let constants = draft.all().into_iter().map(ValuePlace::Constant);
    arguments.chain(constants.filter(|place| place.value(draft).is_some())).collect()
}

fn whole(place: ValuePlace, change: ValueChange) -> Edit {
    Box::new(move |draft| {
        place.change(draft, |value| match change {
            ValueChange::Fill(one) => filled_like(&value.shape(), one),
            ValueChange::Round => Some(map_leaves(value, &rounded)),
        })
    })
}

fn rounded(leaf: &Literal) -> Literal {
    map_elements(leaf, |_, x| match x {
        Scalar::Float(x) if x.is_finite() => Scalar::Float(x.round() + 0.0),
        Scalar::Complex(re, im) if re.is_finite() && im.is_finite() => {
            Scalar::Complex(re.round() + 0.0, im.round() + 0.0)
        }
        Scalar::Pred(_)
        | Scalar::Signed(_)
        | Scalar::Unsigned(_)
        | Scalar::Float(_)
        | Scalar::Complex(..) => x,
    })
}

fn map_elements(leaf: &Literal, f: impl Fn(usize, Scalar) -> Scalar) -> Literal {
    let Some(ty) = leaf.array_shape().map(|shape| shape.ty) else { return leaf.clone() };
    let mut result = leaf.clone();
    for (i, slot) in result.bytes_mut().chunks_exact_mut(ty.storage_bytes()).enumerate() {
        f(i, leaf.get(i)).round_to(ty).write(ty, slot);
    }
    result
}

fn elements(value: &Literal) -> usize {
    value.leaves().into_iter().map(Literal::len).sum()
}

/// Returns the value with 0 or 1 as its element `i`, counting through its leaves; nothing if that
/// is no simpler.
fn with_element(value: &Literal, i: usize, zero: bool) -> Option<Literal> {
    if let Some(parts) = value.elements() {
        let mut parts = parts.to_vec();
        let mut first = 0;
        for part in &mut parts {
            let count = elements(part);
            if (first..first + count).contains(&i) {
                *part = with_element(part, i - first, zero)?;
                return Some(Literal::tuple(parts));
            }
            first += count;
        }
        return None;
    }
    let ty = value.array_shape()?.ty;
    let new = Scalar::Signed(i64::from(!zero)).convert(hlo::ElementType::S32, ty);
    // A zero is not made a one.
    if value.get(i) == Scalar::zero(ty) {
        return None;
    }
    Some(map_elements(value, |k, x| if k == i { new } else { x }))
}

/// Returns edits that make an integer constant smaller, such as the bound of a loop.
fn smaller_constants(draft: &Draft) -> Vec<Edit> {
    let places = draft.all().into_iter().map(ValuePlace::Constant);
    let smaller = |place: ValuePlace| -> Vec<Edit> {
        let Some(value) = place.value(draft).filter(|value| value.len() == 1) else {
            return Vec::new();
        };
        let Some(ty) = value.array_shape().map(|shape| shape.ty) else { return Vec::new() };
        let (Class::Signed | Class::Unsigned, Some(old)) = (ty.class(), value.get(0).as_i64())
        else {
            return Vec::new();
        };
        let targets = [2, 3, 4, old / 2, old - 1].into_iter().filter(move |&t| 1 < t && t < old);
        targets
            .map(|target| -> Edit {
                Box::new(move |draft| {
                    place.change(draft, |value| {
                        Some(map_elements(value, |_, _| {
                            Scalar::Signed(target).convert(hlo::ElementType::S64, ty)
                        }))
                    })
                })
            })
            .collect()
    };
    places.flat_map(smaller).collect()
}
