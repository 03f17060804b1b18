// SPDX-License-Identifier: Apache-2.0
#include "view/page.h"

#include <array>

#include "base/gzip.h"
#include "view/view.h"

namespace stowplan::view {
namespace {

void AppendBase64(std::string_view bytes, std::string& out) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    std::array<uint32_t, 3> three{};
    for (size_t k = 0; k < count; ++k) three[k] = static_cast<uint8_t>(bytes[i + k]);
    const uint32_t bits = three[0] << 16U | three[1] << 8U | three[2];
    for (unsigned digit = 0; digit < 4; ++digit)
      out += digit <= count ? kDigits[bits >> (18 - 6 * digit) & 63U] : '=';
  }
}

}  // namespace

Result<std::string> WritePage(std::string_view bundle) {
  const std::string_view page = EmptyPage();
  const size_t at = page.find(kDataElement);
  if (at == std::string_view::npos) return Fail({}, "the page has no place for data");
  Result<std::string> packed = Gzip(bundle);
  if (!packed) return packed;
  const size_t split = at + kDataElement.size();
  std::string out(page.substr(0, split));
  AppendBase64(*packed, out);
  out += page.substr(split);
  return out;
}

}  // namespace stowplan::view
