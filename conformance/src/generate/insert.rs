//! The inserter of each op.
use super::collective::Start;
use super::generator::Generator;
use super::scope::Scope;
use hlo::Opcode;
use hlo::op::Kind;

/// Defines the forms of ops from the op table: elementwise ops share one, and each op with
/// attributes has its own.
macro_rules! define_forms {
    (
        unary { $($unary:ident $u0:tt $u1:tt $u2:tt $u3:tt $u4:tt;)* }
        binary { $($binary:ident $b0:tt $b1:tt $b2:tt $b3:tt $b4:tt;)* }
        structured { $($op:ident $s0:tt $s1:tt $s2:tt $s3:tt $s4:tt $s5:tt $s6:tt;)* }
        was $was:tt
    ) => {
        /// An op with attributes.
        #[derive(Debug, Clone, Copy)]
        enum Structured { $($op,)* }

        /// Returns the op with attributes; none for an elementwise op.
        fn structured(op: Opcode) -> Option<Structured> {
            match op {
                $(Opcode::$unary)|* | $(Opcode::$binary)|* => None,
                $(Opcode::$op => Some(Structured::$op),)*
            }
        }
    };
}
hlo::for_each_op!(define_forms);

impl Generator {
    /// Adds an instruction of this op, and what it needs. Returns nothing, and adds at most
    /// operands, if it does not fit here.
    pub(super) fn insert(&mut self, scope: &mut Scope, op: Opcode) -> Option<()> {
        let across = match op.kind() {
            Kind::Collective | Kind::Transfer => true,
            Kind::Array
            | Kind::Device
            | Kind::Value
            | Kind::Control
            | Kind::Asynchronous
            | Kind::Host
            | Kind::Random
            | Kind::Custom => false,
        };
        let is_fusible = op.is_elementwise() || op.moves_data();
        let fits = (!scope.is_scalar || op.is_elementwise())
            && (!scope.is_fused || !self.config.portable || is_fusible);
        (fits && (scope.communicates || !across)).then_some(())?;
        match structured(op) {
            Some(op) => self.insert_structured(scope, op),
            None => self.elementwise(scope, op),
        }
    }
    #[expect(clippy::too_many_lines, reason = "a line for each opcode")]
    fn insert_structured(&mut self, scope: &mut Scope, op: Structured) -> Option<()> {
        use Structured as S;
        match op {
            S::AddDependency | S::AfterAll => self.add_dependency(scope),
            S::AllGather => self.all_gather(scope, Start::Not),
            S::AllGatherStart | S::AllGatherDone => self.all_gather(scope, Start::Both),
            S::AllReduce => self.all_reduce(scope, Start::Not),
            S::AllReduceStart | S::AllReduceDone => self.all_reduce(scope, Start::Result),
            S::AllToAll => self.all_to_all(scope),
            S::AsyncStart | S::AsyncUpdate | S::AsyncDone => self.async_call(scope),
            S::BatchNormGrad => self.batch_norm(scope, "batch-norm-grad", true),
            S::BatchNormInference => self.batch_norm(scope, "batch-norm-inference", false),
            S::BatchNormTraining => self.batch_norm(scope, "batch-norm-training", true),
            S::Bitcast => self.bitcast(scope),
            S::BitcastConvert => self.bitcast_convert(scope),
            S::Broadcast => self.broadcast(scope),
            S::Call => self.call(scope),
            S::Cholesky => self.cholesky(scope),
            S::Clamp => self.clamp(scope),
            S::CollectiveBroadcast => self.collective_broadcast(scope),
            S::CollectivePermute => self.collective_permute(scope, Start::Not),
            S::CollectivePermuteStart | S::CollectivePermuteDone => {
                self.collective_permute(scope, Start::Both)
            }
            S::Compare => self.compare(scope),
            S::Concatenate => self.concatenate(scope),
            S::Conditional => self.conditional(scope),
            S::Constant => self.any_constant(scope),
            S::Convert => self.convert(scope),
            S::Convolution => self.convolution(scope),
            S::Copy => {
                self.forward(scope, "copy(X)");
                Some(())
            }
            S::CopyStart | S::CopyDone => self.copy_start(scope),
            S::CustomCall => self.custom_call(scope),
            S::Domain => self.domain(scope),
            S::Dot => self.dot(scope),
            S::DynamicReshape => self.dynamic_reshape(scope),
            S::DynamicSlice => self.dynamic_slice(scope),
            S::DynamicUpdateSlice => self.dynamic_update_slice(scope),
            S::Fft => self.fft(scope),
            S::Fusion => self.fusion(scope),
            S::Gather => self.gather(scope),
            S::GetDimensionSize => self.get_dimension_size(scope),
            S::GetTupleElement | S::Tuple => self.tuple(scope),
            S::Iota => self.iota(scope),
            S::Map => self.map(scope),
            S::OptBarrier => {
                self.forward(scope, "opt-barrier(X)");
                Some(())
            }
            S::Pad => self.pad(scope),
            S::Parameter => self.operand(scope, super::generator::any, 0).map(drop),
            S::PartitionId => self.device_id(scope, "partition-id()"),
            S::RaggedAllToAll => self.ragged_all_to_all(scope),
            S::RaggedDot => self.ragged_dot(scope),
            S::Reduce => self.reduce(scope),
            S::ReducePrecision => self.reduce_precision(scope),
            S::ReduceScatter => self.reduce_scatter(scope),
            S::ReduceWindow => self.reduce_window(scope),
            S::ReplicaId => self.device_id(scope, "replica-id()"),
            S::Reshape => self.reshape(scope),
            S::Reverse => self.reverse(scope),
            S::Rng => self.random(scope, false),
            S::RngBitGenerator => self.rng_bit_generator(scope),
            S::RngGetAndUpdateState => self.random(scope, true),
            S::ScaledDot => self.scaled_dot(scope),
            S::Scan => self.scan(scope),
            S::Scatter => self.scatter(scope),
            S::Select => self.select(scope),
            S::SelectAndScatter => self.select_and_scatter(scope),
            S::Send | S::SendDone | S::Recv | S::RecvDone => self.transfer(scope),
            S::SetDimensionSize => self.set_dimension_size(scope),
            S::Slice => self.slice(scope),
            S::Sort => self.sort(scope),
            S::StochasticConvert => self.stochastic_convert(scope),
            S::TopK => self.topk(scope),
            S::Transpose => self.transpose(scope),
            S::TriangularSolve => self.triangular_solve(scope),
            S::While => self.while_loop(scope),
            // The host's values are no part of a case.
            S::Infeed | S::Outfeed => None,
        }
    }
}
