/**
 * What the live view's URL and its sockets allow, and what many, slow and hostile viewers do to the browser and to each
 * other.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { filledPool } from "../../support/filled-pool.ts";
import { connectRawCdp } from "../../support/raw-cdp.ts";
import { rawRequest, upgrade } from "../../support/raw-http.ts";
import { embeddingOrigin } from "../../support/shared-settings.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";
import { openViewer as connectViewer, socketUrlOf, untilTab, type ViewerSocket } from "../../support/viewer-socket.ts";

const moving = `data:text/html,<title>moving</title><body><h1 id=now>0</h1><input id=text autofocus><script>
  const step = (at) => { now.textContent = at; requestAnimationFrame(step); };
  requestAnimationFrame(step);
</script>`;

type Session = Awaited<ReturnType<LocalProject["kernel"]["browserPools"]["acquire"]>> & {
  browser_live_view_read_only_url?: string;
};

let stack: LocalProject;
let poolId: string;
let session: Session;
let holder: Browser;
let page: Page;
beforeAll(async () => {
  stack = await startProject();
  poolId = (await filledPool(stack.kernel, { viewport: { width: 800, height: 600 }, reuse_policy: "keep" })).id;
  session = await stack.kernel.browserPools.acquire(poolId, {});
  holder = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
  page = (await holder.pages())[0] ?? (await holder.newPage());
  await page.goto(moving);
});
afterAll(async () => {
  await holder?.disconnect();
  await stack?.[Symbol.asyncDispose]();
});

const opened = new Set<ViewerSocket>();
const openViewer: typeof connectViewer = async (...wanted) => {
  const viewer = await connectViewer(...wanted);
  opened.add(viewer);
  return viewer;
};
afterEach(async () => {
  await Promise.all([...opened].map((viewer) => viewer.close()));
  opened.clear();
});

const url = (): string => session.browser_live_view_url ?? "";
const jwtOf = (of: string): string => new URL(of).searchParams.get("jwt") ?? "";
const withJwt = (of: string, jwt: string): string => {
  const other = new URL(of);
  other.searchParams.set("jwt", jwt);
  return other.href;
};
const typed = (): Promise<string> => page.$eval("#text", (element) => (element as unknown as { value: string }).value);
const press = (viewer: ViewerSocket, key: string): void => {
  for (const action of ["down", "up"])
    viewer.send({ type: "key", action, key, code: `Key${key.toUpperCase()}`, ...(action === "down" && { text: key }) });
};
/** Resolves when the viewer has got so many further pictures. */
const untilPictures = (viewer: ViewerSocket, more: number): Promise<true> => {
  const wanted = viewer.pictures() + more;
  return eventually(`${more} more pictures`, () => viewer.pictures() >= wanted || undefined);
};

// VIEW-1
test("the token of a view opens no CDP, that of CDP no view, and neither another session's", async () => {
  const statusOf = async (asked: string): Promise<number> => (await upgrade(asked)).status;
  const view = socketUrlOf(url());
  expect(await statusOf(view)).toBe(101);
  for (const token of [jwtOf(url()), jwtOf(session.browser_live_view_read_only_url ?? "")]) {
    expect(await statusOf(withJwt(session.cdp_ws_url, token))).toBe(401);
    expect(await statusOf(withJwt(session.webdriver_ws_url, token))).toBe(401);
  }
  for (const token of [jwtOf(session.cdp_ws_url), "", "x", stack.api_key]) {
    expect(await statusOf(withJwt(view, token))).toBe(401);
    const answer = await fetch(withJwt(url(), token));
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining("This link is not good")]);
  }
  const other = url().replace(session.session_id, "another");
  expect([await statusOf(socketUrlOf(other)), (await fetch(other)).status]).toEqual([401, 401]);
});

// VIEW-2
test("the page has no foreign script, tells nobody its address, and is embedded by allowed origins alone", async () => {
  const answer = await fetch(url());
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain(`frame-ancestors ${embeddingOrigin}`);
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const { pathname, search } = new URL(url());
  const foreign = await rawRequest(stack.url, {
    method: "GET",
    path: pathname + search,
    headers: { origin: "https://elsewhere.example" },
  });
  expect(foreign.status).toBe(403);
  expect((await upgrade(socketUrlOf(url()), { origin: "https://elsewhere.example" })).status).toBe(403);
  expect((await upgrade(socketUrlOf(url()), { origin: stack.url })).status).toBe(101);
});

