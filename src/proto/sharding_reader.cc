// SPDX-License-Identifier: Apache-2.0
#include "proto/sharding_reader.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "hlo/number.h"
#include "proto/metadata_reader.h"

namespace stowplan::proto {
namespace {

using hlo::DeviceGroups;
using hlo::Mesh;
using hlo::MeshAxis;
using hlo::Sharding;

// A tuple sharding has one element for each array of the tuple, however these nest.
constexpr int kMaxShardingDepth = 8;

bool IsIdentity(std::span<const int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// <=[4,2]T(1,0): the transposition is left out when it changes nothing.
void DropIdentity(std::vector<int64_t>& permutation) {
  if (IsIdentity(permutation)) permutation.clear();
}

std::pair<std::string, int64_t> ReadMeshAxis(Context& context, std::string_view bytes) {
  std::pair<std::string, int64_t> axis;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(MeshAxisField::kName):
        axis.first = message.Bytes();
        break;
      case VarintKey(MeshAxisField::kSize):
        axis.second = message.Int64();
        break;
      default:
        context.Skip(MessageKind::kMeshAxis, message);
    }
  }
  return axis;
}

// What stands in device_ids=(...): [2,4]T(1,0).
std::string ReadIotaTransform(Context& context, std::string_view bytes) {
  std::vector<int64_t> dims;
  std::vector<int64_t> permutation;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(IotaTransformField::kReshapeDims):
      case BytesKey(IotaTransformField::kReshapeDims):
        message.AppendInts(dims);
        break;
      case VarintKey(IotaTransformField::kTransposePerm):
      case BytesKey(IotaTransformField::kTransposePerm):
        message.AppendInts(permutation);
        break;
      default:
        context.Skip(MessageKind::kIotaTransform, message);
    }
  }
  // Devices in their natural order are not worth a word.
  if (dims.size() == 1) return {};
  std::string text = "[";
  hlo::AppendNumbers(dims, ",", text);
  text += ']';
  if (!IsIdentity(permutation)) {
    text += "T(";
    hlo::AppendNumbers(permutation, ",", text);
    text += ')';
  }
  return text;
}

Mesh ReadMesh(Context& context, std::string_view bytes) {
  Mesh mesh;
  std::vector<int64_t> device_ids;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(MeshField::kAxes):
        mesh.axes.push_back(ReadMeshAxis(context, message.Bytes()));
        break;
      case VarintKey(MeshField::kDeviceIds):
      case BytesKey(MeshField::kDeviceIds):
        message.AppendInts(device_ids);
        break;
      case BytesKey(MeshField::kIotaTransform):
        mesh.device_ids = ReadIotaTransform(context, message.Bytes());
        break;
      default:
        context.Skip(MessageKind::kMesh, message);
    }
  }
  if (!device_ids.empty()) {
    mesh.device_ids.clear();
    hlo::AppendNumbers(device_ids, ",", mesh.device_ids);
  }
  return mesh;
}

MeshAxis ReadAxis(Context& context, std::string_view bytes, const Mesh& mesh) {
  MeshAxis axis;
  uint64_t index = 0;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(AxisRefField::kMeshAxisIndex):
        index = message.Varint();
        break;
      case BytesKey(AxisRefField::kSubAxisInfo): {
        Message part(message.Bytes());
        while (part.Next()) {
          switch (part.key()) {
            case VarintKey(SubAxisField::kPreSize):
              axis.pre_size = part.Int64();
              break;
            case VarintKey(SubAxisField::kSize):
              axis.size = part.Int64();
              break;
            default:
              context.Skip(MessageKind::kSubAxis, part);
          }
        }
        break;
      }
      default:
        context.Skip(MessageKind::kAxisRef, message);
    }
  }
  if (index < mesh.axes.size()) {
    axis.name = mesh.axes[index].first;
  } else {
    context.Error(bytes, "the mesh has no axis " + std::to_string(index));
  }
  return axis;
}

