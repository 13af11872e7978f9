/**
 * Whether the program in front has taken what was sent to it: it answers a ping, as window managers send them, after
 * the events that came before (_NET_WM_PING of the Extended Window Manager Hints).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { atomsOf, eventKind, u32s, type XConnection } from "../../../core/agent/x-connection.ts";

const requests = { changeWindowAttributes: 2, sendEvent: 25, getInputFocus: 43 } as const;
const clientMessage = 33;
const eventMask = 0x800;
const substructureNotify = 0x80000;
/** The focus is on no window, or on the one below the mouse. */
const lastOfNoWindow = 1;

/** A program that is too busy to answer is waited for no longer, ms. */
const busyMs = 1000;

/** Resolves when it has answered, or is not to be waited for any longer. */
type XPing = () => Promise<void>;

/** For programs on the screen of this connection. */
export const createXPing = async (x: XConnection): Promise<XPing> => {
  const atoms = await atomsOf(x, ["WM_PROTOCOLS", "_NET_WM_PING"]);
  // Answers go to the root window.
  x.send(requests.changeWindowAttributes, 0, [x.root, eventMask, substructureNotify]);
  let number = 0;
  let answered: ((number: number) => void) | undefined;
  x.onEvent((event) => {
    if (eventKind(event) === clientMessage && event.readUInt32LE(12) === atoms._NET_WM_PING)
      answered?.(event.readUInt32LE(16));
  });
  return async () => {
    const window = (await x.ask(requests.getInputFocus, 0, [])).readUInt32LE(8);
    if (window <= lastOfNoWindow) return;
    number += 1;
    const mine = number;
    const answer = Promise.withResolvers<void>();
    answered = (other) => other === mine && answer.resolve();
    const head = Buffer.from([clientMessage, 32, 0, 0]);
    const message = u32s(window, atoms.WM_PROTOCOLS, atoms._NET_WM_PING, mine, window, 0, 0);
    x.send(requests.sendEvent, 0, [window, 0, Buffer.concat([head, message])]);
    const late = new AbortController();
    await Promise.race([answer.promise, sleep(busyMs, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
  };
};
