// SPDX-License-Identifier: Apache-2.0
// stowplan-certify: checks an answer of the packer, with nothing of the packer's code, or one of
// `stowplan order` (order.h).
//
// The plan is looked over moment by moment; the load of the witness's moment is added up again; a
// bound above the load is proved again for the buffers that it names.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

#include "certify/certificate.h"
#include "certify/order.h"

namespace stowplan::certify {

constexpr int kCertified = 0;
constexpr int kNotCertified = 1;
constexpr int kBadInput = 2;

void Refuse(const std::string& words) {
  std::cerr << "stowplan-certify: error: " << words << "\n";
  std::exit(kBadInput);
}

void Deny(const std::string& words) {
  std::cout << "not certified: " << words << "\n";
  std::exit(kNotCertified);
}

namespace {

int64_t LoadAt(const Certificate& c, const std::vector<size_t>& items, int64_t time) {
  int64_t load = 0;
  for (const size_t i : items)
    for (const Piece& piece : c.items[i].pieces)
      if (piece.start <= time && time < piece.end) load += piece.high - piece.low;
  return load;
}

// The largest load, by adding up what begins and ends. `unit` divides all alignments: where all
// pieces begin at multiples of it, each takes whole units, but for the end of the highest.
int64_t LargestLoad(const Certificate& c, const std::vector<size_t>& items, int64_t unit) {
  struct Change {
    int64_t time, bytes;
  };
  std::vector<Change> changes;
  int64_t most_waste = 0;
  for (const size_t i : items) {
    for (const Piece& piece : c.items[i].pieces) {
      if (piece.low % unit != 0) return LargestLoad(c, items, 1);
      const int64_t waste = (unit - piece.high % unit) % unit;
      most_waste = std::max(most_waste, waste);
      const int64_t bytes = piece.high - piece.low + waste;
      changes.push_back({piece.start, bytes});
      changes.push_back({piece.end, -bytes});
    }
  }
  // At one time, ends come first.
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  int64_t load = 0;
  int64_t most = 0;
  for (const Change& change : changes) most = std::max(most, load += change.bytes);
  return most - most_waste;
}

// What the pools hold in which these items may be; the last one apart.
struct Room {
  int64_t others = 0;
  bool has_last = false;
};

Room RoomOf(const Certificate& c, const std::vector<size_t>& items) {
  std::vector<bool> may_be(c.capacities.size());
  for (const size_t i : items) {
    for (const size_t b : c.items[i].members) {
      if (c.buffers[b].pools.empty()) may_be.assign(may_be.size(), true);
      for (const int64_t pool : c.buffers[b].pools) may_be[static_cast<size_t>(pool)] = true;
    }
  }
  Room room = {.has_last = may_be.back()};
  for (size_t p = 0; p + 1 < may_be.size(); ++p) {
    if (!may_be[p] || !__builtin_add_overflow(room.others, c.capacities[p], &room.others)) continue;
    room.others = INT64_MAX;
    break;
  }
  return room;
}

bool FitsNowhere(const Certificate& c, const Item& item) {
  for (size_t p = 0; p < c.capacities.size(); ++p) {
    const bool may_be = std::ranges::all_of(item.members, [&](size_t b) {
      const std::vector<int64_t>& pools = c.buffers[b].pools;
      return pools.empty() || std::ranges::count(pools, static_cast<int64_t>(p)) > 0;
    });
    if (may_be && std::max<int64_t>(item.pin, 0) <= c.capacities[p] - item.size) return false;
  }
  return true;
}

// Denies a bound that does not follow; says how it does.
std::string CheckBound(const Certificate& c, int64_t nodes) {
  std::vector<size_t> items;
  items.reserve(c.witness.size());
  for (const int64_t b : c.witness) items.push_back(c.buffers[static_cast<size_t>(b)].item);
  if (c.moment) {
    for (size_t i = 0; i < c.items.size(); ++i) items.push_back(i);
  }
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
  const int64_t load = c.moment ? LoadAt(c, items, *c.moment) : LargestLoad(c, items, 1);
  std::string proof = c.moment ? "the load at time " + std::to_string(*c.moment)
                               : "the load of " + std::to_string(items.size()) + " items";
  if (!c.capacities.empty()) {
    // What the other pools hold is not in the last one.
    const Room room = RoomOf(c, items);
    int64_t bound = std::max<int64_t>(0, load - room.others);
    if (!room.has_last && load > room.others && c.status == "infeasible")
      bound = c.capacities.back() + std::min(load - room.others, INT64_MAX - c.capacities.back());
    if (c.status == "infeasible" && items.size() == 1 && FitsNowhere(c, c.items[items[0]]))
      return "one item fits into none of its pools";
    if (*c.bound > bound) Deny("the bound does not follow from " + proof);
    return proof + " and the pools' capacities";
  }
  if (*c.bound <= load) return proof;
  if (c.moment) Deny("the bound is above " + proof);
  int64_t unit = 0;
  for (const size_t i : items) unit = std::gcd(unit, c.items[i].alignment);
  if (*c.bound <= LargestLoad(c, items, unit)) return proof + ", aligned";
  switch (ProveNone(c, items, *c.bound - 1, nodes)) {
    case Proof::kProved:
      return "proved again with " + std::to_string(items.size()) + " items";
    case Proof::kRefuted:
      Deny("the witness has a plan below the bound");
    case Proof::kGaveUp:
      Deny("the plan is sound, but the bound was not re-proved within the limit of nodes");
  }
  std::abort();
}

std::string Check(const Certificate& c, int64_t nodes) {
  const bool has_plan = c.status == "optimal" || c.status == "feasible";
  if (!has_plan && c.status != "infeasible" && c.status != "undecided")
    Refuse("there is no status `" + c.status + "`");
  if (has_plan) {
    CheckPlan(c);
    if (*c.bound > *c.height) Deny("the bound is above the height");
    if (c.status == "optimal" && *c.bound != *c.height) Deny("the height is not the bound");
  }
  if (c.status == "infeasible") {
    const bool has_limit = c.capacity || !c.capacities.empty();
    if (!has_limit) Refuse("infeasible without a capacity");
    if (*c.bound <= c.capacity.value_or(c.capacities.empty() ? 0 : c.capacities.back()))
      Deny("the bound is not above the capacity");
  }
  return CheckBound(c, nodes);
}

constexpr const char* kUsage =
    "usage: stowplan-certify [--nodes=N] CERTIFICATE\n"
    "Checks a plan and its bound (stowplan pack), or orders and theirs (stowplan order).\n"
    "Exit codes: 0 certified, 1 not, 2 bad input.";

}  // namespace
}  // namespace stowplan::certify

