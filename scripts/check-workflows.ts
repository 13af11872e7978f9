/** The check of what runs on the forge: the workflows' own rules by actionlint, and that every action is pinned. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./generated-file.ts";
import { cachedProgram, outputOf } from "./run-program.ts";
import type { Step } from "./step.ts";

/** An action of others by its commit, with the version that it is; or one of this repository. */
const pinned = /^(\S+@[0-9a-f]{40} # v\d\S*|\.\/\S+)$/;

const filesBelow = async (folder: string): Promise<string[]> => {
  const names = await readdir(join(root, folder), { recursive: true });
  return names.filter((name) => name.endsWith(".yml")).map((name) => join(folder, name));
};

/** Rejects with what is wrong in the workflows and actions of `.github`. */
const checkWorkflows = async (): Promise<void> => {
  const problems: string[] = [];
  for (const file of await filesBelow(".github"))
    for (const [, used = ""] of (await readFile(join(root, file), "utf8")).matchAll(/^\s*(?:- )?uses: (.*)$/gm))
      if (!pinned.test(used))
        problems.push(`${file}: ${used}: give the commit, and the version behind it as a comment`);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  await outputOf(cachedProgram("actionlint"), ["-no-color", "-shellcheck=", "-pyflakes="]);
};

/** The step of `npm run check`. */
export const workflowStep: Step = { name: "workflows", run: checkWorkflows };
