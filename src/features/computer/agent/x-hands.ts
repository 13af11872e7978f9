/** Hands on a screen of its own: mouse and keyboard by XTEST, pictures by GetImage, the pointer by XFIXES. */
import { extensionOpcode, u16s, type XConnection } from "../../../core/agent/x-connection.ts";
import type { Button, Hands } from "./hands.ts";
import { keyNamed } from "./keys.ts";
import { drawPointer, type Pointer } from "./pointer.ts";
import { createXClipboard } from "./x-clipboard.ts";
import { readKeyboard } from "./x-keyboard.ts";
import { createXPing } from "./x-ping.ts";

const requests = { getGeometry: 14, queryPointer: 38, getImage: 73 } as const;
const fakeInput = 2;
const getCursorImage = 4;
const events = { keyPress: 2, keyRelease: 3, buttonPress: 4, buttonRelease: 5, motion: 6 } as const;

/** A picture with all pixels as the server has them. */
const zPixmap = 2;
const allPlanes = 0xffffffff;

const shift = keyNamed("Shift") as number;

/** Buttons of the wheel: up, down, left, right. */
const wheelButtons = { up: 4, down: 5, left: 6, right: 7 } as const;

/** BGRA as RGBA, in place. */
const asRgba = (pixels: Buffer): Buffer => {
  for (let at = 0; at < pixels.length; at += 4) {
    const blue = pixels[at] as number;
    pixels[at] = pixels[at + 2] as number;
    pixels[at + 2] = blue;
  }
  return pixels;
};

/** The pointer as the server has it: premultiplied BGRA. */
const pointerIn = (answer: Buffer): Pointer => ({
  x: answer.readInt16LE(8) - answer.readUInt16LE(16),
  y: answer.readInt16LE(10) - answer.readUInt16LE(18),
  width: answer.readUInt16LE(12),
  height: answer.readUInt16LE(14),
  pixels: asRgba(Buffer.from(answer.subarray(32))),
});

/** `x`: is closed with the hands. */
export const createXHands = async (x: XConnection): Promise<Hands> => {
  const xtest = await extensionOpcode(x, "XTEST");
  const xfixes = await extensionOpcode(x, "XFIXES");
  await x.ask(xfixes, 0, [4, 0]);
  const keyboard = await readKeyboard(x);
  const ping = await createXPing(x);

  /** Resolves when the server has done it: an answer comes after what was sent before. */
  const fake = async (type: number, detail: number, place = { x: 0, y: 0 }): Promise<void> => {
    const head = Buffer.from([type, detail, 0, 0]);
    x.send(xtest, fakeInput, [head, 0, type === events.motion ? x.root : 0, 0, 0, u16s(place.x, place.y), 0, 0]);
    await x.ask(requests.queryPointer, 0, [x.root]);
  };
  const press = async (code: number, isDown: boolean): Promise<void> =>
    fake(isDown ? events.keyPress : events.keyRelease, code);
  const held = new Set<Button>();
  const button: Hands["button"] = (number, isDown) => {
    if (isDown) held.add(number);
    else held.delete(number);
    return fake(isDown ? events.buttonPress : events.buttonRelease, number);
  };
  const notches = async (number: number, count: number): Promise<void> => {
    for (let done = 0; done < count; done += 1) {
      await fake(events.buttonPress, number);
      await fake(events.buttonRelease, number);
    }
  };
  return {
    isAlive: x.isOpen,
    clipboard: await createXClipboard(x),
    async size() {
      const answer = await x.ask(requests.getGeometry, 0, [x.root]);
      return { width: answer.readUInt16LE(16), height: answer.readUInt16LE(18) };
    },
    async position() {
      const answer = await x.ask(requests.queryPointer, 0, [x.root]);
      return { x: answer.readInt16LE(16), y: answer.readInt16LE(18) };
    },
    move: (to) => fake(events.motion, 0, to),
    button,
    async wheel({ x: right, y: down }) {
      await notches(down > 0 ? wheelButtons.down : wheelButtons.up, Math.abs(down));
      await notches(right > 0 ? wheelButtons.right : wheelButtons.left, Math.abs(right));
    },
    async prepareKeys(keysyms) {
      // What was typed is read by the keyboard that is there when the program takes it.
      if (keyboard.lacks(keysyms)) await ping();
      const { ready, isChanged } = keyboard.provide(keysyms);
      if (isChanged) await ping();
      return ready;
    },
    async key(keysym, isDown) {
      const key = keyboard.keyOf(keysym);
      if (!key) throw new Error(`the keyboard has no keysym ${keysym}`);
      const shiftKey = keyboard.keyOf(shift);
      if (key.withShift && isDown && shiftKey) await press(shiftKey.code, true);
      await press(key.code, isDown);
      if (key.withShift && !isDown && shiftKey) await press(shiftKey.code, false);
    },
    settle: ping,
    async picture(region, { pointer }) {
      const { x: left, y: top, width, height } = region;
      const image = await x.ask(requests.getImage, zPixmap, [x.root, u16s(left, top, width, height), allPlanes]);
      const pixels = asRgba(Buffer.from(image.subarray(32, 32 + width * height * 4)));
      if (pointer) drawPointer(pixels, region, pointerIn(await x.ask(xfixes, getCursorImage, [])));
      return pixels;
    },
    async [Symbol.asyncDispose]() {
      try {
        for (const one of held) await button(one, false);
        await keyboard.restore();
      } catch {
        // The screen has ended.
      } finally {
        x[Symbol.dispose]();
      }
    },
  };
};
