// SPDX-License-Identifier: Apache-2.0
// The state of an assignment while it is being made.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "assign/assignment.h"
#include "assign/can_share.h"
#include "assign/reuse_pool.h"
#include "assign/sizes.h"

namespace stowplan {

class Assigner {
 public:
  Assigner(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
           const std::optional<Preset>& preset);
  Result<Assignment> Run();

 private:
  enum class Phase : uint8_t { kGlobal, kThreadLocal };

  // assign.cc
  Result<Assignment> RunOnce(bool sweeps);
  void Start(bool sweeps);
  // Takes over the allocations of some memory spaces.
  void Keep(const Assignment& from, bool (*keeps)(int64_t color));
  void AssignAll();
  std::optional<Diagnostics> PlacePreset();
  void AssignPhase(Phase phase);
  [[nodiscard]] std::vector<BufferId> Candidates(Phase phase) const;
  void AssignBuffer(BufferId id, Phase phase);
  // Whether it gets its own allocation in any case.
  [[nodiscard]] bool IsFixed(BufferId id) const;
  bool AssignFixed(BufferId id);
  void MarkLiveOut();
  AllocationId NewAllocation(BufferId id);
  void Put(BufferId id, AllocationId allocation);
  void FindComputationClasses();
  [[nodiscard]] std::vector<hlo::CompId> FinishedComputations() const;
  void NumberPositions();

  // pack_space.cc
  void PackTemporaries();
  void PackPresetSpace();
  void PackSpace(int64_t color, std::span<const ValueId> values, ShareRules& share);

  // fill_holes.cc: removes from `values`, of space 0, what fits into the heap of the lending space.
  void FillHoles(std::vector<ValueId>& values);

  // contexts.cc
  [[nodiscard]] bool IsContextBuffer(BufferId id) const;
  void PlaceContexts();
  void AssignContext(BufferId id);
  [[nodiscard]] AllocationId FindStack(BufferId context);
  // Into a stack of the SparseCore, while that is not needed.
  bool ReuseStack(BufferId id);

  // reuse.cc: buffers that move into an allocation that exists.
  bool ReuseOperand(BufferId id);
  bool ReuseResult(BufferId id);
  bool TryAssign(AllocationId allocation, BufferId id);
  void AddTenants(AllocationId allocation, BufferId id);
  void AllowReuse(AllocationId allocation, BufferId id);
  // Whether the value cannot be where the tenant is, which lives at some of the same times.
  [[nodiscard]] bool MayNotMeet(ValueId value, const Tenancy::Tenant& tenant);
  [[nodiscard]] bool Interferes(AllocationId allocation, ValueId value);
  [[nodiscard]] bool CopiesFrom(AllocationId allocation, ValueId value) const;

  [[nodiscard]] int64_t SizeOf(BufferId id) const { return measured_.sizes[id.index]; }
  [[nodiscard]] int64_t ColorOf(BufferId id) const { return measured_.buffer_colors[id.index]; }
  [[nodiscard]] bool IsDonated(PositionId id) const { return is_donated_[id.index] != 0; }
  [[nodiscard]] bool Sweeps(int64_t color) const { return sweeps_ && rules_.Sweeps(color); }

  const hlo::Module& module_;
  const Analysis& analysis_;
  const Rules& rules_;
  const std::optional<Preset>& preset_;
  bool sweeps_ = false;

  BufferSizes measured_;
  std::vector<uint8_t> is_donated_;  // by position
  std::vector<uint8_t> classes_;     // by computation: a Phase, or kUnreached
  std::vector<uint32_t> numbers_;    // by instruction: its place in the walk of its phase
  static constexpr uint8_t kUnreached = 2;

  ShareRules share_;
  Assignment assignment_;
  std::vector<uint8_t> is_done_;                     // by buffer
  std::map<int64_t, std::vector<ValueId>> delayed_;  // by color
  std::vector<AllocationId> stacks_;                 // of the SparseCore
  std::map<AllocationId, SpanSet> stack_times_;      // when programs of the SparseCore use a stack
  std::map<AllocationId, int64_t> stack_ends_;       // until when buffers hold a stack
  std::map<AllocationId, Tenancy> tenancies_;        // of allocations that may be reused
  std::map<int64_t, ReusePool> reusable_;            // by color
};

}  // namespace stowplan
