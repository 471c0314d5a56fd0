// A stream of server-sent events that comes back after every loss, from where it was.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const SILENCE = 25000; // the server says something every ten seconds at least

export class Live {
  #source = null;
  #timer = null;
  #watchdog = null;
  #pause = FIRST_PAUSE;
  #position = 0;
  #closed = false;

  // `handlers` by name of event; `tell` hears "live" or "lost"
  constructor(address, handlers, tell) {
    this.address = address;
    this.handlers = handlers;
    this.tell = tell;
    this.#open();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#watchdog);
    this.#source?.close();
  }

  #open() {
    const source = (this.#source = new EventSource(`${this.address}?after=${this.#position}`));
    source.onopen = () => {
      this.#pause = FIRST_PAUSE;
      this.tell("live");
      this.#mind();
    };
    source.onerror = () => this.#lost();
    source.addEventListener("alive", () => this.#mind());
    for (const [name, handler] of Object.entries(this.handlers))
      source.addEventListener(name, (event) => {
        this.#mind();
        this.#position = Number(event.lastEventId) || 0;
        handler(JSON.parse(event.data));
      });
    this.#mind();
  }

  #mind() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#lost(), SILENCE);
  }

  async #lost() {
    clearTimeout(this.#watchdog);
    this.#source.close();
    if (this.#closed) return;
    this.tell("lost");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#again(), this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }

  // A stream cannot see why it was refused: an ended session must not be asked for ever.
  async #again() {
    if (this.#closed) return;
    try {
      await ask("/dashboard/api/session");
    } catch (error) {
      if (error instanceof NotLoggedIn) return;
      this.#lost();
      return;
    }
    if (!this.#closed) this.#open();
  }
}

export class NotLoggedIn extends Error {}

export async function ask(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (answer.status === 401) {
    location.assign("/dashboard/login");
    throw new NotLoggedIn();
  }
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer.json();
}