int main(int argc, char** argv) {
  using namespace stowplan::certify;
  int64_t nodes = 5'000'000;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::cout << kUsage << "\n";
      return kCertified;
    }
    if (word.starts_with("--nodes=")) {
      const auto [end, error] = std::from_chars(word.data() + 8, word.data() + word.size(), nodes);
      if (error != std::errc() || end != word.data() + word.size())
        Refuse("--nodes needs a number");
    } else if (!path.empty() || (word.starts_with('-') && word != "-")) {
      path.clear();
      break;
    } else {
      path = word;
    }
  }
  if (path.empty()) Refuse(kUsage);
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  // A directory can be opened, but not read.
  if (path != "-" && (!file || (file.peek(), file.bad()))) Refuse("cannot read " + path);
  std::istream& input = path == "-" ? std::cin : file;
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  if (text.empty()) Refuse("the certificate is empty");
  if (text.starts_with(kOrderHead)) {
    std::cout << CheckOrders(text, nodes);
    if (!std::cout.flush()) Refuse("cannot write to standard output");
    return kCertified;
  }
  const Certificate certificate = ReadCertificate(text);
  const std::string proof = Check(certificate, nodes);
  std::cout << "certified: " << certificate.buffers.size() << " buffers, " << certificate.status;
  if (certificate.height) std::cout << ", height " << *certificate.height;
  std::cout << ", bound " << *certificate.bound << ": " << proof << "\n";
  if (!std::cout.flush()) Refuse("cannot write to standard output");
  return kCertified;
}
