#include "cli/chat/responder.h"

namespace threadstore::cli {
namespace {

class EchoResponder : public Responder {
 public:
  Reply respond(const Question& question,
                const std::function<void(std::string_view)>& show) override {
    Reply reply;
    reply.text = "echo: " + question.words;
    show(reply.text);
    return reply;
  }
};

}  // namespace

std::unique_ptr<Responder> echo_responder() { return std::make_unique<EchoResponder>(); }

}  // namespace threadstore::cli
