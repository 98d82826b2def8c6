#include "state/transfer/trace_import.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "state/runs/audit_record.h"
#include "state/runs/event_log.h"
#include "state/runs/import_mark.h"
#include "state/runs/reopen.h"
#include "state/runs/request_record.h"
#include "state/runs/run_stop.h"
#include "state/runs/spawn_record.h"
#include "state/runs/step_record.h"
#include "state/runs/suspension.h"

namespace threadstore::state {
namespace {

using Unknown = ForeignTrace::Unknown;

/// How many events of each type the run has.
std::map<std::string, std::size_t> count_types(db::Session& session, const RunId& run) {
  std::map<std::string, std::size_t> counts;
  session.each("SELECT event_type, count(*) FROM run_events WHERE run_id = ? GROUP BY event_type",
               {run}, [&](const db::Row& row) { counts[row.text(0)] = row.get<std::size_t>(1); });
  return counts;
}

/// Of a list: the types that its kinds have, and that of unknown ones.
template <class Kind>
std::size_t count_list(const std::map<std::string, std::size_t>& counts, const char* unknown) {
  std::size_t sum = 0;
  const auto add = [&](const std::string& type) {
    const auto found = counts.find(type);
    if (found != counts.end()) sum += found->second;
  };
  for (const auto& entry : EnumNames<Kind>::table) add(std::string(event_type(entry.first)));
  add(unknown);
  return sum;
}

/// Resumptions that name a step; others only say that the run is active again.
std::size_t count_resumes(db::Session& session, const RunId& run) {
  std::size_t count = 0;
  session.each("SELECT payload FROM run_events WHERE run_id = ? AND event_type = 'run.resumed'",
               {run}, [&](const db::Row& row) {
                 const Payload payload = Payload::parse(row.view(0), nullptr, false);
                 if (payload.is_object() && payload.contains("from_step")) ++count;
               });
  return count;
}

bool ends_so(db::Session& session, const RunHead& head, const std::optional<RunEnd>& end) {
  if (!end) return head.lifecycle == RunLifecycle::active;
  return head.reason_code == end->reason &&
         session.value<std::optional<std::string>>("SELECT outcome_text FROM runs WHERE id = ?",
                                                   {head.id}) == end->outcome_text;
}

const DeferredApproval* find_known(const TraceKnown& known, const DeferredApproval& request) {
  const auto found =
      std::find_if(known.requests.begin(), known.requests.end(),
                   [&](const DeferredApproval& one) { return one.origin_id == request.origin_id; });
  return found == known.requests.end() ? nullptr : &*found;
}

/// Puts the lists into one log: what belongs to a step stands before its last attempt, and no list
/// changes its order.
class Adder {
 public:
  Adder(db::Session& session, const RunScope& scope, const ForeignTrace& trace,
        const TraceKnown& known)
      : session_(session),
        scope_(scope),
        trace_(trace),
        known_(known),
        now_(trace.started_at.value_or(scope.now())) {}

  TakenRun run() {
    place_all();
    std::stable_sort(places_.begin(), places_.end(),
                     [](const Place& a, const Place& b) { return a.step < b.step; });
    for (const Place& place : places_) place.add();
    if (trace_.spawned_for && !known_.spawned_for) add_contract();
    stop();
    if (taken_.events > 0 || taken_.spawns > 0) mark_imported(session_, trace_.id);
    taken_.grown = known_.there && (taken_.events > 0 || taken_.spawns > 0);
    return taken_;
  }

 private:
  struct Place {
    std::int64_t step;
    std::function<void()> add;
  };

  RunHead head() { return require_run(session_, scope_, trace_.id); }

  void event(std::string_view type, const Payload& payload) {
    append_event(session_, trace_.id, type, payload, now_);
    ++taken_.events;
  }

  /// The highest step so far: a list whose steps go back keeps its order.
  template <class List, class Step, class Add>
  void place(const List& list, std::size_t first, Step&& step_of, Add&& add) {
    std::int64_t step = 0;
    for (std::size_t i = first; i < list.size(); ++i) {
      step = std::max(step, step_of(list[i]));
      places_.push_back({step, [&entry = list[i], add] { add(entry); }});
    }
  }

