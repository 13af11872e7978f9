/** What a run finds, how it is told, and where it is kept. */
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { inspect } from "node:util";

/** `broke`: a property did not hold, or an error came that nothing declares. The others have no shrunk input. */
export type FindingKind = "broke" | "hangs" | "ends the process" | "not well afterwards";

export type Finding = {
  target: string;
  seed: number;
  /** Of the case; of one that was noticed later, of the last one before that. */
  number: number;
  kind: FindingKind;
  error: string;
  /** The shrunk input, where there is one, else that of the case. */
  input: string;
};

/** Not in the repository: `.gitignore` names the folder above. */
export const keepFolder = resolve(import.meta.dirname, "../../.browserpool/fuzz");

/** Longest text of an input that is shown; its file has all of it. */
const shownInput = 2000;

/** An input as text that a test can be written from. Bytes as base64. */
export const inputText = (input: unknown): string =>
  inspect(withoutBytes(input), {
    depth: 12,
    maxStringLength: 200_000,
    maxArrayLength: 2000,
    breakLength: 160,
  });

const withoutBytes = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return value.map(withoutBytes);
  if (value === null || typeof value !== "object" || ![Object.prototype, null].includes(Object.getPrototypeOf(value)))
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutBytes(inner)]));
};

/** What repeats it. */
const repeatCommand = ({ target, seed, number }: Pick<Finding, "target" | "seed" | "number">): string =>
  `npm run test:fuzz -- --target ${target} --seed ${seed} --case ${number}`;

/** A finding as text for people. */
export const findingText = (finding: Finding, file: string): string =>
  [
    `FOUND by ${finding.target}, seed ${finding.seed}, case ${finding.number}: ${finding.kind}`,
    finding.error,
    `input: ${finding.input.slice(0, shownInput)}`,
    `once more: ${repeatCommand(finding)}`,
    `kept in ${file}`,
  ].join("\n");

/** Keeps a finding; returns its file. */
export const keepFinding = async (finding: Finding, folder = join(keepFolder, "findings")): Promise<string> => {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${finding.target}-${finding.seed}-${finding.number}.json`);
  await writeFile(file, `${JSON.stringify({ ...finding, repeat: repeatCommand(finding) }, undefined, 2)}\n`);
  return file;
};
