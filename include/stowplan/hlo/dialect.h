// SPDX-License-Identifier: Apache-2.0
// Dialects: how each version of XLA writes HLO text, which has changed over the years.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace stowplan::hlo {

struct Dialect {
  bool long_form = true;            // `%` before names, program shapes
  bool operand_shapes = false;      // add(f32[2]{0} %a, ...)
  bool index_comments = true;       // /*index=5*/ in tuple shapes and operand lists
  bool closing_names = false;       // `} // name` after computations of more than five instructions
  bool compact_tuples = false;      // `%x#1` instead of a get-tuple-element
  bool async_sugar = true;          // slice-start(...) instead of async-start(...), calls=%wrapper
  bool raw_config = true;           // backend_config={...} unquoted when it is a JSON dictionary
  bool raw_frontend = true;         // the same for the values of frontend_attributes
  bool entry_layout = true;         // entry_computation_layout in the header
  bool spaced_entry_layout = true;  // a blank after the commas between its parameters, and comments
  bool bare_output_propagation =
      false;                   // allow_spmd_sharding_propagation_to_output=true without braces
  bool replica_counts = true;  // replica_count, num_partitions in the header
  bool buffer_donors = true;   // buffer_donor in the header
  bool metadata_ends = true;   // source_end_line, source_column, source_end_column
  bool stack_frames =
      true;  // stack_frame_id and the tables, instead of source_file and source_line
  bool constant_shapes = false;  // constant(f32[2] {1, 2}), before 2019
  bool single_device = false;    // sharding={single_device[device_id=0]}, not maximal_mesh[...]

  friend bool operator==(const Dialect&, const Dialect&) = default;
};

struct NamedDialect {
  std::string_view name;     // "jaxlib-0.10.2"
  std::string_view aliases;  // other releases that write the same, separated by blanks
  Dialect dialect;
};

// All of them, oldest first.
std::span<const NamedDialect> Dialects();
// The name under which a version is known here: its own, or that of the last release of the same
// project that is not newer ("jaxlib-0.6.0" for jaxlib-0.6.2). Empty when there is none.
std::string_view KnownRelease(std::string_view version);
// By name, alias, or a version in between.
std::optional<Dialect> FindDialect(std::string_view version);

}  // namespace stowplan::hlo
