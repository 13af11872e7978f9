/**
 * Addresses for other programs (`mailto:`, `tel:`, schemes of apps): the full browser would ask its person, and the
 * page take no input until there is an answer. Chromium asks the program `xdg-settings` first whether it opens the
 * scheme itself, and then does nothing.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const answersYes = "#!/bin/sh\necho yes\n";

/** Returns the environment in which Chromium opens no other program. `folder`: of the browser. */
export const withoutOtherPrograms = async (
  env: Record<string, string>,
  folder: string,
): Promise<Record<string, string>> => {
  const programs = join(folder, "programs");
  await mkdir(programs, { mode: 0o700 });
  await writeFile(join(programs, "xdg-settings"), answersYes, { mode: 0o700 });
  return { ...env, PATH: `${programs}:${env.PATH ?? ""}` };
};
