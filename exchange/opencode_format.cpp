#include "exchange/opencode_format.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "exchange/foreign_database.h"
#include "exchange/import_job.h"
#include "exchange/json_stream.h"
#include "exchange/opencode_session.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

/// The session's row as `opencode export` would write it.
std::string info_of(const nlohmann::ordered_json& row) {
  nlohmann::ordered_json info;
  nlohmann::ordered_json time;
  for (const auto& [name, value] : row.items()) {
    if (value.is_null()) continue;
    if (name.starts_with("time_")) {
      time[name.substr(5)] = value;
    } else if (name == "parent_id") {
      info["parentID"] = value;
    } else if (name == "project_id") {
      info["projectID"] = value;
    } else {
      info[name] = value;
    }
  }
  info["time"] = std::move(time);
  return info.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// One row of `session`: JSON columns as JSON, the others as they are.
nlohmann::ordered_json session_row(const db::Row& row, const std::vector<std::string>& columns) {
  nlohmann::ordered_json object;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int column = static_cast<int>(i);
    if (row.is_null(column)) continue;
    if (row.is_integer(column)) {
      object[columns[i]] = row.integer(column);
      continue;
    }
    const std::string text = row.text(column);
    const bool json = columns[i] != "title" && (text.starts_with('{') || text.starts_with('['));
    object[columns[i]] = json && !base::find_json_fault(text) ? nlohmann::ordered_json::parse(text)
                                                              : nlohmann::ordered_json(text);
  }
  return object;
}

/// The stored object with its ids in front, where `opencode export` has them too.
std::string with_ids(const std::string& ids, const std::string& object) {
  const std::size_t inside = object.find_first_not_of(" \t\r\n", 1);
  const bool empty = inside != std::string::npos && object[inside] == '}';
  return "{" + ids + (empty ? "" : ",") + object.substr(1);
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_object(const std::string& text) {
  return text.starts_with('{') && !base::find_json_fault(text);
}

class OpencodeFormat : public Format {
 public:
  std::string_view name() const override { return "an opencode database or export"; }

  bool recognises(const Head& head) const override {
    if (head.sqlite) {
      return head.has_table("session") && head.has_table("message") && head.has_table("part");
    }
    // Pretty-printed, and perhaps longer than the head: only its beginning can be judged.
    const JsonText document(head.text);
    if (!document.is_object()) return false;
    std::string first;
    JsonText info;
    document.each_member([&](std::string_view name, JsonText value) {
      if (first.empty()) first = name;
      if (name == "info") info = value;
    });
    return first == "info" && info["id"].is_string() && info["time"].is_object();
  }

  void read(const Path& file, ImportJob& job) override {
    std::string magic;
    {
      ByteSource source(file);
      source.next(magic);
    }
    if (is_sqlite(magic)) {
      read_database(file, job);
    } else {
      read_export(file, job);
    }
  }

 private:
  static void read_export(const Path& file, ImportJob& job) {
    std::optional<OpencodeSession> session;
    try {
      JsonStream json(file, job);
      json.require('{');
      while (json.peek() != '}') {
        const std::string member = JsonText(json.value()).string();
        json.require(':');
        if (member == "info" && !session) {
          session.emplace(file, JsonText(json.value()), job);
        } else if (member == "messages" && session && json.take('[')) {
          while (json.peek() != ']') {
            session->add(JsonText(json.value()));
            if (!json.take(',')) break;
          }
          json.require(']');
        } else {
          json.value();
        }
        if (!json.take(',')) break;
      }
      json.require('}');
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      job.skip(file, 0, error.what());
    }
    if (session) session->finish();
  }

  static void read_database(const Path& file, ImportJob& job) {
    const auto database = open_foreign(file);
    database->read([&](db::Session& session) {
      const auto columns = column_names(session, "session");
      std::string list;
      for (const std::string& column : columns)
        list += (list.empty() ? "\"" : ", \"") + column + "\"";
      session.each("SELECT " + list + " FROM session ORDER BY time_created, id", {},
                   [&](const db::Row& row) {
                     const auto object = session_row(row, columns);
                     const std::string info = info_of(object);
                     read_session(session, file, info, job);
                   });
    });
  }

  static void read_session(db::Session& session, const Path& file, const std::string& info,
                           ImportJob& job) {
    const JsonText parsed(info);
    OpencodeSession written(file, parsed, job);
    const std::string id = parsed["id"].string();
    session.each(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", {id},
        [&](const db::Row& row) {
          const std::string message = row.text(0);
          const std::string data = row.text(1);
          if (!is_object(data)) {
            job.skip(file, 0, "message " + message + " is not valid JSON; it was left out");
            return;
          }
          const std::string ids = "\"id\":" + quoted(message) + ",\"sessionID\":" + quoted(id);
          written.add(JsonText("{\"info\":" + with_ids(ids, data) + ",\"parts\":[" +
                               parts_of(session, file, id, message, job) + "]}"));
        });
    written.finish();
  }

  static std::string parts_of(db::Session& session, const Path& file, const std::string& id,
                              const std::string& message, ImportJob& job) {
    std::string parts;
    session.each("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", {message},
                 [&](const db::Row& row) {
                   const std::string part = row.text(0);
                   const std::string data = row.text(1);
                   if (!is_object(data)) {
                     job.skip(file, 0, "part " + part + " is not valid JSON; it was left out");
                     return;
                   }
                   const std::string ids = "\"id\":" + quoted(part) +
                                           ",\"sessionID\":" + quoted(id) +
                                           ",\"messageID\":" + quoted(message);
                   parts += (parts.empty() ? "" : ",") + with_ids(ids, data);
                 });
    return parts;
  }
};

}  // namespace

std::unique_ptr<Format> make_opencode_format() { return std::make_unique<OpencodeFormat>(); }

}  // namespace threadstore::exchange
