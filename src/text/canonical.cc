// SPDX-License-Identifier: Apache-2.0
// Shardings and their like: read, checked for their form, and written the way XLA writes them.
#include "hlo/number.h"
#include "text/values.h"

namespace stowplan::text {
namespace {

bool AppendInteger(Cursor& c, std::string& out) {
  int64_t n = 0;
  if (!c.Integer(n)) return c.FailExpected("a number");
  hlo::AppendNumber(n, out);
  return true;
}

// Numbers separated by commas; at least one unless `close` follows at once.
bool AppendIntegers(Cursor& c, char open, char close, std::string& out) {
  if (!c.Expect(open, "of a list")) return false;
  out += open;
  for (bool first = true; !c.Take(close); first = false) {
    if (!first) {
      if (!c.Expect(',', "in a list")) return false;
      out += ',';
    }
    if (!AppendInteger(c, out)) return false;
  }
  out += close;
  return true;
}

// A quoted string, as written.
bool AppendQuoted(Cursor& c, char quote, std::string& out) {
  c.Skip();
  if (c.peek() != quote) return c.FailExpected("a name in quotes");
  const char* begin = c.p++;
  while (c.p < c.end && *c.p != quote) c.p += *c.p == '\\' ? 2 : 1;
  if (c.p >= c.end) {
    c.p = begin;
    return c.Fail("this string does not end");
  }
  ++c.p;
  out.append(begin, c.p);
  return true;
}

// <=[2,4]T(1,0)
bool AppendIota(Cursor& c, std::string& out) {
  out += "<=";
  if (!AppendIntegers(c, '[', ']', out)) return false;
  if (!c.TakeWord("T")) return true;
  out += 'T';
  return AppendIntegers(c, '(', ')', out);
}

// {op_name="a" source_line=1}, with its braces.
bool AppendFields(Cursor& c, std::string& out) {
  if (!c.Expect('{', "of metadata")) return false;
  out += '{';
  for (bool first = true; !c.Take('}'); first = false) {
    c.Skip();
    if (!first) out += ' ';
    const std::string_view key = c.NameHere();
    if (key.empty()) return c.FailExpected("a metadata field");
    out.append(key).append("=");
    if (!c.Expect('=', "after the field's name")) return false;
    c.Skip();
    if (c.peek() == '"') {
      if (!AppendQuoted(c, '"', out)) return false;
    } else if (c.peek() == '{') {
      if (!AppendIntegers(c, '{', '}', out)) return false;
    } else {
      const std::string_view value = c.NameHere();
      if (value.empty()) return c.FailExpected("a value");
      out += value;
    }
  }
  out += '}';
  return true;
}

// metadata={op_name="a"} or metadata={{op_name="a"}, {op_name="b"}}
bool AppendShardingMetadata(Cursor& c, std::string& out) {
  out += "metadata=";
  Cursor look = c;
  if (look.Take('{')) {
    look.Skip();
    if (look.peek() != '{') return AppendFields(c, out);
  }
  c.p = look.p;
  out += '{';
  for (bool first = true; !c.Take('}'); first = false) {
    if (!first) {
      if (!c.Expect(',', "between metadata")) return false;
      out += ", ";
    }
    if (!AppendFields(c, out)) return false;
  }
  out += '}';
  return true;
}

// What may follow any sharding that is not a tuple: last_tile..., shard_as, metadata.
bool AppendShardingTail(Cursor& c, std::string& out) {
  while (!c.Take('}')) {
    if (c.TakeWord("last_tile_dim_replicate")) {
      out += " last_tile_dim_replicate";
    } else if (c.TakeWord("last_tile_dims")) {
      out += " last_tile_dims={";
      if (!c.Expect('=', "after last_tile_dims") || !c.Expect('{', "of last_tile_dims"))
        return false;
      for (bool first = true; !c.Take('}'); first = false) {
        if (!first) {
          if (!c.Expect(',', "in last_tile_dims")) return false;
          out += ", ";
        }
        c.Skip();
        const std::string_view word = c.NameHere();
        if (word.empty()) return c.FailExpected("a kind of sharding");
        out += word;
      }
      out += '}';
    } else if (c.TakeWord("shard_as")) {
      out += " shard_as ";
      if (!AppendInteger(c, out)) return false;
    } else if (c.TakeWord("shard_like")) {
      out += " shard_like ";
      if (!AppendInteger(c, out)) return false;
    } else if (c.TakeWord("metadata")) {
      out += ' ';
      if (!c.Expect('=', "after metadata") || !AppendShardingMetadata(c, out)) return false;
    } else {
      return c.FailExpected("the end of the sharding");
    }
  }
  out += '}';
  return true;
}

bool AppendDevices(Cursor& c, std::string& out) {
  out += "devices=";
  if (!c.Expect('=', "after devices") || !AppendIntegers(c, '[', ']', out)) return false;
  if (c.TakeMark("<=")) return AppendIota(c, out);
  for (bool first = true;; first = false) {
    if (!first) out += ',';
    if (!AppendInteger(c, out)) return false;
    if (!c.Take(',')) return true;
  }
}

// mesh['x'=2,'y'=4], device_ids=(...), maximal_mesh[device_id=5]; since jaxlib 0.12 the latter is
// written single_device[device_id=5].
bool AppendMesh(Cursor& c, std::string& out) {
  if (c.TakeWord("maximal_mesh") || c.TakeWord("single_device")) {
    out += "maximal_mesh[device_id=";
    if (!c.Expect('[', "of the mesh") || !c.TakeWord("device_id") ||
        !c.Expect('=', "after device_id") || !AppendInteger(c, out) ||
        !c.Expect(']', "of the mesh")) {
      return c.errors->empty() ? c.FailExpected("device_id=") : false;
    }
    out += ']';
    return true;
  }
  if (!c.TakeWord("mesh")) return c.FailExpected("a mesh");
  out += "mesh[";
  if (!c.Expect('[', "of the mesh")) return false;
  for (bool first = true; !c.Take(']'); first = false) {
    if (!first) {
      if (!c.Expect(',', "between axes")) return false;
      out += ',';
    }
    if (!AppendQuoted(c, '\'', out) || !c.Expect('=', "after the axis")) return false;
    out += '=';
    if (!AppendInteger(c, out)) return false;
  }
  out += ']';
  Cursor look = c;
  if (!look.Take(',') || !look.TakeWord("device_ids")) return true;
  c.p = look.p;
  out += ", device_ids=(";
  if (!c.Expect('=', "after device_ids") || !c.Expect('(', "of device_ids")) return false;
  c.Skip();
  if (c.peek() == '[') {
    if (!AppendIntegers(c, '[', ']', out)) return false;
    if (c.TakeWord("T")) {
      out += 'T';
      if (!AppendIntegers(c, '(', ')', out)) return false;
    }
  } else {
    for (bool first = true;; first = false) {
      if (!first) out += ',';
      if (!AppendInteger(c, out)) return false;
      if (!c.Take(',')) break;
    }
  }
  out += ')';
  return c.Expect(')', "of device_ids");
}

// 'x' or 'x':(2)4
bool AppendAxis(Cursor& c, std::string& out) {
  if (!AppendQuoted(c, '\'', out)) return false;
  if (!c.Take(':')) return true;
  out += ":(";
  if (!c.Expect('(', "of a sub-axis") || !AppendInteger(c, out) || !c.Expect(')', "of a sub-axis"))
    return false;
  out += ')';
  return AppendInteger(c, out);
}

// {'a', 'b':(2)2, ?}
bool AppendAxes(Cursor& c, std::string_view separator, std::string& out) {
  if (!c.Expect('{', "of axes")) return false;
  out += '{';
  for (bool first = true; !c.Take('}'); first = false) {
    if (!first) {
      if (!c.Expect(',', "between axes")) return false;
      out += separator;
    }
    if (c.Take('?')) {
      out += '?';
    } else if (!AppendAxis(c, out)) {
      return false;
    }
  }
  out += '}';
  return true;
}

// Behind the mesh of a named sharding, up to and with the closing brace.
bool AppendNamedTail(Cursor& c, std::string& out) {
  while (!c.Take('}')) {
    // The comma after the mesh may be left out.
    if (!c.Take(',') && c.peek() != '[' && !IsClass(c.peek(), kFirstChar))
      return c.FailExpected("',' or '}' in a sharding");
    out += ", ";
    c.Skip();
    if (c.Take('[')) {
      out += '[';
      for (bool first = true; !c.Take(']'); first = false) {
        if (!first) {
          if (!c.Expect(',', "between dimensions")) return false;
          out += ", ";
        }
        if (!AppendAxes(c, ", ", out)) return false;
      }
      out += ']';
      continue;
    }
    const std::string_view word = c.NameHere();
    if (word.empty()) return c.FailExpected("a part of a sharding");
    if (!c.Take('=')) {
      out += word;
      continue;
    }
    if (word == "metadata") {
      if (!AppendShardingMetadata(c, out)) return false;
      continue;
    }
    out.append(word).append("=");
    c.Skip();
    out += c.NameHere();  // unreduced=max{...}
    if (!AppendAxes(c, ", ", out)) return false;
  }
  out += '}';
  return true;
}

// One sharding; the opening brace has been taken.
bool AppendOneSharding(Cursor& c, std::string& out) {
  out += '{';
  c.Skip();
  for (const std::string_view word : {"replicated", "manual", "unknown", "unreduced"}) {
    if (!c.TakeWord(word)) continue;
    out += word;
    return AppendShardingTail(c, out);
  }
  if (c.TakeWord("maximal")) {
    out += "maximal";
    if (c.TakeWord("device")) {
      out += " device=";
      if (!c.Expect('=', "after device") || !AppendInteger(c, out)) return false;
    }
    return AppendShardingTail(c, out);
  }
  if (c.TakeWord("devices")) return AppendDevices(c, out) && AppendShardingTail(c, out);
  if (c.peek() == 'm' || c.peek() == 's') return AppendMesh(c, out) && AppendNamedTail(c, out);
  return c.FailExpected("a sharding");
}

}  // namespace

bool CanonicalSharding(Cursor& c, std::string& out) {
  if (!c.Expect('{', "of a sharding")) return false;
  c.Skip();
  if (c.peek() != '{' && c.peek() != '}') return AppendOneSharding(c, out);
  out += '{';
  for (int64_t i = 0; !c.Take('}'); ++i) {
    if (i != 0) {
      if (!c.Expect(',', "between shardings")) return false;
      out += ", ";
      if (i % 5 == 0) {
        out += "/*index=";
        hlo::AppendNumber(i, out);
        out += "*/";
      }
    }
    if (!c.Expect('{', "of a sharding") || !AppendOneSharding(c, out)) return false;
  }
  out += '}';
  return true;
}

bool CanonicalDeviceGroups(Cursor& c, std::string& out) {
  c.Skip();
  if (c.peek() == 'm') {
    if (!AppendMesh(c, out)) return false;
    out += ' ';
    return AppendAxes(c, ",", out);
  }
  if (c.peek() == '[') {
    if (!AppendIntegers(c, '[', ']', out)) return false;
    if (!c.TakeMark("<=")) return c.FailExpected("'<='");
    return AppendIota(c, out);
  }
  if (!c.Expect('{', "of device groups")) return false;
  out += '{';
  for (bool first = true; !c.Take('}'); first = false) {
    if (!first) {
      if (!c.Expect(',', "between groups")) return false;
      out += ',';
    }
    if (!AppendIntegers(c, '{', '}', out)) return false;
  }
  out += '}';
  return true;
}

bool CanonicalDomain(Cursor& c, std::string& out) {
  if (!c.Expect('{', "of a domain")) return false;
  out += "{kind=";
  if (!c.TakeWord("kind") || !c.Expect('=', "after kind")) return c.FailExpected("kind=");
  if (!AppendQuoted(c, '"', out)) return false;
  for (const std::string_view key : {"entry", "exit"}) {
    if (!c.Expect(',', "in a domain")) return false;
    if (!c.TakeWord(key)) return c.FailExpected(std::string(key) + "=");
    out.append(", ").append(key).append("=");
    if (!c.Expect('=', "in a domain") || !CanonicalSharding(c, out)) return false;
  }
  if (!c.Expect('}', "of a domain")) return false;
  out += '}';
  return true;
}

// A tree of `{"name" {1,0}}` leaves, `{}` empty leaves and `(x, y)` tuples, or [synthetic_call].
bool CanonicalOrigin(Cursor& c, std::string& out) {
  if (!c.Expect('{', "of an origin")) return false;
  out += '{';
  if (c.Take('[')) {
    c.Skip();
    const std::string_view word = c.NameHere();
    if (word.empty() || !c.Expect(']', "of an origin") || !c.Expect('}', "of an origin"))
      return false;
    out.append("[").append(word).append("]}");
    return true;
  }
  size_t depth = 0;
  while (true) {
    c.Skip();
    if (c.Take('(')) {
      out += '(';
      ++depth;
      if (!c.Take(')')) continue;
      out += ')';
      --depth;
    } else {
      if (!c.Expect('{', "of an origin's leaf")) return false;
      out += '{';
      c.Skip();
      if (c.peek() == '"') {
        if (!AppendQuoted(c, '"', out)) return false;
        c.Skip();
        if (c.peek() == '{') {
          out += ' ';
          if (!AppendIntegers(c, '{', '}', out)) return false;
        }
      }
      if (!c.Expect('}', "of an origin's leaf")) return false;
      out += '}';
    }
    while (depth != 0 && c.Take(')')) {
      out += ')';
      --depth;
    }
    if (depth == 0) break;
    if (!c.Expect(',', "in an origin")) return false;
    out += ", ";
  }
  out += '}';
  return c.Expect('}', "of an origin");
}

// {a=1,b={c=2}}: words, numbers and nested groups. Commas have no blanks; what stood apart stays
// one blank apart.
bool CanonicalTree(Cursor& c, std::string& out) {
  c.Skip();
  if (c.peek() != '{') return c.FailExpected("'{'");
  size_t depth = 0;
  do {
    const char* before = c.p;
    c.Skip();
    const bool apart = c.p != before && !out.empty() && IsClass(out.back(), kNameChar);
    switch (c.peek()) {
      case '{':
        ++depth;
        break;
      case '}':
        --depth;
        break;
      case ',':
      case '=':
        break;
      case '"': {
        if (!AppendQuoted(c, '"', out)) return false;
        continue;
      }
      default: {
        const std::string_view word = c.NameHere();
        if (word.empty()) return c.FailExpected("'}'");
        if (apart || (c.p != before && !out.empty() && out.back() == '}')) out += ' ';
        out += word;
        continue;
      }
    }
    out += *c.p++;
  } while (depth != 0);
  return true;
}

}  // namespace stowplan::text
