# SPDX-License-Identifier: Apache-2.0
# Writes ${CODE}, which contains the bytes of ${PAGE}.
file(READ "${PAGE}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${CODE}" "// Made from page.html by embed_page.cmake.
#include \"view/page.h\"

namespace stowplan::view {
namespace {

constexpr unsigned char kPage[] = {
${bytes}
};

}  // namespace

std::string_view EmptyPage() {
  return {reinterpret_cast<const char*>(kPage), sizeof(kPage)};
}

}  // namespace stowplan::view
")
