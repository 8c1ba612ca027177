//! The values of attributes that are messages.
use super::message::{self, Instruction, PaddingDimension, WindowDimension};
use super::{ProtoField, bad, limit, mesh, shape, sharding};
use crate::op::value::{
    AccuracyMode, ConvDims, ConvSparsity, DomainMetadata, OperandSparsity, OutputOperandAlias,
    OutputOperandAliasing, PaddingConfig, PaddingDim, ReplicaGroups, ResultAccuracy, ShapeIndex,
    Text, Window, WindowDim,
};
use crate::{Dims, Result, Shape};
use std::mem::take;

impl ProtoField<Option<message::Window>> for Window {
    fn encode(&self, field: &mut Option<message::Window>) -> Result<()> {
        let dimensions = self.dims.iter().map(|dim| WindowDimension {
            size: dim.size,
            stride: dim.stride,
            padding_low: dim.pad_low,
            padding_high: dim.pad_high,
            window_dilation: dim.rhs_dilation,
            base_dilation: dim.lhs_dilation,
            window_reversal: dim.reversal,
        });
        *field = Some(message::Window { dimensions: dimensions.collect() });
        Ok(())
    }
    fn decode(field: &mut Option<message::Window>, _: Option<Self>) -> Result<Self> {
        let dim = |dim: &WindowDimension| WindowDim {
            size: dim.size,
            stride: dim.stride,
            pad_low: dim.padding_low,
            pad_high: dim.padding_high,
            lhs_dilation: dim.base_dilation,
            rhs_dilation: dim.window_dilation,
            reversal: dim.window_reversal,
        };
        Ok(Self { dims: field.take().unwrap_or_default().dimensions.iter().map(dim).collect() })
    }
}
/// An empty window of an op that need not have one is not written.
impl ProtoField<Instruction> for Window {
    fn encode(&self, field: &mut Instruction) -> Result<()> {
        if self.is_empty() { Ok(()) } else { self.encode(&mut field.window) }
    }
    fn decode(field: &mut Instruction, _: Option<Self>) -> Result<Self> {
        Self::decode(&mut field.window, None)
    }
}
impl ProtoField<Option<message::PaddingConfig>> for PaddingConfig {
    fn encode(&self, field: &mut Option<message::PaddingConfig>) -> Result<()> {
        let dimensions = self.dims.iter().map(|dim| PaddingDimension {
            edge_padding_low: dim.low,
            edge_padding_high: dim.high,
            interior_padding: dim.interior,
        });
        *field = Some(message::PaddingConfig { dimensions: dimensions.collect() });
        Ok(())
    }
    fn decode(field: &mut Option<message::PaddingConfig>, _: Option<Self>) -> Result<Self> {
        let dim = |dim: &PaddingDimension| PaddingDim {
            low: dim.edge_padding_low,
            high: dim.edge_padding_high,
            interior: dim.interior_padding,
        };
        Ok(Self { dims: field.take().unwrap_or_default().dimensions.iter().map(dim).collect() })
    }
}

type ConvolutionField = Option<Box<message::ConvolutionDimensionNumbers>>;

impl ProtoField<ConvolutionField> for ConvDims {
    fn encode(&self, field: &mut ConvolutionField) -> Result<()> {
        *field = Some(Box::new(message::ConvolutionDimensionNumbers {
            input_batch_dimension: self.lhs_batch,
            input_feature_dimension: self.lhs_feature,
            input_spatial_dimensions: self.lhs_spatial.to_vec(),
            kernel_input_feature_dimension: self.rhs_input_feature,
            kernel_output_feature_dimension: self.rhs_output_feature,
            kernel_spatial_dimensions: self.rhs_spatial.to_vec(),
            output_batch_dimension: self.out_batch,
            output_feature_dimension: self.out_feature,
            output_spatial_dimensions: self.out_spatial.to_vec(),
        }));
        Ok(())
    }
    fn decode(field: &mut ConvolutionField, _: Option<Self>) -> Result<Self> {
        let proto = field.take().unwrap_or_default();
        let dims = Self {
            lhs_batch: proto.input_batch_dimension,
            lhs_feature: proto.input_feature_dimension,
            lhs_spatial: Dims::from_vec(proto.input_spatial_dimensions),
            rhs_input_feature: proto.kernel_input_feature_dimension,
            rhs_output_feature: proto.kernel_output_feature_dimension,
            rhs_spatial: Dims::from_vec(proto.kernel_spatial_dimensions),
            out_batch: proto.output_batch_dimension,
            out_feature: proto.output_feature_dimension,
            out_spatial: Dims::from_vec(proto.output_spatial_dimensions),
        };
        dims.check()?;
        Ok(dims)
    }
}
impl ProtoField<ConvolutionField> for Option<ConvDims> {
    fn encode(&self, field: &mut ConvolutionField) -> Result<()> {
        self.as_ref().map_or(Ok(()), |dims| dims.encode(field))
    }
    fn decode(field: &mut ConvolutionField, _: Option<Self>) -> Result<Self> {
        field.is_some().then(|| ConvDims::decode(field, None)).transpose()
    }
}

