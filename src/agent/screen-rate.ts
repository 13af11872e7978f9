/** The refresh rate of a virtual screen, by the extension RANDR: Chromium draws as often as the screen's mode says. */
import { u16s, type XConnection } from "./x-connection.ts";

const queryExtension = 98;
const randr = { queryVersion: 0, createMode: 16, addOutputMode: 18, setCrtcConfig: 21, getScreenResources: 25 };

/** A mode's rate is its clock, Hz, divided by the pixels of a frame. A frame of a million gives every whole rate exactly. */
const frame = { columns: 1000, rows: 1000 };

/** Faster screens do not exist, and a clock has 32 bits. */
const highestRate = 1000;

const modeName = Buffer.from("browser");

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

/** The description of a mode, without an id: the server gives one. */
const modeOf = (width: number, height: number, rate: number): (number | Buffer)[] => {
  const { columns, rows } = frame;
  return [
    0,
    u16s(width, height),
    Math.min(rate, highestRate) * columns * rows,
    u16s(columns, columns, columns, 0, rows, rows, rows, modeName.length),
    0,
    modeName,
  ];
};

/** Gives the screen a mode with its present size and this rate, Hz; more than 1000 counts as 1000. */
export const setScreenRate = async (
  x: XConnection,
  { width, height, rate }: { width: number; height: number; rate: number },
): Promise<void> => {
  const opcode = await extensionOpcode(x);
  await x.ask(opcode, randr.queryVersion, [1, 5]);
  const created = await x.ask(opcode, randr.createMode, [x.root, ...modeOf(width, height, rate)]);
  const mode = created.readUInt32LE(8);
  const { output } = await resourcesOf(x, opcode);
  x.send(opcode, randr.addOutputMode, [output, mode]);
  // The new mode has changed the configuration's time, by which the server knows whether the caller's view is current.
  const { controller, configTime } = await resourcesOf(x, opcode);
  const noRotation = u16s(1, 0);
  const set = await x.ask(opcode, randr.setCrtcConfig, [controller, 0, configTime, 0, mode, noRotation, output]);
  if (set[1] !== 0) throw new Error(`the X server refused a mode of ${rate} Hz (status ${set[1]})`);
};