  template <class Event, class Add>
  void place_events(const ForeignTrace::List<Event>& list, std::size_t first, Add&& add) {
    place(
        list, first, [](const auto& entry) { return step_of(entry); },
        [this, add](const auto& entry) {
          if (const auto* unknown = std::get_if<Unknown>(&entry)) {
            append_event_text(session_, trace_.id, unknown->type, unknown->payload, now_);
            ++taken_.events;
          } else {
            add(std::get<Event>(entry));
          }
        });
  }

  static std::int64_t step_of(const std::variant<ForeignTrace::Delegation, Unknown>& entry) {
    if (const auto* unknown = std::get_if<Unknown>(&entry)) return unknown->step;
    return std::get<ForeignTrace::Delegation>(entry).event.step;
  }
  template <class Event>
  static std::int64_t step_of(const std::variant<Event, Unknown>& entry) {
    return std::visit([](const auto& one) { return one.step; }, entry);
  }

  void place_all() {
    place(
        trace_.resumes, known_.resumes, [](const auto& resume) { return resume.step; },
        [this](const auto& resume) { add_resume(resume); });
    place_events(trace_.policy, known_.policy, [this](const PolicyEvent& one) {
      event(event_type(one.kind), event_payload(one));
    });
    place(
        trace_.requests, 0, [](const auto& request) { return request.step; },
        [this](const auto& request) { add_request(request); });
    place_events(trace_.sandbox, known_.sandbox, [this](const SandboxEvent& one) {
      event(event_type(one.kind), event_payload(one));
    });
    place_events(trace_.delegation, known_.delegation,
                 [this](const ForeignTrace::Delegation& one) { add_delegation(one); });
    place(
        trace_.steps, known_.steps, [](const auto& one) { return one.step; },
        [this](const auto& one) {
          insert_step(session_, head(), trace_.load(one), one.committed && !is_committed(one.step),
                      now_);
          ++taken_.steps;
          ++taken_.events;
        });
  }

  bool is_committed(std::int64_t step) {
    return session_.exists(
        "SELECT 1 FROM run_steps WHERE run_id = ? AND step = ? AND committed_sequence IS NOT NULL",
        {trace_.id, step});
  }

  void add_delegation(const ForeignTrace::Delegation& one) {
    Payload payload = event_payload(one.event);
    if (one.ordinal) payload["ordinal"] = *one.ordinal;
    event(event_type(one.event.kind), payload);
  }

  void add_request(const DeferredApproval& told) {
    const DeferredApproval* stored = find_known(known_, told);
    if (stored != nullptr && (stored->decision || !told.decision)) return;
    RequestId id{};
    if (stored != nullptr) {
      id = stored->request_id;
    } else {
      id = insert_request(session_, head(),
                          {.step = told.step,
                           .act = told.act,
                           .target = told.target,
                           .content = told.content,
                           .key = told.key},
                          told.origin_id, now_);
      ++taken_.requests;
      ++taken_.events;
    }
    if (!told.decision) return;
    store_decision(session_, trace_.id, id, *told.decision, told.decided_by, told.reason, now_);
    ++taken_.events;
  }

  void add_resume(const ForeignTrace::Resume& resume) {
    activate();
    append_resumed(session_, head(), to_word(RunStatus::running),
                   ResumePoint{.committed = std::max<std::int64_t>(0, resume.step - 1),
                               .from_step = resume.step},
                   resume.detail, now_);
    ++taken_.events;
  }

  /// Whatever the run was stopped for: the source went on.
  void activate() {
    const RunHead run = head();
    if (run.lifecycle == RunLifecycle::suspended) {
      resume_suspended(session_, run, open_suspension(session_, run.id), "resumed", std::nullopt,
                       now_);
      ++taken_.events;
    } else if (run.lifecycle == RunLifecycle::terminal) {
      reactivate(session_, run.id, now_);
      append_resumed(session_, run, to_word(RunStatus::completed), std::nullopt, {}, now_);
      ++taken_.events;
    }
  }

