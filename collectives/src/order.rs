//! Orders that the specification leaves open: of stepping tasks and of combining values; and
//! results that depend on them.
use fastrand::Rng;
use hlo::{ArrayShape, ElementType, IndexSpace, Literal, Scalar};
use std::fmt;
use std::ops::Range;

/// A random order, determined by a seed.
#[derive(Debug)]
pub(crate) struct Order(Rng);

impl Order {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }
    /// Keeps a random selection, at least one item of a list that is not empty, in random order.
    pub(crate) fn select(&mut self, all: &mut Vec<usize>) {
        self.0.shuffle(all);
        if !all.is_empty() {
            all.truncate(self.0.usize(1..=all.len()));
        }
    }
    /// Returns a random permutation of the indices of `count` members.
    pub(crate) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..count).collect();
        self.0.shuffle(&mut indices);
        indices
    }
}

/// An array of a device's result that depends on the order.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderDependence {
    /// The device.
    pub device: usize,
    /// The index of the array among the leaves of the result.
    pub array: usize,
    /// Its shape.
    pub shape: ArrayShape,
    /// The number of its elements that differ between two orders.
    pub elements: usize,
    /// The index of the element that differs most.
    pub index: Vec<i64>,
    /// Its different values.
    pub values: Vec<Scalar>,
}

impl fmt::Display for OrderDependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, array, shape, elements, index, values } = self;
        let all: i64 = shape.dims.iter().product();
        write!(
            f,
            "device {device}, result {array} ({shape:#}): {elements} of {all} elements depend on "
        )?;
        write!(f, "the order; element {index:?} is ")?;
        let shown = values.len().min(4);
        for (i, value) in values[..shown].iter().enumerate() {
            let between = if i == 0 { "" } else { " or " };
            write!(f, "{between}{}", print_number(*value, shape.ty))?;
        }
        match values.len() - shown {
            0 => Ok(()),
            more => write!(f, " or one of {more} more"),
        }
    }
}

/// Prints a value with as many digits as its type needs.
fn print_number(value: Scalar, ty: ElementType) -> String {
    let text = Literal::scalar(ty, value).to_string();
    text.split_once(' ').map_or(text.clone(), |(_, digits)| digits.to_owned())
}

/// Runs a module in several orders (see [`interp::RunOptions::order`]) and returns the results that
/// depend on the order: real devices do not guarantee one, so that such results may differ between
/// runs. `run` returns the results of all devices for a seed.
///
/// ```
/// let text = "HloModule m, replica_count=3
/// add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
/// ENTRY e { x = f32[] parameter(0) ROOT sum = f32[] all-reduce(x), replica_groups={}, to_apply=add }";
/// let verified = hlo::Module::parse(text)?.verify()?;
/// let inputs: Vec<Vec<hlo::Literal>> =
///     vec![vec!["f32[] 1".parse()?], vec!["f32[] 1e9".parse()?], vec!["f32[] -1e9".parse()?]];
/// let session = collectives::Session::compile(verified, &interp::CompileOptions::default())?;
/// let dependent = collectives::order_dependence(0..16, |seed| {
///     let options = interp::RunOptions::default().order(seed);
///     session.run(&inputs, &options).map(|output| output.results)
/// })?;
/// assert_eq!(dependent.len(), 3);
/// assert_eq!(
///     dependent[0].to_string(),
///     "device 0, result 0 (f32[]): 1 of 1 elements depend on the order; element [] is 0 or 1"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first error of `run`.
pub fn order_dependence<E>(
    seeds: Range<u64>,
    run: impl FnMut(u64) -> Result<Vec<Literal>, E>,
) -> Result<Vec<OrderDependence>, E> {
    let runs: Vec<Vec<Literal>> = seeds.map(run).collect::<Result<_, E>>()?;
    let mut found = Vec::new();
    for device in 0..runs.first().map_or(0, Vec::len) {
        let leaves: Vec<Vec<&Literal>> =
            runs.iter().map(|results| results[device].leaves()).collect();
        for array in 0..leaves.first().map_or(0, Vec::len) {
            let orders: Vec<&Literal> = leaves.iter().map(|leaves| leaves[array]).collect();
            found.extend(compare(device, array, &orders));
        }
    }
    Ok(found)
}

/// Compares the values of an array in all orders.
fn compare(device: usize, array: usize, orders: &[&Literal]) -> Option<OrderDependence> {
    let (first, others) = orders.split_first()?;
    let shape = first.array_shape()?;
    if others.iter().all(|other| other.bytes() == first.bytes()) {
        return None;
    }
    let differs = |i: usize| others.iter().any(|other| bits(other, i) != bits(first, i));
    let elements: Vec<usize> = (0..first.len()).filter(|&i| differs(i)).collect();
    let spread = |&i: &usize| {
        let values = orders.iter().map(|order| order.get(i).as_f64());
        values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
    };
    let worst = elements.iter().copied().max_by(|a, b| spread(a).total_cmp(&spread(b)))?;
    let mut values: Vec<Scalar> = orders.iter().map(|order| order.get(worst)).collect();
    values.sort_by(|a, b| a.as_f64().total_cmp(&b.as_f64()));
    values.dedup_by(|a, b| print_number(*a, shape.ty) == print_number(*b, shape.ty));
    let index = shape.dims.index_of(worst).to_vec();
    let (elements, shape) = (elements.len(), shape.clone());
    Some(OrderDependence { device, array, shape, elements, index, values })
}

fn bits(literal: &Literal, i: usize) -> &[u8] {
    let width = literal.array_shape().map_or(0, |shape| shape.ty.storage_bytes());
    &literal.bytes()[i * width..(i + 1) * width]
}
