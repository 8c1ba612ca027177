//! Instructions.
use super::{
    CholeskyOptions, CollectiveDeviceList, ConvolutionDimensionNumbers, DotDimensionNumbers,
    GatherDimensionNumbers, IotaReplicaGroupList, Literal, MeshAxesReplicaGroupList, OpSharding,
    OutputOperandAliasing, PaddingConfig, PrecisionConfig, RaggedDotDimensionNumbers, ReplicaGroup,
    ResultAccuracy, ScatterDimensionNumbers, Shape, SliceDimensions, SourceTarget, SparsityConfig,
    TriangularSolveOptions, Window,
};

messages! {
    /// Bytes, or their index in the payloads of the module.
    Payload {
        1 optional bytes value;
        2 optional int64 id;
    }
    OpMetadata {
        1 bytes op_type;
        2 bytes op_name;
        3 bytes source_file;
        4 int32 source_line;
        5 repeated int32 profile_type;
        12 bytes deduplicated_name;
        15 int32 stack_frame_id;
        16 bytes scheduling_name;
        17 int32 source_end_line;
        18 int32 source_column;
        19 int32 source_end_column;
        20 message Payload metadata_payload;
    }
    FrontendAttributes {
        1 map map;
    }
    Statistic {
        1 string stat_name;
        2 double stat_val;
    }
    StatisticsViz {
        1 int64 stat_index_to_visualize;
        2 messages Statistic statistics;
    }
    ParameterReplication {
        1 repeated bool replicated_at_leaf_buffers;
    }
    OriginalArray {
        1 bytes instruction_name;
        2 repeated int64 shape_index;
    }
    OriginalValueElement {
        1 repeated int64 shape_index;
        2 message OriginalArray original_array;
    }
    OriginalValue {
        1 messages OriginalValueElement elements;
        2 bool is_synthetic_call;
    }
    /// Not part of XLA: an attribute of the text that neither XLA nor Etalon knows.
    RawAttribute {
        1 string name;
        2 string value;
    }
    /// Fields from 50000 on are not part of XLA, which ignores them.
    Instruction {
        1 string name;
        2 string opcode;
        3 message Shape shape;
        7 boxed OpMetadata metadata;
        8 boxed Literal literal;
        9 int64 parameter_number;
        11 string fusion_kind;
        13 int64 tuple_index;
        14 repeated int64 dimensions;
        15 message Window window;
        16 boxed ConvolutionDimensionNumbers convolution_dimension_numbers;
        17 messages SliceDimensions slice_dimensions;
        18 int32 exponent_bits;
        19 int32 mantissa_bits;
        20 repeated int64 dynamic_slice_sizes;
        21 message PaddingConfig padding_config;
        22 bytes outfeed_config;
        23 int32 distribution;
        24 optional float epsilon;
        25 int64 feature_index;
        26 int64 channel_id;
        27 bytes infeed_config;
        28 bytes custom_call_target;
        29 boxed Shape outfeed_shape;
        30 boxed DotDimensionNumbers dot_dimension_numbers;
        31 int32 fft_type;
        32 repeated int64 fft_length;
        33 boxed GatherDimensionNumbers gather_dimension_numbers;
        34 repeated int64 gather_slice_sizes;
        35 int64 id;
        36 repeated int64 operand_ids;
        37 repeated int64 control_predecessor_ids;
        38 repeated int64 called_computation_ids;
        40 boxed OpSharding sharding;
        43 bytes backend_config;
        45 int64 all_reduce_id;
        47 bool is_host_transfer;
        48 boxed ScatterDimensionNumbers scatter_dimension_numbers;
        49 messages ReplicaGroup replica_groups;
        50 int64 feature_group_count;
        51 message PrecisionConfig precision_config;
        52 messages SourceTarget source_target_pairs;
        54 boxed OpSharding domain_entry_sharding;
        55 boxed OpSharding domain_exit_sharding;
        56 bool constrain_layout;
        57 messages Shape operand_shapes_with_layout;
        58 int64 batch_group_count;
        59 message TriangularSolveOptions triangular_solve_options;
        60 bool is_stable;
        61 message ParameterReplication parameter_replication;
        62 message CholeskyOptions cholesky_options;
        63 string comparison_direction;
        65 bool custom_call_has_side_effect;
        66 int64 delta;
        67 bool indices_are_sorted;
        68 message FrontendAttributes frontend_attributes;
        69 bool unique_indices;
        70 int32 rng_algorithm;
        71 bool use_global_device_ids;
        72 string comparison_type;
        73 bool is_cross_program_prefetch;
        74 messages OutputOperandAliasing output_operand_aliasing;
        75 int32 padding_type;
        76 int32 custom_call_schedule;
        77 int32 custom_call_api_version;
        79 bytes async_execution_thread;
        80 optional int32 cross_program_prefetch_index;
        81 int64 k;
        82 message StatisticsViz statistics_viz;
        85 bool largest;
        87 message CollectiveDeviceList collective_device_list;
        88 message OriginalValue original_value;
        89 bool is_composite;
        90 boxed RaggedDotDimensionNumbers ragged_dot_dimension_numbers;
        91 message ResultAccuracy result_accuracy;
        92 boxed IotaReplicaGroupList iota_collective_device_list;
        93 boxed MeshAxesReplicaGroupList mesh_axes_replica_group_list;
        94 bool is_reverse;
        95 int64 num_carries;
        96 int32 is_associative;
        97 int32 conv_kind;
        98 boxed SparsityConfig sparsity_config;
        99 message Payload backend_config_payload;
        100 bool has_dynamic_root;
        50000 messages RawAttribute unknown_attributes;
    }
}
