// The run in one look: where it is, how far, and what has come of it.
import { el, show } from "./dom.js";
import { stateBadge } from "./runs.js";
import { NOTHING, accuracy, clockTime, count, decimal, octets, plural, seconds, total } from "./words.js";

export class HeroPanel {
  #head = el("div", { class: "title" });
  #warning = el("div", { id: "warnings" });
  #track = el("div", { class: "track" });
  #tiles = el("dl", { class: "tiles" });

  constructor() {
    this.element = el("div", { class: "hero" }, this.#head, this.#warning, this.#track, this.#tiles);
  }

  show(state) {
    const { now, facts } = state;
    show(this.#head, el("h1", {}, facts.run), stateBadge(now.status.state));
    show(this.#warning, ...warnings(state).map((words) => el("p", { class: "notice" }, words)));
    show(this.#track, ...track(now, facts));
    show(this.#tiles, ...tiles(state));
  }
}

function warnings({ facts, list }) {
  const clear = total(list, "in_clear");
  const broken = total(list, "broken");
  return [
    facts.insecure_for_tests ? "A run for tests: short keys or no norm bound. It protects nobody." : null,
    clear ? `${plural(clear, "report says", "reports say")} in the clear what clients measured. An aggregator that chooses the sum reads secret permutations from that: `
      + "row 1 of the privacy report, the paper's unit, does not hold against the aggregator for any client of this run." : null,
    broken ? `${plural(broken, "report does", "reports do")} not open with the operator's key: altered on the way, or never sealed to this operator.` : null,
  ].filter(Boolean);
}

function track(now, facts) {
  const { status, progress } = now;
  const until = now.deadline_at === null ? "" : `until ${clockTime(now.deadline_at)}`;
  return [
    el("p", { class: "line" },
      el("strong", {}, `Round ${count(status.round)} of ${count(status.rounds)}`),
      el("span", { class: "quiet" }, facts.task, `, ${plural(facts.parameters, "parameter")}`)),
    el("progress", { max: status.rounds, value: settled(now), "aria-label": "rounds settled" }),
    el("p", { class: "line", id: "phase" }, el("span", {}, progress.words), el("span", { class: "quiet" }, until)),
    progress.total
      ? el("progress", { class: "thin", max: progress.total, value: progress.done, "aria-label": "this phase" })
      : null,
  ];
}

function settled({ status, progress }) {
  const isUnderWay = ["collecting", "adding up"].includes(progress.name);
  return Math.max(0, status.round - (isUnderWay ? 1 : 0));
}

function tiles(state) {
  const { now } = state;
  const tested = state.newest((round) => round.reports > 0 && round.loss !== null);
  const done = state.newest((round) => round.total_seconds !== null);
  const checked = state.newest((round) => round.measured > 0);
  const received = total(state.list, "bytes_up");
  const online = now.clients.filter((client) => client.online).length;
  return [
    tile("Test accuracy", accuracy(tested), tested ? after(tested) : untested(state), "accuracy"),
    tile("Test loss", decimal(tested?.loss), tested ? "on public test data" : "", "loss"),
    tile("Clients online", `${online} of ${now.clients.length}`, "heard of lately", "online"),
    tile("Last round", seconds(done?.total_seconds), done ? outcome(done) : "", "seconds"),
    tile("Bounded", checked ? `${checked.bounded} of ${checked.measured}` : NOTHING, "by their norm", "bounded"),
    tile("Received", received ? octets(received) : NOTHING, state.list[0]?.number > 1 ? `in the newest ${plural(state.list.length, "round")}` : "from all clients so far", "received"),
  ];
}

const untested = (state) => (state.newest((round) => round.sealed > 0) ? "sealed to the operator" : "no report yet");

const after = (round) => (round.accuracy === null ? "the task has none" : `after round ${round.number}`);

const outcome = (round) =>
  round.state === "aborted" ? "aborted" : `${round.included} of ${plural(round.selected, "client")}`;

const tile = (name, value, note, id) =>
  el("div", {}, el("dt", {}, name), el("dd", { id: `tile-${id}` }, value), el("dd", { class: "quiet" }, note));
