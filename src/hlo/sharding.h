// SPDX-License-Identifier: Apache-2.0
// Shardings and device groups: how data is spread over devices. Planning does not look inside them,
// so modules keep only their canonical text; both readers build it from these values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stowplan::hlo {

// A named axis of a mesh, or a part of one: 'x', 'x':(2)4.
struct MeshAxis {
  std::string name;      // how it prints, without quotes
  int64_t pre_size = 0;  // sub-axis 'x':(pre_size)size when size > 0
  int64_t size = 0;
};

struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;  // mesh['x'=2,'y'=4]
  // device_ids=([8]T(1,0)) and the like; verbatim inside the parentheses, empty when absent.
  std::string device_ids;
};

struct Sharding {
  enum class Kind : uint8_t {
    kReplicated,
    kMaximal,
    kManual,
    kUnknown,
    kUnreduced,
    kTiled,
    kTuple,
    kNamed
  };
  Kind kind = Kind::kReplicated;
  int64_t device = 0;                       // kMaximal
  std::vector<int64_t> tile_dims;           // kTiled: devices=[2,1]
  std::vector<int64_t> devices;             // the list form: 0,1
  std::vector<int64_t> iota_dims;           // the iota form: <=[2,2]T(1,0)
  std::vector<int64_t> iota_transpose;      // empty when it is the identity
  bool replicate_last = false;              // last_tile_dim_replicate
  std::vector<std::string> last_tile_dims;  // last_tile_dims={manual, replicated}
  std::string shard_group;                  // "shard_as 3", "shard_like 3" or empty
  std::vector<Sharding> elements;           // kTuple
  // Each one is a metadata text without braces, as in an instruction's metadata.
  std::vector<std::string> metadata;
  // kNamed: the text after the mesh, canonical: `[{}, {'x'}]`, `replicated`, ...
  Mesh mesh;
  std::string named;
};

// With its braces: {replicated}, {devices=[2,1]0,1}, {{..}, {..}, /*index=5*/{..}}.
void AppendSharding(const Sharding& sharding, std::string& out);
void AppendMesh(const Mesh& mesh, std::string& out);

// replica_groups: a list of lists, the iota form, or axes of a mesh.
struct DeviceGroups {
  std::vector<std::vector<int64_t>> groups;  // {{0,1},{2,3}}
  std::vector<int64_t> iota_groups;          // [2,4]<=[8]: {2,4}; empty when not this form
  std::vector<int64_t> iota_dims;
  std::vector<int64_t> iota_transpose;
  bool has_mesh = false;
  Mesh mesh;  // mesh['x'=4] {'x'}
  std::vector<MeshAxis> axes;
};
void AppendDeviceGroups(const DeviceGroups& groups, std::string& out);

}  // namespace stowplan::hlo
