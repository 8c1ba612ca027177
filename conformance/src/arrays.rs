//! Arrays of `.npz` files as arguments and results: `in0`, `in1`, ... and `out0`, `out1`, ...
//!
//! Arrays are numbered in parameter order with tuples flattened; tokens have no number. In a run of
//! several devices, `d<k>_in<i>` is an argument of device `k`, and `in<i>` an argument of every
//! device. A file that also has the arrays of an unpartitioned SPMD program calls these
//! `global_in<i>` and `global_out<i>`.
use hlo::literal::npz::NpyArray;
use hlo::{ArrayShape, Literal, Module, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The name of an array: `in3`, `d2_in3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name<'a> {
    /// The device, unless the array belongs to all devices.
    pub device: Option<usize>,
    /// `in`, `out`, ...
    pub kind: &'a str,
    /// The number of the array.
    pub number: usize,
}

impl<'a> Name<'a> {
    /// Parses a name; returns `None` for a name of another form.
    ///
    /// ```
    /// let name = conformance::arrays::Name::parse("d2_in3").unwrap();
    /// assert_eq!((name.device, name.kind, name.number), (Some(2), "in", 3));
    /// ```
    pub fn parse(name: &'a str) -> Option<Self> {
        let prefix = name.strip_prefix('d').and_then(|rest| rest.split_once('_'));
        let prefix = prefix.and_then(|(k, rest)| Some((canonical_number(k)?, rest)));
        let (device, rest) = prefix.map_or((None, name), |(k, rest)| (Some(k), rest));
        let kind = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        Some(Self { device, kind, number: canonical_number(&rest[kind.len()..])? })
    }
}

/// Parses a number in its shortest form: `7`, not `07` or `+7`.
fn canonical_number(digits: &str) -> Option<usize> {
    let number: usize = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

/// The arrays `<kind>0`, `<kind>1`, ... of a file.
#[derive(Debug)]
pub struct NamedArrays<'a> {
    kind: &'a str,
    arrays: BTreeMap<(Option<usize>, usize), &'a NpyArray>,
    /// Numbers whose arrays differ between devices.
    per_device: BTreeSet<usize>,
}

impl<'a> NamedArrays<'a> {
    /// Selects the arrays of a kind; `devices` is the number of devices in the run.
    ///
    /// # Errors
    /// If an array names a device beyond `devices`, is given twice, or is given both for all
    /// devices and for one.
    pub fn select(arrays: &'a [NpyArray], kind: &'a str, devices: usize) -> Result<Self, String> {
        let named = arrays.iter().filter_map(|array| Some((Name::parse(&array.name)?, array)));
        Self::select_named(named, kind, devices)
    }
    /// Selects the arrays of a kind, which may have other names in their files.
    ///
    /// # Errors
    /// As [`NamedArrays::select`].
    pub fn select_named(
        arrays: impl IntoIterator<Item = (Name<'a>, &'a NpyArray)>,
        kind: &'a str,
        devices: usize,
    ) -> Result<Self, String> {
        let mut found = Self { kind, arrays: BTreeMap::new(), per_device: BTreeSet::new() };
        for (Name { device, number, .. }, array) in
            arrays.into_iter().filter(|(name, _)| name.kind == kind)
        {
            if let Some(device) = device {
                if device >= devices {
                    let devices = match devices {
                        1 => "the run has one device, 0".to_owned(),
                        n => format!("the run has devices 0 to {}", n - 1),
                    };
                    return Err(format!("`{}` is for device {device}; {devices}", array.name));
                }
                found.per_device.insert(number);
            }
            if found.arrays.insert((device, number), array).is_some() {
                return Err(format!("`{}` is given twice", array.name));
            }
        }
        match found.per_device.iter().find(|&&number| found.arrays.contains_key(&(None, number))) {
            Some(number) => Err(format!(
                "`{kind}{number}` is for all devices, but `d<k>_{kind}{number}` is also given"
            )),
            None => Ok(found),
        }
    }
    /// Returns whether any array differs between devices.
    pub fn is_per_device(&self) -> bool {
        !self.per_device.is_empty()
    }
    /// Returns the largest number of an array.
    pub fn max_number(&self) -> Option<usize> {
        self.arrays.keys().map(|(_, number)| *number).max()
    }
    /// Returns the number of arrays of a device: those numbered from 0 without a gap.
    pub fn count(&self, device: usize) -> usize {
        (0..self.arrays.len()).take_while(|&number| self.has(device, number)).count()
    }
    /// Returns whether there is an array of this number for a device.
    pub fn has(&self, device: usize, number: usize) -> bool {
        [Some(device), None].iter().any(|&k| self.arrays.contains_key(&(k, number)))
    }

