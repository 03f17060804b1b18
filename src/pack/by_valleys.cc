// SPDX-License-Identifier: Apache-2.0
#include "pack/orders.h"
#include "pack/race.h"
#include "pack/valley.h"

namespace stowplan::pack {

void SolveByValleys(Race& race) {
  if (!race.core().pins.empty()) return;
  Valleys valleys(race.core());
  for (const Tightness tightness : {Tightness::kPlain, Tightness::kTight}) {
    for (const Order order : kOrders) {
      race.Take(valleys.Decode(ItemsBy(race.core(), order), tightness, race.bound()));
      if (race.IsOver()) return;
    }
  }
}

}  // namespace stowplan::pack
