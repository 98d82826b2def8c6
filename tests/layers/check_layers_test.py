"""Runs check_layers.py on small crafted trees: one for every rule, and one that keeps them all."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECKER = sys.argv.pop(1)


def check(tree):
    """The checker's exit code and output for a tree given as {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            file = os.path.join(root, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
        done = subprocess.run([sys.executable, CHECKER, root], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout


class CheckLayersTest(unittest.TestCase):
    def refused(self, path, text, why):
        code, said = check({path: text})
        self.assertEqual(code, 1, f"{path} with {text!r} was accepted")
        self.assertIn(path, said)
        self.assertIn(why, said)

    def test_a_tree_that_keeps_the_rules_passes(self):
        code, said = check({
            "include/threadstore/error.h": "#include <string>\n#include <nlohmann/json_fwd.hpp>\n",
            "base/log.cpp": "#include <spdlog/spdlog.h>\n",
            "base/file_lock.cpp": "#include <boost/interprocess/sync/file_lock.hpp>\n",
            "state/db/connection.cpp": '#include <SQLiteCpp/SQLiteCpp.h>\n#include "base/log.h"\n',
            "state/threads/messages.cpp":
                '#include "state/db/database.h"\n#include "state/leases/lease_row.h"\n',
            "state/state_store.cpp": '#include "session_index/index_entry.h"\n'
                                     '#include "state/db/database.h"\n',
            "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "cli/output.h"\n'
                            '#include "threadstore/threads.h"\n',
            "tests/state/row_test.cpp": "#include <sqlite3.h>\n",
        })
        self.assertEqual((code, said), (0, ""))

    def test_arrows_never_point_back(self):
        for path, include in [
                ("base/json.cpp", "state/db/database.h"),
                ("paths/paths.cpp", "session_index/index_file.h"),
                ("session_index/session_index.cpp", "state/db/database.h"),
                ("state/db/database.cpp", "state/threads/thread_row.h"),
                ("state/leases/leases.cpp", "state/threads/thread_row.h"),
                ("state/threads/threads.cpp", "state/runs/runs.h"),
                ("state/threads/threads.cpp", "session_index/index_file.h"),
                ("cli/main.cpp", "state/db/database.h"),
                ("cli/main.cpp", "base/log.h"),
                ("include/threadstore/ids.h", "base/ids.h")]:
            self.refused(path, f'#include "{include}"\n', include)

    def test_libraries_stay_where_they_belong(self):
        for path, include, where in [
                ("state/threads/threads.cpp", "SQLiteCpp/Database.h", "state/db"),
                ("cli/doctor.cpp", "sqlite3.h", "state/db"),
                ("state/leases/leases.cpp", "boost/interprocess/sync/file_lock.hpp", "file_lock"),
                ("state/state_store.cpp", "CLI/CLI.hpp", "cli"),
                ("base/json.cpp", "spdlog/spdlog.h", "base/log.cpp")]:
            self.refused(path, f"#include <{include}>\n", where)

    def test_the_contract_needs_only_std_and_json_forward_declarations(self):
        self.refused("include/threadstore/time.h", "#include <boost/crc.hpp>\n", "contract")
        self.refused("include/threadstore/time.h", "#include <nlohmann/json.hpp>\n", "contract")

    def test_headers_forward_declare_json(self):
        self.refused("base/json.h", "#include <nlohmann/json.hpp>\n", "json_fwd")

    def test_only_state_db_calls_sqlite(self):
        self.refused("state/threads/threads.cpp", "  sqlite3_step(statement);\n", "sqlite3_step")

    def test_sql_is_portable(self):
        self.refused("state/threads/threads.cpp", 'R"(INSERT OR REPLACE INTO t)"\n', "portable")
        self.refused("state/threads/threads.cpp", 'R"(SELECT 1 LIMIT ? OFFSET ?)"\n', "portable")

    def test_files_are_short_and_named_by_an_idea(self):
        self.refused("tests/state/long_test.cpp", "\n" * 321, "longer than 320")
        self.refused("base/string_utils.h", "", "names no idea")
        self.refused("state/common/row.h", "", "names no idea")


if __name__ == "__main__":
    unittest.main()