type SparsityField = Option<Box<message::SparsityConfig>>;

impl ProtoField<SparsityField> for Option<ConvSparsity> {
    fn encode(&self, field: &mut SparsityField) -> Result<()> {
        let operand = |operand: OperandSparsity| -> Result<_> {
            Ok(message::TensorSparsityConfig {
                num_non_zero: operand.kept,
                block_size: operand.block,
                dimension: operand.dimension.unwrap_or(0),
                stride: operand.stride.unwrap_or(0),
                idx: limit(operand.idx.unwrap_or(0))?,
            })
        };
        let Some(ConvSparsity { lhs, rhs }) = *self else { return Ok(()) };
        let (lhs, rhs) = (lhs.map(operand).transpose()?, rhs.map(operand).transpose()?);
        *field = Some(Box::new(message::SparsityConfig { lhs, rhs }));
        Ok(())
    }
    fn decode(field: &mut SparsityField, _: Option<Self>) -> Result<Self> {
        let operand = |proto: message::TensorSparsityConfig| OperandSparsity {
            kept: proto.num_non_zero,
            block: proto.block_size,
            dimension: Some(proto.dimension),
            stride: Some(proto.stride),
            idx: Some(proto.idx.into()),
        };
        let sparsity = field.take().map(|proto| *proto).unwrap_or_default();
        let sparsity =
            ConvSparsity { lhs: sparsity.lhs.map(operand), rhs: sparsity.rhs.map(operand) };
        Ok(Some(sparsity).filter(|sparsity| *sparsity != ConvSparsity::default()))
    }
}
impl ProtoField<Vec<message::OutputOperandAliasing>> for OutputOperandAliasing {
    fn encode(&self, field: &mut Vec<message::OutputOperandAliasing>) -> Result<()> {
        field.extend(self.0.iter().map(|alias| message::OutputOperandAliasing {
            output_shape_index: alias.output_index.0.to_vec(),
            operand_index: alias.operand,
            operand_shape_index: alias.operand_index.0.to_vec(),
        }));
        Ok(())
    }
    fn decode(field: &mut Vec<message::OutputOperandAliasing>, _: Option<Self>) -> Result<Self> {
        let alias = |proto: message::OutputOperandAliasing| OutputOperandAlias {
            output_index: ShapeIndex(Dims::from_vec(proto.output_shape_index)),
            operand: proto.operand_index,
            operand_index: ShapeIndex(Dims::from_vec(proto.operand_shape_index)),
        };
        Ok(Self(take(field).into_iter().map(alias).collect()))
    }
}
/// The shapes, and a flag that they constrain the layouts.
impl ProtoField<Instruction> for Option<Vec<Shape>> {
    fn encode(&self, field: &mut Instruction) -> Result<()> {
        field.constrain_layout = self.is_some();
        field.operand_shapes_with_layout.extend(self.iter().flatten().map(shape::encode));
        Ok(())
    }
    fn decode(field: &mut Instruction, _: Option<Self>) -> Result<Self> {
        if !take(&mut field.constrain_layout) {
            return Ok(None);
        }
        take(&mut field.operand_shapes_with_layout)
            .iter()
            .map(shape::decode)
            .collect::<Result<_>>()
            .map(Some)
    }
}
/// What texts of 2019 call `opaque` is the backend config.
impl ProtoField<Instruction> for Option<Text> {
    fn encode(&self, field: &mut Instruction) -> Result<()> {
        self.as_ref().map_or(Ok(()), |text| text.encode(&mut field.backend_config))
    }
    fn decode(_: &mut Instruction, _: Option<Self>) -> Result<Self> {
        Ok(None)
    }
}
impl ProtoField<Instruction> for DomainMetadata {
    fn encode(&self, field: &mut Instruction) -> Result<()> {
        field.domain_entry_sharding = Some(Box::new(sharding::encode(&self.entry)?));
        field.domain_exit_sharding = Some(Box::new(sharding::encode(&self.exit)?));
        Ok(())
    }
    fn decode(field: &mut Instruction, _: Option<Self>) -> Result<Self> {
        let side = |proto: Option<Box<message::OpSharding>>| {
            let proto = proto.ok_or_else(|| bad("a domain needs a sharding on both sides"))?;
            sharding::decode(&proto)
        };
        Ok(Self {
            entry: side(field.domain_entry_sharding.take())?,
            exit: side(field.domain_exit_sharding.take())?,
        })
    }
}
/// One of four fields; the first is what older versions write.
impl ProtoField<Instruction> for ReplicaGroups {
    fn encode(&self, field: &mut Instruction) -> Result<()> {
        match self {
            Self::List(groups) => {
                let group = |ids: &Vec<i64>| message::ReplicaGroup { replica_ids: ids.clone() };
                let replica_groups = groups.iter().map(group).collect();
                field.collective_device_list = Some(message::CollectiveDeviceList {
                    replica_groups,
                    iota_replica_group_list: None,
                });
            }
            Self::Iota(tiling) => {
                field.iota_collective_device_list = Some(Box::new(mesh::encode_tiling(tiling)?));
            }
            Self::Mesh(groups) => {
                field.mesh_axes_replica_group_list =
                    Some(Box::new(message::MeshAxesReplicaGroupList {
                        mesh: Some(mesh::encode(groups.mesh())),
                        axes: mesh::encode_axes(groups.mesh(), groups.axes())?,
                    }));
            }
        }
        Ok(())
    }
    fn decode(field: &mut Instruction, _: Option<Self>) -> Result<Self> {
        let old = take(&mut field.replica_groups);
        let mut list = field.collective_device_list.take().unwrap_or_default();
        let inside = list.iota_replica_group_list.take();
        if let Some(iota) = field.iota_collective_device_list.take().map(|iota| *iota).or(inside) {
            return mesh::decode_tiling(&iota).map(Self::Iota);
        }
        if let Some(groups) = field.mesh_axes_replica_group_list.take() {
            return mesh::decode_groups(&groups).map(|groups| Self::Mesh(Box::new(groups)));
        }
        let groups = if list.replica_groups.is_empty() { old } else { list.replica_groups };
        Ok(Self::List(groups.into_iter().map(|group| group.replica_ids).collect()))
    }
}
impl ProtoField<Option<message::ResultAccuracy>> for Option<ResultAccuracy> {
    fn encode(&self, field: &mut Option<message::ResultAccuracy>) -> Result<()> {
        let mut proto = message::ResultAccuracy::default();
        match *self {
            None => return Ok(()),
            Some(ResultAccuracy::Mode(mode)) => mode.encode(proto.mode.insert(0))?,
            Some(ResultAccuracy::Tolerance { atol, rtol, ulps }) => {
                proto.tolerance = Some(message::Tolerance { atol, rtol, ulps });
            }
        }
        *field = Some(proto);
        Ok(())
    }
    fn decode(field: &mut Option<message::ResultAccuracy>, _: Option<Self>) -> Result<Self> {
        let Some(mut proto) = field.take() else { return Ok(None) };
        if let Some(message::Tolerance { atol, rtol, ulps }) = proto.tolerance.take() {
            let positive = atol >= 0.0 && rtol >= 0.0 && ulps >= 0;
            return match positive {
                true => Ok(Some(ResultAccuracy::Tolerance { atol, rtol, ulps })),
                false => Err(bad("a tolerance cannot be negative or NaN")),
            };
        }
        let mode = AccuracyMode::decode(&mut proto.mode.unwrap_or(0), None)?;
        Ok(Some(ResultAccuracy::Mode(mode))
            .filter(|accuracy| *accuracy != ResultAccuracy::default()))
    }
}
