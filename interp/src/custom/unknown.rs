//! Errors of targets that are unknown or cannot be run.
use super::Call;
use crate::Error;
use num::error::Code;

/// Prefixes of targets that cannot be run, and the reasons.
const REASONS: [(&str, &str); 28] = [
    ("CustomSPMDPartitioning", "it names a function of the Python process that made the module"),
    ("xla_python_", "it calls back into the Python process that made the module"),
    ("xla_ffi_python_", "it calls back into the Python process that made the module"),
    ("xla_ffi_partitioned_python_", "it calls back into the Python process that made the module"),
    ("xla_buffer_python_", "it calls back into the Python process that made the module"),
    ("xla_builder.", "it names a function of XLA's builder, which a test of XLA expands"),
    ("_xla_multi_module_call", "it calls the entry computation of another module"),
    ("_SPMDInternalOp_", "XLA's SPMD partitioner makes and replaces it"),
    ("AllocateBuffer", "what it returns is not initialized"),
    ("CreateBuffer", "what it returns is not initialized"),
    ("HostExecute", "it is code of another program"),
    ("te_", "it is a kernel for CUDA"),
    ("__op$", "it is XLA's name for an op that a GPU runs as a kernel"),
    ("check.", "it checks a value of a test, which `etalon test` runs"),
    ("interpreter.", "it is part of a test, which `etalon test` runs"),
    ("cu_", "it is a kernel for CUDA"),
    ("cuda_", "it is a kernel for CUDA"),
    ("cusolver_", "it is a kernel for CUDA"),
    ("cusparse_", "it is a kernel for CUDA"),
    ("hip", "it is a kernel for ROCm"),
    ("__cu", "it is XLA's name for a library of CUDA, in a module optimized for a GPU"),
    ("__gpu", "it is a kernel for a GPU"),
    ("__triton", "it is a kernel for a GPU"),
    ("triton", "it is a kernel for a GPU"),
    ("mosaic", "it is a kernel for a GPU"),
    ("__onednn", "it is XLA's name for oneDNN, in a module optimized for a CPU"),
    ("tpu_custom_call", "it is a kernel for a TPU"),
    ("host-compute", "it is code of another program"),
];

/// Returns the error of a call whose target is neither registered nor built in.
pub(super) fn error<'a>(call: &Call<'_>, registered: impl Iterator<Item = &'a str>) -> Error {
    let target = call.op.custom_call_target.0.as_str();
    if let Some((_, reason)) = REASONS.iter().find(|(start, _)| target.starts_with(start)) {
        let message = format!("custom call target `{target}` cannot be run: {reason}");
        return Error::from(Code::Unsupported { message }).with_help(
            "dump the module before XLA optimizes it, or register a function for the target",
        );
    }
    let registered: Vec<String> = registered.map(str::to_owned).collect();
    let built_in = super::targets();
    let nearest = registered.iter().chain(built_in);
    let nearest = nearest.map(|name| (strsim::damerau_levenshtein(name, target), name)).min();
    let near = nearest.filter(|(distance, _)| distance * 3 <= target.len());
    let meant = near.map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"));
    let mut known = registered;
    known.extend(built_in.iter().filter(|name| !name.starts_with("lapack_")).cloned());
    known.push("lapack_{s,d,c,z}NAME_ffi".to_owned());
    let message = format!("unknown custom call target `{target}`{meant}");
    Error::from(Code::Unsupported { message }).with_help(format!(
        "built-in targets are {}; to register others, see docs/custom-calls.md",
        known.join(", ")
    ))
}
