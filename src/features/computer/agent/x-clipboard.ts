/**
 * The clipboard of an X server: whoever has copied last owns it, and gives its text to each client that asks. So what a
 * holder writes is there while its hands are.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { atomsOf, eventKind, u16s, u32s, type XConnection } from "../../../core/agent/x-connection.ts";
import type { Clipboard } from "./hands.ts";

const requests = {
  createWindow: 1,
  changeProperty: 18,
  getProperty: 20,
  setSelectionOwner: 22,
  getSelectionOwner: 23,
  convertSelection: 24,
  sendEvent: 25,
} as const;
const events = { selectionClear: 29, selectionRequest: 30, selectionNotify: 31 } as const;

const none = 0;
const now = 0;
const atomType = 4;
const replace = 0;
const inputOnly = 2;

/** How long the client that owns the clipboard may take, ms. */
const ownerMs = 2000;

/** What is read at once, in units of 4 bytes: more than a holder may write. */
const mostUnits = 65_536;

/** A window that nobody sees: clipboards are between windows. */
const makeWindow = (x: XConnection): number => {
  const window = x.newId();
  x.send(requests.createWindow, 0, [window, x.root, u16s(0, 0, 1, 1, 0, inputOnly), none, none]);
  return window;
};

/** On a connection that has no other reader of events. */
export const createXClipboard = async (x: XConnection): Promise<Clipboard> => {
  const atoms = await atomsOf(x, ["CLIPBOARD", "UTF8_STRING", "TARGETS", "INCR", "HANDS_TEXT"]);
  const window = makeWindow(x);
  /** While this is the owner. */
  let own: Buffer | undefined;
  let told: ((property: number) => void) | undefined;

  /** Gives what another client asks for to its window; `none` as the property says that there is no such thing. */
  const give = (request: Buffer): void => {
    const at = (offset: number): number => request.readUInt32LE(offset);
    const [time, requestor, selection, target, asked] = [at(4), at(12), at(16), at(20), at(24)];
    const property = asked === none ? target : asked;
    const put = (type: number, format: 8 | 32, bytes: Buffer): number => {
      const head = [requestor, property, type, Buffer.from([format, 0, 0, 0]), bytes.length / (format / 8)];
      x.send(requests.changeProperty, replace, [...head, bytes]);
      return property;
    };
    let given: number = none;
    if (own && target === atoms.TARGETS) given = put(atomType, 32, u32s(atoms.TARGETS, atoms.UTF8_STRING));
    else if (own && target === atoms.UTF8_STRING) given = put(atoms.UTF8_STRING, 8, own);
    const notify = Buffer.concat([Buffer.from([events.selectionNotify, 0, 0, 0])]);
    const event = Buffer.concat([notify, u32s(time, requestor, selection, target, given, 0, 0)]);
    x.send(requests.sendEvent, 0, [requestor, 0, event]);
  };
  x.onEvent((event) => {
    const kind = eventKind(event);
    if (kind === events.selectionRequest) give(event);
    if (kind === events.selectionClear) own = undefined;
    if (kind === events.selectionNotify) told?.(event.readUInt32LE(20));
  });

  /** Asks the owner for its text; undefined when it has none, or does not answer. */
  const ask = async (): Promise<number | undefined> => {
    const answer = Promise.withResolvers<number>();
    told = answer.resolve;
    try {
      x.send(requests.convertSelection, 0, [window, atoms.CLIPBOARD, atoms.UTF8_STRING, atoms.HANDS_TEXT, now]);
      const property = await Promise.race([answer.promise, sleep(ownerMs, none, { ref: false })]);
      return property === none ? undefined : property;
    } finally {
      told = undefined;
    }
  };
  return {
    async read() {
      const owner = (await x.ask(requests.getSelectionOwner, 0, [atoms.CLIPBOARD])).readUInt32LE(8);
      if (owner === none) return "";
      const property = await ask();
      if (property === undefined) return "";
      const answer = await x.ask(requests.getProperty, 1, [window, property, none, 0, mostUnits]);
      const [type, rest, length] = [answer.readUInt32LE(8), answer.readUInt32LE(12), answer.readUInt32LE(16)];
      if (type === atoms.INCR || rest > 0)
        throw new CallRefused("payload_too_large", "the clipboard's text is larger than 256 KiB");
      return answer.subarray(32, 32 + length).toString();
    },
    async write(text) {
      own = Buffer.from(text);
      x.send(requests.setSelectionOwner, 0, [window, atoms.CLIPBOARD, now]);
      // An answer comes after what was sent before.
      await x.ask(requests.getSelectionOwner, 0, [atoms.CLIPBOARD]);
    },
  };
};
