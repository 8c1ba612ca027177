//! Arrays of `.npz` files as arguments and results: `in0`, `in1`, ... and `out0`, `out1`, ...
//!
//! They are numbered in parameter order with tuples flattened. A token is no array: it takes no number. Of several devices
//! `d<k>_in<i>` is what device `k` has alone, and `in<i>` what all have. Where a file has both, arrays of a program before
//! partitioning are `global_in<i>` and `global_out<i>`.
use hlo::literal::npz::NpyArray;
use hlo::{ArrayShape, Literal, Module, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// What the name of an array says: `in3`, `d2_in3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name<'a> {
    /// Whose it is; nothing if it is everybody's.
    pub device: Option<usize>,
    /// `in`, `out` and the like.
    pub kind: &'a str,
    /// Its number.
    pub number: usize,
}

impl<'a> Name<'a> {
    /// Reads a name; nothing if it is of another form.
    ///
    /// ```
    /// let name = conformance::arrays::Name::parse("d2_in3").unwrap();
    /// assert_eq!((name.device, name.kind, name.number), (Some(2), "in", 3));
    /// ```
    pub fn parse(name: &'a str) -> Option<Self> {
        let own = name.strip_prefix('d').and_then(|rest| rest.split_once('_'));
        let own = own.and_then(|(k, rest)| Some((counted(k)?, rest)));
        let (device, rest) = own.map_or((None, name), |(k, rest)| (Some(k), rest));
        let kind = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        Some(Self { device, kind, number: counted(&rest[kind.len()..])? })
    }
}

/// A number as we write it: `7`, not `07` or `+7`.
fn counted(digits: &str) -> Option<usize> {
    let number: usize = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// The arrays `<kind>0`, `<kind>1`, ... of a file.
#[derive(Debug)]
pub struct Named<'a> {
    kind: &'a str,
    arrays: BTreeMap<(Option<usize>, usize), &'a NpyArray>,
    /// Numbers that each device has an array of its own for.
    own: BTreeSet<usize>,
}

impl<'a> Named<'a> {
    /// The arrays of this kind, for so many devices; others are left alone.
    ///
    /// # Errors
    /// If one is for a device that there is not, is given twice, or both for all devices and for one.
    pub fn of(arrays: &'a [NpyArray], kind: &'a str, devices: usize) -> Result<Self, String> {
        let mut found = Self { kind, arrays: BTreeMap::new(), own: BTreeSet::new() };
        for array in arrays {
            let name = Name::parse(&array.name).filter(|name| name.kind == kind);
            let Some(Name { device, number, .. }) = name else { continue };
            if let Some(device) = device {
                if device >= devices {
                    let there = match devices {
                        1 => "the run has one device, 0".to_owned(),
                        n => format!("the run has devices 0 to {}", n - 1),
                    };
                    return Err(format!("`{}` is for device {device}; {there}", array.name));
                }
                found.own.insert(number);
            }
            if found.arrays.insert((device, number), array).is_some() {
                return Err(format!("`{}` is given twice", array.name));
            }
        }
        match found.own.iter().find(|&&number| found.arrays.contains_key(&(None, number))) {
            Some(number) => Err(format!(
                "`{kind}{number}` is given for all devices, and `d<k>_{kind}{number}` for one: it is one or the other"
            )),
            None => Ok(found),
        }
    }
    /// Whether any array belongs to one device alone.
    pub fn differ(&self) -> bool {
        !self.own.is_empty()
    }
    /// The largest number that is given.
    pub fn last(&self) -> Option<usize> {
        self.arrays.keys().map(|(_, number)| *number).max()
    }
    /// How many arrays a device has: those of numbers from 0 on without a gap.
    pub fn count(&self, device: usize) -> usize {
        let has = |number: &usize| {
            [Some(device), None].iter().any(|&k| self.arrays.contains_key(&(k, *number)))
        };
        (0..self.arrays.len()).take_while(has).count()
    }

