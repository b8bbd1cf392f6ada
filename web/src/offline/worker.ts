/** Keeps an exported course, so that it works without a network once it was visited: from lesson to lesson.

Pages come from the network while there is one, so that a new course is seen at once; else from the copy. Every other file
has a name that changes with its content: the copy is as good, and faster. Python is kept once it has been loaded.
*/
declare const FILES: string[]; // put in by the build: every file of the course but Python, from the site's root
declare const BUILD: string; // changes with any of them

type Scope = {
  registration: {scope: string};
  caches: CacheStorage;
  clients: {claim(): Promise<void>};
  addEventListener(type: "install" | "activate", listen: (event: {waitUntil(done: Promise<unknown>): void}) => void): void;
  addEventListener(type: "fetch", listen: (event: {request: Request; respondWith(answer: Promise<Response>): void}) => void): void;
};
const scope = self as unknown as Scope;
const PREFIX = `gradwalk:${scope.registration.scope}:`; // another course may live on the same host
const NAME = PREFIX + BUILD;
const LASTING = /^(assets|pyodide)\//;

const inSite = (url: string): string | undefined => (url.startsWith(scope.registration.scope) ? url.slice(scope.registration.scope.length).split(/[?#]/)[0] : undefined);

scope.addEventListener("install", (event) => event.waitUntil(fill()));
scope.addEventListener("activate", (event) => event.waitUntil(Promise.all([tidy(), scope.clients.claim()])));
scope.addEventListener("fetch", (event) => {
  const {method, mode, url} = event.request;
  const path = inSite(url);
  if (method !== "GET" || path === undefined) return;
  if (mode === "navigate" || path === "" || path.endsWith("/")) event.respondWith(page(event.request)); // opened, or fetched by the page before
  else if (LASTING.test(path)) event.respondWith(lasting(event.request));
  else if (FILES.includes(path)) event.respondWith(fresh(event.request));
});

/** Take a copy of everything; files that an earlier course had too are not fetched again. */
async function fill(): Promise<void> {
  const cache = await scope.caches.open(NAME);
  for (const file of FILES) {
    const url = new URL(file, scope.registration.scope).href;
    const known = LASTING.test(file) ? await scope.caches.match(url) : undefined;
    if (known) await cache.put(url, known);
    else await cache.add(new Request(url, {cache: LASTING.test(file) ? "default" : "reload"}));
  }
}

async function tidy(): Promise<void> {
  const names = await scope.caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== NAME).map((name) => scope.caches.delete(name)));
}

async function page(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch {
    const [address] = request.url.split(/[?#]/);
    const kept = await copyOf(address!);
    if (kept) return kept;
    // a page's own links are relative to its address, so another page is never shown in its place
    const other = (await copyOf(`${address}/`)) ? `${address}/` : new URL("404.html", scope.registration.scope).href;
    return Response.redirect(other);
  }
}

async function fresh(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await copyOf(request.url);
    if (kept) return kept;
    throw error;
  }
}

async function lasting(request: Request): Promise<Response> {
  const kept = await copyOf(request.url);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.status === 200) await (await scope.caches.open(NAME)).put(request.url, answer.clone());
  return answer;
}

const copyOf = async (url: string): Promise<Response | undefined> => (await scope.caches.open(NAME)).match(url, {ignoreSearch: true});
