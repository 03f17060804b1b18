// SPDX-License-Identifier: Apache-2.0
// Attributes of instructions: each kind of value, default values, the order of printing.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

template <size_t N>
void ExpectReprints(const TextCase (&cases)[N]) {
  for (const TextCase& c : cases) EXPECT_EQ(ReprintInstruction(c.in), c.expected()) << c.in;
}

TEST(TextAttribute, NumbersAndWords) {
  constexpr TextCase kCases[] = {
      {"%x = s32[] get-tuple-element(%t), index=1"},
      {"%x = f32[4]{0} iota(), iota_dimension=0"},
      {"%x = pred[4]{0} compare(%a, %b), direction=GE, type=TOTALORDER"},
      {"%x = f32[4]{0} fusion(%a), kind=kLoop, calls=%double"},
      {"%x = f32[4]{0} reduce-precision(%a), exponent_bits=8, mantissa_bits=7"},
      {"%x = f32[4]{0} rng(%z, %z), distribution=rng_uniform"},
      {"%x = (f32[4]{0}, f32[4]{0}, f32[4]{0}) batch-norm-training(%a, %a, %a), epsilon=0.001, "
       "feature_index=0"},
      {"%x = u64[1]{0} rng-get-and-update-state(), delta=-1"},
      {"%x = token[] send-done(%a), channel_id=9223372036854775807, is_host_transfer=true"},
      {"%x = (f32[2]{0}, s32[2]{0}) topk(%a), k=2, largest=false"},
      {"%x = f32[4]{0} sort(%a), dimensions={0}, is_stable=true, to_apply=%less"},
      {"%x = f32[4]{0} copy-start(%a), cross_program_prefetch_index=0"},
      {"%x = f32[4]{0} reduce-scatter(%a), channel_id=1, replica_groups={{0}}, dimensions={0}, "
       "to_apply=%sum"},
      {"%x = f32[4]{0} fft(%a), fft_type=RFFT, fft_length={4}"},
      {"%x = f32[4,4]{1,0} triangular-solve(%m, %m), left_side=true, lower=true, "
       "unit_diagonal=true, transpose_a=NO_TRANSPOSE"},
      {"%x = f32[4]{0} reshape(%a), inferred_dimension=0"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, Lists) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4,4]{1,0} transpose(%m), dimensions={1,0}"},
      {"%x = f32[4,4]{1,0} transpose(%m), dimensions={ 1 , 0 }",
       "%x = f32[4,4]{1,0} transpose(%m), dimensions={1,0}"},
      {"%x = f32[4]{0} broadcast(%z), dimensions={}"},
      {"%x = f32[1,1]{1,0} dynamic-slice(%m, %i, %i), dynamic_slice_sizes={1,1}"},
      {"%x = f32[4]{0} slice(%a), slice={[0:4]}"},
      {"%x = f32[2,4]{1,0} slice(%m), slice={[0:4:2], [0:4]}",
       "%x = f32[2,4]{1,0} slice(%m), slice={[0:4:2], [0:4:1]}"},
      {"%x = f32[4,4]{1,0} slice(%m), slice={[0:4:1],[0:4:1]}",
       "%x = f32[4,4]{1,0} slice(%m), slice={[0:4], [0:4]}"},
      {"%x = f32[6]{0} pad(%a, %z), padding=1_1"},
      {"%x = f32[4,9]{1,0} pad(%m, %z), padding=0_0x-1_3_1",
       "%x = f32[4,9]{1,0} pad(%m, %z), padding=0_0_0x-1_3_1"},
      {"%x = f32[4,4]{1,0} pad(%m, %z), padding=0_0_0x0_0_0",
       "%x = f32[4,4]{1,0} pad(%m, %z), padding=0_0x0_0"},
      {"%x = f32[4]{0} collective-permute(%a), source_target_pairs={{0,1},{1,0}}"},
      {"%x = f32[4]{0} collective-permute(%a), channel_id=2, source_target_pairs={ {0,1}, {1,0} }",
       "%x = f32[4]{0} collective-permute(%a), channel_id=2, source_target_pairs={{0,1},{1,0}}"},
      {"%x = f32[4]{0} collective-permute(%a), source_target_pairs={}"},
      {"%x = f32[4]{0} parameter(10), parameter_replication={true,false}"},
      {"%x = f32[4,4]{1,0} dot(%m, %m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
       "operand_precision={highest,default}"},
      {"%x = f32[1,4,4]{2,1,0} gather(%v, %j), offset_dims={0,1,2}, collapsed_slice_dims={0}, "
       "start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1,4,4}"},
      {"%x = f32[4]{0} custom-call(%a, %i), custom_call_target=\"f\", "
       "operand_layout_constraints={f32[4]{0}, s32[]}"},
      {"%x = token[] outfeed(%a, %tok), outfeed_shape=f32[4]{0}, outfeed_config=\"a\\\"b\""},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, Windows) {
  constexpr TextCase kCases[] = {
      {"%x = f32[2]{0} reduce-window(%a, %z), window={size=2 stride=2}, to_apply=%sum"},
      {"%x = f32[4,4]{1,0} reduce-window(%m, %z), window={size=3x3 pad=1_1x1_1}, to_apply=%sum"},
      {"%x = f32[4,4]{1,0} reduce-window(%m, %z), window={pad=1_1x1_1  size=3x3 stride=1x1 "
       "lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}, to_apply=%sum",
       "%x = f32[4,4]{1,0} reduce-window(%m, %z), window={size=3x3 pad=1_1x1_1}, to_apply=%sum"},
      {"%x = f32[1,4,4,4]{3,2,1,0} convolution(%v, %v), window={size=4x4 stride=1x2 pad=-1_1x0_0 "
       "lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, "
       "feature_group_count=2, batch_group_count=4, operand_precision={high,highest}"},
      {"%x = f32[4,4]{1,0} convolution(%m, %m), dim_labels=bf_io->bf"},
      {"%x = f32[4,4]{1,0} convolution(%m, %m), window={}, dim_labels=bf_io->bf",
       "%x = f32[4,4]{1,0} convolution(%m, %m), dim_labels=bf_io->bf"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, CalledComputations) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} call(%a), to_apply=%double"},
      {"%x = f32[4]{0} call(%a), to_apply=double", "%x = f32[4]{0} call(%a), to_apply=%double"},
      {"%x = f32[4]{0} call(%a), to_apply=%double, is_composite=true"},
      {"%x = f32[4]{0} while(%a), condition=%small, body=%double"},
      {"%x = f32[4]{0} while(%a), body=%double, condition=%small",
       "%x = f32[4]{0} while(%a), condition=%small, body=%double"},
      {"%x = f32[4]{0} conditional(%ok, %a, %b), true_computation=%double, "
       "false_computation=%double"},
      {"%x = f32[4]{0} conditional(%i, %a, %b), branch_computations={%double, %double}"},
      {"%x = f32[4]{0} map(%a, %b), dimensions={0}, to_apply=%sum"},
      {"%x = f32[] reduce(%a, %z), dimensions={0}, to_apply=%sum"},
      {"%x = f32[4]{0} select-and-scatter(%a, %a, %z), window={size=1}, select=%less, "
       "scatter=%sum"},
      {"%x = f32[4]{0} custom-call(%a), custom_call_target=\"f\", called_computations={%sum, "
       "%less}"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, Aliasing) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} fusion(%a), kind=kLoop, output_to_operand_aliasing={{}: (0, {})}, "
       "calls=%double"},
      {"%x = (f32[4]{0}, s32[]) custom-call(%t), custom_call_target=\"f\", "
       "output_to_operand_aliasing={{0}: (0, {0}), {1}: (0, {1})}"},
      {"%x = (f32[4]{0}, s32[]) custom-call(%t), custom_call_target=\"f\", "
       "output_to_operand_aliasing={ { 0 }:(0,{0}),{1}:( 0 , {1} ) }",
       "%x = (f32[4]{0}, s32[]) custom-call(%t), custom_call_target=\"f\", "
       "output_to_operand_aliasing={{0}: (0, {0}), {1}: (0, {1})}"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, DeviceGroups) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} all-reduce(%a), replica_groups={}, to_apply=%sum"},
      {"%x = f32[4]{0} all-reduce(%a), replica_groups={{0,1},{2,3}}, to_apply=%sum"},
      {"%x = f32[4]{0} all-reduce(%a), replica_groups={ { 0 , 1 } }, to_apply=%sum",
       "%x = f32[4]{0} all-reduce(%a), replica_groups={{0,1}}, to_apply=%sum"},
      {"%x = f32[4]{0} all-reduce(%a), channel_id=1, replica_groups=[2,4]<=[8], "
       "use_global_device_ids=true, to_apply=%sum"},
      {"%x = f32[4]{0} all-reduce(%a), replica_groups=[ 2,4 ] <= [4,2] T(1,0), to_apply=%sum",
       "%x = f32[4]{0} all-reduce(%a), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=%sum"},
      {"%x = f32[4]{0} all-reduce(%a), replica_groups=mesh['x'=4,'y'=2] {'x'}, to_apply=%sum"},
      {"%x = f32[4]{0} all-reduce(%a), replica_groups=mesh['x'=4] {'x':(1)2}, to_apply=%sum"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, Shardings) {
  for (const TextCase& c : {
           TextCase{"{replicated}"},
           {"{manual}"},
           {"{unknown}"},
           {"{unreduced}"},
           {"{maximal device=3}"},
           {"{devices=[2,1]0,1}"},
           {"{ devices=[2, 1] 0, 1 }", "{devices=[2,1]0,1}"},
           {"{devices=[4]<=[4]}"},
           {"{devices=[2,2]<=[2,2]T(1,0)}"},
           {"{devices=[2,2]<=[4] last_tile_dim_replicate}"},
           {"{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}"},
           {"{devices=[2,2,2]<=[8] last_tile_dims={manual,replicated}}",
            "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}"},
           {"{replicated shard_as 3}"},
           {"{devices=[2]<=[2] shard_like 12}"},
           {"{replicated metadata={op_name=\"a b\"}}"},
           {"{replicated metadata={{op_name=\"a\"}, {op_name=\"b\" source_line=1}}}"},
           {"{}"},
           {"{{replicated}}"},
           {"{{replicated},{maximal device=0}}", "{{replicated}, {maximal device=0}}"},
           {"{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{manual}}"},
           {"{{manual}, {manual}, {manual}, {manual}, {manual}, {manual}}",
            "{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{manual}}"},
           {"{mesh['x'=2,'y'=4], [{'x'}, {}]}"},
           {"{mesh['x'=2,'y'=4], [{'x', 'y'}, {?}]}"},
           {"{mesh['x'=4], [{'x':(1)2}]}"},
           {"{mesh['x'=4], [{}], replicated={'x'}}"},
           {"{mesh['x'=4,'y'=2], [{'x'}], unreduced={'y'}}"},
           {"{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}]}"},
           {"{maximal_mesh[device_id=5]}"},
           {"{single_device[device_id=5]}"},
           {"{{single_device[device_id=0]},{single_device[device_id=1]}}",
            "{{single_device[device_id=0]}, {single_device[device_id=1]}}"},
       }) {
    const std::string head = "%x = f32[4]{0} copy(%a), sharding=";
    const std::string out = head + std::string(c.expected());
    EXPECT_EQ(ReprintInstruction(head + std::string(c.in)), out);
  }
}

