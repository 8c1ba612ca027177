//! Shapes, literals, and the values of attributes.
messages! {
    Tile {
        1 repeated int64 dimensions;
    }
    SplitConfig {
        1 int64 dimension;
        2 repeated int64 split_indices;
    }
    Layout {
        1 repeated int64 minor_to_major;
        6 messages Tile tiles;
        7 int64 element_size_in_bits;
        8 int64 memory_space;
        9 repeated int32 dim_level_types;
        10 boxed Shape physical_shape;
        11 int32 index_primitive_type;
        12 int32 pointer_primitive_type;
        13 repeated bool dim_unique;
        14 repeated bool dim_ordered;
        15 int64 dynamic_shape_metadata_prefix_bytes;
        16 int64 tail_padding_alignment_in_elements;
        17 messages SplitConfig split_configs;
    }
    Shape {
        2 int32 element_type;
        3 repeated int64 dimensions;
        4 messages Shape tuple_shapes;
        5 boxed Layout layout;
        6 repeated bool is_dynamic_dimension;
    }
    ProgramShape {
        1 messages Shape parameters;
        2 message Shape result;
        3 repeated string parameter_names;
    }
    Literal {
        1 message Shape shape;
        2 repeated bool preds;
        3 bytes u8s;
        4 repeated int32 s32s;
        5 repeated int64 s64s;
        6 repeated uint32 u32s;
        7 repeated uint64 u64s;
        8 repeated float f32s;
        9 repeated double f64s;
        10 raw Literal tuple_literals;
        11 bytes f16s;
        12 repeated float c64s;
        13 bytes bf16s;
        14 repeated int64 sparse_indices;
        15 bytes s8s;
        16 bytes u16s;
        17 bytes s16s;
        18 repeated double c128s;
        19 bytes f8e5m2s;
        20 bytes f8e4m3fns;
        21 bytes s4s;
        22 bytes u4s;
        23 bytes f8e4m3b11fnuzs;
        24 bytes f8e5m2fnuzs;
        25 bytes f8e4m3fnuzs;
        26 bytes s2s;
        27 bytes u2s;
        28 bytes f8e4m3s;
        29 bytes f8e3m4s;
        30 bytes s1s;
        31 bytes u1s;
        32 bytes f4e2m1fns;
        33 bytes f8e8m0fnus;
        34 repeated int32 dynamic_sizes;
        35 bytes f6e3m2fns;
        36 bytes f6e2m3fns;
    }
    PaddingDimension {
        1 int64 edge_padding_low;
        2 int64 edge_padding_high;
        3 int64 interior_padding;
    }
    PaddingConfig {
        1 messages PaddingDimension dimensions;
    }
    WindowDimension {
        1 int64 size;
        2 int64 stride;
        3 int64 padding_low;
        4 int64 padding_high;
        5 int64 window_dilation;
        6 int64 base_dilation;
        7 bool window_reversal;
    }
    Window {
        1 messages WindowDimension dimensions;
    }
    GatherDimensionNumbers {
        1 repeated int64 offset_dims;
        2 repeated int64 collapsed_slice_dims;
        3 repeated int64 start_index_map;
        4 int64 index_vector_dim;
        5 repeated int64 operand_batching_dims;
        6 repeated int64 start_indices_batching_dims;
    }
    ScatterDimensionNumbers {
        1 repeated int64 update_window_dims;
        2 repeated int64 inserted_window_dims;
        3 repeated int64 scatter_dims_to_operand_dims;
        4 int64 index_vector_dim;
        5 repeated int64 input_batching_dims;
        6 repeated int64 scatter_indices_batching_dims;
    }
    ConvolutionDimensionNumbers {
        3 int64 kernel_input_feature_dimension;
        4 int64 kernel_output_feature_dimension;
        6 repeated int64 kernel_spatial_dimensions;
        7 int64 input_batch_dimension;
        8 int64 input_feature_dimension;
        9 int64 output_batch_dimension;
        10 int64 output_feature_dimension;
        11 repeated int64 input_spatial_dimensions;
        12 repeated int64 output_spatial_dimensions;
    }
    TensorSparsityConfig {
        1 int64 num_non_zero;
        2 int64 block_size;
        3 int64 dimension;
        4 int64 stride;
        5 int32 idx;
    }
    SparsityConfig {
        1 message TensorSparsityConfig lhs;
        2 message TensorSparsityConfig rhs;
    }
    DotDimensionNumbers {
        1 repeated int64 lhs_contracting_dimensions;
        2 repeated int64 rhs_contracting_dimensions;
        3 repeated int64 lhs_batch_dimensions;
        4 repeated int64 rhs_batch_dimensions;
    }
    RaggedDotDimensionNumbers {
        1 message DotDimensionNumbers dot_dimension_numbers;
        2 repeated int64 lhs_ragged_dimensions;
        3 repeated int64 rhs_group_dimensions;
    }
    TriangularSolveOptions {
        1 bool left_side;
        2 bool lower;
        3 bool unit_diagonal;
        4 int32 transpose_a;
    }
    CholeskyOptions {
        1 bool lower;
    }
    PrecisionConfig {
        1 repeated int32 operand_precision;
        2 int32 algorithm;
    }
    Tolerance {
        1 double atol;
        2 double rtol;
        3 int64 ulps;
    }
    ResultAccuracy {
        1 optional int32 mode;
        2 message Tolerance tolerance;
    }
    SourceTarget {
        1 int64 source;
        2 int64 target;
    }
    OutputOperandAliasing {
        1 repeated int64 output_shape_index;
        2 int64 operand_index;
        3 repeated int64 operand_shape_index;
    }
    SliceDimensions {
        1 int64 start;
        2 int64 limit;
        3 int64 stride;
    }
}
