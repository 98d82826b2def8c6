#include "exchange/byte_source.h"

#include <fcntl.h>
#include <zstd.h>

#include <cerrno>
#include <optional>

#include "base/files.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;
constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);
// A frame may ask for a window of any size; Codex writes 8 MiB at most.
constexpr int kLargestWindowLog = 24;

}  // namespace

class ByteSource::Impl {
 public:
  explicit Impl(const std::filesystem::path& path) : path_(path) {
    file_ = base::File::open(path, O_RDONLY);
    if (!file_) throw Error(ErrorCode::not_found, "there is no file " + path.string());
    input_ = file_->read_at(0, kPiece);
    offset_ = static_cast<std::int64_t>(input_.size());
    if (!std::string_view(input_).starts_with(kZstdMagic)) return;
    stream_.reset(ZSTD_createDStream());
    if (!stream_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kLargestWindowLog);
  }

  bool next(std::string& piece) { return stream_ ? next_decompressed(piece) : next_plain(piece); }

  std::int64_t consumed() const {
    return offset_ - static_cast<std::int64_t>(input_.size() - used_);
  }

 private:
  void refill() {
    input_ = file_->read_at(offset_, kPiece);
    offset_ += static_cast<std::int64_t>(input_.size());
    used_ = 0;
  }

  bool next_plain(std::string& piece) {
    if (used_ == input_.size()) refill();
    if (input_.empty()) return false;
    piece = std::move(input_);
    input_.clear();
    used_ = 0;
    return true;
  }

  bool next_decompressed(std::string& piece) {
    piece.resize(kPiece);
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    while (out.pos == 0) {
      if (used_ == input_.size()) refill();
      if (input_.empty()) {
        if (inside_frame_) throw broken("it ends in the middle");
        return false;
      }
      ZSTD_inBuffer in{input_.data(), input_.size(), used_};
      const std::size_t rest = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(rest) != 0) throw broken(ZSTD_getErrorName(rest));
      used_ = in.pos;
      inside_frame_ = rest != 0;
    }
    piece.resize(out.pos);
    return true;
  }

  Error broken(const std::string& why) const {
    return Error(ErrorCode::damaged, "cannot decompress " + path_.string() + ": " + why);
  }

  std::filesystem::path path_;
  std::optional<base::File> file_;
  std::string input_;
  std::size_t used_ = 0;
  std::int64_t offset_ = 0;
  bool inside_frame_ = false;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_{nullptr, ZSTD_freeDStream};
};

ByteSource::ByteSource(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
ByteSource::~ByteSource() = default;
bool ByteSource::next(std::string& piece) { return impl_->next(piece); }
std::int64_t ByteSource::consumed() const { return impl_->consumed(); }

}  // namespace threadstore::exchange
