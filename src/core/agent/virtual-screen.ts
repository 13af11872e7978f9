import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GroupProcess, startGroupProcess } from "../../platform/process/group-process.ts";
import type { AgentViewport } from "../protocol/agent-api.ts";
import { setScreenMode } from "./screen-mode.ts";
import { connectX } from "./x-connection.ts";

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
  /** Gives the screen this size and rate; false when it can't be so large: then nothing has changed. One call at a time. */
  setMode(viewport: AgentViewport, signal: AbortSignal): Promise<boolean>;
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

/** An Xauthority file with one cookie for any host (family 0xffff) and any display number: Xvfb picks its number later. */
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

/** Starts an X server without hardware whose screen has the viewport's size and rate; only holders of its cookie may use it. */
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
  return { process: screen, env: { DISPLAY: `:${screen.ready}`, XAUTHORITY: cookieFile }, setMode };
};