// VIEW-7
test("a read-only viewer can't act, whatever it sends", async () => {
  const messages = [
    { type: "key", action: "down", key: "a", text: "a" },
    { type: "text", text: "a" },
    { type: "mouse", action: "down", x: 1, y: 1, button: "left", buttons: 1, clicks: 1 },
    { type: "copy" },
    { type: "navigate", url: "about:blank" },
    { type: "open_tab" },
    { type: "dialog", accept: true },
  ];
  const urls = [session.browser_live_view_read_only_url ?? "", `${url()}&readOnly=true`, `${url()}&glance=true`];
  const token = (session.browser_live_view_read_only_url ?? "").replace("&readOnly=true", "");
  for (const readOnly of [...urls, token])
    for (const message of messages) {
      const viewer = await openViewer(readOnly);
      viewer.send(message);
      expect(await viewer.closed).toEqual({ code: 1008, reason: "this view is read-only" });
      expect(viewer.told("hello")).toMatchObject({ read_only: true });
    }
  expect([await typed(), (await holder.pages()).length]).toEqual(["", 1]);
});

test("a glance gets the next picture when it has acknowledged the last one, and is no client of the session", async () => {
  const telemetry = { browser: { connection: { enabled: true } } };
  await stack.call("PATCH", `/browsers/${session.session_id}`, { telemetry });
  const glance = await openViewer(`${session.browser_live_view_read_only_url}&glance=true`, { acks: false });
  const first = await glance.nextPicture();
  expect([first.width, first.height]).toEqual([800, 600]);
  await sleep(300);
  expect(glance.pictures(), "the page moves all the time").toBe(1);
  glance.send({ type: "ack", frame: first.number });
  await glance.nextPicture();
  const counted = await openViewer(session.browser_live_view_read_only_url ?? "");
  const seen = await eventually("the viewer is told of", async () => {
    const answer = await stack.call("GET", `/browsers/${session.session_id}/telemetry/events?limit=100`);
    const records = (await answer.json()) as { event: { type: string } }[];
    const connects = records.filter(({ event }) => event.type === "live_view_connect");
    return connects.length > 0 && connects;
  });
  expect(seen, "the glance is not").toHaveLength(1);
  await counted.close();
});

// VIEW-9
test("messages that are none, too long or too many close the view that sends them, with a reason", async () => {
  const closeOf = async (send: (viewer: ViewerSocket) => void) => {
    const viewer = await openViewer(url());
    send(viewer);
    return viewer.closed;
  };
  const wrong = { code: 1003, reason: "not a message of the live view" };
  for (const text of ["", "{", "[]", '{"type":"eval"}', '{"type":"mouse","x":"1"}', '{"type":"key","action":"down"}'])
    expect(await closeOf(({ socket }) => socket.send(text))).toEqual(wrong);
  expect(await closeOf(({ socket }) => socket.send(Buffer.alloc(8)))).toEqual(wrong);
  expect((await closeOf(({ socket }) => socket.send("x".repeat(300_000)))).code).toBe(1009);
  const flood = await closeOf((viewer) => {
    for (let sent = 0; sent < 2000; sent += 1) viewer.send({ type: "ack", frame: 0 });
  });
  expect(flood).toEqual({ code: 1008, reason: "too many messages" });
  // What only CDP may open.
  const viewer = await openViewer(url());
  const before = page.url();
  await eventually("it sees the page", () => viewer.latest());
  for (const bad of ["file:///etc/passwd", "chrome://version", "javascript:document.title='got it'"])
    viewer.send({ type: "navigate", url: bad });
  press(viewer, "a");
  await eventually("the page goes on taking keys", async () => (await typed()) === "a");
  expect(page.url()).toBe(before);
});

// VIEW-10
test("twenty viewers see the same tab, and one that reads nothing costs the others no picture", async () => {
  const viewers = await Promise.all(Array.from({ length: 20 }, () => openViewer(url())));
  const silent = await openViewer(url(), { acks: false });
  silent.socket.pause();
  await Promise.all(viewers.map((viewer) => untilPictures(viewer, 5)));
  silent.socket.resume();
  await eventually("it gets one", () => silent.latest());
  const before = silent.pictures();
  await untilPictures(viewers[0] as ViewerSocket, 20);
  // It has acknowledged none: it gets no second one, however many there are.
  expect(silent.pictures()).toBe(before);
  const newest = viewers[0]?.latest()?.number ?? 0;
  silent.send({ type: "ack", frame: silent.latest()?.number });
  await eventually("it gets the newest one", () => (silent.latest()?.number ?? 0) >= newest || undefined);
});

