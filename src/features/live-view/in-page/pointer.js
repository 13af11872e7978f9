/** Mouse, wheel and touch. Moves are sent once for each picture of this screen, the newest one. */
import { modifiersOf } from "./keyboard.js";

/** @typedef {import("./connection.js").Message} Message */
/** @typedef {{ x: number, y: number, scale: number }} Point */

/** By `MouseEvent.button`. */
const buttons = ["left", "middle", "right", "back", "forward"];
/** Pixels of a line and of a page, by `WheelEvent.deltaMode`. */
const wheelUnits = [1, 40, 800];
const touchActions = { touchstart: "start", touchmove: "move", touchend: "end", touchcancel: "cancel" };

/**
 * @param {HTMLElement} element
 * @param {{ send(message: Message): void, pointAt(place: { clientX: number, clientY: number }): Point }} to
 */
export const capturePointer = (element, { send, pointAt }) => {
  /** @type {Message | undefined} */
  let waiting;
  const flush = () => {
    if (waiting) send(waiting);
    waiting = undefined;
  };
  const sendSoon = (/** @type {Message} */ message) => {
    if (!waiting) requestAnimationFrame(flush);
    waiting = message;
  };
  const sendNow = (/** @type {Message} */ message) => {
    flush();
    send(message);
  };
  const mouse = (/** @type {MouseEvent} */ event, /** @type {"move" | "down" | "up"} */ action) => {
    const { x, y } = pointAt(event);
    const first = event.buttons & 1 ? "left" : event.buttons & 2 ? "right" : event.buttons & 4 ? "middle" : "none";
    const button = action === "move" ? first : (buttons[event.button] ?? "none");
    const clicks = action === "move" ? 0 : Math.min(3, event.detail);
    return { type: "mouse", action, x, y, modifiers: modifiersOf(event), button, buttons: event.buttons, clicks };
  };
  const onMove = (/** @type {MouseEvent} */ event) => sendSoon(mouse(event, "move"));
  const onUp = (/** @type {MouseEvent} */ event) => {
    sendNow(mouse(event, "up"));
    if (event.buttons !== 0) return;
    removeEventListener("mousemove", onMove);
    removeEventListener("mouseup", onUp);
  };

  element.addEventListener("mousemove", (event) => {
    if (event.buttons === 0) onMove(event);
  });
  element.addEventListener("mousedown", (event) => {
    event.preventDefault();
    element.focus();
    sendNow(mouse(event, "down"));
    // A drag goes on outside of the picture.
    addEventListener("mousemove", onMove);
    addEventListener("mouseup", onUp);
  });
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = pointAt(event);
      const unit = wheelUnits[event.deltaMode] ?? 1;
      const before = waiting?.type === "wheel" ? waiting : { delta_x: 0, delta_y: 0 };
      sendSoon({
        type: "wheel",
        x,
        y,
        modifiers: modifiersOf(event),
        delta_x: Number(before.delta_x) + event.deltaX * unit,
        delta_y: Number(before.delta_y) + event.deltaY * unit,
      });
    },
    { passive: false },
  );
  for (const [name, action] of Object.entries(touchActions))
    element.addEventListener(
      name,
      (event) => {
        event.preventDefault();
        const { touches } = /** @type {TouchEvent} */ (event);
        if (action === "start") element.focus();
        const points = [...touches].slice(0, 10).map((touch, id) => {
          const { x, y } = pointAt(touch);
          return { x, y, id };
        });
        const message = { type: "touch", action, points };
        if (action === "move") sendSoon(message);
        else sendNow(message);
      },
      { passive: false },
    );
};
