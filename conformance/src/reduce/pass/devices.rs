//! Fewer devices.
use crate::reduce::search::Reduction;

/// Lowers the number of replicas and of partitions to 1 or 2.
pub(super) fn devices(search: &mut Reduction<'_, '_>) {
    for target in [1, 2] {
        for of_replicas in [true, false] {
            let mut module = search.module.module().clone();
            let config = &mut module.config;
            let before = (config.replica_count, config.num_partitions);
            let count =
                if of_replicas { &mut config.replica_count } else { &mut config.num_partitions };
            if *count <= target {
                continue;
            }
            *count = target;
            let mut arguments = search.arguments.clone();
            if arguments.len() > 1 {
                let partitions = before.1;
                let is_kept = |device: usize| {
                    let device = i64::try_from(device).unwrap_or(i64::MAX);
                    let number =
                        if of_replicas { device / partitions } else { device % partitions };
                    number < target
                };
                let mut device = 0..;
                arguments.retain(|_| device.next().is_some_and(is_kept));
            }
            search.attempt(module, arguments);
        }
    }
}
