// Where the time of a round goes.
import { Chart, columns, marks } from "./charts.js";
import { el } from "./dom.js";
import { FoldedTable, card } from "./table.js";
import { seconds, short } from "./words.js";

const MOST = 60;
const OF_CLIENTS = { train: "training", randomize: "noise", encrypt: "encrypting", upload: "uploading", decrypt: "decrypting" };
const OF_AGGREGATOR = { open: "open: waiting for updates and checking them", fold: "adding up, encrypted" };

export class TimePanel {
  #clients = new Chart(220, "Seconds of a client by phase and round; the table below has the numbers");
  #aggregator = new Chart(220, "Seconds of the aggregator by phase and round; the table below has the numbers");
  #table = new FoldedTable("Seconds by phase, all rounds");

  constructor() {
    this.elements = [
      card("Time of a client", { half: true }, legend(OF_CLIENTS, CLIENT_STEPS), this.#clients.element,
        el("p", { class: "quiet" }, "Mean of the clients' reports. Work done ahead of the round, between rounds, is not in it."), this.#table.element),
      card("Time of the aggregator", { half: true }, legend(OF_AGGREGATOR, AGGREGATOR_STEPS), this.#aggregator.element),
    ];
  }

  show({ list, facts }) {
    paint(this.#clients, list.filter((round) => round.reports > 0), facts, OF_CLIENTS, CLIENT_STEPS);
    paint(this.#aggregator, list.filter((round) => round.total_seconds !== null), facts, OF_AGGREGATOR, AGGREGATOR_STEPS);
    const phases = [...Object.keys(OF_CLIENTS), ...Object.keys(OF_AGGREGATOR)];
    const titles = [...Object.values(OF_CLIENTS), "open", "adding up"];
    this.#table.show("Seconds on the wall by phase", [{ title: "Round", number: true }, ...titles.map((title) => ({ title, number: true }))],
      () => list.map((round) => [String(round.number), ...phases.map((phase) => seconds(round.seconds[phase]))]));
  }
}

const CLIENT_STEPS = [4, 3, 1, 2, 5];
const AGGREGATOR_STEPS = [4, 2];

function paint(chart, list, facts, names, steps) {
  const shown = list.slice(-MOST);
  const bars = shown.map((round) => ({
    x: round.number,
    parts: Object.entries(names).map(([phase, name], index) => ({
      value: round.seconds[phase], step: steps[index], title: `${name} ${seconds(round.seconds[phase])}`,
    })),
  }));
  const sums = bars.map((bar) => bar.parts.reduce((sum, part) => sum + part.value, 0));
  const last = list.length > MOST ? shown.at(-1).number : Math.min(facts.rounds, Math.max(MOST, shown.at(-1)?.number ?? 0));
  chart.show(columns(bars, last, marks(0, Math.max(0.001, ...sums)), short(seconds)));
}

const legend = (names, steps) =>
  el("ul", { class: "legend" }, Object.values(names).map((name, index) => el("li", { class: `step-${steps[index]}` }, name)));
