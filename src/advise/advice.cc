// SPDX-License-Identifier: Apache-2.0
#include "advise/advice.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "advise/candidates.h"
#include "advise/fit_advice.h"
#include "advise/words.h"
#include "base/stable_sort.h"

namespace stowplan::advise {
namespace {

using hlo::InstrId;
using hlo::Module;

// XLA's places in fast memory, for a changed program: instructions keep their names.
std::optional<Preset> MovedPreset(const std::optional<Preset>& preset, const Module& from,
                                  const Analysis& analysis, const Module& to) {
  if (!preset) return std::nullopt;
  std::unordered_map<std::string_view, InstrId> by_name;
  for (size_t i = 0; i < to.instructions.size(); ++i) by_name.emplace(to.name(InstrId(i)), i);
  const Result<Positions> positions = Positions::Of(to);
  if (!positions) return std::nullopt;
  Preset moved{.size = preset->size, .chunks = {}};
  for (const Preset::Chunk& chunk : preset->chunks) {
    const Positions& old = analysis.flow.positions;
    const auto found = by_name.find(from.name(old.instruction(chunk.position)));
    if (found == by_name.end() || old.offset(chunk.position) >= positions->count(found->second))
      continue;
    moved.chunks.push_back({.position = positions->At(found->second, old.offset(chunk.position)),
                            .offset = chunk.offset,
                            .size = chunk.size});
  }
  return moved;
}

class Adviser {
 public:
  Adviser(const Module& module, const Setting& setting, const AdviseOptions& options, Plan before)
      : module_(module), setting_(setting), options_(options), before_(std::move(before)) {
    report_.space = options.space;
    report_.before = before_.figures;
  }

  AdviceReport Run() && {
    if (const std::string why = WhyUnsound(module_, before_.tried.made, setting_); !why.empty()) {
      report_.unknown.push_back("The plan of the unchanged program does not pass the check (" +
                                why + "), so no other plan can be trusted to be sound.");
      return std::move(report_);
    }
    const std::vector<Argument> arguments = ArgumentsOf(module_, options_.parameter_names);
    const std::vector<Candidate> candidates =
        FindCandidates(module_, before_, options_.space, options_.candidates, options_.own);
    total_ =
        static_cast<int64_t>(arguments.size() + candidates.size()) + 1 + (IsRecomputing() ? 1 : 0);
    for (const Argument& argument : arguments) TryDonation(argument);
    std::vector<Edit> done;  // in larger pieces, which come first
    for (const Candidate& candidate : candidates) {
      if (!Begin()) continue;
      if (std::ranges::find(done, candidate.edits[0]) != done.end()) continue;
      if (std::optional<Advice> advice = Try(candidate.edits)) {
        if (candidate.edits.size() > 1)
          done.insert(done.end(), candidate.edits.begin(), candidate.edits.end());
        Describe(module_, options_.own, *advice);
        report_.advice.push_back(*std::move(advice));
      }
    }
    TryPacking();
    TryRecomputing();
    StableSort(report_.advice, std::ranges::greater(),
               [](const Advice& advice) { return std::pair(advice.saved, advice.saved_peak); });
    TryTogether();
    TryTogetherRecomputed();
    for (Advice& advice : report_.advice) SayForFramework(module_, advice);
    if (report_.together) SayForFramework(module_, *report_.together);
    return std::move(report_);
  }

 private:
  // What is found is for memory space 0.
  [[nodiscard]] bool IsRecomputing() const { return options_.recompute && options_.space == 0; }
  [[nodiscard]] bool IsLate() const { return options_.should_stop && options_.should_stop(); }

  // Whether there is time for another try.
  bool Begin() {
    if (options_.progress) options_.progress(report_.tried + report_.untried, total_);
    if (IsLate()) {
      ++report_.untried;
      return false;
    }
    ++report_.tried;
    return true;
  }

  // Absent when it saves nothing, or when the program is no longer sound.
  std::optional<Advice> Try(std::vector<Edit> edits) {
    const Result<Module> changed = Apply(module_, edits, setting_);
    if (!changed) return std::nullopt;
    return Try(*changed, std::move(edits));
  }
  std::optional<Advice> Try(const Module& changed, std::vector<Edit> edits) {
    const std::optional<Preset> preset =
        MovedPreset(options_.preset, module_, before_.tried.analysis, changed);
    const Result<Plan> plan = PlanOf(changed, setting_, preset);
    if (!plan) return std::nullopt;
    Advice advice{.edits = std::move(edits), .after = plan->figures};
    if (!Measure(advice)) return std::nullopt;
    if (!WhyUnsound(changed, plan->tried.made, setting_).empty()) {
      ++report_.unsound;
      return std::nullopt;
    }
    return advice;
  }

