/**
 * The mode of a virtual screen, by the extension RANDR: its size, and its refresh rate, by which Chromium draws. Xvfb has memory for the
 * size that it was started with, so no mode can be larger.
 */
import { randomUUID } from "node:crypto";
import { u16s, type XConnection } from "./x-connection.ts";

const getGeometry = 14;
const grabServer = 36;
const ungrabServer = 37;
const queryExtension = 98;
const randr = {
  queryVersion: 0,
  getScreenSizeRange: 6,
  setScreenSize: 7,
  createMode: 16,
  destroyMode: 17,
  addOutputMode: 18,
  deleteOutputMode: 19,
  setCrtcConfig: 21,
  getScreenResources: 25,
};

/** A mode's rate is its clock, Hz, divided by the pixels of a frame. A frame of a million gives every whole rate exactly. */
const frame = { columns: 1000, rows: 1000 };

/** Faster screens do not exist, and a clock has 32 bits. */
const highestRate = 1000;

/** `rate`: Hz; more than 1000 counts as 1000. */
type ScreenMode = { width: number; height: number; rate: number };

/** The size that the screen says it has in millimetres. Chromium reads none of it here; 0 is not allowed. */
const millimetres = [300, 200] as const;

const extensionOpcode = async (x: XConnection): Promise<number> => {
  const name = Buffer.from("RANDR");
  const answer = await x.ask(queryExtension, 0, [u16s(name.length, 0), name]);
  if (answer[8] !== 1) throw new Error("the X server has no RANDR");
  return answer.readUInt8(9);
};

/** The screen's only controller and output. */
const resourcesOf = async (x: XConnection, opcode: number) => {
  const answer = await x.ask(opcode, randr.getScreenResources, [x.root]);
  const controllers = answer.readUInt16LE(16);
  return {
    configTime: answer.readUInt32LE(12),
    controller: answer.readUInt32LE(32),
    output: answer.readUInt32LE(32 + 4 * controllers),
  };
};

const sizeOf = async (x: XConnection): Promise<{ width: number; height: number }> => {
  const answer = await x.ask(getGeometry, 0, [x.root]);
  return { width: answer.readUInt16LE(16), height: answer.readUInt16LE(18) };
};

/** Whether the screen's memory has room for this size. */
const hasRoom = async (x: XConnection, opcode: number, { width, height }: ScreenMode): Promise<boolean> => {
  const range = await x.ask(opcode, randr.getScreenSizeRange, [x.root]);
  return width <= range.readUInt16LE(12) && height <= range.readUInt16LE(14);
};

/** The description of a mode, without an id: the server gives one. No two modes of a screen may have the same name. */
const modeOf = ({ width, height, rate }: ScreenMode, name: Buffer): (number | Buffer)[] => {
  const { columns, rows } = frame;
  return [
    0,
    u16s(width, height),
    Math.min(rate, highestRate) * columns * rows,
    u16s(columns, columns, columns, 0, rows, rows, rows, name.length),
    0,
    name,
  ];
};

/**
 * Gives the screen this mode. `former`: what an earlier call has returned; it is removed. Returns a name for the new one, or
 * `too_small`: then nothing has changed.
 */
export const setScreenMode = async (
  x: XConnection,
  mode: ScreenMode,
  former: number | undefined,
): Promise<number | "too_small"> => {
  const opcode = await extensionOpcode(x);
  await x.ask(opcode, randr.queryVersion, [1, 5]);
  if (!(await hasRoom(x, opcode, mode))) return "too_small";
  const name = Buffer.from(`browser-${randomUUID()}`);
  const created = await x.ask(opcode, randr.createMode, [x.root, ...modeOf(mode, name)]);
  const id = created.readUInt32LE(8);
  const { output } = await resourcesOf(x, opcode);
  // What draws in Chromium asks for the rate when an output gets a mode, and not again when the controller takes it: until then its question
  // has to wait. The connection's end ends this too.
  x.send(grabServer, 0, []);
  x.send(opcode, randr.addOutputMode, [output, id]);
  const resize = (width: number, height: number): void =>
    x.send(opcode, randr.setScreenSize, [x.root, u16s(width, height), ...millimetres]);
  const before = await sizeOf(x);
  // The screen must hold the mode that it leaves, and the one that it gets.
  resize(Math.max(before.width, mode.width), Math.max(before.height, mode.height));
  // All this has changed the configuration's time, by which the server knows whether the caller's view is current.
  const { controller, configTime } = await resourcesOf(x, opcode);
  const noRotation = u16s(1, 0);
  const set = await x.ask(opcode, randr.setCrtcConfig, [controller, 0, configTime, 0, id, noRotation, output]);
  if (set[1] !== 0) throw new Error(`the X server refused a mode of ${mode.rate} Hz (status ${set[1]})`);
  x.send(ungrabServer, 0, []);
  resize(mode.width, mode.height);
  if (former !== undefined) {
    x.send(opcode, randr.deleteOutputMode, [output, former]);
    x.send(opcode, randr.destroyMode, [former]);
  }
  // Its answer comes after errors of what was sent before it.
  await sizeOf(x);
  return id;
};
