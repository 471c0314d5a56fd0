// The key in use, and the run's document in a few numbers.
import { el, show } from "./dom.js";
import { card } from "./table.js";
import { count, fingerprint } from "./words.js";

export class KeyPanel {
  #key = el("dl", { class: "facts", id: "key" });

  constructor(_address, facts) {
    this.elements = [
      card("Key in use", { half: true }, this.#key,
        el("p", { class: "quiet" }, "The aggregator has the public half only. Compare the fingerprint with the one that the key server shows.")),
      card("What the run agreed on", { half: true }, el("dl", { class: "facts" }, ...lines(agreed(facts)))),
    ];
  }

  show({ now: { key } }) {
    show(this.#key, ...lines(key === null ? [["Key", "none yet: the run waits for its first key epoch"]] : [
      ["Scheme", `${key.scheme}, ${count(key.bits)} bits`],
      ["Epoch", `${key.epoch} of key ${key.name}`],
      ["Fingerprint", el("span", { class: "code" }, fingerprint(key.fingerprint))],
      ["Signed by", el("span", { class: "code" }, key.signing_key)],
    ]));
  }
}

const lines = (pairs) => pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);

function agreed(facts) {
  return [
    ["Task", `${facts.task}, ${count(facts.parameters)} parameters`],
    ["Shuffle", `${count(facts.windows)} windows of k1 = ${count(facts.k1)}, k2 = ${count(facts.k2)}`],
    ["Values", `${facts.value_bits} bits, clipped to ±${facts.clip}`],
    ["Ciphertexts", `${count(facts.mask_ciphertexts)} in an update, ${count(facts.aggregate_ciphertexts)} in a sum`],
    ["Clients", `${count(facts.clients_per_round)} a round, at least ${count(facts.min_contributors)}`],
    ...(facts.contributors_warning ? [["Warning", el("span", { class: "notice" }, facts.contributors_warning)]] : []),
    ["Document", el("span", { class: "code" }, fingerprint(facts.document))],
  ];
}