    /// Returns the arrays of a device as values of these shapes.
    ///
    /// # Errors
    /// If an array is missing or does not match its shape; the message names it.
    pub fn values<'s>(
        &self,
        device: usize,
        shapes: impl IntoIterator<Item = &'s Shape>,
    ) -> Result<Vec<Literal>, String> {
        let shared = &mut BTreeMap::new();
        let mut arrays = Unflatten { source: self, device, next: 0, shared, rest: &[] };
        shapes.into_iter().map(|shape| arrays.take(shape)).collect()
    }
    /// Returns the arrays of each device as values of these shapes; a single list if no array
    /// differs between devices.
    ///
    /// # Errors
    /// As [`NamedArrays::values`].
    pub fn values_per_device(
        &self,
        devices: usize,
        shapes: &[&Shape],
    ) -> Result<Vec<Vec<Literal>>, String> {
        self.values_or(0..devices, devices, shapes, &[])
    }
    /// Returns the arrays of each device as [`values_per_device`](Self::values_per_device); those
    /// of devices outside of `own` are empty lists. Arrays that are missing are taken from `rest`:
    /// values of these shapes, a list for each device or one for all.
    ///
    /// # Errors
    /// As [`NamedArrays::values`].
    pub fn values_or(
        &self,
        own: Range<usize>,
        devices: usize,
        shapes: &[&Shape],
        rest: &[Vec<Literal>],
    ) -> Result<Vec<Vec<Literal>>, String> {
        let is_shared = own.len() == devices && !self.is_per_device() && rest.len() < 2;
        let (own, devices) = if is_shared { (0..1, 1) } else { (own, devices) };
        // Arrays of all devices are converted once.
        let mut shared = BTreeMap::new();
        (0..devices)
            .map(|device| {
                if !own.contains(&device) {
                    return Ok(Vec::new());
                }
                let list = if let [list] = rest { Some(list) } else { rest.get(device) };
                let leaves = list.into_iter().flatten().flat_map(|value| value.leaves());
                let rest: Vec<&Literal> =
                    leaves.filter(|leaf| leaf.array_shape().is_some()).collect();
                let shared = &mut shared;
                let mut arrays = Unflatten { source: self, device, next: 0, shared, rest: &rest };
                shapes.iter().map(|shape| arrays.take(shape)).collect()
            })
            .collect()
    }
}

/// Returns the prefix of the arrays of a kind (`in`, `out`): `global_in`, `global_out` for one
/// device, if the file has them.
pub fn prefix<'k>(kind: &'k str, arrays: &[NpyArray], devices: usize) -> &'k str {
    let global = match kind {
        "in" => "global_in",
        "out" => "global_out",
        _ => return kind,
    };
    let is_global =
        |array: &NpyArray| Name::parse(&array.name).is_some_and(|name| name.kind == global);
    if devices == 1 && arrays.iter().any(is_global) { global } else { kind }
}

/// Returns the arguments of the entry computation for each device; a single list if no array
/// differs between devices.
///
/// # Errors
/// As [`NamedArrays::select`] and [`NamedArrays::values`].
pub fn arguments(
    arrays: &[NpyArray],
    module: &Module,
    devices: usize,
) -> Result<Vec<Vec<Literal>>, String> {
    let parameters = module.entry().program_shape().parameters;
    NamedArrays::select(arrays, prefix("in", arrays, devices), devices)?
        .values_per_device(devices, &parameters)
}

/// Returns the results of the entry computation for each device; a single one if no array differs
/// between devices.
///
/// # Errors
/// As [`NamedArrays::select`] and [`NamedArrays::values`].
pub fn results(
    arrays: &[NpyArray],
    module: &Module,
    devices: usize,
) -> Result<Vec<Literal>, String> {
    let each = NamedArrays::select(arrays, prefix("out", arrays, devices), devices)?
        .values_per_device(devices, &[module.entry().result_shape()])?;
    Ok(each.into_iter().flatten().collect())
}

/// Returns the arrays of a value with their names in a file.
pub fn flatten<'a>(value: &'a Literal, prefix: &str) -> Vec<(String, &'a Literal)> {
    let arrays = value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some());
    arrays.enumerate().map(|(i, leaf)| (format!("{prefix}{i}"), leaf)).collect()
}

