#include "exchange/html_assets.h"

namespace threadstore::exchange {

// Shows one branch at a time. The address says which: `#b7` a branch, `#m12` a message; so links,
// the back button and a shared address work as they do without the script.
const std::string_view html_script = R"js(
(function () {
  "use strict";
  var sections = Array.prototype.slice.call(document.querySelectorAll("section.segment"));
  var chosen = {}, children = {};
  sections.forEach(function (section) {
    var parent = section.dataset.parent || "";
    (children[parent] = children[parent] || []).push(section);
    if (section.dataset.first === "yes") chosen[parent] = section;
  });
  function parentOf(section) {
    return section.dataset.parent ? document.getElementById(section.dataset.parent) : null;
  }
  function show(section) {
    for (var up = section; up; up = parentOf(up)) chosen[up.dataset.parent || ""] = up;
    var shown = {};
    for (var next = chosen[""]; next; next = chosen[next.id] || (children[next.id] || [])[0]) {
      shown[next.id] = true;
    }
    sections.forEach(function (one) { one.hidden = !shown[one.id]; });
    Array.prototype.forEach.call(document.querySelectorAll(".tree li"), function (entry) {
      var on = !!shown[entry.dataset.segment];
      entry.classList.toggle("shown", on);
      var link = entry.querySelector("a");
      if (on) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    });
  }
  function follow() {
    var id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch (error) { id = ""; }
    var target = id ? document.getElementById(id) : null;
    var section = target ? target.closest("section.segment") : null;
    show(section || chosen[""]);
    if (section) target.scrollIntoView();
  }
  if (sections.length > 1) {
    window.addEventListener("hashchange", follow);
    follow();
  }
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.prototype.slice.call(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (one) { one.open = false; });
  });
})();
)js";

}  // namespace threadstore::exchange
