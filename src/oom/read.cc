// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "oom/buffers.h"
#include "oom/details.h"
#include "oom/heads.h"
#include "oom/lines.h"
#include "oom/merge.h"
#include "oom/oom.h"
#include "oom/text.h"

namespace stowplan::oom {
namespace {

// How many irrelevant lines may stand between the lines of one incident.
constexpr int kMostSilent = 400;

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(text) {}

  Log Read() {
    while (const Line* line = lines_.Next(open_.has_value())) {
      if (line->is_hot || lines_.is_hot_ahead()) ReadSentences(*line);
      if (open_) ReadDetails(*line);
    }
    CloseIncident();
    log_.lines = lines_.count();
    return std::move(log_);
  }

 private:
  void ReadSentences(const Line& line) {
    // Enough for every sentence, and for the instruction inside it.
    constexpr size_t kMostAhead = 2000;
    Window window{.text = line.text,
                  .lower = line.lower,
                  .first_line = line.text.size(),
                  .number = line.number};
    for (size_t i = 0; i < lines_.ahead_count(); ++i) {
      if (i == 1 && !MayBegin(window)) return;
      if (window.text.size() > window.first_line + kMostAhead) break;
      const Line& next = lines_.Ahead(i);
      window.text += ' ';
      window.text += std::string_view(next.text).substr(0, kMostAhead);
      window.lower += ' ';
      window.lower += std::string_view(next.lower).substr(0, kMostAhead);
    }
    if (std::string code = FindCode(window); !code.empty()) {
      code_ = std::move(code);
      code_line_ = line.number;
    }
    if (const std::optional<Remat> remat = FindRemat(window)) AddRemat(*remat, log_);
    std::vector<Head> heads = FindHeads(window);
    const std::string executable = heads.empty() ? std::string() : FindExecutable(window);
    for (Head& head : heads) {
      Incident& incident = head.incident;
      if (head.is_addition && open_ && open_->kind == incident.kind && !open_->used) {
        open_->used = incident.used;
        open_->limit = incident.limit;
        open_->exceeded = incident.exceeded;
        continue;
      }
      if (!code_.empty() && line.number - code_line_ <= 4) incident.code = code_;
      incident.executable = executable;
      // What an old allocator dumped before it gave up.
      if (open_ && is_headless_ && incident.kind == Kind::kBuffer)
        incident.pool = std::exchange(open_->pool, {});
      CloseIncident();
      open_ = std::move(incident);
      is_headless_ = false;
      silent_ = 0;
      details_.Begin();
    }
    if (!open_ && BeginsPoolDump(line.lower)) {
      open_.emplace();
      open_->kind = Kind::kBuffer;
      is_headless_ = true;
      silent_ = 0;
      details_.Begin();
    }
  }

  void ReadDetails(const Line& line) {
    const std::string& text = line.text;
    const std::string& lower = line.lower;
    bool is_known = true;
    if (lower.contains("peak buffers:") || lower.contains("largest program allocations in ")) {
      // Text copied from web pages has joined lines.
      if (!buffers_.is_open()) details_.Read(text, lower, *open_);
      buffers_.Begin();
    } else if (!buffers_.Read(text, lower)) {
      is_known = details_.Read(text, lower, *open_);
    }
    silent_ = is_known ? 0 : silent_ + 1;
    if (silent_ > kMostSilent) CloseIncident();
  }

  void CloseIncident() {
    std::vector<Buffer> buffers = buffers_.Take();
    if (!open_) return;
    if (open_->buffers.empty()) open_->buffers = std::move(buffers);
    Incident incident = *std::exchange(open_, std::nullopt);
    if (is_headless_) return;
    const Pool& pool = incident.pool;
    if (!incident.limit && pool.limit) incident.limit = pool.limit;
    if (!incident.largest_free && pool.largest_free) incident.largest_free = pool.largest_free;
    AddIncident(std::move(incident), log_);
  }

  Lines lines_;
  Log log_;
  std::optional<Incident> open_;  // what further lines may say more of
  bool is_headless_ = false;      // a dump of an allocator, and no word yet of what for
  int silent_ = 0;
  BufferReader buffers_;
  DetailReader details_;
  std::string code_;
  int64_t code_line_ = 0;
};

Framework FindFramework(std::string_view text) {
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
  };
  // For years, paths of JAX and PyTorch/XLA had `tensorflow` in them.
  if (has({"torch_xla", "import torch", "/torch/", "xla::", "Bad StatusOr access"})) {
    if (!has({"jaxlib", "jax.errors", "jax._src"})) return Framework::kTorch;
  }
  if (has({"jaxlib", "jax.", "/jax/", "op_name=\"jit(", "op_name=\"pjit(",
           "executable_name='jit_"}))
    return Framework::kJax;
  if (has({"tensorflow"})) return Framework::kTensorFlow;
  return Framework::kUnknown;
}

// How much was missing, as far as the log says.
int64_t Lack(const Incident& incident) {
  if (incident.exceeded) return incident.exceeded->bytes;
  if (incident.used && incident.limit)
    return std::max<int64_t>(0, incident.used->bytes - incident.limit->bytes);
  return incident.requested ? incident.requested->bytes : 0;
}

}  // namespace

std::string_view Word(Kind kind) {
  switch (kind) {
    case Kind::kCompile:
      return "compile";
    case Kind::kScoped:
      return "scoped";
    case Kind::kLoad:
      return "load";
    case Kind::kBuffer:
      return "buffer";
    case Kind::kDriver:
      return "driver";
    case Kind::kHost:
      return "host";
    case Kind::kOther:
      break;
  }
  return "other";
}

std::string_view Name(Framework framework) {
  switch (framework) {
    case Framework::kJax:
      return "JAX";
    case Framework::kTorch:
      return "PyTorch/XLA";
    case Framework::kTensorFlow:
      return "TensorFlow";
    case Framework::kUnknown:
      break;
  }
  return "unknown";
}

Log ReadLog(std::string_view text) {
  Log log = Reader(text).Read();
  if (!log.incidents.empty()) log.framework = FindFramework(text);
  return log;
}

std::optional<size_t> WorstIncident(const Log& log) {
  std::optional<size_t> worst;
  for (size_t i = 0; i < log.incidents.size(); ++i) {
    const Incident& one = log.incidents[i];
    if (worst) {
      const Incident& best = log.incidents[*worst];
      if (best.is_failure && !one.is_failure) continue;
      if (best.is_failure == one.is_failure && Lack(one) <= Lack(best)) continue;
    }
    worst = i;
  }
  return worst;
}

}  // namespace stowplan::oom
