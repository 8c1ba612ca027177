//! The shards of the arguments and results of an unpartitioned program.
//!
//! A program of `jax.jit` with shardings is unpartitioned: XLA's partitioner divides it, and each
//! device gets and returns shards. Here the program runs once. Its arguments are assembled from the
//! shards of the devices, and its results are divided, by the shardings that the program states. An
//! argument without one is replicated, a result without one is divided by what propagates to it. An
//! `unreduced` argument is the sum of the shards; of an `unreduced` result the devices of the first
//! term get the value, and the others zeros.
use super::marker::sharding;
use super::placement::Tiles;
use super::propagation;
use super::shardy::MAX_DEVICES;
use crate::{Code, Result};
use hlo::ir::{DeviceSharding, Placement};
use hlo::{Literal, Shape, Verified};

/// The shards of the arguments and results of an unpartitioned program on some number of devices.
///
/// ```
/// let text = "HloModule m
/// ENTRY e { x = s32[4] parameter(0), sharding={devices=[2]<=[2]} ROOT r = s32[4] negate(x), sharding={replicated} }";
/// let program = hlo::Module::parse(text)?.verify()?;
/// let shards = collectives::spmd::Shards::of(&program, 2)?;
/// assert_eq!(shards.arguments()[0].to_string(), "s32[2]{0}");
/// let arguments = shards.assemble(&[vec!["s32[2] {1, 2}".parse()?], vec!["s32[2] {3, 4}".parse()?]])?;
/// assert_eq!(arguments[0].to_string(), "s32[4]{0} {1, 2, 3, 4}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shards {
    devices: usize,
    arguments: Vec<ShardedArray>,
    results: Vec<ShardedArray>,
}

/// An argument, or a leaf of the result.
#[derive(Debug, Clone)]
struct ShardedArray {
    global: Shape,
    local: Shape,
    tiles: Option<Tiles>,
    sharding: DeviceSharding,
}

impl ShardedArray {
    fn new(global: &Shape, stated: Option<&DeviceSharding>, devices: usize) -> Result<Self> {
        let stated = stated.filter(|s| s.placement != Placement::Unknown);
        let replicated = || DeviceSharding::from(Placement::Replicated);
        let sharding = stated.cloned().unwrap_or_else(replicated);
        let Shape::Array(array) = global else {
            return Ok(Self {
                global: global.clone(),
                local: global.clone(),
                tiles: None,
                sharding: replicated(),
            });
        };
        let tiles = Tiles::of(&sharding, array.rank(), devices)?;
        let local = tiles.shard_shape(array).ok_or_else(|| {
            let message =
                format!("the tiles of {array:#} have unequal sizes, which is not supported");
            crate::Error::from(Code::Unsupported { message })
        })?;
        Ok(Self { global: global.clone(), local: local.into(), tiles: Some(tiles), sharding })
    }
    fn assemble(&self, shards: &[&Literal]) -> Literal {
        let (Some(tiles), Some(global)) = (&self.tiles, self.global.array()) else {
            return shards[0].clone();
        };
        if self.global == self.local && !tiles.is_sum() {
            return shards[0].clone();
        }
        let all: Vec<usize> = (0..shards.len()).collect();
        tiles.assemble(&all, shards, global).0
    }
    fn shard(&self, device: usize, global: &Literal) -> Literal {
        match (&self.tiles, &self.local) {
            (Some(tiles), Shape::Array(local)) if self.global != self.local || tiles.is_sum() => {
                tiles.shard(device, global, local)
            }
            _ => global.clone(),
        }
    }
}

