// Keeps the first page of a kiosk and its files, so that a device that begins anew without a connection goes on. Nothing of
// a response is kept here: posts and the pages after them pass by.
const PATH = new URL(registration.scope).pathname, CACHE = `kiosk:${PATH}`, WAIT_MS = 10_000;
const FILES = new Set(["style", "script", "image"]);

const kept = (address) => caches.match(address, { cacheName: CACHE });

// A page of another version, theme or release names other files; those of the last one go.
const keep = async (answer) => {
  const cache = await caches.open(CACHE), text = (await answer.clone().text()).replaceAll("&#x2f;", "/").replaceAll("&amp;", "&");
  const named = new Set(Array.from(text.matchAll(/ (?:href|src)="(\/[^"#]+)"/g), (found) => found[1]));
  const files = [...named].filter((one) => !one.startsWith(PATH));
  await Promise.all(files.map(async (one) => await kept(one) ?? cache.add(one)));
  await cache.put(PATH, answer);
  for (const one of await cache.keys()) {
    const { pathname, search } = new URL(one.url);
    if (pathname !== PATH && !files.includes(pathname + search)) await cache.delete(one);
  }
};

const load = async () => {
  const answer = await fetch(PATH, { cache: "no-store", signal: AbortSignal.timeout(WAIT_MS) });
  if (answer.status >= 500) throw new Error(answer.status);
  if (answer.ok && !answer.redirected) await keep(answer.clone());
  else await caches.delete(CACHE);
  return answer;
};

addEventListener("install", (event) => event.waitUntil(load().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { method, url, destination } = event.request, { origin, pathname, search } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (pathname === PATH && !search) {
    event.respondWith(load().catch(async (error) => {
      const page = await kept(PATH);
      if (page) return page;
      throw error;
    }));
  } else if (FILES.has(destination)) {
    event.respondWith(kept(pathname + search).then((file) => file ?? fetch(event.request)));
  }
});
