/** The word on Python in the header: how far it has loaded, or that it has not, with a button to try again. */
import {effect} from "@preact/signals";
import {python} from "../python/index.ts";
import {site} from "../strings/en/site.ts";

export function showPython(): void {
  const place = document.querySelector<HTMLElement>("[data-python]")!;
  const bar = Object.assign(document.createElement("progress"), {max: 100});
  bar.setAttribute("aria-hidden", "true");
  const words = Object.assign(document.createElement("span"), {className: "words"});
  const retry = Object.assign(document.createElement("button"), {type: "button", className: "quiet", textContent: site.python.retry});
  retry.addEventListener("click", () => python.load());
  // spoken once when it begins, once when it ends: not every percent
  const spoken = Object.assign(document.createElement("span"), {className: "vh"});
  words.setAttribute("aria-hidden", "true");
  place.append(bar, words, spoken, retry);
  effect(() => {
    const {phase, percent, message} = python.state.value;
    bar.hidden = phase !== "loading";
    bar.value = percent;
    retry.hidden = phase !== "failed";
    place.toggleAttribute("data-failed", phase === "failed");
    place.title = message ?? "";
    words.textContent = phase === "idle" ? "" : phase === "loading" ? site.python.loading(percent) : site.python[phase];
    const news = phase === "loading" ? site.python.begins : phase === "idle" ? "" : site.python[phase];
    if (spoken.textContent !== news) spoken.textContent = news;
  });
}
