import { expect, test } from "vitest";
import type { CdpSession } from "../../../platform/cdp/cdp-sessions.ts";
import { watchPage } from "./watch-page.ts";

const main = "the main frame";
const challenge = "https://shop.example/";
const inner = "https://challenges.example/turnstile";

/** A watch of a page whose events this test tells. */
const watching = () => {
  const listeners = new Map<string, (event: never) => void>();
  const page = { on: (name: string, listener: (event: never) => void) => void listeners.set(name, listener) };
  const watch = watchPage(page as unknown as CdpSession, main, challenge);
  const tell = (name: string, event: object): void => listeners.get(name)?.(event as never);
  return {
    watch,
    ask: (requestId: string, url: string, frameId = main) =>
      tell("Network.requestWillBeSent", { requestId, type: "Document", frameId, request: { url } }),
    answer: (requestId: string, status: number) =>
      tell("Network.responseReceived", {
        requestId,
        type: "Document",
        frameId: main,
        response: { status, headers: {} },
      }),
    show: (url: string) => tell("Page.frameNavigated", { frame: { id: main, url } }),
    load: () => tell("Page.loadEventFired", {}),
    fail: (requestId: string, errorText: string) => tell("Network.loadingFailed", { requestId, errorText }),
  };
};

const onChallenge = () => {
  const page = watching();
  page.ask("1", challenge);
  page.answer("1", 403);
  page.show(challenge);
  page.ask("2", inner, "another frame");
  page.load();
  return page;
};

// LOOKUP-60
test("frames, status and document are those of the page that is shown, and the way there is kept", () => {
  const { watch, ask, answer, show } = onChallenge();
  expect(watch).toMatchObject({ status: 403, url: challenge, redirects: [], isLoaded: true, documents: 1 });
  expect([...watch.frames]).toEqual([inner]);
  ask("3", "https://shop.example/goods");
  expect(watch).toMatchObject({ isNavigating: true, redirects: [challenge] });
  answer("3", 200);
  show("https://shop.example/goods");
  expect(watch).toMatchObject({ status: 200, isNavigating: false, isLoaded: false, documents: 2, navigations: 2 });
  expect([...watch.frames]).toEqual([]);
});

test("a navigation that comes to nothing leaves what is shown, and one that fails is an error", () => {
  const { watch, ask, fail } = onChallenge();
  ask("3", "https://shop.example/a-download");
  fail("3", "net::ERR_ABORTED");
  expect(watch).toMatchObject({ status: 403, url: challenge, redirects: [], error: undefined, isNavigating: false });
  expect([...watch.frames]).toEqual([inner]);
  ask("4", "https://gone.example/");
  fail("4", "net::ERR_CONNECTION_REFUSED");
  expect(watch).toMatchObject({ url: "https://gone.example/", error: "ERR_CONNECTION_REFUSED", isNavigating: false });
});

test("the empty document of a new page is not that of the visit", () => {
  const { watch, ask, show, load } = watching();
  watch.isNavigating = true;
  show("about:blank");
  load();
  expect(watch).toMatchObject({ documents: 0, isNavigating: true, isLoaded: false });
  ask("1", challenge);
  show(challenge);
  load();
  expect(watch).toMatchObject({ documents: 1, isNavigating: false, isLoaded: true });
});