    /// The arrays of a device as values of these shapes.
    ///
    /// # Errors
    /// Which array is missing, or does not fit its shape.
    pub fn values<'s>(
        &self,
        device: usize,
        shapes: impl IntoIterator<Item = &'s Shape>,
    ) -> Result<Vec<Literal>, String> {
        let mut taker = Taker { named: self, device, next: 0, shared: &mut BTreeMap::new() };
        shapes.into_iter().map(|shape| taker.take(shape)).collect()
    }
    /// The arrays of each device as values of these shapes; one list for all if no array is of one device alone.
    ///
    /// # Errors
    /// As [`Named::values`].
    pub fn each(&self, devices: usize, shapes: &[&Shape]) -> Result<Vec<Vec<Literal>>, String> {
        let lists = if self.differ() { devices } else { 1 };
        // What all devices have is kept once.
        let mut shared = BTreeMap::new();
        (0..lists)
            .map(|device| {
                let mut taker = Taker { named: self, device, next: 0, shared: &mut shared };
                shapes.iter().map(|shape| taker.take(shape)).collect()
            })
            .collect()
    }
}

/// What arrays of a kind, `in` or `out`, are called: `global_in`, `global_out` where a file has them for one device beside those of many,
/// into which the program is partitioned.
pub fn kind<'k>(kind: &'k str, arrays: &[NpyArray], devices: usize) -> &'k str {
    let global = match kind {
        "in" => "global_in",
        "out" => "global_out",
        _ => return kind,
    };
    let is_global =
        |array: &NpyArray| Name::parse(&array.name).is_some_and(|name| name.kind == global);
    if devices == 1 && arrays.iter().any(is_global) { global } else { kind }
}

/// The arguments of the entry computation, for each device; one list for all if no array is of one device alone.
///
/// # Errors
/// As [`Named::of`] and [`Named::values`].
pub fn arguments(
    arrays: &[NpyArray],
    module: &Module,
    devices: usize,
) -> Result<Vec<Vec<Literal>>, String> {
    let parameters = module.entry().program_shape().parameters;
    Named::of(arrays, kind("in", arrays, devices), devices)?.each(devices, &parameters)
}

/// The results of the entry computation, for each device; one for all if no array is of one device alone.
///
/// # Errors
/// As [`Named::of`] and [`Named::values`].
pub fn results(
    arrays: &[NpyArray],
    module: &Module,
    devices: usize,
) -> Result<Vec<Literal>, String> {
    let each = Named::of(arrays, kind("out", arrays, devices), devices)?
        .each(devices, &[module.entry().result_shape()])?;
    Ok(each.into_iter().flatten().collect())
}

/// The arrays a value is made of, with the names they have in a file.
pub fn named<'a>(value: &'a Literal, prefix: &str) -> Vec<(String, &'a Literal)> {
    let arrays = value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some());
    arrays.enumerate().map(|(i, leaf)| (format!("{prefix}{i}"), leaf)).collect()
}

/// The arrays of several devices, with the names they have in a file: `d<k>_out<i>`, or `out<i>` if there is one device.
pub fn named_by_device<'a>(
    values: impl ExactSizeIterator<Item = &'a Literal>,
    prefix: &str,
) -> Vec<(String, &'a Literal)> {
    let one = values.len() == 1;
    let whose = |k| if one { prefix.to_owned() } else { format!("d{k}_{prefix}") };
    values.enumerate().flat_map(|(k, value)| named(value, &whose(k))).collect()
}

struct Taker<'n> {
    named: &'n Named<'n>,
    device: usize,
    next: usize,
    shared: &'n mut BTreeMap<usize, Literal>,
}

