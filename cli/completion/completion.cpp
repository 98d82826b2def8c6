#include <memory>
#include <string_view>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"

// The scripts know nothing of the commands: they ask the program itself (candidates.h), so that
// they never fall behind it.

namespace threadstore::cli {
namespace {

constexpr std::string_view kBash =
    R"sh(# bash completion for threadstore: source <(threadstore completion bash)
_threadstore() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
      :directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _threadstore threadstore
)sh";

constexpr std::string_view kZsh = R"sh(#compdef threadstore
# zsh completion for threadstore: source <(threadstore completion zsh), or save it as _threadstore
# in a directory of $fpath
_threadstore() {
  local line word text
  local -a lines candidates
  lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    case $line in
      '') ;;
      :files) _files; return ;;
      :directories) _files -/; return ;;
      *)
        word=${line%%$'\t'*}
        text=${line#*$'\t'}
        candidates+=("${word//:/\\:}${text:+:$text}")
        ;;
    esac
  done
  _describe -V threadstore candidates
}
if [ "${funcstack[1]}" = _threadstore ]; then
  _threadstore "$@"
else
  compdef _threadstore threadstore
fi
)sh";

constexpr std::string_view kFish =
    R"sh(# fish completion for threadstore: threadstore completion fish | source
function __threadstore_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :directories
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c threadstore -f -a '(__threadstore_complete)'
)sh";

}  // namespace

Action declare_completion(Syntax& syntax) {
  auto shell = std::make_shared<std::string>();
  syntax.add_option("shell", *shell, "The shell whose script is printed")
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("")
      ->required();
  return [shell](Invocation& call) {
    const std::string_view script = *shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish;
    if (call.json()) return call.print({{"shell", *shell}, {"script", script}});
    call.out() << script;
  };
}

}  // namespace threadstore::cli
