// Which page is shown, and who may see it.
import { el } from "./dom.js";
import { ask } from "./live.js";
import { runPage } from "./run.js";
import { runsPage } from "./runs.js";

const main = document.getElementById("main");
const connection = document.getElementById("connection");
const trail = document.getElementById("trail");
let leave = () => {};
let formToken = "";

const WORDS = { live: "Live", lost: "Connection lost, trying again", wait: "Connecting" };

function tell(state) {
  connection.className = `connection ${state}`;
  if (connection.textContent !== WORDS[state]) connection.textContent = WORDS[state];
}

function route() {
  if (location.hash === "#main") return;
  leave();
  tell("wait");
  const run = /^#run\/([a-z0-9-]{1,63})$/.exec(location.hash)?.[1];
  document.title = run ? `${run}: FedPerm dashboard` : "FedPerm dashboard";
  trail.replaceChildren(...(run ? [el("a", { href: "#runs" }, "Runs"), " / ", run] : []));
  leave = run ? runPage(main, run, tell) : runsPage(main, tell);
  if (document.activeElement !== document.body) main.focus();
}

document.getElementById("logout").addEventListener("click", async () => {
  await fetch("/dashboard/logout", { method: "POST", headers: { "X-Form-Token": formToken } });
  location.assign("/dashboard/login");
});

addEventListener("hashchange", route);
formToken = (await ask("/dashboard/api/session")).form_token;
route();
