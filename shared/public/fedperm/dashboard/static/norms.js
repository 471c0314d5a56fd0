// How long each client's update was, and what bounding made of it.
import { Chart, ROW, lengths } from "./charts.js";
import { el, show } from "./dom.js";
import { ask } from "./live.js";
import { FoldedTable, card } from "./table.js";
import { decimal, octets, plural } from "./words.js";

const MOST = 30;

export class NormsPanel {
  #chart = new Chart(120, "Norm of each client's update before and after bounding; the table below has the numbers");
  #note = el("p", { class: "quiet", id: "norms-note" });
  #table = new FoldedTable("Every client's update of this round");
  #choice = el("select", { id: "norms-round" }, el("option", { value: "newest" }, "newest"));
  #state = null;
  #shown = "";

  constructor(address) {
    this.address = address;
    const label = el("label", {}, "Round", this.#choice);
    this.elements = [card("Norms before and after bounding", { half: true, beside: label },
      this.#chart.element, this.#note, this.#table.element)];
    this.#choice.addEventListener("change", () => this.#load());
  }

  show(state) {
    this.#state = state;
    const numbers = state.list.filter((round) => round.measured).map((round) => round.number);
    const newest = Number(this.#choice.lastChild.value) || 0;
    for (const number of numbers) if (number > newest) this.#choice.append(el("option", { value: number }, String(number)));
    this.#load();
  }

  // A round's report is asked for when it has changed.
  async #load() {
    const wanted = this.#choice.value;
    const round = wanted === "newest" ? this.#state.newest((one) => one.measured) : this.#state.rounds.get(Number(wanted));
    const mark = JSON.stringify(round ?? null);
    if (mark === this.#shown) return;
    this.#shown = mark;
    if (!round) return show(this.#note, "No update has been checked yet.");
    try {
      this.#render(await ask(`${this.address}/rounds/${round.number}`));
    } catch {
      this.#shown = ""; // the next news try again
    }
  }

  #render(report) {
    const { norm_limit: limit } = this.#state.facts;
    const updates = report.submissions.filter((one) => one.kind === "update");
    const measured = updates.filter((update) => update.norm_before !== null);
    const rows = measured.map((update) => ({
      client: update.client, before: update.norm_before, after: update.norm_after, bounded: update.bounded,
    })).sort((a, b) => b.before - a.before).slice(0, MOST);
    this.#chart.show(lengths(rows, limit, (value) => decimal(value)), 40 + rows.length * ROW);
    show(this.#note, note(report, measured, limit));
    this.#table.show(`Updates of round ${report.outcome.round}`, [{ title: "Client" }, { title: "State" },
      { title: "Norm before", number: true }, { title: "Norm after", number: true }, { title: "Size", number: true }],
      () => updates.map((update) => [update.client, update.reason ? `${update.state}: ${update.reason}` : update.state,
        decimal(update.norm_before, 4), decimal(update.norm_after, 4), octets(update.size)]));
  }
}

function note(report, measured, limit) {
  const bounded = measured.filter((update) => update.bounded).length;
  const round = `Round ${report.outcome.round}: `;
  if (limit === null) return `${round}this run has no norm bound.`;
  if (!measured.length) return `${round}no update has been measured yet.`;
  const most = measured.length > MOST ? ` The ${MOST} longest are shown.` : "";
  return `${round}${bounded ? plural(bounded, "update was", "updates were") : "no update was"} scaled down to the bound.${most} `
    + "A filled dot is the norm after bounding, a hollow one before it. Shuffling does not change a norm; the noise is part of it.";
}
