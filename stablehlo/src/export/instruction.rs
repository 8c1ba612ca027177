//! The conversion of an instruction by its op.
use super::Chlo;
use super::exporter::{At, Exporter, Leaves, leaf_shapes};
use super::{expand, types};
use crate::attributes::{integer, keyword, list, named};
use crate::error::{Error, Result};
use crate::ir::{Attribute, Type};
use crate::ops;
use hlo::literal::ConstantValue;
use hlo::op::value::ResultAccuracy;
use hlo::op::{Constant, GetTupleElement, Parameter};
use hlo::{Class, ElementType, Op};
use hlo::{Literal, Shape};

impl Exporter<'_> {
    /// Converts an instruction.
    #[expect(clippy::too_many_lines, reason = "all ops")]
    pub(super) fn instruction(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        match &at.instruction.op {
            Op::Unary(_) | Op::Binary(_) => self.elementwise(at),

            Op::Parameter(Parameter { number }) => {
                let argument =
                    usize::try_from(*number).ok().and_then(|n| at.frame.arguments.get(n));
                argument.cloned().ok_or_else(|| Error::internal("a parameter has no value"))
            }
            Op::Constant(Constant { value }) => match &**value {
                ConstantValue::Literal(literal) => self.constant(literal),
                ConstantValue::Elided(_) => {
                    Err(at.unsupported("without its elements, which the text leaves out"))
                }
            },
            Op::Tuple(_) => Ok(at.operands()),
            Op::GetTupleElement(GetTupleElement { index }) => {
                Ok(element(at.shape(0), at.leaves(0), usize::try_from(*index).unwrap_or(0)))
            }
            Op::Copy(_) | Op::Domain(_) | Op::AllReduceDone(_) | Op::AsyncUpdate(_) => {
                Ok(at.leaves(0).clone())
            }
            Op::AddDependency(_) => self.add_dependency(at),
            Op::AfterAll(_) => self.after_all(at),
            Op::OptBarrier(_) => self.optimization_barrier(at),

            Op::Bitcast(_) => self.bitcast(at),
            Op::BitcastConvert(_) => self.bitcast_convert(at),
            Op::StochasticConvert(_) => {
                let ty = at.result()?.ty;
                at.refuse(ty.class() != Class::Signed, "to other than signed integers")?;
                self.expand(at, |x| expand::stochastic_convert(x, ty))
            }
            Op::ReducePrecision(op) => self.reduce_precision(at, op),
            Op::Clamp(_) | Op::Convert(_) => self.plain(at, []),
            Op::Compare(op) => self.compare(at, op),
            Op::Select(_) => self.select(at),

            Op::Broadcast(op) => self.named(
                at,
                "stablehlo.broadcast_in_dim",
                [dims("broadcast_dimensions", &op.dimensions)],
            ),
            Op::Concatenate(op) => self.plain(at, [dim("dimension", &op.dimensions)]),
            Op::DynamicReshape(_) => self.dynamic_reshape(at),
            Op::DynamicSlice(op) => self.dynamic_slice(at, op),
            Op::DynamicUpdateSlice(_) => self.dynamic_update_slice(at),
            Op::Gather(op) => self.gather(at, op),
            Op::GetDimensionSize(op) => self.plain(at, [dim("dimension", &op.dimensions)]),
            Op::SetDimensionSize(op) => {
                let size = op.dimensions.first().and_then(|&d| usize::try_from(d).ok());
                let is_static = size.is_some_and(|d| !at.result().is_ok_and(|r| r.is_dynamic(d)));
                at.refuse(is_static, "that returns a static size")?;
                self.plain(at, [dim("dimension", &op.dimensions)])
            }
            Op::Iota(op) => {
                self.plain(at, [("iota_dimension", integer(op.iota_dimension.unwrap_or(0)))])
            }
            Op::Pad(op) => self.pad(at, op),
            Op::Reshape(_) => {
                let result = at.result()?;
                let dynamic = (0..result.rank()).filter(|&dim| result.is_dynamic(dim)).count();
                at.refuse(dynamic > 1, "to several dynamic sizes")?;
                self.plain(at, [])
            }
            Op::Reverse(op) => self.plain(at, [dims("dimensions", &op.dimensions)]),
            Op::Scatter(op) => self.scatter(at, op),
            Op::Slice(op) => self.slice(at, op),
            Op::Transpose(op) => self.plain(at, [dims("permutation", &op.dimensions)]),

            Op::BatchNormGrad(op) => self.batch_norm(at, op.epsilon, op.feature_index),
            Op::BatchNormInference(op) => self.batch_norm(at, op.epsilon, op.feature_index),
            Op::BatchNormTraining(op) => self.batch_norm(at, op.epsilon, op.feature_index),
            Op::Cholesky(op) => self.plain(at, [("lower", Attribute::Bool(op.lower))]),
            Op::TriangularSolve(op) => self.triangular_solve(at, op),
            Op::Fft(op) => {
                let ty = keyword("stablehlo.fft_type", op.fft_type.name());
                self.plain(at, [("fft_type", ty), dims("fft_length", &op.fft_length)])
            }
            Op::Convolution(op) => self.convolution(at, op),
            Op::Dot(op) => self.dot(at, op),
            Op::RaggedDot(op) => match self.options.chlo {
                Chlo::Keep => self.ragged_dot(at, op),
                Chlo::Expand => {
                    let result = at.result()?.clone();
                    self.expand(at, |x| expand::ragged_dot(op, x, &result))
                }
            },
            Op::ScaledDot(op) => {
                let result = at.result()?.clone();
                self.expand(at, |x| expand::scaled_dot(op, x, &result))
            }

            Op::Map(op) => self.map(at, op),
            Op::Reduce(op) => self.reduce(at, op),
            Op::ReduceWindow(op) => self.reduce_window(at, op),
            Op::SelectAndScatter(op) => self.select_and_scatter(at, op),
            Op::Sort(op) => self.sort(at, op),
            Op::TopK(op) => match self.options.chlo {
                Chlo::Keep if op.largest => self.named(at, "chlo.top_k", [("k", integer(op.k))]),
                Chlo::Keep | Chlo::Expand => {
                    at.refuse_dynamic_without_chlo(&[at.array(0)?])?;
                    self.expand(at, |x| expand::top_k(op, x))
                }
            },
            Op::Scan(op) => self.scan(at, op),

            Op::Rng(op) => self.rng(at, op),
            Op::RngBitGenerator(op) => {
                let algorithm = op.algorithm.name().trim_start_matches("rng_").to_uppercase();
                let algorithm = keyword("stablehlo.rng_algorithm", &algorithm);
                self.plain(at, [("rng_algorithm", algorithm)])
            }
            Op::RngGetAndUpdateState(_) => Err(at.unsupported("has no counterpart in StableHLO")),

            Op::Call(op) => self.call(at, op),
            Op::Conditional(op) => self.conditional(at, op),
            Op::Fusion(op) => self.inlined(at, op.calls),
            Op::While(op) => self.while_(at, op),
            Op::CustomCall(op) => self.custom_call(at, op),

            Op::AllGather(op) => self.all_gather(at, op),
            Op::AllReduce(op) => self.all_reduce(at, op),
            Op::AllToAll(op) => self.all_to_all(at, op),
            Op::CollectiveBroadcast(op) => self.collective_broadcast(at, op),
            Op::CollectivePermute(op) => self.collective_permute(at, op),
            Op::RaggedAllToAll(op) => self.ragged_all_to_all(at, op),
            Op::ReduceScatter(op) => self.reduce_scatter(at, op),
            Op::PartitionId(_) | Op::ReplicaId(_) => {
                let is_u32 = at.result()?.ty == ElementType::U32;
                at.refuse(!is_u32, "of another type than u32")?;
                self.plain(at, [])
            }

            Op::AllGatherStart(op) => {
                let done = self.all_gather(at, &started!(AllGather, op))?;
                self.started(at, done)
            }
            Op::AllReduceStart(op) => self.all_reduce(at, &started!(AllReduce, op)),
            Op::CollectivePermuteStart(op) => {
                let done = self.collective_permute(at, &started!(CollectivePermute, op))?;
                self.started(at, done)
            }
            Op::CopyStart(_) => {
                // The copy, the original, and a context.
                let done = at.leaves(0).clone();
                self.started(at, done)
            }
            Op::CopyDone(_) => Ok(element(at.shape(0), at.leaves(0), 0)),
            Op::AllGatherDone(_) | Op::CollectivePermuteDone(_) => {
                Ok(element(at.shape(0), at.leaves(0), 1))
            }
            Op::AsyncStart(op) => self.async_start(at, op),
            Op::AsyncDone(_) => self.async_done(at),

            Op::Infeed(op) => self.infeed(at, op),
            Op::Outfeed(op) => self.outfeed(at, op),
            Op::Send(op) => self.send(at, op),
            Op::SendDone(_) => Ok(element(at.shape(0), at.leaves(0), 2)),
            Op::Recv(op) => self.recv(at, op),
            Op::RecvDone(op) => self.recv_done(at, op),
        }
    }

    fn elementwise(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let opcode = at.instruction.opcode().name().replace('-', "_");
        let own = ops::find(&format!("stablehlo.{opcode}"));
        let Some(row) = own.or_else(|| ops::find(&format!("chlo.{opcode}"))) else {
            return Err(at.unsupported("has no counterpart in StableHLO"));
        };
        if let (Chlo::Expand, Some(expansion)) = (self.options.chlo, row.expansion) {
            return self.expand(at, expansion);
        }
        let accuracy = at.instruction.common.as_ref().and_then(|common| common.result_accuracy);
        // Ops of CHLO have no attribute for it, and a request is no part of the value.
        let accuracy = accuracy
            .filter(|_| own.is_some())
            .map(|accuracy| ("result_accuracy", result_accuracy(accuracy)));
        self.named(at, row.name, accuracy)
    }
    /// Adds constants, one for each leaf.
    pub(super) fn constant(&mut self, literal: &Literal) -> Result<Leaves> {
        match literal {
            Literal::Array(array) if array.shape().dynamic.is_some() => {
                Err(Error::unsupported("a constant of a dynamic size"))
            }
            Literal::Array(array) => {
                let value = types::of_literal(array)?;
                let draft = super::exporter::Draft::new("stablehlo.constant", [])
                    .set("value", Attribute::Dense(value));
                self.emit(draft, &[array.shape().clone().into()])
            }
            Literal::Tuple(parts) => {
                let mut all = Leaves::new();
                for part in parts {
                    all.extend(self.constant(part)?);
                }
                Ok(all)
            }
            Literal::Token => {
                let draft = super::exporter::Draft::new("stablehlo.after_all", []);
                self.emit(draft, &[Shape::Token])
            }
        }
    }
    /// Returns the value of the start of an op that is done: operands, results, and contexts,
    /// which StableHLO lacks and nothing reads.
    pub(super) fn started(&mut self, at: At<'_, '_>, done: Leaves) -> Result<Leaves> {
        let mut all = at.operands();
        all.extend(done);
        let shapes = leaf_shapes(&at.instruction.shape);
        for shape in shapes.iter().skip(all.len()) {
            let zero = match shape {
                Shape::Array(array) => Literal::zeros(array.clone()),
                _ => Literal::Token,
            };
            all.extend(self.constant(&zero)?);
        }
        Ok(all)
    }
}