// {'x', 'y':(2)4} without the braces.
std::string AxesText(std::span<const MeshAxis> axes) {
  std::string text;
  for (const MeshAxis& axis : axes) {
    if (!text.empty()) text += ", ";
    text.append("'").append(axis.name).append("'");
    if (axis.size == 0) continue;
    text += ":(" + std::to_string(axis.pre_size) + ")" + std::to_string(axis.size);
  }
  return text;
}

// Whether the axes are all of the mesh, whole and in order; axes of size 1 may be missing.
bool AreAll(std::span<const MeshAxis> axes, const Mesh& mesh) {
  for (const auto& [name, size] : mesh.axes) {
    if (!axes.empty() && axes.front().name == name) {
      if (axes.front().size != 0) return false;
      axes = axes.subspan(1);
    } else if (size != 1) {
      return false;
    }
  }
  return axes.empty();
}

// {'x', 'y', ?}: open dimensions may be sharded further.
std::string ReadDimension(Context& context, std::string_view bytes, const Mesh& mesh) {
  std::vector<MeshAxis> axes;
  bool is_closed = false;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(DimensionShardingField::kAxes):
        axes.push_back(ReadAxis(context, message.Bytes(), mesh));
        break;
      case VarintKey(DimensionShardingField::kIsClosed):
        is_closed = message.Bool();
        break;
      default:
        context.Skip(MessageKind::kDimensionSharding, message);
    }
  }
  std::string text = "{" + AxesText(axes);
  if (!is_closed) text += axes.empty() ? "?" : ", ?";
  return text + "}";
}

std::string ReadMetadataText(Context& context, std::string_view bytes) {
  std::string text;
  AppendMetadataText(context, bytes, text);
  return text;
}

// The parts of a NamedShardingProto besides the mesh.
struct NamedParts {
  std::string dimensions;  // {'x'}, {}
  size_t dimension_count = 0;
  std::vector<MeshAxis> replicated, unreduced, manual;
  int64_t reduction = 0;
};

// What XLA's NamedSharding::ToString puts after the mesh (jaxlib 0.10.2).
std::string NamedText(const NamedParts& parts, const Mesh& mesh) {
  const bool is_one_device = mesh.axes.empty() && !mesh.device_ids.empty();
  if (is_one_device) return {};
  if (parts.dimension_count == 0) {
    if (parts.replicated.empty() && parts.unreduced.empty() && parts.manual.empty())
      return "replicated";
    if (!parts.unreduced.empty() && AreAll(parts.unreduced, mesh)) return "unreduced";
    if (!parts.manual.empty() && AreAll(parts.manual, mesh)) return "manual";
  }
  std::string text = "[" + parts.dimensions + "]";
  if (!parts.replicated.empty()) text += ", replicated={" + AxesText(parts.replicated) + "}";
  if (!parts.unreduced.empty()) {
    constexpr std::string_view kReductions[] = {"", "max", "min"};
    const auto reduction = static_cast<size_t>(std::clamp<int64_t>(parts.reduction, 0, 2));
    text.append(", unreduced=")
        .append(kReductions[reduction])
        .append("{" + AxesText(parts.unreduced) + "}");
  }
  if (!parts.manual.empty()) text += ", manual={" + AxesText(parts.manual) + "}";
  return text;
}

Sharding ReadNamedSharding(Context& context, std::string_view bytes) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kNamed;
  NamedParts parts;
  // Axes are numbers of the mesh's, so that it is needed first.
  Message first(bytes);
  while (first.Next()) {
    if (first.key() == BytesKey(NamedShardingField::kMesh)) {
      sharding.mesh = ReadMesh(context, first.Bytes());
    } else {
      first.Skip();
    }
  }
  const Mesh& mesh = sharding.mesh;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(NamedShardingField::kDimShardings):
        if (parts.dimension_count++ != 0) parts.dimensions += ", ";
        parts.dimensions += ReadDimension(context, message.Bytes(), mesh);
        break;
      case BytesKey(NamedShardingField::kReplicatedAxes):
        parts.replicated.push_back(ReadAxis(context, message.Bytes(), mesh));
        break;
      case BytesKey(NamedShardingField::kUnreducedAxes):
        parts.unreduced.push_back(ReadAxis(context, message.Bytes(), mesh));
        break;
      case BytesKey(NamedShardingField::kManualAxes):
        parts.manual.push_back(ReadAxis(context, message.Bytes(), mesh));
        break;
      case VarintKey(NamedShardingField::kReductionOp):
        parts.reduction = message.Int32();
        break;
      case BytesKey(NamedShardingField::kMetadata):
        sharding.metadata.push_back(ReadMetadataText(context, message.Bytes()));
        break;
      default:
        context.Skip(MessageKind::kNamedSharding, message);
    }
  }
  sharding.named = NamedText(parts, mesh);
  return sharding;
}