TEST(TextAttribute, Trees) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} domain(%a), domain={kind=\"sharding\", entry={maximal device=0}, "
       "exit={replicated}}"},
      {"%x = f32[4]{0} copy(%a), origin={{\"v\"}}"},
      {"%x = f32[4]{0} copy(%a), origin={{\"v\" {1,0}}}"},
      {"%x = (f32[4]{0}, s32[]) copy(%t), origin={({\"v\"}, {})}"},
      {"%x = (f32[4]{0}, s32[]) copy(%t), origin={(({\"v\"},{\"w\" { 0 }}), {})}",
       "%x = (f32[4]{0}, s32[]) copy(%t), origin={(({\"v\"}, {\"w\" {0}}), {})}"},
      {"%x = f32[4]{0} copy(%a), origin={[synthetic_call]}"},
      {"%x = f32[4]{0} copy(%a), original_value={{\"v\"}}"},
      {"%x = f32[4]{0} copy(%a), statistics={visualizing_index=0,a=1.5,b=2}"},
      {"%x = f32[4]{0} copy(%a), statistics={ visualizing_index=0, a=1.5 }",
       "%x = f32[4]{0} copy(%a), statistics={visualizing_index=0,a=1.5}"},
      {"%x = f32[4]{0} tanh(%a), result_accuracy={mode=highest}"},
      {"%x = f32[4]{0} tanh(%a), result_accuracy={tolerance={atol=0.1,rtol=1e-05,ulps=2}}"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, Strings) {
  constexpr TextCase kCases[] = {
      {"%x = f32[] custom-call(), custom_call_target=\"\""},
      {"%x = f32[] custom-call(), custom_call_target=\"a b,c}{\""},
      {"%x = f32[] custom-call(), custom_call_target='a'",
       "%x = f32[] custom-call(), custom_call_target=\"a\""},
      {"%x = f32[] custom-call(), custom_call_target=\"\\n\\r\\t\\\"\\'\\\\\""},
      {"%x = f32[] custom-call(), custom_call_target=\"\\303\\251\\001\\177\""},
      {"%x = f32[] custom-call(), custom_call_target=\"\xc3\xa9\"",
       "%x = f32[] custom-call(), custom_call_target=\"\\303\\251\""},
      {"%x = f32[] custom-call(), custom_call_target=\"\\x41\\a\\?\\0\"",
       "%x = f32[] custom-call(), custom_call_target=\"A\\007?\\000\""},
      {"%x = f32[] custom-call(), custom_call_target=\"it's\"",
       "%x = f32[] custom-call(), custom_call_target=\"it\\'s\""},
      {"%x = (f32[4]{0}, token[]) infeed(%tok), infeed_config=\"c\""},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, BackendConfig) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} copy(%a), backend_config={}"},
      {"%x = f32[4]{0} copy(%a), backend_config={\"a\":{\"b\":\"}\\\"{\"},\"c\":[1, 2]}"},
      // What stands inside is not Stowplan's: blanks stay.
      {"%x = f32[4]{0} copy(%a), backend_config={ \"a\" : 1 }"},
      {"%x = f32[4]{0} copy(%a), backend_config=\"text\\n\""},
      {"%x = f32[4]{0} copy(%a), backend_config=\"\"", "%x = f32[4]{0} copy(%a)"},
      // A text of the time before 2023-06 quotes dictionaries too.
      {"%x = f32[4]{0} copy(%a), backend_config=\"{\\\"a\\\":1}\""},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, FrontendAttributes) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} copy(%a), frontend_attributes={a=\"b\"}"},
      {"%x = f32[4]{0} copy(%a), frontend_attributes={a=\"b\",c={\"d\": 1}}"},
      {"%x = f32[4]{0} copy(%a), frontend_attributes={ c = \"2\" , a = \"1\" }",
       "%x = f32[4]{0} copy(%a), frontend_attributes={a=\"1\",c=\"2\"}"},
      {"%x = f32[4]{0} copy(%a), frontend_attributes={a=\"\",_b.c-d=\"\\\"\"}",
       "%x = f32[4]{0} copy(%a), frontend_attributes={_b.c-d=\"\\\"\",a=\"\"}"},
      {"%x = f32[4]{0} copy(%a), frontend_attributes={}", "%x = f32[4]{0} copy(%a)"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, DefaultsAreDropped) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} sort(%a), dimensions={0}, is_stable=false, to_apply=%less",
       "%x = f32[4]{0} sort(%a), dimensions={0}, to_apply=%less"},
      {"%x = f32[4]{0} all-reduce(%a), replica_groups={}, constrain_layout=false, "
       "use_global_device_ids=false, to_apply=%sum",
       "%x = f32[4]{0} all-reduce(%a), replica_groups={}, to_apply=%sum"},
      {"%x = f32[4]{0} custom-call(%a), custom_call_target=\"f\", "
       "custom_call_has_side_effect=false, feature_group_count=1, batch_group_count=1, "
       "api_version=API_VERSION_ORIGINAL, schedule=SCHEDULE_NONE, "
       "output_to_operand_aliasing={}, padding_type=PADDING_INVALID",
       "%x = f32[4]{0} custom-call(%a), custom_call_target=\"f\""},
      {"%x = f32[4,4]{1,0} dot(%m, %m), lhs_batch_dims={}, lhs_contracting_dims={1}, "
       "rhs_batch_dims={}, rhs_contracting_dims={0}, operand_precision={default,default}",
       "%x = f32[4,4]{1,0} dot(%m, %m), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"%x = f32[4]{0} copy(%a), control-predecessors={}", "%x = f32[4]{0} copy(%a)"},
      {"%x = f32[4]{0} cholesky(%m), lower=false", "%x = f32[4]{0} cholesky(%m)"},
      // Said by some opcodes whatever they are.
      {"%x = (f32[2]{0}, s32[2]{0}) topk(%a), k=2, largest=true"},
      {"%x = f32[4]{0} fft(%a), fft_type=FFT, fft_length={}"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, AnyOrderPrintsInXlasOrder) {
  constexpr TextCase kCases[] = {
      {"%x = f32[4]{0} copy(%a), backend_config={\"k\":1}, metadata={op_name=\"n\"}, "
       "origin={{\"v\"}}, result_accuracy={mode=highest}, statistics={visualizing_index=0}, "
       "control-predecessors={%b}, frontend_attributes={a=\"b\"}, sharding={replicated}",
       "%x = f32[4]{0} copy(%a), sharding={replicated}, frontend_attributes={a=\"b\"}, "
       "control-predecessors={%b}, statistics={visualizing_index=0}, "
       "result_accuracy={mode=highest}, origin={{\"v\"}}, metadata={op_name=\"n\"}, "
       "backend_config={\"k\":1}"},
      {"%x = f32[4,4]{1,0} dot(%m, %m), metadata={op_name=\"n\"}, rhs_contracting_dims={1}, "
       "rhs_batch_dims={0}, lhs_contracting_dims={1}, lhs_batch_dims={0}",
       "%x = f32[4,4]{1,0} dot(%m, %m), lhs_batch_dims={0}, lhs_contracting_dims={1}, "
       "rhs_batch_dims={0}, rhs_contracting_dims={1}, metadata={op_name=\"n\"}"},
      {"%x = f32[4]{0} custom-call(%a), called_computations={%sum}, "
       "api_version=API_VERSION_TYPED_FFI, schedule=SCHEDULE_LATEST, "
       "output_to_operand_aliasing={{}: (0, {})}, custom_call_has_side_effect=true, "
       "operand_layout_constraints={f32[4]{0}}, custom_call_target=\"f\", window={size=1}",
       "%x = f32[4]{0} custom-call(%a), window={size=1}, custom_call_target=\"f\", "
       "operand_layout_constraints={f32[4]{0}}, custom_call_has_side_effect=true, "
       "output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST, "
       "api_version=API_VERSION_TYPED_FFI, called_computations={%sum}"},
      {"%x = f32[4]{0} all-gather(%a), use_global_device_ids=true, dimensions={0}, "
       "constrain_layout=true, replica_groups={{0}}, channel_id=1",
       "%x = f32[4]{0} all-gather(%a), channel_id=1, replica_groups={{0}}, "
       "constrain_layout=true, dimensions={0}, use_global_device_ids=true"},
      {"%x = f32[4]{0} scatter(%a, %j, %j), to_apply=%sum, unique_indices=true, "
       "indices_are_sorted=true, index_vector_dim=1, scatter_indices_batching_dims={0}, "
       "input_batching_dims={0}, scatter_dims_to_operand_dims={0}, inserted_window_dims={0}, "
       "update_window_dims={}",
       "%x = f32[4]{0} scatter(%a, %j, %j), update_window_dims={}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={0}, index_vector_dim=1, indices_are_sorted=true, "
       "unique_indices=true, to_apply=%sum"},
  };
  ExpectReprints(kCases);
}

TEST(TextAttribute, ControlPredecessors) {
  EXPECT_EQ(ReprintInstruction("%x = f32[4]{0} copy(%a), control-predecessors={b, %a}"),
            "%x = f32[4]{0} copy(%a), control-predecessors={%b, %a}");
}

TEST(TextAttribute, LiteralsOfCustomCalls) {
  constexpr TextCase kCases[] = {
      {"%x = s32[] custom-call(), custom_call_target=\"f\", literal=s32[] 3, "
       "metadata={op_name=\"n\"}"},
      {"%x = s32[2]{0} custom-call(), custom_call_target=\"f\", literal=s32[2]{0} {1, 2}, "
       "backend_config={}"},
  };
  ExpectReprints(kCases);
}

}  // namespace
}  // namespace stowplan