  bool Measure(Advice& advice) const {
    const SpaceFigures old = report_.before.Space(options_.space);
    const SpaceFigures now = advice.after.Space(options_.space);
    advice.saved = old.bytes - now.bytes;
    advice.saved_peak = old.peak - now.peak;
    const auto is_worth = [&](int64_t saved, int64_t whole) {
      return saved > 0 && static_cast<double>(saved) >= options_.least * static_cast<double>(whole);
    };
    return is_worth(advice.saved, old.bytes) ||
           (advice.saved == 0 && is_worth(advice.saved_peak, old.peak));
  }

  void TryDonation(const Argument& argument) {
    DonationAnswer answer{.argument = argument};
    answer.is_donated = std::ranges::any_of(argument.parameters, [&](int64_t p) {
      return std::ranges::find(module_.header.aliases, p, &hlo::InputOutputAlias::parameter) !=
             module_.header.aliases.end();
    });
    if (!Begin()) return;
    const Result<Donated> donated = Donate(module_, argument.parameters, setting_);
    if (!donated) {
      answer.refused = PairDonations(module_, argument.parameters, setting_.rules.target).refused;
    } else {
      AddAnswer(*donated, answer);
      if (std::optional<Advice> advice = Try(
              donated->module, {{.kind = EditKind::kDonate, .parameters = argument.parameters}})) {
        answer.saved = advice->saved;
        DescribeDonation({answer}, *advice);
        NoteOrder(*donated, *advice);
        report_.advice.push_back(*std::move(advice));
      }
    }
    report_.donations.push_back(std::move(answer));
  }

  void AddAnswer(const Donated& donated, DonationAnswer& answer) const {
    answer.pairs = donated.pairing.pairs;
    answer.refused = donated.pairing.refused;
    answer.clashes = donated.clashes;
    const std::string entry(module_.name(module_.entry));
    for (const DonationClash& clash : answer.clashes)
      answer.clash_sources.push_back(SourceOf(module_, entry, clash.reader, options_.own));
  }

  static void NoteOrder(const Donated& donated, Advice& advice) {
    if (donated.is_rescheduled) return;
    advice.notes.emplace_back(
        "The order of execution is kept as it is; XLA may choose a different one.");
  }

  void TryPacking() {
    if (!Begin()) return;
    const Result<MadePlan> best =
        MakePlan(module_, before_.tried.analysis, setting_, options_.preset,
                 {.policy = Policy::kBest, .should_stop = options_.should_stop});
    if (!best) return;
    const Result<Figures> figures = FiguresOf(best->report);
    if (!figures) return;
    Advice advice{.edits = {{.kind = EditKind::kPack}}, .after = *figures};
    if (!Measure(advice) || !WhyUnsound(module_, *best, setting_).empty()) return;
    Describe(module_, options_.own, advice);
    report_.advice.push_back(std::move(advice));
  }

  void TryRecomputing() {
    if (!IsRecomputing() || !Begin()) return;
    const std::optional<Recomputed> found = options_.recompute(module_);
    if (!found) return;
    std::optional<Advice> advice = Try(found->module, {{.kind = EditKind::kFit}});
    if (!advice) return;
    DescribeRecomputed(*found, setting_, *advice);
    report_.advice.push_back(*std::move(advice));
  }

  // Whether advice goes before recomputation: it is free, and of those that are done together.
  [[nodiscard]] bool IsBeforeRecomputing(const Advice& advice) const {
    const EditKind kind = advice.edits[0].kind;
    if (kind == EditKind::kPack || kind == EditKind::kFit || kind == EditKind::kRematerialize)
      return false;
    if (!report_.together) return kind == EditKind::kDonate && advice.saved > 0;
    const std::vector<Edit>& edits = report_.together->edits;
    return std::ranges::find(edits, advice.edits[0]) != edits.end();
  }

