//! The number of devices of a StableHLO program that states none.
use hlo::Module;
use hlo::diag::{Diagnostic, Level, Place, quantity};
use hlo::op::GroupMode;

/// The numbers that the ids of groups and pairs need, by their meaning.
#[derive(Default)]
struct Ids {
    replicas: i64,
    partitions: i64,
    devices: i64,
}

impl Ids {
    fn of(module: &Module) -> Self {
        let mut found = Self::default();
        let instructions = module.computations.iter().flat_map(|(_, computation)| {
            computation.instructions.iter().map(|(_, instruction)| &instruction.op)
        });
        for op in instructions {
            if let Some((mode, groups)) = op.groups() {
                // A list that counts its ids is not expanded, which could exceed the memory.
                match groups.counted() {
                    Some(count) => found.add(mode, std::iter::once(count.saturating_sub(1))),
                    None => found.add(mode, groups.expand().iter().flatten().copied()),
                }
            }
            if let Some((mode, pairs)) = op.pairs() {
                found.add(mode, pairs.iter().flat_map(|&(source, target)| [source, target]));
            }
        }
        found
    }
    fn add(&mut self, mode: GroupMode, ids: impl Iterator<Item = i64>) {
        let Some(count) = ids.max().and_then(|id| id.checked_add(1)) else { return };
        let known = match mode {
            GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => &mut self.replicas,
            GroupMode::CrossPartition => &mut self.partitions,
            GroupMode::FlattenedId => &mut self.devices,
        };
        *known = (*known).max(count);
    }
    /// Returns the number of replicas, and that of the partitions of each.
    fn grid(&self, mesh: Option<i64>) -> (i64, i64) {
        let replicas = self.replicas.max(1);
        let devices = self.devices.max(mesh.unwrap_or(1));
        (replicas, self.partitions.max(devices / replicas).max(1))
    }
}

/// Returns the number of devices of the largest mesh that the program declares.
fn mesh(module: &Module) -> Option<i64> {
    let attributes = module.config.frontend_attributes.as_ref()?;
    let (_, text) = attributes.0.iter().find(|(name, _)| name == "xla.sdy.meshes")?;
    // `{name = #sdy.mesh<["x"=2, "y"=4]>, ...}`
    let axes = text.split("#sdy.mesh<[").skip(1).filter_map(|mesh| mesh.split(']').next());
    let size = |axes: &str| {
        let sizes = axes.split(',').filter_map(|axis| axis.rsplit_once('='));
        sizes.filter_map(|(_, size)| size.trim().parse::<i64>().ok()).try_fold(1, i64::checked_mul)
    };
    axes.filter_map(size).max()
}

/// Returns whether a program computes with whole arrays: devices are those of its shardings.
fn is_sharded(module: &Module) -> bool {
    module.computations.iter().any(|(_, computation)| {
        computation.instructions.iter().any(|(_, instruction)| {
            let is_marker = |call: &hlo::op::CustomCall| {
                let target = call.custom_call_target.0.as_str();
                target.starts_with("xla.sdy.") || target.contains("Shard")
            };
            instruction.common.as_ref().is_some_and(|common| common.sharding.is_some())
                || matches!(&instruction.op, hlo::Op::CustomCall(call) if is_marker(call))
        })
    })
}

/// Gives a program that states one device, or none, the number that its groups or its mesh need;
/// returns a note that says so.
pub(crate) fn infer(module: &mut Module) -> Option<Diagnostic> {
    let stated = (module.config.replica_count, module.config.num_partitions);
    if stated != (1, 1) || is_sharded(module) {
        return None;
    }
    let ids = Ids::of(module);
    let mesh = mesh(module);
    let (replicas, partitions) = ids.grid(mesh);
    if (replicas, partitions) == (1, 1) {
        return None;
    }
    (module.config.replica_count, module.config.num_partitions) = (replicas, partitions);
    let source = match mesh {
        Some(_) => "mesh",
        None => "groups of devices",
    };
    Some(Diagnostic {
        level: Level::Warning,
        code: "",
        message: format!(
            "the program states no number of devices; its {source} need {}, {} each",
            quantity(replicas, "replica"),
            quantity(partitions, "partition")
        ),
        span: None,
        instruction: None,
        place: Place::default(),
        labels: Vec::new(),
        help: Some("state them with --replicas and --partitions, or as `mhlo.num_replicas` and `mhlo.num_partitions` of the module".to_owned()),
    })
}
