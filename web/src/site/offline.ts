/** An exported course keeps a copy of itself in the browser. One that `gradwalk learn` serves does not: it is on this machine anyway. */
export function keepOffline(): void {
  if (document.documentElement.dataset.offline === undefined || !("serviceWorker" in navigator)) return;
  const begin = () => void navigator.serviceWorker.register(new URL("../offline.js", import.meta.url)).catch(() => {}); // refused: the course works online
  if (document.readyState === "complete") begin();
  else addEventListener("load", begin); // what the reader waits for comes first
}