/// Returns the op that a start begins, which has the same attributes.
macro_rules! started {
    (AllGather, $op:ident) => {
        hlo::op::AllGather {
            channel_id: $op.channel_id,
            replica_groups: $op.replica_groups.clone(),
            constrain_layout: $op.constrain_layout,
            dimensions: $op.dimensions.clone(),
            use_global_device_ids: $op.use_global_device_ids,
        }
    };
    (AllReduce, $op:ident) => {
        hlo::op::AllReduce {
            channel_id: $op.channel_id,
            replica_groups: $op.replica_groups.clone(),
            constrain_layout: $op.constrain_layout,
            use_global_device_ids: $op.use_global_device_ids,
            mode: $op.mode.clone(),
            barrier: $op.barrier.clone(),
            to_apply: $op.to_apply.clone(),
        }
    };
    (CollectivePermute, $op:ident) => {
        hlo::op::CollectivePermute {
            channel_id: $op.channel_id,
            source_target_pairs: $op.source_target_pairs.clone(),
            slice_sizes: $op.slice_sizes.clone(),
        }
    };
}
use started;

/// Returns the leaves of an element of a tuple.
pub(super) fn element(tuple: &Shape, leaves: &Leaves, index: usize) -> Leaves {
    let parts = tuple.tuple().unwrap_or_default();
    let count = |part: &Shape| part.leaves().len();
    let before: usize = parts.iter().take(index).map(count).sum();
    let own = parts.get(index).map_or(0, count);
    leaves.iter().skip(before).take(own).copied().collect()
}
/// Returns the only dimension of a list as an attribute.
fn dim(name: &'static str, dims: &[i64]) -> (&'static str, Attribute) {
    (name, integer(dims.first().copied().unwrap_or(0)))
}
/// Returns a list as an attribute.
pub(super) fn dims(name: &'static str, dims: &[i64]) -> (&'static str, Attribute) {
    (name, list(dims))
}
fn result_accuracy(accuracy: ResultAccuracy) -> Attribute {
    let float = |value| Attribute::Float(value, Type::Element(ElementType::F64));
    let mode = |word: &str| keyword("stablehlo.result_accuracy_mode", word);
    let fields = match accuracy {
        ResultAccuracy::Mode(accuracy) => named([("mode", mode(&accuracy.name().to_uppercase()))]),
        ResultAccuracy::Tolerance { atol, rtol, ulps } => named([
            ("atol", float(atol)),
            ("mode", mode("TOLERANCE")),
            ("rtol", float(rtol)),
            ("ulps", integer(ulps)),
        ]),
    };
    Attribute::Dialect("stablehlo.result_accuracy".into(), fields)
}
