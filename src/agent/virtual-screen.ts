import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GroupProcess, startGroupProcess } from "../process/group-process.ts";
import type { BrowserConfig } from "../protocol/agent-api.ts";
import { setScreenRate } from "./screen-rate.ts";
import { connectX } from "./x-connection.ts";

/** Xvfb needs 0.6 s, and longer on a machine where many browsers start at once. */
const startDeadlineMs = 15_000;
/** A server that is killed at once leaves its lock file. */
const endGraceMs = 500;
/** Seven requests to a server that is up already. */
const rateDeadlineMs = 10_000;

export type VirtualScreen = {
  process: GroupProcess;
  /** Variables with which an X client finds this screen. */
  env: { DISPLAY: string; XAUTHORITY: string };
};

export type VirtualScreenOptions = {
  program: string;
  viewport: BrowserConfig["viewport"];
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

const applyRate = async (
  display: string,
  cookie: Buffer,
  { width, height, refresh_rate: rate }: BrowserConfig["viewport"],
  signal: AbortSignal,
): Promise<void> => {
  if (rate === undefined) return;
  using x = await connectX(display, cookie, AbortSignal.any([signal, AbortSignal.timeout(rateDeadlineMs)]));
  await setScreenRate(x, { width, height, rate });
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
  try {
    await applyRate(screen.ready, cookie, options.viewport, signal);
  } catch (error) {
    await screen.end(endGraceMs);
    throw error;
  }
  return { process: screen, env: { DISPLAY: `:${screen.ready}`, XAUTHORITY: cookieFile } };
};
