// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ranges>
#include <utility>

#include <sys/stat.h>

#include "cli/command.h"
#include "page/explain_view.h"
#include "page/text.h"

namespace stowplan::cli {
namespace {

constexpr size_t kBufferSize = size_t{1} << 18U;

// 0, or errno.
int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

// False for NO_COLOR (https://no-color.org) and for terminals without color.
bool WantsColor(int file) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused = no_color != nullptr && *no_color != '\0';
  const std::string_view kind = terminal == nullptr ? "" : terminal;
  return isatty(file) != 0 && !is_refused && !kind.empty() && kind != "dumb";
}

// The mode for a new file at `path`: that of the file it replaces, otherwise what the umask allows.
mode_t ModeFor(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) return status.st_mode & 07777U;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

// The target of a symbolic link: the link stays, its target is replaced.
std::string Resolve(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string resolved = real;
  std::free(real);
  return resolved;
}

// Whether this is a note that is not about a file.
bool IsPlainNote(const Diagnostic& diagnostic) {
  return diagnostic.severity == Severity::kNote && diagnostic.file.empty();
}

// "note: a sentence (what to do about it)", wrapped; a message of several lines stays as it is.
std::string NoteText(const Diagnostic& note) {
  constexpr std::string_view kNote = "note: ";
  if (note.message.contains('\n')) {
    std::string lines;
    for (const auto line : std::views::split(note.message, '\n'))
      lines += page::Printable(std::string_view(line)) + '\n';
    while (lines.ends_with("\n\n")) lines.pop_back();
    return lines;
  }
  std::string words = page::Printable(note.message);
  if (!note.hint.empty()) words += " (" + page::Printable(note.hint) + ")";
  std::string text;
  page::AppendParagraph(words, kNote.size(), text);
  return std::string(kNote) + text.substr(std::min(kNote.size(), text.size()));
}

}  // namespace

Output::Output(int file, std::string path, std::string temporary)
    : file_(file), path_(std::move(path)), temporary_(std::move(temporary)) {
  buffer_.reserve(kBufferSize);
}

Output::~Output() {
  if (file_ >= 0 && !path_.empty()) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

bool Output::Write(std::string_view text) {
  if (error_ != 0) return false;
  if (buffer_.size() + text.size() > kBufferSize && !Flush()) return false;
  if (text.size() >= kBufferSize) {
    error_ = WriteAll(file_, text);
    return error_ == 0;
  }
  buffer_ += text;
  return true;
}

bool Output::Flush() {
  if (error_ == 0) error_ = WriteAll(file_, buffer_);
  buffer_.clear();
  return error_ == 0;
}

bool Output::Close(std::string& error) {
  Flush();
  if (!path_.empty()) {
    if (close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
    if (error_ == 0 && !temporary_.empty()) {
      if (rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
      if (error_ == 0) temporary_.clear();
    }
  }
  if (error_ == 0) return true;
  if (error_ != EPIPE) error = std::strerror(error_);
  return false;
}

Console::Console() : has_color_(WantsColor(STDERR_FILENO)) {
  // Writing to a closed pipe must make write() fail, not kill the program: it may still have a
  // temporary file to remove.
  std::signal(SIGPIPE, SIG_IGN);
}

void Console::Show(const Diagnostics& diagnostics, size_t limit) {
  size_t errors = 0;
  size_t warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    size_t& count = diagnostic.severity == Severity::kError ? errors : warnings;
    if (count++ < limit)
      Note(IsPlainNote(diagnostic) ? NoteText(diagnostic) : Render(diagnostic, has_color_));
  }
  if (errors > limit) Note("... and " + std::to_string(errors - limit) + " more errors\n");
  if (warnings > limit) Note("... and " + std::to_string(warnings - limit) + " more warnings\n");
}

void Console::Note(std::string_view text) { WriteAll(STDERR_FILENO, text); }

bool Console::is_watched() const { return isatty(STDERR_FILENO) != 0; }

std::unique_ptr<Output> Console::Open(const std::string& path) {
  if (path.empty() || path == "-")
    return std::unique_ptr<Output>(new Output(STDOUT_FILENO, "", ""));
  struct stat status{};
  const bool exists = stat(path.c_str(), &status) == 0;
  const auto fail = [&](const char* doing) {
    Show(Fail(path, std::string(doing) + ": " + std::strerror(errno)).error());
    return nullptr;
  };
  if (exists && !S_ISREG(status.st_mode)) {
    // A device or a pipe cannot be replaced.
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return fail("cannot write");
    return std::unique_ptr<Output>(new Output(file, path, ""));
  }
  const std::string target = exists ? Resolve(path) : path;
  std::string temporary = target + ".XXXXXX";
  const int file = mkstemp(temporary.data());
  if (file < 0) return fail("cannot write");
  fchmod(file, ModeFor(target));
  return std::unique_ptr<Output>(new Output(file, target, temporary));
}

int Console::Finish(Output& output, int code) {
  std::string error;
  if (output.Close(error) || error.empty()) return code;
  Show(Fail(output.path_.empty() ? "<stdout>" : output.path_, "cannot write: " + error).error());
  return kBadUse;
}

int Console::Print(std::string_view text, int code) {
  const std::unique_ptr<Output> output = Open("");
  output->Write(text);
  return Finish(*output, code);
}

}  // namespace stowplan::cli
