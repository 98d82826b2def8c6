#include "threadstore/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using std::filesystem::path;
using test::TempDir;

Paths paths_with(std::map<std::string, std::string> variables, AppIdentity identity = {}) {
  return Paths(std::move(identity), [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  return "no error";
}

TEST(PathsTest, TheOverrideIsTheWholeHome) {
  const Paths paths = paths_with({{"HOME", "/home/ada"}, {"CODEWHALE_HOME", "/srv/store"}});
  EXPECT_EQ(paths.home_override(), "/srv/store");
  EXPECT_EQ(paths.app_home(), "/srv/store");
  EXPECT_EQ(paths.database(), "/srv/store/state.db");
}

TEST(PathsTest, EmptyAndWhiteSpaceCountAsUnset) {
  for (const char* value : {"", " ", "\t\n\v\f\r", "\u00A0\u3000\u2028"}) {
    const Paths paths = paths_with({{"HOME", "/home/ada"}, {"CODEWHALE_HOME", value}});
    EXPECT_EQ(paths.home_override(), std::nullopt);
    EXPECT_EQ(paths.app_home(), "/home/ada/.codewhale");
  }
}

TEST(PathsTest, WhiteSpaceAroundAUtf8ValueIsTrimmed) {
  const auto home = [](const std::string& value) {
    return paths_with({{"CODEWHALE_HOME", value}}).home_override();
  };
  EXPECT_EQ(home(" \u3000/srv/my store é\u00A0\n"), "/srv/my store é");
  EXPECT_EQ(home("/srv/\xFF "), "/srv/\xFF ");
}

TEST(PathsTest, AValueThatIsNotUtf8IsKeptByteForByte) {
  EXPECT_EQ(paths_with({{"CODEWHALE_HOME", "/srv/\xFF\xFE"}}).database(), "/srv/\xFF\xFE/state.db");
  EXPECT_EQ(message_of([] {
              paths_with({{"CODEWHALE_HOME", " /srv/\xFF"}}).app_home();
            }),
            "CODEWHALE_HOME is \" /srv/\uFFFD\", but it must be an absolute path");
}

TEST(PathsTest, ALeadingTildeStandsForTheHome) {
  const auto home = [](const std::string& value) {
    return paths_with({{"HOME", "/home/ada"}, {"CODEWHALE_HOME", value}}).home_override();
  };
  EXPECT_EQ(home("~"), "/home/ada");
  EXPECT_EQ(home("~/"), "/home/ada");
  EXPECT_EQ(home(" ~/a/b"), "/home/ada/a/b");
  EXPECT_EQ(home("~//etc"), "/home/ada/etc");
  EXPECT_EQ(home("~/\xFF"), "/home/ada/\xFF");
}

TEST(PathsTest, ARelativeOverrideIsAnErrorThatNamesVariableAndValue) {
  for (const std::string value : {"store", "./store", "../x", "~ada/store", "C:\\store"}) {
    const Paths paths = paths_with({{"HOME", "/home/ada"}, {"CODEWHALE_HOME", value}});
    const std::string expected =
        "CODEWHALE_HOME is \"" + value + "\", but it must be an absolute path";
    EXPECT_EQ(message_of([&] { paths.home_override(); }), expected);
    EXPECT_EQ(message_of([&] { paths.app_home(); }), expected);
    EXPECT_EQ(message_of([&] { paths.database(); }), expected);
  }
  EXPECT_EQ(message_of([] {
              paths_with({{"CODEWHALE_CONFIG_PATH", "c.toml"}}).config_override();
            }),
            "CODEWHALE_CONFIG_PATH is \"c.toml\", but it must be an absolute path");
}

TEST(PathsTest, TheUserHomeIsTheFirstAbsoluteAnswer) {
  EXPECT_EQ(paths_with({{"HOME", "/a"}, {"USERPROFILE", "/b"}}).user_home(), "/a");
  EXPECT_EQ(paths_with({{"HOME", ""}, {"USERPROFILE", "/b"}}).user_home(), "/b");
  EXPECT_EQ(paths_with({{"HOME", "here"}, {"USERPROFILE", "/b"}}).user_home(), "/b");
  const std::optional<path> platform = paths_with({}).user_home();
  EXPECT_TRUE(!platform || platform->is_absolute());
}

TEST(PathsTest, AnOldInstallationKeepsItsHistory) {
  const TempDir home;
  const Paths paths = paths_with({{"HOME", home.path()}});
  const path current = home / ".codewhale" / "state.db";
  const path legacy = home / ".deepseek" / "state.db";
  EXPECT_EQ(paths.database(), current);
  std::filesystem::create_directory(home / ".deepseek");
  EXPECT_EQ(paths.database(), current);  // a directory without a database is no history
  test::write_file(legacy, "");
  EXPECT_EQ(paths.database(), legacy);
  std::filesystem::create_directory(home / ".codewhale");
  test::write_file(current, "");
  EXPECT_EQ(paths.database(), current);
}

TEST(PathsTest, TheOverrideNeverFallsBack) {
  const TempDir home;
  std::filesystem::create_directory(home / ".deepseek");
  test::write_file(home / ".deepseek" / "state.db", "");
  const Paths paths = paths_with({{"HOME", home.path()}, {"CODEWHALE_HOME", home / "isolated"}});
  EXPECT_EQ(paths.database(), home / "isolated" / "state.db");
}

TEST(PathsTest, CreatesNothing) {
  const TempDir home;
  const Paths paths = paths_with({{"HOME", home.path()}});
  paths.database();
  paths.app_home();
  EXPECT_TRUE(std::filesystem::is_empty(home.path()));
}

TEST(PathsTest, TheConfigurationHasItsOwnVariables) {
  const auto config = [](std::map<std::string, std::string> variables) {
    return paths_with(std::move(variables)).config_override();
  };
  EXPECT_EQ(config({}), std::nullopt);
  EXPECT_EQ(config({{"DEEPSEEK_CONFIG_PATH", "/old.toml"}}), "/old.toml");
  EXPECT_EQ(config({{"CODEWHALE_CONFIG_PATH", "/new.toml"}, {"DEEPSEEK_CONFIG_PATH", "/old.toml"}}),
            "/new.toml");
  EXPECT_EQ(config({{"CODEWHALE_CONFIG_PATH", "  "},
                    {"DEEPSEEK_CONFIG_PATH", "~/old.toml"},
                    {"HOME", "/home/ada"}}),
            "/home/ada/old.toml");
}

TEST(PathsTest, AnEmbedderGivesItsOwnNames) {
  const Paths paths = paths_with({{"HOME", "/home/ada"}}, {.app_directory = ".mine",
                                                           .legacy_directory = "",
                                                           .home_variable = "MINE_HOME",
                                                           .config_variable = "MINE_CONFIG",
                                                           .legacy_config_variable = ""});
  EXPECT_EQ(paths.database(), "/home/ada/.mine/state.db");
  EXPECT_EQ(paths.config_override(), std::nullopt);
}

}  // namespace
}  // namespace threadstore