std::string_view SubgroupName(int64_t type) {
  switch (type) {
    case 0:
      return "replicated";
    case 1:
      return "maximal";
    case 4:
      return "manual";
    case 6:
      return "unreduced";
    default:
      return "error_type.";  // XLA's own word
  }
}

// OpSharding.Type.
enum class Type : uint8_t { kReplicated, kMaximal, kTuple, kOther, kManual, kUnknown, kUnreduced };

void SetKind(Context& context, std::string_view at, int64_t type, Sharding& sharding) {
  switch (static_cast<Type>(type)) {
    case Type::kReplicated:
      sharding.kind = Sharding::Kind::kReplicated;
      return;
    case Type::kManual:
      sharding.kind = Sharding::Kind::kManual;
      return;
    case Type::kUnknown:
      sharding.kind = Sharding::Kind::kUnknown;
      return;
    case Type::kUnreduced:
      sharding.kind = Sharding::Kind::kUnreduced;
      return;
    case Type::kTuple:
      sharding.kind = Sharding::Kind::kTuple;
      return;
    case Type::kMaximal:
      sharding.kind = Sharding::Kind::kMaximal;
      if (sharding.devices.size() == 1) {
        sharding.device = sharding.devices[0];
      } else {
        context.Error(at, "a maximal sharding has one device, not " +
                              std::to_string(sharding.devices.size()));
      }
      return;
    case Type::kOther: {
      // One device holds all there is.
      const bool is_one =
          sharding.iota_dims.empty()
              ? sharding.devices.size() == 1
              : std::ranges::all_of(sharding.iota_dims, [](int64_t dim) { return dim == 1; });
      sharding.kind = is_one ? Sharding::Kind::kReplicated : Sharding::Kind::kTiled;
      DropIdentity(sharding.iota_transpose);
      return;
    }
    default:
      context.Error(at, "unknown sharding type " + std::to_string(type));
  }
}

Sharding ReadNested(Context& context, std::string_view bytes, int depth) {
  Sharding sharding;
  if (depth > kMaxShardingDepth) {
    context.Error(bytes,
                  "tuple shardings nest more than " + std::to_string(kMaxShardingDepth) + " deep");
    return sharding;
  }
  int64_t type = 0;
  bool is_group = false;
  bool is_like = false;
  int64_t group = 0;
  std::string_view named;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ShardingField::kType):
        type = message.Int32();
        break;
      case VarintKey(ShardingField::kTileAssignmentDimensions):
      case BytesKey(ShardingField::kTileAssignmentDimensions):
        message.AppendInts(sharding.tile_dims);
        break;
      case VarintKey(ShardingField::kTileAssignmentDevices):
      case BytesKey(ShardingField::kTileAssignmentDevices):
        message.AppendInts(sharding.devices);
        break;
      case BytesKey(ShardingField::kTupleShardings):
        sharding.elements.push_back(ReadNested(context, message.Bytes(), depth + 1));
        break;
      case VarintKey(ShardingField::kReplicateOnLastTileDim):
        sharding.replicate_last = message.Bool();
        break;
      case BytesKey(ShardingField::kMetadata):
        sharding.metadata.push_back(ReadMetadataText(context, message.Bytes()));
        break;
      case VarintKey(ShardingField::kLastTileDims):
      case BytesKey(ShardingField::kLastTileDims):
        message.ForEachVarint([&](uint64_t n) {
          sharding.last_tile_dims.emplace_back(SubgroupName(static_cast<int64_t>(n)));
        });
        break;
      case VarintKey(ShardingField::kIotaReshapeDims):
      case BytesKey(ShardingField::kIotaReshapeDims):
        message.AppendInts(sharding.iota_dims);
        break;
      case VarintKey(ShardingField::kIotaTransposePerm):
      case BytesKey(ShardingField::kIotaTransposePerm):
        message.AppendInts(sharding.iota_transpose);
        break;
      case VarintKey(ShardingField::kIsShardGroup):
        is_group = message.Bool();
        break;
      case VarintKey(ShardingField::kShardGroupId):
        group = message.Int64();
        break;
      case VarintKey(ShardingField::kShardGroupType):
        is_like = message.Int32() == 1;
        break;
      case BytesKey(ShardingField::kNamedSharding):
        named = message.Bytes();
        break;
      default:
        context.Skip(MessageKind::kSharding, message);
    }
  }
  if (named.data() != nullptr) return ReadNamedSharding(context, named);
  SetKind(context, bytes, type, sharding);
  if (is_group)
    sharding.shard_group = (is_like ? "shard_like " : "shard_as ") + std::to_string(group);
  return sharding;
}

}  // namespace

