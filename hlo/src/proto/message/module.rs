//! Modules, and the files that contain one.
use super::{FrontendAttributes, Literal, ProgramShape, RawAttribute};

messages! {
    Computation {
        1 string name;
        2 raw Instruction instructions;
        4 message ProgramShape program_shape;
        5 int64 id;
        6 int64 root_id;
        7 bool is_fusion_computation;
        8 bytes execution_thread;
    }
    InstructionSequence {
        1 repeated int64 instruction_ids;
    }
    /// An entry of the map from computations to their sequence.
    ScheduleEntry {
        1 int64 key;
        2 message InstructionSequence value;
    }
    Schedule {
        1 messages ScheduleEntry sequences;
    }
    AliasEntry {
        1 repeated int64 output_shape_index;
        2 int64 parameter_number;
        3 repeated int64 parameter_shape_index;
        4 int32 kind;
    }
    InputOutputAlias {
        1 messages AliasEntry entries;
    }
    BufferDonorEntry {
        1 int64 parameter_number;
        2 repeated int64 parameter_shape_index;
    }
    BufferDonor {
        1 messages BufferDonorEntry entries;
    }
    FileLocation {
        1 int32 file_name_id;
        2 int32 function_name_id;
        3 int32 line;
        4 int32 column;
        5 int32 end_line;
        6 int32 end_column;
    }
    StackFrame {
        1 int32 file_location_id;
        2 int32 parent_frame_id;
    }
    StackFrameIndex {
        1 repeated bytes file_names;
        2 repeated bytes function_names;
        3 messages FileLocation file_locations;
        4 messages StackFrame stack_frames;
    }
    /// Fields from 50000 on are not part of XLA, which ignores them.
    Module {
        1 string name;
        2 string entry_computation_name;
        3 raw Computation computations;
        4 message ProgramShape host_program_shape;
        5 int64 id;
        6 int64 entry_computation_id;
        7 message Schedule schedule;
        8 message InputOutputAlias input_output_alias;
        17 message StackFrameIndex stack_frame_index;
        18 message BufferDonor buffer_donor;
        19 message FrontendAttributes frontend_attributes;
        22 repeated bytes payloads;
        50000 message Header header;
    }
    /// Not part of XLA: what the header of a text says and no field of XLA does.
    Header {
        1 message ModuleConfig config;
        2 messages RawAttribute unknown_attributes;
        3 optional string origin_recovery_table;
        4 optional string debug_attributes;
    }
    /// What a module has beside its instructions.
    ModuleConfig {
        4 optional int64 replica_count;
        5 optional int64 num_partitions;
        17 bool alias_passthrough_params;
        27 repeated bool allow_spmd_sharding_propagation_to_output;
        33 repeated bool allow_spmd_sharding_propagation_to_parameters;
    }
    /// What an `HloSnapshot` has beside its module.
    Arguments {
        2 messages Literal arguments;
    }
    Inputs {
        1 messages Literal arguments;
    }
    /// What an `HloUnoptimizedSnapshot` has beside its module.
    Partitions {
        2 messages Inputs partitions;
    }
    DeviceAssignment {
        1 int32 replica_count;
        2 int32 computation_count;
    }
    /// Fields of a module that are kept as they are, but tell its number of devices.
    Devices {
        15 message DeviceAssignment device_assignment;
    }
}
