//! Names of ops in XLA's builder, StableHLO and MHLO, and JAX's `lax`, where they are not opcodes.
use hlo::Opcode;
use hlo::Opcode as Op;

/// Names in lower case without dashes and underscores, and the opcodes that the ops become, or that use the structures.
const NAMES: &[(&[&str], Opcode)] = &[
    (&["createtoken"], Op::AfterAll),
    (&["crossreplicasum", "psum", "pmax", "pmin"], Op::AllReduce),
    (&["allgathertuple"], Op::AllGather),
    (&["arctan2"], Op::Atan2),
    (&["batchnormgradient"], Op::BatchNormGrad),
    (&["bitcastconverttype"], Op::BitcastConvert),
    (&["broadcastindim", "expanddims", "dynamicbroadcastindim"], Op::Broadcast),
    (&["composite", "compositecall", "funccall"], Op::Call),
    (&["ceiling"], Op::Ceil),
    (&["clip"], Op::Clamp),
    (&["eq", "ne", "ge", "gt", "le", "lt", "eqtotalorder"], Op::Compare),
    (&["concatindim", "concat"], Op::Concatenate),
    (&["case", "if", "cond", "switch"], Op::Conditional),
    (&["constantr0", "constantr1", "constantliteral", "constantfromarray"], Op::Constant),
    (&["convertelementtype", "cast"], Op::Convert),
    (
        &[
            "conv",
            "convwithgeneralpadding",
            "convwithgeneraldimensions",
            "convgeneral",
            "convgeneraldilated",
            "convolutiondimensionnumbers",
            "dynamicconv",
            "dynamicconvforward",
        ],
        Op::Convolution,
    ),
    (&["clz"], Op::CountLeadingZeros),
    (&["cos"], Op::Cosine),
    (&["customcallwithlayout"], Op::CustomCall),
    (&["div"], Op::Divide),
    (&["dotgeneral", "dotdimensionnumbers", "einsum", "matmul"], Op::Dot),
    (&["realdynamicslice"], Op::DynamicSlice),
    (&["exp"], Op::Exponential),
    (&["expm1"], Op::ExponentialMinusOne),
    (&["gatherdimensionnumbers", "dynamicgather", "take", "torchindexselect"], Op::Gather),
    (&["infeedwithtoken"], Op::Infeed),
    (&["dynamiciota", "arange"], Op::Iota),
    (&["ln"], Op::Log),
    (&["log1p"], Op::LogPlusOne),
    (&["sigmoid"], Op::Logistic),
    (&["max"], Op::Maximum),
    (&["min"], Op::Minimum),
    (&["mul"], Op::Multiply),
    (&["neg"], Op::Negate),
    (&["optimizationbarrier"], Op::OptBarrier),
    (&["outfeedwithtoken"], Op::Outfeed),
    (&["paddingconfig", "dynamicpad"], Op::Pad),
    (&["popcount"], Op::Popcnt),
    (&["pow"], Op::Power),
    (&["recvfromhost", "recvwithtoken", "channelhandle"], Op::Recv),
    (&["reduceall"], Op::Reduce),
    (&["rem", "mod", "fmod"], Op::Remainder),
    (&["collapse", "squeeze", "flatten", "dynamicreshape"], Op::Reshape),
    (&["rev", "flip"], Op::Reverse),
    (&["rnguniform", "rngnormal"], Op::Rng),
    (&["round"], Op::RoundNearestAfz),
    (&["rint"], Op::RoundNearestEven),
    (&["scatterdimensionnumbers"], Op::Scatter),
    (&["sendtohost", "sendwithtoken"], Op::Send),
    (&["shl"], Op::ShiftLeft),
    (&["shra"], Op::ShiftRightArithmetic),
    (&["shrl"], Op::ShiftRightLogical),
    (&["sin"], Op::Sine),
    (&["sliceindim"], Op::Slice),
    (&["sub"], Op::Subtract),
    (&["permute"], Op::Transpose),
    (&["whileloop", "fori"], Op::While),
];

/// Returns the opcode that an op of this name becomes: `RngUniform`, `stablehlo.dot_general`, `lax.conv_general_dilated`.
pub(crate) fn opcode_of(name: &str) -> Option<Opcode> {
    let own = name.rsplit(['.', ':']).next()?;
    let plain = |name: &str| name.to_lowercase().replace(['-', '_'], "");
    let own = plain(own);
    let same = Opcode::ALL.iter().find(|opcode| plain(opcode.name()) == own);
    let found = || NAMES.iter().find(|(names, _)| names.contains(&own.as_str()));
    same.copied().or_else(|| found().map(|&(_, opcode)| opcode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_systems_are_opcodes() {
        for (name, opcode) in [
            ("RngUniform", Op::Rng),
            ("RecvDone", Op::RecvDone),
            ("stablehlo.dot_general", Op::Dot),
            ("lax.conv_general_dilated", Op::Convolution),
            ("xla::Collapse", Op::Reshape),
            ("CrossReplicaSum", Op::AllReduce),
            ("chlo.erf", Op::Erf),
        ] {
            assert_eq!(opcode_of(name), Some(opcode), "{name}");
        }
        assert_eq!(opcode_of("foo"), None);
        let mut all: Vec<&str> = NAMES.iter().flat_map(|(names, _)| *names).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|two| two[0] != two[1]), "{all:?}");
    }
}