Sharding ReadSharding(Context& context, std::string_view bytes) {
  return ReadNested(context, bytes, 0);
}

std::vector<int64_t> ReadReplicaGroup(Context& context, std::string_view bytes) {
  std::vector<int64_t> ids;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ReplicaGroupField::kReplicaIds):
      case BytesKey(ReplicaGroupField::kReplicaIds):
        message.AppendInts(ids);
        break;
      default:
        context.Skip(MessageKind::kReplicaGroup, message);
    }
  }
  return ids;
}

DeviceGroups ReadDeviceList(Context& context, std::string_view bytes) {
  DeviceGroups groups;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(CollectiveDeviceListField::kReplicaGroups):
        groups.groups.push_back(ReadReplicaGroup(context, message.Bytes()));
        break;
      // Here until 2025; a field of the instruction since.
      case BytesKey(CollectiveDeviceListField::kIotaReplicaGroupList): {
        DeviceGroups iota = ReadIotaDeviceList(context, message.Bytes());
        iota.groups = std::move(groups.groups);
        groups = std::move(iota);
        break;
      }
      default:
        context.Skip(MessageKind::kCollectiveDeviceList, message);
    }
  }
  return groups;
}

DeviceGroups ReadIotaDeviceList(Context& context, std::string_view bytes) {
  DeviceGroups groups;
  groups.iota_groups = {0, 0};
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(IotaReplicaGroupListField::kNumReplicaGroups):
        groups.iota_groups[0] = message.Int64();
        break;
      case VarintKey(IotaReplicaGroupListField::kNumDevicesPerGroup):
        groups.iota_groups[1] = message.Int64();
        break;
      case VarintKey(IotaReplicaGroupListField::kIotaReshapeDims):
      case BytesKey(IotaReplicaGroupListField::kIotaReshapeDims):
        message.AppendInts(groups.iota_dims);
        break;
      case VarintKey(IotaReplicaGroupListField::kIotaTransposePerm):
      case BytesKey(IotaReplicaGroupListField::kIotaTransposePerm):
        message.AppendInts(groups.iota_transpose);
        break;
      default:
        context.Skip(MessageKind::kIotaReplicaGroupList, message);
    }
  }
  DropIdentity(groups.iota_transpose);
  return groups;
}

DeviceGroups ReadMeshDeviceList(Context& context, std::string_view bytes) {
  DeviceGroups groups;
  groups.has_mesh = true;
  std::vector<std::string_view> axes;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(MeshAxesReplicaGroupListField::kMesh):
        groups.mesh = ReadMesh(context, message.Bytes());
        break;
      case BytesKey(MeshAxesReplicaGroupListField::kAxes):
        axes.push_back(message.Bytes());
        break;
      default:
        context.Skip(MessageKind::kMeshAxesReplicaGroupList, message);
    }
  }
  for (const std::string_view axis : axes)
    groups.axes.push_back(ReadAxis(context, axis, groups.mesh));
  return groups;
}

}  // namespace stowplan::proto