// VIEW-10
test("no more viewers are let in than leave room for the holder's own connections", async () => {
  const viewers = await Promise.all(Array.from({ length: 32 }, () => openViewer(url())));
  expect((await upgrade(socketUrlOf(url()))).status).toBe(429);
  const cdp = await connectRawCdp(session.cdp_ws_url);
  await cdp.close();
  await Promise.all(viewers.map((viewer) => viewer.close()));
  await eventually("there is room again", async () => (await upgrade(socketUrlOf(url()))).status === 101);
});

// VIEW-10
test("the last change of a page is shown, also to a viewer that was slow", async () => {
  await page.goto("data:text/html,<title>still</title><body><h1 id=count>0</h1>");
  const viewer = await openViewer(url(), { acks: false });
  const first = await eventually("it gets one", () => viewer.latest());
  await page.evaluate(`(async () => {
    for (let at = 1; at <= 30; at += 1) { count.textContent = at; await new Promise(requestAnimationFrame); }
  })()`);
  const reference = await openViewer(url());
  await eventually("both see the same", () => {
    const [mine, its] = [viewer.latest(), reference.latest()];
    viewer.send({ type: "ack", frame: mine?.number });
    return (mine && its && mine.jpeg.equals(its.jpeg) && !mine.jpeg.equals(first.jpeg)) || undefined;
  });
  await page.goto(moving);
});

// VIEW-5
test("the newest tab is shown at first, and the tabs are in the order of their making, which nobody looked at", async () => {
  const names = Array.from({ length: 8 }, (_, at) => `made-${at}`);
  const made: Page[] = [];
  for (const name of names) {
    const tab = await holder.newPage();
    await tab.goto(`data:text/html,<title>${name}</title>`);
    made.push(tab);
  }
  const viewer = await openViewer(url());
  const newest = await untilTab(viewer, "made-7");
  expect(viewer.told("tabs")?.tabs?.map(({ title }) => title)).toEqual(["moving", ...names]);
  expect(viewer.told("tab")?.shown).toBe(newest);
  await made.pop()?.close();
  const before = await untilTab(viewer, "made-6");
  await eventually("the newest of the others is shown", () => viewer.told("tab")?.shown === before || undefined);
  for (const tab of made) await tab.close();
});

// VIEW-11
test("a page finds nothing of the view but a tab that is looked at", async () => {
  const requests: string[] = [];
  const site: Server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.referer ?? ""} ${request.headers.origin ?? ""}`);
    response.setHeader("content-type", "text/html");
    response.end(`<title>curious</title><body><input id=text><script>
      const names = Object.getOwnPropertyNames(window).length + document.documentElement.outerHTML.length;
      const same = () => Object.getOwnPropertyNames(window).length + document.documentElement.outerHTML.length === names;
    </script>`);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const viewer = await openViewer(url());
  await viewer.nextPicture();
  viewer.send({ type: "navigate", url: address });
  await untilTab(viewer, "curious");
  viewer.send({ type: "copy" });
  await eventually("the copy was answered", () => viewer.told("copied") !== undefined || undefined);
  // Names of top-level constants are none of the window's properties.
  expect(await page.evaluate("same()")).toBe(true);
  expect(requests.filter((line) => /gateway|jwt/.test(line))).toEqual([]);
  expect(requests.some((line) => line.startsWith("/ "))).toBe(true);
  await viewer.close();
  site.close();
  await page.goto(moving);
});

// VIEW-8, LEASE-20, LEASE-14
test("the end of a lease cuts its viewers, and their URL never shows the browser's next lease", async () => {
  const viewer = await openViewer(url());
  await viewer.nextPicture();
  const former = session;
  await stack.kernel.browserPools.release(poolId, { session_id: former.session_id });
  expect(await viewer.closed).toEqual({ code: 4000, reason: "the session has ended: released" });
  session = await stack.kernel.browserPools.acquire(poolId, { acquire_timeout_seconds: 30 });
  const formerUrl = former.browser_live_view_url ?? "";
  expect((await upgrade(socketUrlOf(formerUrl))).status).toBe(404);
  expect((await upgrade(withJwt(socketUrlOf(url()), jwtOf(formerUrl)))).status).toBe(401);
  // The same browser, by its own URL.
  const next = await openViewer(url());
  await untilTab(next, "moving");
  await next.close();
});
