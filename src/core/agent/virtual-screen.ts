import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GroupProcess, startGroupProcess } from "../../platform/process/group-process.ts";
import type { AgentViewport } from "../protocol/agent-api.ts";
import { connectX, extensionOpcode, u16s, type XConnection } from "./x-connection.ts";

// The mode of a virtual screen, by the extension RANDR: its size, and its refresh rate, by which Chromium draws. Xvfb
// has memory for the size that it was started with, so no mode can be larger.

const getGeometry = 14;
const grabServer = 36;
const ungrabServer = 37;
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

/**
 * A mode's rate is its clock, Hz, divided by the pixels of a frame. A frame of a million gives every whole rate
 * exactly.
 */
const frame = { columns: 1000, rows: 1000 };

/** Faster screens do not exist, and a clock has 32 bits. */
const highestRate = 1000;

/** `rate`: Hz; more than 1000 counts as 1000. */
type ScreenMode = { width: number; height: number; rate: number };

/** The size that the screen says it has in millimetres. Chromium reads none of it here; 0 is not allowed. */
const millimetres = [300, 200] as const;

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
 * Gives the screen this mode. `former`: what an earlier call has returned; it is removed. Returns a name for the new
 * one, or `too_small`: then nothing has changed.
 */
const setScreenMode = async (
  x: XConnection,
  mode: ScreenMode,
  former: number | undefined,
): Promise<number | "too_small"> => {
  const opcode = await extensionOpcode(x, "RANDR");
  await x.ask(opcode, randr.queryVersion, [1, 5]);
  if (!(await hasRoom(x, opcode, mode))) return "too_small";
  const name = Buffer.from(`browser-${randomUUID()}`);
  const created = await x.ask(opcode, randr.createMode, [x.root, ...modeOf(mode, name)]);
  const id = created.readUInt32LE(8);
  const { output } = await resourcesOf(x, opcode);
  // What draws in Chromium asks for the rate when an output gets a mode, and not again when the controller takes it:
  // until then its question has to wait. The connection's end ends this too.
  x.send(grabServer, 0, []);
  x.send(opcode, randr.addOutputMode, [output, id]);
  const resize = (width: number, height: number): void =>
    x.send(opcode, randr.setScreenSize, [x.root, u16s(width, height), ...millimetres]);
  const before = await sizeOf(x);
  // The screen must hold the mode that it leaves, and its new one.
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

/** Xvfb needs 0.6 s, and longer on a machine where many browsers start at once. */
const startDeadlineMs = 15_000;
/** A server that is killed at once leaves its lock file. */
const endGraceMs = 500;
/** A dozen requests to a server that is up already. */
const modeDeadlineMs = 10_000;

/** Of a viewport that says no rate, Hz. */
const defaultRate = 60;

export type VirtualScreen = {
  process: GroupProcess;
  /** Variables with which an X client finds this screen. */
  env: { DISPLAY: string; XAUTHORITY: string };
  /**
   * Gives the screen this size and rate; false when it can't be so large: then nothing has changed. One call at a time.
   */
  setMode(viewport: AgentViewport, signal: AbortSignal): Promise<boolean>;
  /** Connects to it. */
  connect(signal: AbortSignal): Promise<XConnection>;
};

type VirtualScreenOptions = {
  program: string;
  viewport: AgentViewport;
  /** Folder for the screen's secret. */
  folder: string;
  env: Record<string, string>;
  groupsFile: string;
};

const field = (bytes: string | Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, Buffer.from(bytes)]);
};

/**
 * An Xauthority file with one cookie for any host (family 0xffff) and any display number: Xvfb picks its number later.
 */
const xauthority = (cookie: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xff]), field(""), field(""), field("MIT-MAGIC-COOKIE-1"), field(cookie)]);

/** The function that changes the mode of the screen `:display`. */
const createModes = (display: string, cookie: Buffer): VirtualScreen["setMode"] => {
  let present: number | undefined;
  return async ({ width, height, refresh_rate: rate = defaultRate }, signal) => {
    using x = await connectX(display, cookie, AbortSignal.any([signal, AbortSignal.timeout(modeDeadlineMs)]));
    const set = await setScreenMode(x, { width, height, rate }, present);
    if (set === "too_small") return false;
    present = set;
    return true;
  };
};

/**
 * Starts an X server without hardware whose screen has the viewport's size and rate; only holders of its cookie may use
 * it.
 */
export const startVirtualScreen = async (
  options: VirtualScreenOptions,
  signal: AbortSignal,
): Promise<VirtualScreen> => {
  const cookieFile = join(options.folder, "Xauthority");
  const cookie = randomBytes(16);
  await writeFile(cookieFile, xauthority(cookie), { mode: 0o600 });
  const size = `${options.viewport.width}x${options.viewport.height}x24`;
  const screen = await startGroupProcess(
    {
      name: "Xvfb",
      program: options.program,
      args: ["-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset", "-auth", cookieFile],
      env: options.env,
      readyPattern: /^(\d+)$/,
      readyFd: 3,
      startDeadlineMs,
      groupsFile: options.groupsFile,
    },
    signal,
  );
  const setMode = createModes(screen.ready, cookie);
  try {
    if (options.viewport.refresh_rate !== undefined) await setMode(options.viewport, signal);
  } catch (error) {
    await screen.end(endGraceMs);
    throw error;
  }
  return {
    process: screen,
    env: { DISPLAY: `:${screen.ready}`, XAUTHORITY: cookieFile },
    setMode,
    connect: (stop) => connectX(screen.ready, cookie, stop),
  };
};