impl Taker<'_> {
    fn take(&mut self, shape: &Shape) -> Result<Literal, String> {
        match shape {
            Shape::Array(array) => self.array(array),
            Shape::Tuple(shapes) => {
                let elements: Result<_, String> = shapes.iter().map(|s| self.take(s)).collect();
                Ok(Literal::tuple(elements?))
            }
            Shape::Token => Ok(Literal::token()),
            Shape::Opaque | Shape::Buffer(_) => Err(format!("no array can stand for {shape}")),
        }
    }
    fn array(&mut self, shape: &ArrayShape) -> Result<Literal, String> {
        let number = self.next;
        self.next += 1;
        let own = self.named.own.contains(&number).then_some(self.device);
        if let (None, Some(value)) = (own, self.shared.get(&number)) {
            return Ok(value.clone());
        }
        let found = self.named.arrays.get(&(own, number)).ok_or_else(|| {
            let whose = own.map_or_else(String::new, |device| format!("d{device}_"));
            format!("there is no array `{whose}{}{number}` for {shape:#}", self.named.kind)
        })?;
        let value = found.to_literal(shape).map_err(|e| e.to_string())?;
        if own.is_none() {
            self.shared.insert(number, value.clone());
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn tuples_are_flattened_and_tokens_skipped() {
        let shape: Shape = "(f32[2], token[], (s8[], pred[1]))".parse().unwrap();
        let parts = ["f32[2] {1, 2}", "s8[] 3", "pred[1] {true}"];
        let [a, b, c] = parts.map(|t| t.parse::<Literal>().unwrap());
        let value = Literal::tuple(vec![a, Literal::token(), Literal::tuple(vec![b, c])]);
        let mut file = Cursor::new(Vec::new());
        hlo::literal::npz::write(&mut file, named(&value, "in")).unwrap();
        let arrays = hlo::literal::npz::read(file).unwrap();
        assert_eq!(
            arrays.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
            ["in0", "in1", "in2"]
        );
        let of = |kind| Named::of(&arrays, kind, 1).unwrap();
        assert_eq!(of("in").values(0, [&shape]).unwrap(), [value]);
        let error = of("out").values(0, [&shape]).unwrap_err();
        assert!(error.contains("`out0`"), "{error}");
    }

    /// Arrays of one `s32` each.
    fn numbers(list: &[(&str, i32)]) -> Vec<NpyArray> {
        let values: Vec<(String, Literal)> = (list.iter())
            .map(|(name, x)| ((*name).to_owned(), format!("s32[] {x}").parse().unwrap()))
            .collect();
        let mut file = Cursor::new(Vec::new());
        let named = values.iter().map(|(name, value)| (name.clone(), value));
        hlo::literal::npz::write(&mut file, named).unwrap();
        hlo::literal::npz::read(file).unwrap()
    }

    #[test]
    fn a_device_has_its_own_and_what_all_have() {
        let shape: Shape = "s32[]".parse().unwrap();
        let arrays = numbers(&[("in0", 7), ("d0_in1", 8), ("d1_in1", 9), ("d5_out0", 1)]);
        let named = Named::of(&arrays, "in", 2).unwrap();
        let lists = named.each(2, &[&shape, &shape]).unwrap();
        let texts: Vec<String> = lists.concat().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["s32[] 7", "s32[] 8", "s32[] 7", "s32[] 9"]);
        assert_eq!((named.count(0), named.count(2), named.last()), (2, 1, Some(1)));
        let arrays = numbers(&[("in0", 7)]);
        assert_eq!(Named::of(&arrays, "in", 4).unwrap().each(4, &[&shape]).unwrap().len(), 1);
    }

    #[test]
    fn what_does_not_fit_the_devices_is_named() {
        let shape: Shape = "s32[]".parse().unwrap();
        for (list, wanted) in [
            (vec![("d2_in0", 1)], "`d2_in0` is for device 2; the run has devices 0 to 1"),
            (vec![("in0", 1), ("d1_in0", 2)], "`in0` is given for all devices, and `d<k>_in0`"),
            (vec![("d1_in0", 1)], "there is no array `d0_in0` for s32[]"),
            (vec![("d01_in0", 1), ("in00", 1)], "there is no array `in0` for s32[]"),
        ] {
            let arrays = numbers(&list);
            let error = Named::of(&arrays, "in", 2).and_then(|named| named.each(2, &[&shape]));
            assert!(error.as_ref().unwrap_err().starts_with(wanted), "{error:?}");
        }
    }
}