  // Recomputation after all that is free. It is searched anew, because another program has other
  // peaks.
  void TryTogetherRecomputed() {
    const auto fit = std::ranges::find_if(report_.advice, [](const Advice& advice) {
      return advice.edits[0].kind == EditKind::kFit;
    });
    if (fit == report_.advice.end() || IsLate()) return;
    CombineWithRecomputing();
    if (report_.together && report_.together->saved <= fit->saved) report_.together.reset();
  }

  void CombineWithRecomputing() {
    std::vector<Edit> edits;
    std::vector<std::string> parts;
    for (const Advice& advice : report_.advice) {
      if (!IsBeforeRecomputing(advice)) continue;
      edits.insert(edits.end(), advice.edits.begin(), advice.edits.end());
      parts.push_back(advice.what);
    }
    if (edits.empty()) return;
    const Result<Module> donated = Apply(module_, edits, setting_);
    if (!donated) return;
    ++report_.tried;
    const std::optional<Recomputed> found = options_.recompute(*donated);
    if (!found) return;
    std::vector<DonationAnswer> answers = AnswersFor(edits);
    edits.push_back({.kind = EditKind::kFit});
    std::optional<Advice> both = Try(found->module, std::move(edits));
    const int64_t least = report_.together ? report_.together->saved : report_.advice[0].saved;
    if (!both || both->saved <= std::max(least, report_.advice[0].saved)) return;
    DescribeRecomputed(*found, setting_, *both);
    parts.push_back(both->what);
    const std::string checkpoint = std::exchange(both->how, {});
    if (!answers.empty()) {
      DescribeDonation(answers, *both);
      both->how += "; ";
    }
    both->how += checkpoint;
    both->what = "all of these, one after the other";
    both->notes = std::move(parts);
    report_.together = std::move(both);
  }

  // What is known of the arguments that these edits donate, by position.
  [[nodiscard]] std::vector<DonationAnswer> AnswersFor(std::span<const Edit> edits) const {
    std::vector<DonationAnswer> donated;
    for (const Edit& edit : edits) {
      for (const DonationAnswer& answer : report_.donations) {
        if (edit.kind == EditKind::kDonate && answer.argument.parameters == edit.parameters)
          donated.push_back(answer);
      }
    }
    std::ranges::sort(donated, {},
                      [](const DonationAnswer& answer) { return answer.argument.position; });
    return donated;
  }

  // One after the other, largest saving first; what no longer helps is left out.
  void TryTogether() {
    constexpr size_t kMostEdits = 12;
    std::optional<Advice> best;
    std::vector<const Advice*> parts;
    for (const Advice& next : report_.advice) {
      const EditKind kind = next.edits[0].kind;
      if (kind == EditKind::kPack || kind == EditKind::kFit) continue;
      if (IsLate() || parts.size() == kMostEdits) break;
      if (!best) {
        best = next;
        parts.push_back(&next);
        continue;
      }
      // Parts of a larger piece are covered already.
      const bool is_done = std::ranges::all_of(next.edits, [&](const Edit& edit) {
        return std::ranges::find(best->edits, edit) != best->edits.end();
      });
      if (is_done) continue;
      std::vector<Edit> edits = best->edits;
      edits.insert(edits.end(), next.edits.begin(), next.edits.end());
      std::optional<Advice> both = Try(std::move(edits));
      ++report_.tried;
      if (both &&
          std::pair(both->saved, both->saved_peak) > std::pair(best->saved, best->saved_peak)) {
        best = std::move(both);
        parts.push_back(&next);
      }
    }
    if (parts.size() < 2) return;
    best->what = "all of these, one after the other";
    best->notes.clear();
    for (const Advice* part : parts) best->notes.push_back(part->what);
    const std::vector<DonationAnswer> donated = AnswersFor(best->edits);
    best->how.clear();
    if (!donated.empty()) {
      Advice words;
      DescribeDonation(donated, words);
      best->how = words.how;
    }
    report_.together = std::move(best);
  }

  const Module& module_;
  const Setting& setting_;
  const AdviseOptions& options_;
  Plan before_;
  AdviceReport report_;
  int64_t total_ = 0;
};

}  // namespace

Result<AdviceReport> Advise(const Module& module, const Setting& setting,
                            const AdviseOptions& options) {
  STOWPLAN_TRY(Plan before, PlanOf(module, setting, options.preset));
  return Adviser(module, setting, options, std::move(before)).Run();
}

}  // namespace stowplan::advise
