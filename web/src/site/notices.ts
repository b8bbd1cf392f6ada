/** What must be said and stays until it is closed: that nothing is kept. */
import {effect} from "@preact/signals";
import {arrivals} from "./arrivals.ts";
import {store} from "../store/index.ts";
import {site} from "../strings/en/site.ts";

export function showNotices(): void {
  let closed: string | undefined;
  let notice: HTMLElement | undefined;
  effect(() => {
    void arrivals.value;
    const trouble = store.trouble.value;
    for (const place of document.querySelectorAll("[data-kept]")) place.textContent = trouble ? site.notKept[trouble] : site.progressStays;
    notice?.remove();
    if (!trouble || closed === trouble) return;
    notice = document.createElement("div");
    notice.className = "notice";
    notice.setAttribute("role", "status");
    const close = Object.assign(document.createElement("button"), {type: "button", textContent: "✕"});
    close.setAttribute("aria-label", site.dismiss);
    close.addEventListener("click", () => {
      closed = trouble;
      notice?.remove();
    });
    notice.append(Object.assign(document.createElement("p"), {textContent: site.notKept[trouble]}), close);
    document.body.append(notice);
  });
}
