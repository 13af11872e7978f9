/**
 * The mouse, the keyboard, the screen and the clipboard of the session that holds the browser. Its hands are there from
 * its first call to the end of its lease, or until its browser is started anew; calls are carried out one after the
 * other.
 */
import type { Browser } from "../../../core/agent/browser.ts";
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import { connectDevTools } from "../../../core/agent/connect-dev-tools.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import type { FillTimes } from "../../../core/agent/shown-pages.ts";
import {
  batch,
  clickMouse,
  dragMouse,
  mostMs,
  mousePosition,
  moveMouse,
  pressKey,
  readClipboard,
  screenshot,
  scroll,
  setCursor,
  typeText,
  writeClipboard,
} from "../calls.ts";
import { type ActionDeps, perform, performAll } from "./actions.ts";
import { createCdpHands } from "./cdp-hands.ts";
import type { Hands } from "./hands.ts";
import { takePicture } from "./take-picture.ts";
import { createXHands } from "./x-hands.ts";

/** Time to connect to a screen, ms. */
const connectMs = 5000;

type ComputerDeps = {
  browser: Pick<Browser, "devTools" | "pageOrder" | "screen">;
  shownPages: Pick<FillTimes, "isFilling" | "hasFilled" | "onFill" | "mayShow">;
  /** From 0 up to 1; left out, by chance. */
  random?(): number;
};

type Computer = LeaseFollower & { handlers: readonly CallHandler[] };

/** Hands that can't be made leave no connection behind. */
const openHands = async ({ browser }: ComputerDeps): Promise<Hands> => {
  await using opened = new AsyncDisposableStack();
  const screen = browser.screen();
  if (!screen) {
    const hands = await createCdpHands(opened.use(await connectDevTools(browser.devTools())), browser.pageOrder);
    opened.move();
    return hands;
  }
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectMs);
  try {
    const hands = await createXHands(opened.use(await screen.connect(late.signal)));
    opened.move();
    return hands;
  } finally {
    clearTimeout(timer);
  }
};

/** Of the lease of the moment. No hands yet. */
export const createComputer = (deps: ComputerDeps): Computer => {
  const { browser, shownPages, random = Math.random } = deps;
  const pointer = { isShown: true };
  let hands: Hands | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const letGo = async (): Promise<void> => {
    const former = hands;
    hands = undefined;
    await former?.[Symbol.asyncDispose]();
  };
  const withHands = async <T>(signal: AbortSignal, work: (deps: ActionDeps) => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    if (hands && !hands.isAlive()) await letGo();
    hands ??= await openHands(deps);
    const late = AbortSignal.timeout(mostMs);
    try {
      return await work({ hands, random, pointer, signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      if (error instanceof CallRefused || signal.aborted) throw error;
      if (late.aborted) throw new CallRefused("bad_request", `it takes more than ${mostMs / 1000} s`, { cause: error });
      throw new CallRefused("browser_unhealthy", "the browser did not take it", { cause: error });
    }
  };
  const carryOut = <T>(signal: AbortSignal, work: (deps: ActionDeps) => Promise<T>): Promise<T> =>
    inTurn(() => withHands(signal, work));

  /** A call that does one thing. */
  const one = async (
    type: Parameters<typeof perform>[0],
    { body, signal }: { body: unknown; signal: AbortSignal },
  ): Promise<object> => {
    await carryOut(signal, (acting) => perform(type, body as never, acting));
    return {};
  };
  const handlers = [
    callHandler(clickMouse, (call) => one("click_mouse", call)),
    callHandler(moveMouse, (call) => one("move_mouse", call)),
    callHandler(dragMouse, (call) => one("drag_mouse", call)),
    callHandler(scroll, (call) => one("scroll", call)),
    callHandler(pressKey, (call) => one("press_key", call)),
    callHandler(typeText, (call) => one("type_text", call)),
    callHandler(setCursor, async (call) => {
      await one("set_cursor", call);
      return { value: { ok: true } };
    }),
    callHandler(batch, async ({ body, signal }) => {
      await carryOut(signal, (acting) => performAll(body.actions, acting));
      return {};
    }),
    callHandler(mousePosition, async ({ signal }) => ({
      value: await carryOut(signal, (acting) => acting.hands.position()),
    })),
    callHandler(screenshot, async ({ body, signal }) => {
      const png = await carryOut(signal, (acting) =>
        takePicture(body.region, { hands: acting.hands, browser, shownPages, pointer }),
      );
      return { bytes: [png], length: png.length };
    }),
    callHandler(readClipboard, async ({ signal }) => ({
      value: { text: await carryOut(signal, (acting) => acting.hands.clipboard.read()) },
    })),
    callHandler(writeClipboard, async ({ body, signal }) => {
      await carryOut(signal, (acting) => acting.hands.clipboard.write(body.text));
      return {};
    }),
  ];
  const end = (): void => {
    pointer.isShown = true;
    void inTurn(letGo).catch(() => undefined);
  };
  return {
    handlers,
    begin: () => undefined,
    end,
    changed(_outcome, restarted) {
      if (restarted) end();
    },
  };
};