/// Returns the arrays of several devices with their names in a file: `d<k>_out<i>`, or `out<i>` for
/// one device.
pub fn flatten_per_device<'a>(
    values: impl ExactSizeIterator<Item = &'a Literal>,
    prefix: &str,
) -> Vec<(String, &'a Literal)> {
    let one = values.len() == 1;
    let prefix_of = |k| if one { prefix.to_owned() } else { format!("d{k}_{prefix}") };
    values.enumerate().flat_map(|(k, value)| flatten(value, &prefix_of(k))).collect()
}

struct Unflatten<'n> {
    source: &'n NamedArrays<'n>,
    device: usize,
    next: usize,
    shared: &'n mut BTreeMap<usize, Literal>,
    /// The arrays that stand for missing ones.
    rest: &'n [&'n Literal],
}

impl Unflatten<'_> {
    fn take(&mut self, shape: &Shape) -> Result<Literal, String> {
        match shape {
            Shape::Array(array) => self.array(array),
            Shape::Tuple(shapes) => {
                let elements: Result<_, String> = shapes.iter().map(|s| self.take(s)).collect();
                Ok(Literal::tuple(elements?))
            }
            Shape::Token => Ok(Literal::token()),
            Shape::Opaque | Shape::Buffer(_) => {
                Err(format!("a value of shape {shape} has no array form"))
            }
        }
    }
    fn array(&mut self, shape: &ArrayShape) -> Result<Literal, String> {
        let number = self.next;
        self.next += 1;
        let own = self.source.per_device.contains(&number).then_some(self.device);
        if let (None, Some(value)) = (own, self.shared.get(&number)) {
            return Ok(value.clone());
        }
        let found = self.source.arrays.get(&(own, number));
        if let (None, Some(&value)) = (found, self.rest.get(number)) {
            return Ok(value.clone());
        }
        let found = found.ok_or_else(|| {
            let prefix = own.map_or_else(String::new, |device| format!("d{device}_"));
            format!("there is no array `{prefix}{}{number}` for {shape:#}", self.source.kind)
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
        hlo::literal::npz::write(&mut file, flatten(&value, "in")).unwrap();
        let arrays = hlo::literal::npz::read(file).unwrap();
        assert_eq!(
            arrays.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
            ["in0", "in1", "in2"]
        );
        let of = |kind| NamedArrays::select(&arrays, kind, 1).unwrap();
        assert_eq!(of("in").values(0, [&shape]).unwrap(), [value]);
        let error = of("out").values(0, [&shape]).unwrap_err();
        assert!(error.contains("`out0`"), "{error}");
    }

    /// Returns arrays of one `s32` each.
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
    fn a_device_has_its_own_arrays_and_the_common_ones() {
        let shape: Shape = "s32[]".parse().unwrap();
        let arrays = numbers(&[("in0", 7), ("d0_in1", 8), ("d1_in1", 9), ("d5_out0", 1)]);
        let named = NamedArrays::select(&arrays, "in", 2).unwrap();
        let lists = named.values_per_device(2, &[&shape, &shape]).unwrap();
        let texts: Vec<String> = lists.concat().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["s32[] 7", "s32[] 8", "s32[] 7", "s32[] 9"]);
        assert_eq!((named.count(0), named.count(2), named.max_number()), (2, 1, Some(1)));
        let arrays = numbers(&[("in0", 7)]);
        assert_eq!(
            NamedArrays::select(&arrays, "in", 4)
                .unwrap()
                .values_per_device(4, &[&shape])
                .unwrap()
                .len(),
            1
        );
    }

    #[test]
    fn errors_name_the_array_and_the_devices() {
        let shape: Shape = "s32[]".parse().unwrap();
        for (list, expected) in [
            (vec![("d2_in0", 1)], "`d2_in0` is for device 2; the run has devices 0 to 1"),
            (vec![("in0", 1), ("d1_in0", 2)], "`in0` is for all devices, but `d<k>_in0`"),
            (vec![("d1_in0", 1)], "there is no array `d0_in0` for s32[]"),
            (vec![("d01_in0", 1), ("in00", 1)], "there is no array `in0` for s32[]"),
        ] {
            let arrays = numbers(&list);
            let error = NamedArrays::select(&arrays, "in", 2)
                .and_then(|named| named.values_per_device(2, &[&shape]));
            assert!(error.as_ref().unwrap_err().starts_with(expected), "{error:?}");
        }
    }
}
