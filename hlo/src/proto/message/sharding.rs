//! Shardings, meshes and replica groups.
use super::{OpMetadata, Shape};

messages! {
    MeshAxis {
        1 bytes name;
        2 int64 size;
    }
    IotaTransform {
        1 repeated int64 reshape_dims;
        2 repeated int64 transpose_perm;
    }
    Mesh {
        1 messages MeshAxis axes;
        2 repeated int64 device_ids;
        3 message IotaTransform iota_transform;
    }
    SubAxis {
        1 int64 pre_size;
        2 int64 size;
    }
    AxisRef {
        1 int64 mesh_axis_index;
        2 message SubAxis sub_axis_info;
    }
    DimensionSharding {
        1 messages AxisRef axes;
        2 bool is_closed;
    }
    NamedSharding {
        2 message Mesh mesh;
        3 messages DimensionSharding dim_shardings;
        4 messages AxisRef replicated_axes;
        5 messages AxisRef unreduced_axes;
        6 messages OpMetadata metadata;
        7 messages AxisRef manual_axes;
        8 int32 reduction_op;
    }
    OpSharding {
        1 int32 kind;
        2 message Shape tile_shape;
        3 repeated int64 tile_assignment_dimensions;
        4 repeated int64 tile_assignment_devices;
        5 messages OpSharding tuple_shardings;
        6 bool replicate_on_last_tile_dim;
        7 messages OpMetadata metadata;
        8 repeated int32 last_tile_dims;
        9 repeated int64 iota_reshape_dims;
        10 repeated int32 iota_transpose_perm;
        11 bool is_shard_group;
        12 int64 shard_group_id;
        13 int32 shard_group_type;
        14 message NamedSharding named_sharding;
    }
    ReplicaGroup {
        1 repeated int64 replica_ids;
    }
    MeshAxesReplicaGroupList {
        1 message Mesh mesh;
        2 messages AxisRef axes;
    }
    IotaReplicaGroupList {
        1 int64 num_replica_groups;
        2 int64 num_devices_per_group;
        3 repeated int64 iota_reshape_dims;
        4 repeated int32 iota_transpose_perm;
    }
    /// Older versions have the iota in field 2.
    CollectiveDeviceList {
        1 messages ReplicaGroup replica_groups;
        2 message IotaReplicaGroupList iota_replica_group_list;
    }
}
