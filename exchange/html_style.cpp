#include "exchange/html_assets.h"

namespace threadstore::exchange {

const std::string_view html_style = R"css(
:root {
  color-scheme: light dark;
  --page: #fbfaf8; --card: #ffffff; --ink: #23211f; --soft: #6d6860; --faint: #98928a;
  --line: #e6e2db; --user: #eef4ff; --user-line: #c9dbfb; --user-ink: #1d4f9f;
  --code: #f4f2ee; --accent: #2f6bd8; --good: #2e7d4f; --bad: #b3372c; --mark: #fff3c4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #161718; --card: #1e2021; --ink: #e8e6e1; --soft: #a6a29a; --faint: #7b7871;
    --line: #323537; --user: #1c2a3f; --user-line: #2f4a72; --user-ink: #9dc1ff;
    --code: #26282a; --accent: #86b0ff; --good: #7cc79a; --bad: #ff9a8f; --mark: #4a4220;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: break-word;
}
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.page { max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
.with-tree { max-width: 70rem; display: grid; grid-template-columns: 16rem minmax(0, 1fr);
  column-gap: 3rem; }
.with-tree > .top, .with-tree > .foot { grid-column: 1 / -1; }
.top h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; letter-spacing: -.015em; }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 2rem; padding: 0 0 1.25rem;
  border-bottom: 1px solid var(--line); color: var(--soft); font-size: .875rem; list-style: none; }
.facts code { background: none; padding: 0; }
.tree { font-size: .875rem; align-self: start; position: sticky; top: 1.25rem;
  max-height: calc(100vh - 2.5rem); overflow-y: auto; }
.tree h2 { font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--faint);
  margin: 0 0 .5rem; }
.tree ol { list-style: none; margin: 0; padding: 0; }
.tree a { display: flex; gap: .5rem; padding: .3rem .6rem; border-left: 2px solid var(--line);
  color: var(--soft); text-decoration: none; }
.tree .first { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; min-width: 0; }
.tree a:hover { color: var(--ink); background: var(--code); }
.tree .shown > a { border-left-color: var(--accent); color: var(--ink); }
.tree .count { color: var(--faint); font-variant-numeric: tabular-nums; }
.d1 { margin-left: .9rem; } .d2 { margin-left: 1.8rem; } .d3 { margin-left: 2.7rem; }
.d4 { margin-left: 3.6rem; } .d5 { margin-left: 4.5rem; } .d6 { margin-left: 5.4rem; }
.branch { display: flex; align-items: center; gap: .5rem; flex-wrap: wrap; margin: 2rem 0 1.25rem;
  color: var(--soft); font-size: .8125rem; }
.branch::after { content: ""; flex: 1; min-width: 2rem; border-top: 1px solid var(--line); }
.branch a, .branch b { display: inline-block; min-width: 1.75rem; padding: .1rem .45rem;
  text-align: center; border: 1px solid var(--line); border-radius: 999px; text-decoration: none;
  font-weight: 500; background: var(--card); }
.branch b { background: var(--accent); border-color: var(--accent); color: var(--page); }
.branch a.after { border: 0; background: none; padding: 0; min-width: 0; }
.message { margin: 0 0 1.5rem; position: relative; unicode-bidi: isolate; }
.message > header { display: flex; align-items: baseline; gap: .6rem; margin: 0 0 .35rem;
  font-size: .8125rem; color: var(--faint); }
.message .role { font-weight: 600; color: var(--soft); }
.message time { font-variant-numeric: tabular-nums; }
.message .here { margin-left: auto; color: var(--faint); text-decoration: none; }
.message:target > header .role { background: var(--mark); }
.user > .body { background: var(--user); border: 1px solid var(--user-line); border-radius: .9rem;
  padding: .75rem 1rem; }
