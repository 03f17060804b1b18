// SPDX-License-Identifier: Apache-2.0
#include "page/order_page.h"

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

std::string PercentChange(int64_t before, int64_t after) {
  if (before == after) return "same";
  if (before == 0) return "";
  return fmt::format("{:+.1f}%",
                     100.0 * (static_cast<double>(after) / static_cast<double>(before) - 1));
}

const BestHeap* MainHeap(const PlannedModule& planned) {
  for (const BestHeap& heap : planned.heaps) {
    if (heap.color == 0) return &heap;
  }
  return nullptr;
}

// What the user can do, since XLA does not take Stowplan's order.
std::string FlagAdvice(const PlannedModule& planned) {
  if (!planned.target || planned.target->name != "cpu") return {};
  return "XLA:CPU has, at least since jaxlib 0.10, a scheduler that looks at memory: compile with\n"
         "  compiler_options={\"xla_cpu_scheduler_type\": "
         "\"CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED\"}\n";
}

}  // namespace

std::string OrderProof(const OrderFacts& order) {
  if (order.is_optimal()) return "optimal";
  if (order.bound == 0) return "nothing is known about other orders";
  return fmt::format(
      "at most {:.2f} % above the best order",
      100.0 * (static_cast<double>(order.load) / static_cast<double>(order.bound) - 1));
}

std::string OrderSentence(const OrderFacts& order) {
  if (order.bytes < order.given_bytes) {
    return fmt::format("the order of instructions costs {}: a better one needs {} instead of {}",
                       HumanAndExactBytes(order.given_bytes - order.bytes), HumanBytes(order.bytes),
                       HumanBytes(order.given_bytes));
  }
  if (order.is_optimal()) return "the order of instructions is optimal: no other needs less memory";
  return "no better order was found; the present one is " + OrderProof(order);
}

std::string GlanceSentence(const OrderFacts& order) {
  // Less than this is not worth a change.
  const int64_t little = order.given_load / 1024;
  const std::string given = HumanAndExactBytes(order.given_load);
  if (order.given_load - order.load > little)
    return fmt::format(
        "the order of instructions costs {}: temporaries and results take {} at once, {} in a "
        "better order, and at least {} in any",
        HumanAndExactBytes(order.given_load - order.load), given, HumanAndExactBytes(order.load),
        HumanAndExactBytes(order.bound));
  if (order.given_load - order.bound <= little)
    return fmt::format(
        "no order of instructions needs less: temporaries and results take {} at once{}", given,
        order.given_load == order.bound ? "" : ", and at most 0.1 % less in any order");
  return fmt::format(
      "no better order of instructions was found: temporaries and results take {} at once, and at "
      "least {} in any order",
      given, HumanAndExactBytes(order.bound));
}

std::string OrderPage(const PlannedModule& planned) {
  const OrderFacts& order = *planned.order;
  std::string out = fmt::format("{}: {}\n\n", Printable(planned.name), OrderSentence(order));
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "as given", "best found", ""});
  const auto add = [&](std::string what, int64_t before, int64_t after) {
    table.Add({std::move(what), HumanAndExactBytes(before), HumanAndExactBytes(after),
               PercentChange(before, after)});
  };
  add("main memory", order.given_bytes, order.bytes);
  add("in use at once", order.given_load, order.load);
  table.Add({"any order needs at least", "", HumanAndExactBytes(order.bound), OrderProof(order)});
  table.Append(out);
  out += "\nIn use at once are temporaries, the result, and arguments that are overwritten.\n";
  if (!order.witness.empty())
    out += fmt::format("While `{}` runs, no order has less in use.\n", Printable(order.witness));
  if (order.lost_overlap > 0)
    out += fmt::format("{} of the work between starts and dones is elsewhere now.\n",
                       Percent(order.lost_overlap, order.overlap));
  if (order.bytes < order.given_bytes) out += FlagAdvice(planned);
  return out;
}

std::string OrderJson(const PlannedModule& planned) {
  const OrderFacts& order = *planned.order;
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.order/1");
  json.Field("module", std::string_view(planned.name));
  json.Field("given_bytes", order.given_bytes);
  json.Field("bytes", order.bytes);
  json.Field("given_load", order.given_load);
  json.Field("load", order.load);
  json.Field("bound", order.bound);
  json.Field("status", order.is_optimal() ? "optimal" : "feasible");
  if (!order.witness.empty()) json.Field("witness", std::string_view(order.witness));
  json.Field("overlap", order.overlap);
  json.Field("lost_overlap", order.lost_overlap);
  if (const BestHeap* heap = MainHeap(planned)) json.Field("temporaries", heap->bytes);
  json.End();
  return out;
}

}  // namespace stowplan::page
