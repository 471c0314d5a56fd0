// What the run has cost in privacy, each epsilon with the unit that it protects.
import { el, show } from "./dom.js";
import { card } from "./table.js";
import { chance, count, epsilon, percent, plural } from "./words.js";

export class PrivacyPanel {
  #units = el("ol", { class: "units", id: "privacy" });

  constructor() {
    this.elements = [card("Privacy spent", { half: true }, this.#units, el("p", { class: "quiet" },
      "An epsilon means nothing without its unit, and in the thousands it means no protection worth the name. ",
      el("code", {}, "fedperm privacy"), " prints all rows, their bounds and what they leave out."))];
  }

  show(state) {
    const { now: { privacy, status }, facts } = state;
    if (privacy === null) return show(this.#units, el("li", { class: "notice" }, "This run adds no noise: nothing is promised, to nobody."));
    const ledgers = state.newest((round) => round.ledgers !== null)?.ledgers;
    show(this.#units, few(privacy, facts, ledgers), record(privacy, status), whole(privacy, status, ledgers));
  }
}

function few(privacy, facts, ledgers) {
  const words = [`${plural(privacy.unit_parameters, "parameter")} of the ${count(facts.parameters)} in a client's updates, all others known`,
    "The paper's unit. It holds against an aggregator that follows the protocol and is shown no sum and no model: one client that colludes with it voids it. Not against other clients."];
  if (!ledgers) return unit(words, "not known here", ["Clients count it themselves, and report it after each round if they keep a budget."]);
  const share = ledgers.budget ? ledgers.epsilon / ledgers.budget : 0;
  return unit(words, `ε ${epsilon(ledgers.epsilon)} of ${epsilon(ledgers.budget)}`, [
    el("progress", { max: 1, value: Math.min(1, share), "aria-label": "the part of the budget that is spent" }),
    `${percent(Math.min(share, 10))} of the budget of ${ledgers.client}, the largest share of ${plural(ledgers.clients, "reported ledger")}; `
      + `δ ${chance(ledgers.delta)}, accountant ${ledgers.accountant}`,
  ], share > 1);
}

function record({ record: level, delta }, status) {
  const words = ["One record of a client's data", "Needs neither shuffle nor keys: it holds against everybody, if nothing done to a record depends on others; who has k records has ρ k²."];
  if (level.at_end === null) return unit(words, "no bound", [level.words.replace(/^no bound: /, "")]);
  return unit(words, `ε ${epsilon(level.so_far)} of ${epsilon(level.at_end)}`, [
    el("progress", { max: level.at_end, value: level.so_far, "aria-label": "the part of the whole run" }),
    `${level.words}; after ${count(status.round)} of ${plural(status.rounds, "round")} in which the client takes part, δ ${chance(delta)}; computed from the run's document`,
  ]);
}

function whole(privacy, status, ledgers) {
  const words = ["A client's whole update", "Everything that the client sends, the permutation known: it holds against everybody."];
  const pure = `without any δ: ${epsilon(privacy.pure_per_round)} a round`;
  const noise = `noise of scale b = ${Number(privacy.laplace_scale.toPrecision(4))} on values between 0 and 1`;
  if (!ledgers) return unit(words, `ε ${epsilon(privacy.pure_per_round * status.round)}`, [`${pure}; ${noise}`]);
  return unit(words, `ε ${epsilon(ledgers.whole_update)}`,
    [`over ${plural(ledgers.charges, "round")} of ${ledgers.client}, δ ${chance(ledgers.delta)}; ${pure}; ${noise}`]);
}

const unit = ([title, meaning], amount, notes, warned = false) =>
  el("li", { class: warned ? "unit warned" : "unit" },
    el("div", {}, el("h3", {}, title), el("p", { class: "quiet" }, meaning)),
    el("div", {}, el("p", { class: "amount" }, amount),
      notes.map((note) => (typeof note === "string" ? el("p", { class: "quiet" }, note) : note))));
