// SPDX-License-Identifier: Apache-2.0
// stowplan-recheck: replays a certificate of `stowplan check`, with nothing of its code.
#include <fstream>
#include <iostream>
#include <iterator>

#include "recheck/certificate.h"
#include "recheck/replay.h"

namespace stowplan::recheck {
namespace {

// Denies places that are not those of XLA's report. The lines that matter: "allocation 3: size 128,
// ..." and, below it, " value: <7 add.1{0} @0> (size=64,offset=64): f32[16]{0}".
void ComparePlaces(const Section& section, const std::string& report) {
  std::map<std::string, Part> places;
  std::map<int64_t, int64_t> sizes;
  std::istringstream lines(report);
  int64_t number = -1;
  for (std::string line; std::getline(lines, line);) {
    const auto after = [&](const std::string& key) {
      int64_t value = -1;
      if (const size_t at = line.find(key); at != std::string::npos)
        std::from_chars(line.data() + at + key.size(), line.data() + line.size(), value);
      return value;
    };
    if (line.starts_with("allocation ")) {
      number = after("allocation ");
      sizes[number] = after(" size ");
    } else if (line.starts_with(" value: <") && number >= 0) {
      std::istringstream words(line.substr(9));
      std::string name;
      words >> name >> name;
      if (name.ends_with("{}")) name.resize(name.size() - 2);  // the whole of a tuple
      places[name] = {name, after("(size="), number, after("offset=")};
    }
  }
  if (sizes != section.sizes) throw Denial("the allocations are not those of the report");
  for (const Part& part : section.parts) {
    if (part.allocation < 0) continue;
    const Part& place = places[part.name];
    const bool is_there = place.allocation == part.allocation && place.offset == part.offset;
    if (!is_there || place.size < part.size)
      throw Denial("the report does not put " + part.name + " there");
    places.erase(part.name);
  }
  for (const auto& [name, place] : places)
    if (place.size > 0) throw Denial("nothing is said about the value " + name);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Need(path == "-" || (file.is_open() && (file.peek(), !file.bad())), "cannot read " + path);
  return {std::istreambuf_iterator<char>(path == "-" ? std::cin : file), {}};
}

}  // namespace
}  // namespace stowplan::recheck

int main(int argc, char** argv) {
  using namespace stowplan::recheck;
  Input input;
  try {
    Need(
        (argc == 2 || argc == 3) && argv[1] != std::string("--help"),
        "usage: stowplan-recheck CERTIFICATE [REPORT]\n"
        "Replays what `stowplan check --certificate=CERTIFICATE` did. The places must be those\n"
        "of REPORT, a -buffer-assignment.txt. Exit codes: 0 it holds, 1 it does not, 2 bad input.");
    input.text.str(ReadFile(argv[1]));
    Need(input.Word() == "stowplan-check-certificate" && input.Number() == 1,
         "this is not a certificate of version 1");
    std::string word = input.Word();
    do {
      Need(word == "module", "expected a module");
      const Section section = ReadSection(input, word);
      if (argc == 3) ComparePlaces(section, ReadFile(argv[2]));
      const std::string proof = Player(section, input).Run(word);
      std::cout << "holds: " << section.module << ": " << proof << "\n";
      word = input.Word();
    } while (!word.empty());
    Need(std::cout.flush().good(), "cannot write to standard output");
  } catch (const Denial& denial) {
    std::cout << "does not hold: " << denial.what() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "stowplan-recheck: error: ";
    if (input.count > 0) std::cerr << "word " << input.count << ": ";
    std::cerr << error.what() << "\n";
    return 2;
  }
}
