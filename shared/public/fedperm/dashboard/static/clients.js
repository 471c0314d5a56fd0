// Who takes part, and where each one is in the newest round.
import { el, show } from "./dom.js";
import { card, table } from "./table.js";
import { plural } from "./words.js";

const MOST = 200;
const LATELY = 6;
const KINDS = {
  included: "good", checked: "good", uploaded: "busy", awaited: "busy",
  rejected: "bad", late: "bad", missed: "bad", dropped: "bad", excluded: "bad",
};
const WORDS = {
  "not asked": "not asked this round", awaited: "asked, nothing received yet", late: "late: past the deadline",
  uploaded: "uploaded, being checked", checked: "uploaded and valid", rejected: "rejected",
  included: "in the sum", dropped: "dropped, not in a sum", missed: "missed the round", excluded: "excluded",
};

export class ClientsPanel {
  #place = el("div", { class: "scroll", id: "clients", tabindex: "0", role: "region", "aria-label": "Table of participants" });

  #lately = el("div", { id: "lately" });

  constructor() {
    this.elements = [card("Participants", { half: true }, this.#place, this.#lately,
      el("p", { class: "quiet" }, "What a client is doing is by its own heartbeats, every few seconds; short phases fall between two of them."))];
  }

  show({ now, list }) {
    const { clients, status } = now;
    show(this.#lately, ...lately(list));
    const rows = clients.slice(0, MOST).map((client) => [client.client, doing(client), standing(client)]);
    const caption = `${plural(clients.length, "client")} joined${clients.length > MOST ? `, the first ${MOST} shown` : ""}`;
    show(this.#place, table(caption, [{ title: "Client" }, { title: "Now" }, { title: status.round ? `Round ${status.round}` : "Round" }], rows));
  }
}

const doing = ({ online, doing: phase }) =>
  online
    ? el("span", { class: `state ${phase === "idle" ? "good" : "busy"}` }, phase === "idle" ? "online" : phase)
    : el("span", { class: "state" }, "offline");

function standing(client) {
  const words = el("span", { class: `state ${KINDS[client.standing] ?? ""}` }, WORDS[client.standing]);
  return client.reason ? el("div", {}, words, el("span", { class: "why" }, client.reason)) : words;
}

// Who was asked lately and is not in the sum: the next round would hide it.
function lately(list) {
  const troubles = list.flatMap((round) => round.troubles.map((trouble) => ({ ...trouble, number: round.number })));
  if (!troubles.length) return [];
  return [el("h3", {}, "Not in the sum, lately"), el("ul", { class: "lately" }, troubles.slice(-LATELY).reverse().map((trouble) =>
    el("li", {}, el("span", { class: "state bad" }, `Round ${trouble.number}: ${trouble.client} ${trouble.standing}`),
      trouble.reason ? el("span", { class: "why" }, trouble.reason) : null)))];
}
