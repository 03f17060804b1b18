// SPDX-License-Identifier: Apache-2.0
// OpSharding, and the device groups of collectives.
#pragma once

#include <string_view>

#include "hlo/sharding.h"
#include "proto/context.h"

namespace stowplan::proto {

hlo::Sharding ReadSharding(Context& context, std::string_view bytes);

// ReplicaGroup: the numbers of one group.
std::vector<int64_t> ReadReplicaGroup(Context& context, std::string_view bytes);
// CollectiveDeviceListProto.
hlo::DeviceGroups ReadDeviceList(Context& context, std::string_view bytes);
// IotaReplicaGroupListProto.
hlo::DeviceGroups ReadIotaDeviceList(Context& context, std::string_view bytes);
// MeshAxesReplicaGroupListProto.
hlo::DeviceGroups ReadMeshDeviceList(Context& context, std::string_view bytes);

}  // namespace stowplan::proto
