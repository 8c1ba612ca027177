//! The warning about a program with shardings that is not partitioned, and runs on several devices.
use super::marker;
use hlo::diag::{Diagnostic, Level, Place};
use hlo::ir::{Instruction, Placement, Sharding};
use hlo::{Module, Op, Opcode, Span};

/// Returns a warning if the devices of a run are likely to be independent copies of a program that
/// divides its arrays: the program has markers of the partitioner, or has shardings and no device
/// communicates or asks for its number.
pub(crate) fn unpartitioned(module: &Module, devices: usize) -> Option<Diagnostic> {
    if devices == 1 {
        return None;
    }
    // The partitioner of XLA runs before its scheduler, and may leave shardings behind.
    let config = &module.config;
    let is_partitioned = config.is_scheduled && config.num_partitions > 1;
    let mut first: Option<(Span, String)> = None;
    let (mut is_marked, mut communicates) = (false, false);
    for (_, computation) in module.computations.iter() {
        for (id, instruction) in computation.instructions.iter() {
            let is_marker = is_marker(&instruction.op);
            is_marked |= is_marker;
            communicates |=
                instruction.op.communicates() || instruction.opcode() == Opcode::PartitionId;
            let span = computation.span(id);
            let is_first = first.as_ref().is_none_or(|(known, _)| span.start < known.start);
            if is_first && (is_marker || divides(instruction)) {
                first = Some((span, computation.written_path(id)));
            }
        }
    }
    let (span, instruction) = first.filter(|_| is_marked || !(communicates || is_partitioned))?;
    Some(Diagnostic {
        level: Level::Warning,
        code: "",
        message: format!(
            "`{instruction}` has a sharding, and nothing in the module is partitioned: the {devices} devices run independent copies"
        ),
        span: Some(span).filter(|&span| span != Span::default()),
        instruction: Some(instruction),
        place: Place::Whole,
        labels: Vec::new(),
        help: Some(
            "run it as one program over global arrays with `--replicas 1 --partitions 1`, or partition it with XLA first"
                .to_owned(),
        ),
    })
}

/// Returns whether the partitioner replaces the op.
fn is_marker(op: &Op) -> bool {
    let Op::CustomCall(call) = op else { return false };
    call.custom_call_target.0 == "Sharding" || marker::kind(op).is_some()
}

/// Returns whether the sharding of an instruction divides an array.
fn divides(instruction: &Instruction) -> bool {
    let sharding = instruction.common.as_deref().and_then(|common| common.sharding.as_ref());
    let all = match sharding {
        Some(Sharding::One(one)) => std::slice::from_ref(one),
        Some(Sharding::Tuple(all)) => all.as_slice(),
        None => &[],
    };
    all.iter().any(|one| match &one.placement {
        Placement::Tiled(_) | Placement::Named(_) => true,
        Placement::Replicated
        | Placement::Manual
        | Placement::Unknown
        | Placement::Unreduced(_)
        | Placement::Maximal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(body: &str, devices: usize) -> Option<String> {
        let text = format!("HloModule m, num_partitions=2\nENTRY e {{ {body} }}");
        let warning = unpartitioned(&Module::parse(&text).unwrap(), devices)?;
        Some(warning.message)
    }

    #[test]
    fn copies_of_a_sharded_program_are_noticed() {
        let global =
            "x = f32[4] parameter(0), sharding={devices=[2]<=[2]} ROOT r = f32[4] negate(x)";
        let message = warned(global, 2).unwrap();
        assert!(message.starts_with("`e/x` has a sharding"), "{message}");
        assert!(message.ends_with("the 2 devices run independent copies"), "{message}");
        assert_eq!(warned(global, 1), None);
        let replicated = "x = f32[4] parameter(0), sharding={replicated} ROOT r = f32[4] negate(x)";
        assert_eq!(warned(replicated, 2), None);
        // A partitioned module keeps the shardings of its parameters.
        let partitioned = "x = f32[2] parameter(0), sharding={devices=[2]<=[2]}
            ROOT r = f32[2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}";
        assert_eq!(warned(partitioned, 2), None);
        let scheduled =
            format!("HloModule m, is_scheduled=true, num_partitions=2\nENTRY e {{ {global} }}");
        assert_eq!(unpartitioned(&Module::parse(&scheduled).unwrap(), 2), None);
        let marked = "x = f32[4] parameter(0)
            s = f32[4] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2]<=[2]}
            ROOT r = f32[4] collective-permute(s), channel_id=1, source_target_pairs={{0,1},{1,0}}";
        assert!(warned(marked, 2).unwrap().starts_with("`e/s`"));
    }
}