impl Shards {
    /// Reads the shardings of the parameters and the result.
    ///
    /// # Errors
    /// `E0511` if a sharding does not fit; `E0507` if it does not determine shards of equal sizes.
    pub fn of(program: &Verified, devices: usize) -> Result<Self> {
        if devices > MAX_DEVICES {
            let message = format!("{devices} partitions are more than a run may have");
            return Err(Code::Unsupported { message }.into());
        }
        let entry = program.module().entry();
        let mut arguments = Vec::new();
        for id in entry.parameters() {
            let instruction = &entry.instructions[id];
            for (i, leaf) in instruction.shape.leaves().into_iter().enumerate() {
                let leaf = ShardedArray::new(leaf, sharding(instruction, i), devices);
                arguments.push(leaf.map_err(|error| error.at(entry.site(id)))?);
            }
        }
        let root = &entry.instructions[entry.root];
        let leaves = root.shape.leaves().into_iter().enumerate();
        let propagated = propagation::results(program.module(), devices);
        let results = leaves.map(|(i, leaf)| {
            let found = propagated[i].as_ref().or_else(|| sharding(root, i));
            ShardedArray::new(leaf, found, devices)
        });
        let results: Result<Vec<_>> = results.collect();
        let results = results.map_err(|error| error.at(entry.site(entry.root)))?;
        Ok(Self { devices, arguments, results })
    }
    /// Returns the shapes of the arguments of a device.
    pub fn arguments(&self) -> Vec<Shape> {
        self.arguments.iter().map(|leaf| leaf.local.clone()).collect()
    }
    /// Returns the shapes of the leaves of the result of a device.
    pub fn results(&self) -> Vec<Shape> {
        self.results.iter().map(|leaf| leaf.local.clone()).collect()
    }
    /// Returns the shardings of the arguments, and of the leaves of the result.
    pub fn shardings(&self) -> (Vec<&DeviceSharding>, Vec<&DeviceSharding>) {
        (shardings(&self.arguments), shardings(&self.results))
    }
    /// Returns the arguments of the program for those of each device. Of several shards of one
    /// tile, the first is used.
    ///
    /// # Errors
    /// `E0505` if their number or their shapes are others.
    pub fn assemble(&self, devices: &[Vec<Literal>]) -> Result<Vec<Literal>> {
        let fits = |list: &Vec<Literal>| {
            let shapes = list.iter().zip(&self.arguments);
            list.len() == self.arguments.len()
                && shapes.clone().all(|(value, leaf)| value.shape().compatible(&leaf.local))
        };
        if devices.len() != self.devices || !devices.iter().all(fits) {
            let message = "the arguments are not shards of the program's parameters".to_owned();
            return Err(Code::Arguments { message }.into());
        }
        let one = |(i, leaf): (usize, &ShardedArray)| {
            let shards: Vec<&Literal> = devices.iter().map(|list| &list[i]).collect();
            leaf.assemble(&shards)
        };
        Ok(self.arguments.iter().enumerate().map(one).collect())
    }
    /// Returns whether the arguments of the program, assembled from those of the devices, say all
    /// of these: devices with the same tile of an argument have equal shards.
    pub fn is_whole(&self, whole: &[Literal], devices: &[Vec<Literal>]) -> bool {
        let is_own = |(device, list): (usize, &Vec<Literal>)| {
            let leaves = self.arguments.iter().zip(whole).zip(list);
            leaves.into_iter().all(|((leaf, whole), own)| {
                let is_sum = leaf.tiles.as_ref().is_some_and(Tiles::is_sum);
                is_sum || leaf.shard(device, whole).bytes() == own.bytes()
            })
        };
        devices.iter().enumerate().all(is_own)
    }
    /// Returns the leaves of the result of each device.
    pub fn split(&self, result: &Literal) -> Vec<Vec<Literal>> {
        let leaves = result.leaves();
        let of = |device| {
            let pairs = self.results.iter().zip(&leaves);
            pairs.map(|(leaf, value)| leaf.shard(device, value)).collect()
        };
        (0..self.devices).map(of).collect()
    }
}

fn shardings(leaves: &[ShardedArray]) -> Vec<&DeviceSharding> {
    leaves.iter().map(|leaf| &leaf.sharding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_divided_as_the_program_states() {
        let text = "HloModule m
            ENTRY e { x = f32[4,2] parameter(0)
              n = f32[4,2] negate(x)
              ROOT t = (f32[4,2], f32[4,2]) tuple(x, n), sharding={{devices=[2,2]<=[4]}, {replicated}} }";
        let program = hlo::Module::parse(text).unwrap().verify().unwrap();
        let shards = Shards::of(&program, 4).unwrap();
        assert_eq!(shards.results()[0].to_string(), "f32[2,1]{1,0}");
        let x: Literal = "f32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}".parse().unwrap();
        let global = shards.assemble(&vec![vec![x.clone()]; 4]).unwrap();
        assert_eq!(global, std::slice::from_ref(&x));
        let parts = shards.split(&Literal::tuple(vec![x.clone(), x.clone()]));
        assert_eq!(parts[3][0].to_string(), "f32[2,1]{1,0} { {6}, {8} }");
        assert_eq!(parts[3][1], x);
    }

    #[test]
    fn arguments_of_another_shape_are_refused() {
        let text = "HloModule m\nENTRY e { x = s32[4] parameter(0), sharding={devices=[2]<=[2]} ROOT r = s32[4] negate(x) }";
        let program = hlo::Module::parse(text).unwrap().verify().unwrap();
        let shards = Shards::of(&program, 2).unwrap();
        let whole: Literal = "s32[4] {1, 2, 3, 4}".parse().unwrap();
        assert_eq!(shards.assemble(&vec![vec![whole]; 2]).unwrap_err().number(), "E0505");
        let uneven =
            hlo::Module::parse(&text.replace("s32[4]", "s32[5]")).unwrap().verify().unwrap();
        assert_eq!(Shards::of(&uneven, 2).unwrap_err().number(), "E0507");
    }

    #[test]
    fn unreduced_values_are_sums_of_shards() {
        for sharding in [
            "devices=[2,2]<=[4] last_tile_dims={unreduced}",
            "mesh['a'=2,'b'=2], [{'a'}], unreduced={'b'}",
        ] {
            let text = format!(
                "HloModule m\nENTRY e {{ x = s32[4] parameter(0), sharding={{{sharding}}}
                  ROOT r = s32[4] negate(x), sharding={{{sharding}}} }}"
            );
            let program = hlo::Module::parse(&text).unwrap().verify().unwrap();
            let shards = Shards::of(&program, 4).unwrap();
            let part = |k: i32| vec![format!("s32[2] {{{k}, {}}}", k + 1).parse().unwrap()];
            let x = shards.assemble(&[part(1), part(2), part(3), part(6)]).unwrap();
            assert_eq!(x[0].to_string(), "s32[4]{0} {3, 5, 9, 11}");
            let parts: Vec<String> =
                shards.split(&x[0]).iter().map(|list| list[0].to_string()).collect();
            let zeros = "s32[2]{0} {0, 0}";
            assert_eq!(parts, ["s32[2]{0} {3, 5}", zeros, "s32[2]{0} {9, 11}", zeros]);
        }
        let text = "HloModule m\nENTRY e { ROOT x = f32[] parameter(0), sharding={unreduced=max} }";
        let program = hlo::Module::parse(text).unwrap().verify().unwrap();
        assert_eq!(Shards::of(&program, 2).unwrap_err().number(), "E0507");
    }
}
