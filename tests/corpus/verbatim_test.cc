// SPDX-License-Identifier: Apache-2.0
// What of the corpus is kept as it was written, because Stowplan does not know it.
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"
#include "text/parse.h"

namespace stowplan {
namespace {

using Names = std::map<std::string, int64_t>;

std::string NameOf(std::string_view attribute) {
  return std::string(attribute.substr(0, attribute.find('=')));
}

TEST(CorpusVerbatim, NothingIsKeptVerbatim) {
  Names opcodes;
  Names attributes;
  Names header_attributes;
  std::map<std::string, int64_t> known;
  for (const std::string& file : CorpusTexts()) {
    const auto source = ReadSource(file);
    ASSERT_TRUE(source) << Render(source.error());
    const auto module = ParseText(*source);
    ASSERT_TRUE(module) << Render(module.error());
    for (const auto& [id, name] : module->unknown_opcodes) {
      ++opcodes[std::string(module->view(name))];
    }
    for (const hlo::Attribute& attribute : module->attributes) {
      if (attribute.key == hlo::AttributeKey::kUnknown) {
        ++attributes[NameOf(module->view(attribute.text()))];
      } else {
        ++known[std::string(hlo::Name(attribute.key))];
      }
    }
    for (const hlo::Text text : module->header.unknown) {
      ++header_attributes[NameOf(module->view(text))];
    }
  }
  EXPECT_EQ(opcodes, Names());
  EXPECT_EQ(attributes, Names());
  EXPECT_EQ(header_attributes, Names());
  // What was seen, and understood.
  CountRows rows;
  for (const auto& [name, count] : known) rows[name.empty() ? "(operand part)" : name] = {count};
  ExpectRows(rows, {
                       {"(operand part)", {114453}},
                       {"api_version", {14}},
                       {"backend_config", {35199}},
                       {"body", {130}},
                       {"branch_computations", {26}},
                       {"called_computations", {6}},
                       {"calls", {30736}},
                       {"channel_id", {56}},
                       {"collapsed_slice_dims", {97}},
                       {"condition", {130}},
                       {"control-predecessors", {685}},
                       {"cross_program_prefetch_index", {25}},
                       {"custom_call_target", {650}},
                       {"dim_labels", {1913}},
                       {"dimensions", {42069}},
                       {"direction", {1548}},
                       {"dynamic_slice_sizes", {514}},
                       {"false_computation", {8}},
                       {"feature_group_count", {5}},
                       {"fft_length", {6}},
                       {"fft_type", {6}},
                       {"frontend_attributes", {11681}},
                       {"index", {10331}},
                       {"index_vector_dim", {173}},
                       {"indices_are_sorted", {4}},
                       {"inserted_window_dims", {76}},
                       {"iota_dimension", {1456}},
                       {"is_stable", {32}},
                       {"kind", {28983}},
                       {"lhs_batch_dims", {2742}},
                       {"lhs_contracting_dims", {6279}},
                       {"offset_dims", {97}},
                       {"operand_layout_constraints", {52}},
                       {"operand_precision", {40}},
                       {"output_to_operand_aliasing", {36}},
                       {"padding", {1355}},
                       {"parameter_replication", {62}},
                       {"replica_groups", {52}},
                       {"rhs_batch_dims", {2742}},
                       {"rhs_contracting_dims", {6279}},
                       {"scatter", {8}},
                       {"scatter_dims_to_operand_dims", {76}},
                       {"select", {8}},
                       {"sharding", {7044}},
                       {"slice", {5727}},
                       {"slice_sizes", {97}},
                       {"source_target_pairs", {4}},
                       {"start_index_map", {97}},
                       {"to_apply", {6597}},
                       {"true_computation", {8}},
                       {"update_window_dims", {76}},
                       {"use_global_device_ids", {48}},
                       {"window", {1956}},
                   });
}

}  // namespace
}  // namespace stowplan
