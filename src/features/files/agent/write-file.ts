import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { refuseBy } from "./refuse.ts";
import type { Room } from "./room.ts";
import type { SessionFolder } from "./session-folder.ts";

/** `partsDir`: on the same disk as the folder, and not below it: nobody sees a file that is not whole. */
export type WriteDeps = { folder: SessionFolder; room: Room; partsDir: string };

/** Permissions of a file, by the octal text of a caller. */
export const modeOf = (text: string | undefined, usual: number): number =>
  text === undefined ? usual : Number.parseInt(text, 8);

/**
 * Writes a file whole, or not at all, in the place of one that may be there; folders on the way are made. Throws a
 * `CallRefused`, the reason of the signal and what reading the bytes throws.
 */
export const writeWhole = async (
  { names, mode }: { names: readonly string[]; mode: number },
  bytes: AsyncIterable<Uint8Array>,
  { folder, room, partsDir }: WriteDeps,
  signal: AbortSignal,
): Promise<void> => {
  await using place = await folder.place(names, { make: true });
  const take = await room.enter();
  await mkdir(partsDir, { recursive: true, mode: 0o700 });
  const part = join(partsDir, randomUUID());
  try {
    await using file = await open(part, "wx", 0o600);
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      take(chunk.length);
      await file.writeFile(chunk);
    }
    await file.chmod(mode);
    await rename(part, place.at);
    // The lease may have ended meanwhile, and its files are cleared away: this one must not stay behind.
    if (signal.aborted) await unlink(place.at);
    signal.throwIfAborted();
  } catch (error) {
    await rm(part, { force: true });
    throw refuseBy(error, place.path);
  }
};
