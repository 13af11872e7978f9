import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that goes with its user, also when the process is given up on the spot; only kill -9 leaves it behind. */
export const makeScratchFolder = async (name: string): Promise<Disposable & { path: string }> => {
  const path = await mkdtemp(join(tmpdir(), `${name}-`));
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", remove);
  return {
    path,
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
    },
  };
};
