// SPDX-License-Identifier: Apache-2.0
// Field numbers of the messages around a module; those of thunks are in thunk_kind.cc.
#pragma once

#include <cstdint>

namespace stowplan::executable {

// SerializedXlaExecutableMetadata.
inline constexpr uint32_t kHeaderVersion = 1;
inline constexpr uint32_t kHeaderRuntime = 2;
// ExecutableAndOptionsProto.
inline constexpr uint32_t kSerialized = 1;
inline constexpr uint32_t kCompileOptions = 2;
// CompilationResultProto and GpuExecutableProto begin alike.
inline constexpr uint32_t kModuleWithConfig = 1;
inline constexpr uint32_t kAssignmentOfResult = 2;
inline constexpr uint32_t kCpuThunks = 6;
inline constexpr uint32_t kCpuMachine = 9;
inline constexpr uint32_t kGpuAllocations = 10;
inline constexpr uint32_t kGpuThunks = 13;
// HloModuleProtoWithConfig.
inline constexpr uint32_t kModuleOfConfig = 1;
// HloModuleProto.
inline constexpr uint32_t kModuleName = 1;
inline constexpr uint32_t kComputations = 3;
// HloProto.
inline constexpr uint32_t kHloModule = 1;
inline constexpr uint32_t kHloAssignment = 3;
// ThunkSequenceProto of both platforms.
inline constexpr uint32_t kThunksOfSequence = 1;
// ThunkInfoProto of both platforms, and of the GPU alone.
inline constexpr uint32_t kNameOfThunk = 1;
inline constexpr uint32_t kNumberOfThunk = 3;
// xla.cpu.TargetMachineOptionsProto.
inline constexpr uint32_t kTriple = 1;
// SplitProtoManifest, Record, FieldOverrideRecord, FieldPathPart.
inline constexpr uint32_t kManifestRecords = 2;
inline constexpr uint32_t kMergeRecord = 2;
inline constexpr uint32_t kOverrideRecord = 3;
inline constexpr uint32_t kOverridePath = 1;
inline constexpr uint32_t kPathNumber = 1;

}  // namespace stowplan::executable
