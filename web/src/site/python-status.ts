/** The word on Python in the header: how far it has loaded, with a button to stop that; or that it has not, with one to try again. */
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
  const cancel = Object.assign(document.createElement("button"), {type: "button", className: "quiet", textContent: site.python.cancel});
  cancel.setAttribute("aria-label", site.python.cancelLoading);
  cancel.addEventListener("click", () => python.stop());
  // spoken once when it begins, once when it ends: not every percent
  const spoken = Object.assign(document.createElement("span"), {className: "vh"});
  spoken.setAttribute("role", "status");
  words.setAttribute("aria-hidden", "true");
  place.append(bar, words, spoken, cancel, retry);
  effect(() => {
    const {phase, percent, message, reason} = python.state.value;
    bar.hidden = phase !== "loading";
    bar.value = percent;
    retry.hidden = phase !== "failed";
    cancel.hidden = phase !== "loading";
    const ended = reason ? site.python[reason] : site.python.failed;
    place.toggleAttribute("data-failed", phase === "failed");
    place.title = message ?? "";
    words.textContent = phase === "idle" ? "" : phase === "loading" ? site.python.loading(percent) : phase === "failed" ? ended : site.python[phase];
    const news = phase === "loading" ? site.python.begins : phase === "idle" ? "" : phase === "failed" ? ended : site.python[phase];
    if (spoken.textContent !== news) spoken.textContent = news;
  });
}