.user .role { color: var(--user-ink); }
.system > .body, .developer > .body { color: var(--soft); font-size: .9375rem; }
.message:has(+ .tool) { margin-bottom: .5rem; }
.tool > header, .note > header { display: none; }
.note { margin-bottom: .5rem; } .note details { border: 0; background: none; margin: 0; }
.note summary, .note summary .name { font-size: .75rem; font-weight: 400; color: var(--faint); padding: 0; }
.body > :first-child { margin-top: 0; } .body > :last-child { margin-bottom: 0; }
.body h3, .body h4, .body h5, .body h6 { line-height: 1.3; margin: 1.4em 0 .5em; font-size: 1.05em; }
.body h3 { font-size: 1.2em; }
.body p, .body ul, .body ol, .body blockquote { margin: 0 0 .8em; }
.body ul, .body ol { padding-left: 1.4em; }
.body li.task { list-style: none; margin-left: -1.2em; }
.body blockquote { border-left: 3px solid var(--line); padding-left: 1em; color: var(--soft); }
.body hr { border: 0; border-top: 1px solid var(--line); margin: 1.25em 0; }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas,
  "Noto Sans Mono", "DejaVu Sans Mono", monospace; font-size: .875em; }
code { background: var(--code); border-radius: .3em; padding: .1em .3em; }
pre { background: var(--code); border-radius: .6rem; padding: .8rem 1rem; margin: 0 0 .9em;
  overflow-x: auto; line-height: 1.5; tab-size: 4; position: relative; }
.user pre, .user code { background: color-mix(in srgb, var(--user-line) 45%, transparent); }
pre code { background: none; padding: 0; font-size: 1em; }
pre[data-language]::before { content: attr(data-language); display: block; color: var(--faint);
  font-size: .6875rem; letter-spacing: .04em; margin: -.2rem 0 .35rem; }
.wide { overflow-x: auto; margin: 0 0 .9em; }
table { border-collapse: collapse; font-size: .9375em; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left;
  vertical-align: top; }
td.right, th.right { text-align: right; } td.center, th.center { text-align: center; }
details { border: 1px solid var(--line); border-radius: .6rem; background: var(--card);
  margin: 0 0 .6rem; font-size: .9375rem; }
summary { cursor: pointer; padding: .45rem .8rem; display: flex; gap: .55rem; align-items: baseline;
  list-style: none; color: var(--soft); }
summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; color: var(--faint); font-size: .8em; }
details[open] > summary::before { content: "▾"; }
summary .name { font-weight: 600; color: var(--ink); font-size: .875rem; white-space: nowrap; }
summary .peek { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .8125rem; color: var(--faint); overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; min-width: 0; }
details > div { padding: 0 .8rem .8rem; }
details > div > :last-child { margin-bottom: 0; }
details pre { max-height: 30rem; overflow: auto; white-space: pre-wrap; }
details.failed { border-color: color-mix(in srgb, var(--bad) 45%, var(--line)); }
details.failed summary .name { color: var(--bad); }
details.thinking, details.summary { border-style: dashed; background: none; color: var(--soft); }
.warning { color: var(--bad); font-size: .875rem; }
.image { max-width: 100%; max-height: 24rem; border-radius: .6rem; border: 1px solid var(--line); }
.empty { color: var(--soft); }
.foot { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--faint);
  font-size: .8125rem; }
[hidden] { display: none !important; }
@media (max-width: 60rem) {
  .with-tree { display: block; max-width: 50rem; }
  .tree { position: static; max-height: 14rem; margin: 0 0 2rem; }
}
@media print {
  :root { --page: #fff; --card: #fff; --ink: #000; --soft: #333; --faint: #555; --line: #bbb;
    --user: #fff; --user-line: #999; --user-ink: #000; --code: #f6f6f6; --accent: #000; --bad: #000; }
  body { font-size: 10.5pt; }
  .page, .with-tree { display: block; max-width: none; padding: 0; }
  .tree, .here { display: none; }
  .message > header, .branch, h3, h4 { break-after: avoid; }
  pre, details pre { max-height: none; white-space: pre-wrap; }
  details::details-content { content-visibility: visible; display: block; }
  @supports selector(details::details-content) { .peek, summary::before { display: none; } }
  a { color: inherit; }
}
)css";

}  // namespace threadstore::exchange
