/** Input of viewers into one tab, as Chromium's own input: the page can't tell it from a person's. */
import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { DragData } from "./events.ts";
import type { ActingMessage } from "./messages.ts";

/** A page that hangs takes no input: what was sent to it is given up after this, ms. */
const timeoutMs = 10_000;

/** Inputs that the page has not handled yet. Above the first number moves are left out, above the second everything. */
const mostMoves = 8;
const mostPending = 64;

export type InputMessage = Extract<ActingMessage, { type: "mouse" | "wheel" | "touch" | "key" | "text" | "compose" }>;
type MouseMessage = Extract<ActingMessage, { type: "mouse" }>;
type KeyMessage = Extract<ActingMessage, { type: "key" }>;

type TabInput = {
  /** Sends an input to the page, after those before it; leaves it out when the page is far behind. */
  send(message: InputMessage): void;
  /** Chromium would begin to drag something out of the page: it is dragged by the next moves. */
  beginDrag(data: DragData): void;
};

const mouseTypes = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;
const touchTypes = { start: "touchStart", move: "touchMove", end: "touchEnd", cancel: "touchCancel" } as const;
const keypad = 3;

const mouseEvent = ({ action, x, y, modifiers, button, buttons, clicks }: MouseMessage) => ({
  type: mouseTypes[action],
  x,
  y,
  modifiers,
  button,
  buttons,
  clickCount: clicks,
});

const keyEvent = (message: KeyMessage): Protocol.Input.DispatchKeyEventRequest => {
  const { action, key, code, key_code, modifiers, location, repeat, text } = message;
  const down = text === undefined ? "rawKeyDown" : "keyDown";
  return {
    type: action === "up" ? "keyUp" : down,
    key,
    code,
    modifiers,
    windowsVirtualKeyCode: key_code,
    location,
    isKeypad: location === keypad,
    autoRepeat: repeat,
    ...(action === "down" && text !== undefined && { text }),
  };
};

/** Nothing is pressed yet. */
export const createTabInput = (cdp: CdpConnection, sessionId: string): TabInput => {
  let pending = 0;
  let drag: { data: DragData; isInside: boolean } | undefined;
  const call = { sessionId, timeoutMs };

  const run = (work: Promise<unknown>): void => {
    pending += 1;
    const done = (): void => {
      pending -= 1;
    };
    // A page that goes away or hangs takes nothing.
    work.then(done, done);
  };
  const dragTo = ({ x, y, modifiers, action }: MouseMessage): void => {
    if (!drag) return;
    const { data, isInside } = drag;
    const dispatch = (type: "dragEnter" | "dragOver" | "drop"): void =>
      run(cdp.send("Input.dispatchDragEvent", { type, x, y, modifiers, data }, call));
    if (!isInside) dispatch("dragEnter");
    drag.isInside = true;
    dispatch("dragOver");
    if (action !== "up") return;
    dispatch("drop");
    drag = undefined;
  };
  /** Only while a viewer holds the button down: the holder's own drags are none of ours. */
  const intercept = (enabled: boolean): void => run(cdp.send("Input.setInterceptDrags", { enabled }, call));
  const sendMouse = (message: MouseMessage): void => {
    if (message.action === "down" && message.button === "left") intercept(true);
    if (drag) dragTo(message);
    if (!drag) run(cdp.send("Input.dispatchMouseEvent", mouseEvent(message), call));
    if (message.action === "up" && message.button === "left") intercept(false);
  };
  const isMove = (message: InputMessage): boolean =>
    message.type === "wheel" || ((message.type === "mouse" || message.type === "touch") && message.action === "move");

  return {
    send(message) {
      if (pending >= (isMove(message) ? mostMoves : mostPending)) return;
      switch (message.type) {
        case "mouse":
          return sendMouse(message);
        case "wheel": {
          const { x, y, modifiers, delta_x: deltaX, delta_y: deltaY } = message;
          const wheel = { type: "mouseWheel", x, y, modifiers, deltaX, deltaY } as const;
          return run(cdp.send("Input.dispatchMouseEvent", wheel, call));
        }
        case "touch": {
          const { action, points: touchPoints, modifiers } = message;
          return run(cdp.send("Input.dispatchTouchEvent", { type: touchTypes[action], touchPoints, modifiers }, call));
        }
        case "key":
          return run(cdp.send("Input.dispatchKeyEvent", keyEvent(message), call));
        case "text":
          return run(cdp.send("Input.insertText", { text: message.text }, call));
        case "compose": {
          const { text, cursor } = message;
          const composition = { text, selectionStart: cursor, selectionEnd: cursor };
          return run(cdp.send("Input.imeSetComposition", composition, call));
        }
      }
    },
    beginDrag(data) {
      drag = { data, isInside: false };
    },
  };
};
