// SPDX-License-Identifier: Apache-2.0
// The packer: buffers with sizes and times in, offsets and a proof out.
#include <limits>
#include <string>
#include <utility>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "python/watch.h"
#include "stowplan/pack.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

using Numbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OffsetArray = nb::ndarray<nb::numpy, const int64_t, nb::ndim<1>>;

struct Packed {
  pack::Answer answer;
  bool is_interrupted = false;
};

pack::Problem ProblemOf(const Numbers& sizes, const Numbers& starts, const Numbers& ends,
                        const Numbers& alignments) {
  const size_t count = sizes.size();
  if (starts.size() != count || ends.size() != count ||
      (alignments.size() != count && alignments.size() != 1))
    Refuse("sizes, starts and ends have different lengths",
           "alignment is one number, or one per buffer");
  pack::Problem problem;
  problem.buffers.reserve(count);
  for (size_t i = 0; i < count; ++i)
    problem.buffers.push_back({.size = sizes.data()[i],
                               .start = starts.data()[i],
                               .end = ends.data()[i],
                               .alignment = alignments.data()[alignments.size() == 1 ? 0 : i]});
  return problem;
}

std::shared_ptr<Packed> Pack(const Numbers& sizes, const Numbers& starts, const Numbers& ends,
                             const Numbers& alignments, std::optional<int64_t> capacity,
                             uint64_t seed, int threads, std::optional<double> time_limit) {
  if (threads < 1 || threads > 1024) Refuse("threads needs a number from 1 to 1024");
  if (capacity && *capacity < 0) Refuse("capacity needs bytes, 0 or more");
  Watch watch(time_limit);
  auto packed = std::make_shared<Packed>();
  {
    const Unlocked unlocked;
    const pack::Problem problem = ProblemOf(sizes, starts, ends, alignments);
    pack::SolveOptions options = {.capacity = capacity, .seed = seed, .threads = threads};
    options.should_stop = watch.should_stop();
    if (time_limit) options.effort = std::numeric_limits<int64_t>::max();
    Result<pack::Answer> answer = pack::Solve(problem, options);
    if (!answer) throw Failure(std::move(answer).error());
    packed->answer = *std::move(answer);
    if (!pack::CheckPlan(problem, packed->answer.plan).empty())
      Refuse("the plan is not sound", "this is a bug in Stowplan");
  }
  watch.Finish();
  packed->is_interrupted = watch.is_interrupted();
  return packed;
}

}  // namespace

void BindPack(nb::module_& module) {
  nb::class_<Packed>(module, "Packed", "What the packer found.")
      .def_prop_ro("status",
                   [](const Packed& self) { return Text(pack::Name(self.answer.status)); })
      .def_prop_ro("bytes", [](const Packed& self) { return self.answer.plan.height; })
      .def_prop_ro("bound", [](const Packed& self) { return self.answer.bound; })
      .def_prop_ro("load", [](const Packed& self) { return self.answer.load.bytes; })
      .def_prop_ro("load_time", [](const Packed& self) { return self.answer.load.time; })
      .def_prop_ro("is_interrupted", [](const Packed& self) { return self.is_interrupted; })
      .def_prop_ro("offset_list", [](const Packed& self) { return self.answer.plan.offsets; })
      .def_prop_ro("offsets", [](nb::handle self) {
        const std::vector<int64_t>& offsets = nb::cast<Packed&>(self).answer.plan.offsets;
        return OffsetArray(offsets.data(), {offsets.size()}, self);
      });
  module.def("pack", Pack, "sizes"_a, "starts"_a, "ends"_a, "alignments"_a,
             "capacity"_a.none() = nb::none(), "seed"_a = 1, "threads"_a = 1,
             "time_limit"_a.none() = nb::none(), "Offsets for buffers with sizes and times.");
}

}  // namespace stowplan::python