  void add_contract() {
    SpawnContract contract = *trace_.spawned_for;
    contract.child_run_id = trace_.id;
    contract.created_at = now_;
    insert_contract(session_, contract);
    ++taken_.spawns;
  }

  void stop() {
    if (ends_so(session_, head(), trace_.end)) return;
    activate();
    if (!trace_.end) return;
    const std::int64_t before = head().last_sequence;
    // An active parent is told, which is not a change that was made here.
    const auto parent = trace_.parent ? find_head(session_, scope_, *trace_.parent) : std::nullopt;
    const bool follows = parent && imported_through(session_, parent->id) == parent->last_sequence;
    stop_alone(session_, scope_, head(), checked_stop(*trace_.end, scope_.most()), now_);
    if (follows) mark_imported(session_, parent->id);
    taken_.events += head().last_sequence - before;
  }

  db::Session& session_;
  const RunScope& scope_;
  const ForeignTrace& trace_;
  const TraceKnown& known_;
  const UnixMillis now_;
  std::vector<Place> places_{};
  TakenRun taken_{};
};

}  // namespace

TraceKnown known_of(db::Session& session, const RunScope& scope, const ForeignTrace& trace) {
  TraceKnown known;
  const auto head = find_head(session, scope, trace.id);
  if (!head) return known;
  known.there = true;
  known.went_on = imported_through(session, head->id) < head->last_sequence;
  known.steps =
      session.value<std::size_t>("SELECT count(*) FROM run_steps WHERE run_id = ?", {head->id})
          .value_or(0);
  const auto counts = count_types(session, head->id);
  known.policy = count_list<PolicyKind>(counts, "imported.policy");
  known.delegation = count_list<DelegationKind>(counts, "imported.delegation");
  if (const auto finished = counts.find("delegation.finished"); finished != counts.end()) {
    known.delegation -= finished->second;  // the store's own, not the source's
  }
  known.sandbox = count_list<SandboxKind>(counts, "imported.sandbox");
  known.resumes = count_resumes(session, head->id);
  known.spawned_for = session.exists("SELECT 1 FROM run_spawns WHERE child_run_id = ?", {head->id});
  known.same_end = ends_so(session, *head, trace.end);
  known.requests = session.all(select_requests + " AND a.run_id = ?2 ORDER BY a.requested_sequence",
                               {scope.workspace, head->id}, read_request);
  return known;
}

TakenRun add_to_trace(db::Session& session, const RunScope& scope, const ForeignTrace& trace,
                      const TraceKnown& known) {
  return Adder(session, scope, trace, known).run();
}

TakenRun count_new(const ForeignTrace& trace, const TraceKnown& known) {
  const auto rest = [](std::size_t all, std::size_t first) {
    return static_cast<std::int64_t>(all > first ? all - first : 0);
  };
  TakenRun taken{.created = !known.there, .steps = rest(trace.steps.size(), known.steps)};
  std::int64_t decided = 0;
  for (const DeferredApproval& request : trace.requests) {
    const DeferredApproval* stored = find_known(known, request);
    if (stored == nullptr) ++taken.requests;
    // What is undecided when a run is over for good is closed.
    const bool over =
        trace.end && lifecycle_after(outcome_of(trace.end->reason)) == RunLifecycle::terminal;
    if ((request.decision || over) && (stored == nullptr || !stored->decision)) ++decided;
  }
  if (trace.spawned_for && !known.spawned_for) ++taken.spawns;
  taken.events = taken.steps + taken.requests + decided + rest(trace.policy.size(), known.policy) +
                 rest(trace.delegation.size(), known.delegation) +
                 rest(trace.sandbox.size(), known.sandbox) +
                 rest(trace.resumes.size(), known.resumes);
  if (!known.there) ++taken.events;  // its first
  if (known.there ? !known.same_end : trace.end.has_value()) ++taken.events;
  taken.grown = known.there && (taken.events > 0 || taken.spawns > 0);
  return taken;
}

}  // namespace threadstore::state
