// One run: everything that is known of it now, and what is new as it comes.
import { el } from "./dom.js";
import { Live, ask } from "./live.js";
import { accuracy, decimal } from "./words.js";
import { ClientsPanel } from "./clients.js";
import { HeroPanel } from "./hero.js";
import { KeyPanel } from "./key.js";
import { NormsPanel } from "./norms.js";
import { PrivacyPanel } from "./privacy.js";
import { QualityPanel } from "./quality.js";
import { SightPanel } from "./sight.js";
import { TimePanel } from "./time.js";
import { TrafficPanel } from "./traffic.js";

// What panels read. `facts` never change; `rounds` are by number.
class RunState {
  now = null;
  rounds = new Map();

  constructor(facts) {
    this.facts = facts;
  }

  get list() {
    return [...this.rounds.values()].sort((a, b) => a.number - b.number);
  }

  newest(test = () => true) {
    return this.list.filter(test).at(-1);
  }
}

export function runPage(place, run, tell) {
  const address = `/dashboard/api/runs/${run}`;
  const stop = { closed: false, live: null };
  place.replaceChildren(el("h1", {}, run), el("p", { class: "quiet" }, "Loading"));
  begin(place, address, tell, stop).catch((error) => {
    if (!stop.closed) place.replaceChildren(el("h1", {}, run), el("p", { class: "notice", role: "alert" }, error.message));
  });
  return () => {
    stop.closed = true;
    stop.live?.close();
  };
}

async function begin(place, address, tell, stop) {
  const state = new RunState(await ask(address));
  if (stop.closed) return;
  const hero = new HeroPanel();
  const kinds = [QualityPanel, ClientsPanel, PrivacyPanel, SightPanel, NormsPanel, TrafficPanel, TimePanel, KeyPanel];
  const panels = kinds.map((Panel) => new Panel(address, state.facts));
  place.replaceChildren(hero.element, el("div", { class: "grid" }, panels.flatMap((panel) => panel.elements)));
  const render = () => state.now && [hero, ...panels].forEach((panel) => panel.show(state));
  stop.live = new Live(`${address}/live`, {
    rounds: ({ rounds }) => {
      const before = state.newest(isPublished)?.number;
      for (const round of rounds) state.rounds.set(round.number, round);
      if (state.now) announce(state, before);
      render();
    },
    now: (now) => {
      state.now = now;
      render();
    },
  }, tell);
}

const isPublished = (round) => round.state === "published" && round.reports > 0;

// For those who listen: one sentence a round, not every change.
function announce(state, before) {
  const round = state.newest(isPublished);
  if (!round || round.number === before) return;
  document.getElementById("news").textContent =
    `Round ${round.number} of ${state.facts.rounds} is published${quality(round)}.`;
}

function quality(round) {
  if (round.loss === null) return "";
  return round.accuracy === null ? `, loss ${decimal(round.loss)}` : `, accuracy ${accuracy(round)}`;
}
