#include "exchange/export_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <streambuf>

#include "base/file_names.h"
#include "base/files.h"
#include "base/sha256.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

/// Hands on what is written to the file, in large pieces. A failure is the file's own exception:
/// the streams that we use let it through.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(base::File& file) : file_(file) { pending_.reserve(kBuffer); }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char character = traits_type::to_char_type(c);
    xsputn(&character, 1);
    return c;
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    pending_.append(text, static_cast<std::size_t>(size));
    if (pending_.size() >= kBuffer) sync();
    return size;
  }
  int sync() override {
    file_.write_all(pending_);
    pending_.clear();
    return 0;
  }

 private:
  base::File& file_;
  std::string pending_;
};

std::filesystem::path directory_of(const std::filesystem::path& file) {
  const auto parent = file.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

base::File make_file(const std::filesystem::path& temporary) {
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);  // of a process that died; its id is ours now
  auto file = base::File::create(temporary, O_WRONLY);
  if (!file) base::throw_io("write", temporary, EEXIST);
  return *std::move(file);
}

}  // namespace

class NewFile::Impl {
 public:
  explicit Impl(std::filesystem::path file)
      : path(std::move(file)),
        temporary(path.string() + ".tmp-" + std::to_string(::getpid())),
        opened(make_file(temporary)),
        buffer(opened),
        stream(&buffer) {
    stream.exceptions(std::ios::badbit);
  }

  const std::filesystem::path path;
  const std::filesystem::path temporary;
  base::File opened;
  FileBuffer buffer;
  std::ostream stream;
  bool committed = false;
};

NewFile::NewFile(std::filesystem::path file) {
  std::error_code ignored;
  if (file.filename().empty() || std::filesystem::is_directory(file, ignored)) {
    throw Error(ErrorCode::invalid_argument,
                "cannot export to " + file.string() + ": it is a directory; name a file in it");
  }
  if (!std::filesystem::exists(directory_of(file), ignored)) {
    throw Error(ErrorCode::not_found, "cannot export to " + file.string() +
                                          ": there is no directory " + directory_of(file).string());
  }
  impl_ = std::make_unique<Impl>(std::move(file));
}

NewFile::~NewFile() {
  if (impl_ && !impl_->committed) {
    std::error_code ignored;
    std::filesystem::remove(impl_->temporary, ignored);
  }
}

std::ostream& NewFile::stream() noexcept { return impl_->stream; }

void NewFile::commit(bool replace) {
  impl_->stream.flush();
  impl_->opened.sync();
  if (replace) {
    base::rename_file(impl_->temporary, impl_->path);
  } else if (!base::rename_to_free_name(impl_->temporary, impl_->path)) {
    throw Error(ErrorCode::conflict, "cannot export to " + impl_->path.string() +
                                         ": it was made meanwhile; nothing was replaced");
  }
  impl_->committed = true;
  base::sync_directory(directory_of(impl_->path));
}

std::string short_hash(const std::string& text) { return base::sha256_of_text(text).substr(0, 8); }

}  // namespace threadstore::exchange
