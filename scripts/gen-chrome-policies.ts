/**
 * Writes src/core/model/settings/policies/generated/chrome-policies.json: the names and types of the policies that a
 * Chromium knows, read from the program itself. Run by hand with a new Chromium (`npm run gen:policies`); a test
 * compares the file with the browser that runs.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readElf } from "./chrome-policies/elf-file.ts";
import { readPolicyTypes } from "./chrome-policies/policy-tables.ts";
import { root } from "./generated-file.ts";

/** The file. */
export const chromePoliciesFile = join(root, "src/core/model/settings/policies/generated/chrome-policies.json");

/** Debian's `chromium` is a script that starts this program. */
export const defaultProgram = "/usr/lib/chromium/chromium";

/** The text of the file for the Chromium of this program: one policy a line. */
export const chromePoliciesOf = (program: string): string => {
  const [version = ""] = /\d+(\.\d+){3}/.exec(execFileSync(program, ["--version"], { encoding: "utf8" })) ?? [];
  const { policies, shared } = readPolicyTypes(readElf(program));
  const lines = (types: Record<string, unknown>): string =>
    Object.entries(types)
      .map(([name, type]) => `    ${JSON.stringify(name)}: ${JSON.stringify(type)}`)
      .join(",\n");
  return `{
  "chromium": ${JSON.stringify(version)},
  "shared": {
${lines(shared)}
  },
  "policies": {
${lines(policies)}
  }
}
`;
};

if (import.meta.main) {
  writeFileSync(chromePoliciesFile, chromePoliciesOf(process.argv[2] ?? defaultProgram));
  console.log(`wrote ${chromePoliciesFile}`);
}
