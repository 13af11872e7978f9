/**
 * How much a holder may write: bytes and files of the session together, downloads included. They are counted when a
 * holder writes, and what it writes itself is added in between: a count takes a second for some ten thousand files.
 */
import { lstat } from "node:fs/promises";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Of one session. */
export type RoomLimits = { bytes: number; files: number };

/** How long a count is believed, ms. */
const countMs = 5000;

export type Room = {
  /** Reserves a file; the function that is returned counts further bytes of it. Both throw a `CallRefused`. */
  enter(): Promise<(bytes: number) => void>;
};

type Use = { bytes: number; files: number };

/** What is in a folder and below it; entries that vanish meanwhile count nothing. */
const countIn = async (folder: SessionFolder, most: RoomLimits): Promise<Use> => {
  const use: Use = { bytes: 0, files: 0 };
  const waiting: string[][] = [[]];
  for (let names = waiting.pop(); names && use.files <= most.files; names = waiting.pop()) {
    const open = await folder.open(names).catch(() => undefined);
    if (!open) continue;
    await using _ = open;
    for await (const name of open.entries()) {
      use.files += 1;
      if (use.files > most.files) break;
      const stats = await lstat(`${open.at}/${name}`).catch(() => undefined);
      if (stats?.isDirectory()) waiting.push([...names, name]);
      else use.bytes += stats?.size ?? 0;
    }
  }
  return use;
};

/** The room of one folder. */
export const createRoom = (folder: SessionFolder, limits: RoomLimits): Room => {
  let use: Use = { bytes: 0, files: 0 };
  let countedAtMs = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | undefined;
  const count = async (): Promise<void> => {
    use = await countIn(folder, limits);
    countedAtMs = performance.now();
  };
  const full = (what: string): CallRefused =>
    new CallRefused("disk_full", `the session would have more than ${what}; delete some of its files`);
  return {
    async enter() {
      const isOld = performance.now() - countedAtMs > countMs;
      if (isOld || use.files >= limits.files || use.bytes >= limits.bytes) {
        counting ??= count().finally(() => {
          counting = undefined;
        });
        await counting;
      }
      if (use.files >= limits.files) throw full(`${limits.files} files`);
      use.files += 1;
      return (bytes) => {
        use.bytes += bytes;
        if (use.bytes > limits.bytes) throw full(`${limits.bytes} bytes`);
      };
    },
  };
};
