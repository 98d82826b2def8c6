#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "exchange/redact.h"

namespace threadstore::exchange {
namespace {

std::string redacted(const std::string& text) { return Redactor().text(text); }

/// Tokens are put together here, so that no scanner takes this file for a leak.
std::string token(const std::string& prefix, std::size_t length,
                  const std::string& alphabet = "a1B2c3D4e5F6g7H8i9J0kLmN") {
  std::string text = prefix;
  for (std::size_t i = 0; i < length; ++i) text += alphabet[i % alphabet.size()];
  return text;
}

TEST(RedactTest, ReplacesTheTokensOfWellKnownServices) {
  const std::string capitals = "ABCD1234EFGH5678";
  for (const std::string& secret :
       {token("sk-", 48), token("sk-ant-api03-", 90), token("sk-proj-", 60), token("sk_live_", 24),
        token("ghp_", 36), token("gho_", 36), token("ghs_", 36), token("github_pat_", 60),
        token("glpat-", 20), token("npm_", 36), token("hf_", 34), token("xoxb-", 40),
        token("xoxp-", 40), token("AKIA", 16, capitals), token("ASIA", 16, capitals),
        token("AIza", 35), token("pypi-", 80)}) {
    EXPECT_EQ(redacted("use " + secret + ", please"), "use [REDACTED], please") << secret;
    EXPECT_EQ(redacted(secret), "[REDACTED]") << secret;
  }
}

TEST(RedactTest, ReplacesWebAndBearerTokens) {
  const std::string jwt = token("eyJ", 30) + "." + token("eyJ", 40) + "." + token("", 43);
  EXPECT_EQ(redacted("cookie " + jwt), "cookie [REDACTED]");
  EXPECT_EQ(redacted("Authorization: Bearer " + token("", 40)), "Authorization: Bearer [REDACTED]");
  EXPECT_EQ(redacted("curl -H 'authorization: bearer " + token("", 24) + "' x"),
            "curl -H 'authorization: bearer [REDACTED]' x");
}

TEST(RedactTest, ReplacesTheBodyOfPrivateKeys) {
  for (const std::string kind : {"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "}) {
    const std::string begin = "-----BEGIN " + kind + "PRIVATE KEY-----";
    const std::string end = "-----END " + kind + "PRIVATE KEY-----";
    EXPECT_EQ(redacted("a\n" + begin + "\nMIIE\nvQIB\n" + end + "\nb"),
              "a\n" + begin + "[REDACTED]" + end + "\nb");
    EXPECT_EQ(redacted(begin + "\\nMIIE\\n" + end), begin + "[REDACTED]" + end);
    EXPECT_EQ(redacted(begin + "\nMIIE cut of"), begin + "[REDACTED]") << "without an end";
  }
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
  EXPECT_EQ(redacted(certificate), certificate);
}

TEST(RedactTest, ReplacesValuesOfSecretNames) {
  const std::string key = token("", 24);
  EXPECT_EQ(redacted("password=hunter2 next"), "password=[REDACTED] next");
  EXPECT_EQ(redacted("DB_PASSWORD=hunter2\nUSER=me"), "DB_PASSWORD=[REDACTED]\nUSER=me");
  EXPECT_EQ(redacted("export API_KEY=\"" + key + "\""), "export API_KEY=\"[REDACTED]\"");
  EXPECT_EQ(redacted("api_key: '" + key + "'"), "api_key: '[REDACTED]'");
  EXPECT_EQ(redacted("clientSecret: " + key), "clientSecret: [REDACTED]");
  EXPECT_EQ(redacted("token: " + key), "token: [REDACTED]");
  EXPECT_EQ(redacted("mysql --password hunter2 -u me"), "mysql --password [REDACTED] -u me");
  EXPECT_EQ(redacted("tool --api-key=" + key), "tool --api-key=[REDACTED]");
  EXPECT_EQ(redacted(R"({"password":"hunter2","user":"me"})"),
            R"({"password":"[REDACTED]","user":"me"})");
  EXPECT_EQ(redacted(R"({\"password\":\"hunter2\"})"), R"({\"password\":\"[REDACTED]\"})");
  EXPECT_EQ(redacted("a:\n  password: swordfish\n"), "a:\n  password: [REDACTED]\n");
}

TEST(RedactTest, ReplacesPasswordsInAddresses) {
  EXPECT_EQ(redacted("postgres://me:hunter2@db.example:5432/x"),
            "postgres://me:[REDACTED]@db.example:5432/x");
  EXPECT_EQ(redacted("https://:s3cret@host/"), "https://:[REDACTED]@host/");
  EXPECT_EQ(redacted("git clone https://oauth2:" + token("glpat-", 20) + "@host/x.git"),
            "git clone https://oauth2:[REDACTED]@host/x.git");
}

TEST(RedactTest, LeavesWhatIsNoSecret) {
  for (const std::string text : {"the sk-learn-like-estimator-with-a-long-name works",
                                 "task-1234567890123456789012345",
                                 "disk-a1B2c3D4e5F6g7H8i9J0kLmN",
                                 "AKIA",
                                 "MAKIAABCD1234EFGH5678",
                                 "ghp_short",
                                 "bearer of bad news",
                                 "Bearer token authentication",
                                 "max_tokens=4096",
                                 "max_token: 100000",
                                 "total_tokens: 1234567890",
                                 "password=",
                                 "password: str",
                                 "password=${PASSWORD}",
                                 "password=$PASSWORD",
                                 "token = get_token()",
                                 "api_key=os.environ['KEY']",
                                 "password: <your password>",
                                 "token: string",
                                 "\"token\": null",
                                 "password=[REDACTED]",
                                 "the password: it was forgotten",
                                 "secret santa = fun",
                                 "tokenizer=bert-base-uncased1",
                                 "http://example.org:8080/a@b",
                                 "https://me@example.org/",
                                 "ssh://git@host:22/x",
                                 "https://me:***@example.org/",
                                 "see RFC 7519 for eyJ tokens",
                                 "password_hash_rounds=12",
                                 "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
                                 "",
                                 "x"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST(RedactTest, KeepsJsonValidAndItsOtherValues) {
  const std::string key = token("ghp_", 36);
  const std::string json = R"({ "a" : [1.50, 12345678901234567890, "é\u0001", null, true],
    "env":{"password":"hunter2","apiKey":")" +
                           key + R"(","n":1e400,"tokens":"many of them"},
    "arguments":"{\"cmd\":\"curl -u me:x\",\"api_key\":\"a1b2c3d4e5\"}",
    "list":[{"token":"abcdef123456"},")" +
                           key + R"("] })";
  Redactor redactor;
  const std::string clean =
      redactor.json(R"({"a":[1.50,12345678901234567890,"é\u0001",null,true]})");
  EXPECT_EQ(clean, R"({"a":[1.50,12345678901234567890,"é\u0001",null,true]})");
  EXPECT_EQ(redactor.count(), 0);

  const std::string without_overflow =
      json.substr(0, json.find("1e400")) + "1e300" + json.substr(json.find("1e400") + 5);
  const std::string result = redactor.json(without_overflow);
  EXPECT_EQ(base::find_json_fault(result), std::nullopt) << result;
  EXPECT_EQ(result.find("hunter2"), std::string::npos);
  EXPECT_EQ(result.find(key), std::string::npos);
  EXPECT_EQ(result.find("a1b2c3d4e5\\\""), std::string::npos);
  const auto document = nlohmann::json::parse(result);
  EXPECT_EQ(document["env"]["tokens"], "many of them");
  EXPECT_EQ(document["env"]["apiKey"], "[REDACTED]");
  EXPECT_EQ(document["list"][0]["token"], "[REDACTED]");
  EXPECT_EQ(nlohmann::json::parse(document["arguments"].get<std::string>())["api_key"],
            "[REDACTED]");
  EXPECT_EQ(redactor.count(), 5);
}

TEST(RedactTest, ReadsLongTextsInLinearTime) {
  // What begins like a secret again and again must not be looked at again and again.
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "://a:b-----BEGIN sk-password=";
  EXPECT_FALSE(redacted(text).empty());
  EXPECT_FALSE(redacted(std::string(2'000'000, '\\')).empty());
  EXPECT_FALSE(redacted(std::string(2'000'000, 'a')).empty());
}

}  // namespace
}  // namespace threadstore::exchange
