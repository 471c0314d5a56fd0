// All runs of this aggregator.
import { el, show } from "./dom.js";
import { Live } from "./live.js";
import { count, plural } from "./words.js";

export function runsPage(place, tell) {
  const list = el("ul", { class: "runs" });
  place.replaceChildren(el("h1", {}, "Runs"), list);
  const live = new Live("/dashboard/api/live", { runs: ({ runs }) => show(list, ...lines(runs)) }, tell);
  return () => live.close();
}

function lines(runs) {
  if (!runs.length) return [el("li", { class: "quiet" }, "There is no run yet. Make one with fedperm run create.")];
  return runs.map((run) =>
    el("li", {},
      el("a", { href: `#run/${run.run}` },
        el("span", { class: "title" }, el("strong", {}, run.run), stateBadge(run.state)),
        el("progress", { max: run.rounds, value: run.round, "aria-label": `rounds of ${run.run}` }),
        el("span", { class: "quiet" },
          `Round ${count(run.round)} of ${count(run.rounds)} · ${plural(run.participants, "client")}`,
          run.reason ? ` · ${run.reason}` : ""))));
}

const KINDS = { failed: "badge warn", stopped: "badge warn", waiting: "badge plain" };
export const stateBadge = (state) => el("span", { class: KINDS[state] ?? "badge" }, state);
