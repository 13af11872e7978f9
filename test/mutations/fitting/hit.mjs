/**
 * Notes which functions run during a test file, in whatever process they run. Every file of a copied tree's `src`
 * imports a copy of this that lies there (measure.ts): some processes may read nothing else. Each function is noted as
 * soon as it runs, so that a process which is killed has noted all of its own.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Below the root of the copied tree. `current` has the name of the file to which hits go now. */
const folder = join(import.meta.dirname, "../.browserpool/hits");
const seen = new Set();
/** @type {string | undefined} */
let path;

/** @param {string} id */
const noteHit = (id) => {
  if (seen.has(id)) return;
  seen.add(id);
  try {
    path ??= join(folder, readFileSync(join(folder, "current"), "utf8"));
    appendFileSync(path, `${id}\n`);
  } catch {
    // A process that may not write there is covered by what others say.
  }
};

Object.assign(globalThis, { noteHit });
