// SPDX-License-Identifier: Apache-2.0
#include "hlo/sharding.h"

#include "hlo/number.h"

namespace stowplan::hlo {
namespace {

void AppendIota(const std::vector<int64_t>& dims, const std::vector<int64_t>& transpose,
                std::string& out) {
  out += "<=[";
  AppendNumbers(dims, ",", out);
  out += ']';
  if (transpose.empty()) return;
  out += "T(";
  AppendNumbers(transpose, ",", out);
  out += ')';
}

void AppendTiled(const Sharding& sharding, std::string& out) {
  out += "devices=[";
  AppendNumbers(sharding.tile_dims, ",", out);
  out += ']';
  if (sharding.iota_dims.empty()) {
    AppendNumbers(sharding.devices, ",", out);
  } else {
    AppendIota(sharding.iota_dims, sharding.iota_transpose, out);
  }
  if (sharding.replicate_last) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims.empty()) return;
  out += " last_tile_dims={";
  for (size_t i = 0; i < sharding.last_tile_dims.size(); ++i) {
    if (i != 0) out += ", ";
    out += sharding.last_tile_dims[i];
  }
  out += '}';
}

void AppendShardingMetadata(const Sharding& sharding, std::string& out) {
  if (sharding.metadata.empty()) return;
  const bool is_named = sharding.kind == Sharding::Kind::kNamed;
  out += is_named ? ", metadata={" : " metadata={";
  if (sharding.metadata.size() == 1 && !is_named) {
    out += sharding.metadata[0];
  } else {
    for (size_t i = 0; i < sharding.metadata.size(); ++i) {
      if (i != 0) out += ", ";
      out.append("{").append(sharding.metadata[i]).append("}");
    }
  }
  out += '}';
}

void AppendKind(const Sharding& sharding, std::string& out) {
  switch (sharding.kind) {
    case Sharding::Kind::kReplicated:
      out += "replicated";
      break;
    case Sharding::Kind::kManual:
      out += "manual";
      break;
    case Sharding::Kind::kUnknown:
      out += "unknown";
      break;
    case Sharding::Kind::kUnreduced:
      out += "unreduced";
      break;
    case Sharding::Kind::kMaximal:
      out += "maximal device=";
      AppendNumber(sharding.device, out);
      break;
    case Sharding::Kind::kTiled:
      AppendTiled(sharding, out);
      break;
    case Sharding::Kind::kNamed:
      AppendMesh(sharding.mesh, out);
      if (!sharding.named.empty()) out.append(", ").append(sharding.named);
      break;
    case Sharding::Kind::kTuple:
      break;
  }
}

}  // namespace

void AppendSharding(const Sharding& sharding, std::string& out) {
  out += '{';
  if (sharding.kind == Sharding::Kind::kTuple) {
    for (size_t i = 0; i < sharding.elements.size(); ++i) {
      if (i != 0) out += ", ";
      if (i != 0 && i % 5 == 0) {
        out += "/*index=";
        AppendNumber(static_cast<int64_t>(i), out);
        out += "*/";
      }
      AppendSharding(sharding.elements[i], out);
    }
  } else {
    AppendKind(sharding, out);
    if (!sharding.shard_group.empty()) out.append(" ").append(sharding.shard_group);
    AppendShardingMetadata(sharding, out);
  }
  out += '}';
}

void AppendMesh(const Mesh& mesh, std::string& out) {
  if (mesh.axes.empty() && !mesh.device_ids.empty()) {
    out.append("maximal_mesh[device_id=").append(mesh.device_ids).append("]");
    return;
  }
  out += "mesh[";
  for (size_t i = 0; i < mesh.axes.size(); ++i) {
    if (i != 0) out += ',';
    out.append("'").append(mesh.axes[i].first).append("'=");
    AppendNumber(mesh.axes[i].second, out);
  }
  out += ']';
  if (!mesh.device_ids.empty()) out.append(", device_ids=(").append(mesh.device_ids).append(")");
}

void AppendDeviceGroups(const DeviceGroups& groups, std::string& out) {
  if (groups.has_mesh) {
    AppendMesh(groups.mesh, out);
    out += " {";
    for (size_t i = 0; i < groups.axes.size(); ++i) {
      const MeshAxis& axis = groups.axes[i];
      if (i != 0) out += ',';
      out.append("'").append(axis.name).append("'");
      if (axis.size == 0) continue;
      out += ":(";
      AppendNumber(axis.pre_size, out);
      out += ')';
      AppendNumber(axis.size, out);
    }
    out += '}';
    return;
  }
  if (!groups.iota_groups.empty()) {
    out += '[';
    AppendNumbers(groups.iota_groups, ",", out);
    out += ']';
    AppendIota(groups.iota_dims, groups.iota_transpose, out);
    return;
  }
  out += '{';
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    out += i != 0 ? ",{" : "{";
    AppendNumbers(groups.groups[i], ",", out);
    out += '}';
  }
  out += '}';
}

}  // namespace stowplan::hlo
