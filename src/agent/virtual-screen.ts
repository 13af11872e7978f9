import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GroupProcess, startGroupProcess } from "../process/group-process.ts";
import type { BrowserConfig } from "../protocol/agent-api.ts";

/** Xvfb needs 0.6 s, and longer on a machine where many browsers start at once. */
const startDeadlineMs = 15_000;

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
const xauthority = (): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xff]), field(""), field(""), field("MIT-MAGIC-COOKIE-1"), field(randomBytes(16))]);

/** Starts an X server without hardware whose screen has the viewport's size; only holders of its cookie may use it. */
export const startVirtualScreen = async (
  options: VirtualScreenOptions,
  signal: AbortSignal,
): Promise<VirtualScreen> => {
  const cookieFile = join(options.folder, "Xauthority");
  await writeFile(cookieFile, xauthority(), { mode: 0o600 });
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
  return { process: screen, env: { DISPLAY: `:${screen.ready}`, XAUTHORITY: cookieFile } };
};
