//! Boundaries between a partitioned program and a manually partitioned region.
use crate::arguments::all_counted;
use crate::{CustomCallOptions, Error, IntoShape, Result, Value};
use hlo::diag::quantity;
use hlo::ir::{DeviceSharding, Placement, Sharding, Subgroup, TileDevices, Tiling};
use hlo::{ArrayShape, Shape};

impl Value<'_> {
    /// Returns the part of the value that each device has: XLA's `ConvertSpmdFullToShardShape`.
    ///
    /// From here on the program says itself what each device does. `sharding` is how the whole is
    /// spread. With `single_dim` only that dimension is cut, and the partitioner goes on with the
    /// others, except for `unspecified_dims`, whose sharding it may choose. Each dimension's size
    /// is divided by its number of tiles, rounded up.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[8,4]", "x");
    /// let sharding = "{devices=[2,1]<=[2]}".parse().map_err(builder::Error::from)?;
    /// let part = x.convert_spmd_full_to_shard_shape(&sharding, None, &[]);
    /// assert_eq!(part.dims()?, [4, 4]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the sharding does not fit the array.
    #[track_caller]
    pub fn convert_spmd_full_to_shard_shape(
        self,
        sharding: &Sharding,
        single_dim: Option<i64>,
        unspecified_dims: &[i64],
    ) -> Self {
        self.record(|_| {
            let single = single_dim.map(|dim| self.axis(dim)).transpose()?;
            let mut part = self.array()?;
            if let Some(tiles) = tiling(sharding) {
                fits(tiles, &part)?;
                for (dim, (size, &count)) in (0i64..).zip(part.dims.iter_mut().zip(&tiles.dims)) {
                    if single.is_none_or(|single| single == dim) && count > 1 {
                        *size = size.saturating_add(count - 1) / count;
                    }
                }
            }
            let note = unspecified(&all_counted(unspecified_dims, self.rank()?));
            let whole = marked(self, "Sharding", self.shape()?, sharding, &note)?;
            marked(whole, "SPMDFullToShardShape", part.into(), &manual(sharding, single), &note)
        })
    }
    /// Returns the whole, of this shape, of which the value is the part of each device: XLA's
    /// `ConvertSpmdShardToFullShape`, which undoes
    /// [`convert_spmd_full_to_shard_shape`](Value::convert_spmd_full_to_shard_shape).
    #[track_caller]
    pub fn convert_spmd_shard_to_full_shape(
        self,
        shape: impl IntoShape,
        sharding: &Sharding,
        single_dim: Option<i64>,
        unspecified_dims: &[i64],
    ) -> Self {
        self.record(|_| {
            let single = single_dim.map(|dim| self.axis(dim)).transpose()?;
            if let Some(tiles) = tiling(sharding) {
                fits(tiles, &self.array()?)?;
            }
            let note = unspecified(&all_counted(unspecified_dims, self.rank()?));
            let part = marked(self, "Sharding", self.shape()?, &manual(sharding, single), &note)?;
            marked(part, "SPMDShardToFullShape", shape.into_shape()?, sharding, &note)
        })
    }
}

fn tiling(sharding: &Sharding) -> Option<&Tiling> {
    match sharding {
        Sharding::One(DeviceSharding { placement: Placement::Tiled(tiles), .. }) => Some(tiles),
        Sharding::One(_) | Sharding::Tuple(_) => None,
    }
}

/// Fails unless the sharding has a number of tiles for each dimension.
fn fits(tiles: &Tiling, shape: &ArrayShape) -> Result<()> {
    let (found, expected) =
        (tiles.dims.len() - tiles.subgroups.len().min(tiles.dims.len()), shape.rank());
    if found == expected && tiles.dims.iter().all(|&count| count > 0) {
        return Ok(());
    }
    let message =
        format!("the sharding tiles {}, {shape:#} has {expected}", quantity(found, "dimension"));
    Err(Error::argument(message).with_help("give a number of tiles for each dimension"))
}

/// Returns a custom call that returns its operand, with a sharding.
fn marked<'b>(
    value: Value<'b>,
    target: &str,
    shape: Shape,
    sharding: &Sharding,
    opaque: &str,
) -> Result<Value<'b>> {
    let b = value.builder();
    let _scope = b.scoped_sharding(Some(sharding.clone()));
    let options = CustomCallOptions { opaque: opaque.to_owned(), ..CustomCallOptions::default() };
    b.make_custom_call(target, &[value], shape, &options)
}

/// Returns the text `unspecified_dims=[0,1]`
fn unspecified(dims: &[i64]) -> String {
    if dims.is_empty() {
        return String::new();
    }
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    format!("unspecified_dims=[{}]", dims.join(","))
}

/// Returns the sharding of what the program itself spreads: all of it, or one dimension, whose
/// devices become a subgroup of their own.
fn manual(sharding: &Sharding, single: Option<i64>) -> Sharding {
    let at = single.and_then(|dim| usize::try_from(dim).ok());
    let (Some(at), Some(tiles)) = (at, tiling(sharding)) else {
        return Sharding::One(Placement::Manual.into());
    };
    // Device ids move with their tile: dimension `at` becomes the last.
    let count = tiles.dims[at];
    let inner: i64 = tiles.dims[at + 1..].iter().product();
    let devices = match &tiles.devices {
        TileDevices::List(devices) => devices.clone(),
        TileDevices::Iota(devices) => devices.expand(),
    };
    let (inner, block) = (to_usize(inner), to_usize(count.saturating_mul(inner)));
    let moved = devices.chunks(block.max(1)).flat_map(|outer| {
        let step = inner.max(1);
        (0..step).flat_map(move |i| outer.iter().skip(i).step_by(step).copied())
    });
    let mut dims = tiles.dims.clone();
    dims[at] = 1;
    dims.push(count);
    let mut subgroups = tiles.subgroups.clone();
    subgroups.push(Subgroup::Manual);
    let devices = TileDevices::List(moved.collect());
    Sharding::One(Placement::Tiled(Tiling { dims, devices, subgroups }).into())
}

fn to_usize(n: i64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
