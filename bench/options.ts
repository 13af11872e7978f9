import { parseArgs } from "node:util";

export type Options = {
  /** Names of the sections to run; all when empty. */
  only: string[];
  jsonFile: string | undefined;
  seconds: number | undefined;
  leases: number | undefined;
  browsers: number | undefined;
  /** A folder in which npm has installed browserless. */
  browserless: string | undefined;
  seed: number;
  help: boolean;
};

const positive = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a number above 0, not ${text}`);
  return value;
};

/** Reads the command line. Throws an error that says what is wrong with it. */
export const readOptions = (args: string[]): Options => {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", multiple: true, default: [] },
      json: { type: "string" },
      seconds: { type: "string" },
      leases: { type: "string" },
      browsers: { type: "string" },
      browserless: { type: "string" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    only: values.only.flatMap((names) => names.split(",")).filter((name) => name !== ""),
    jsonFile: values.json,
    seconds: positive("seconds", values.seconds),
    leases: positive("leases", values.leases),
    browsers: positive("browsers", values.browsers),
    browserless: values.browserless,
    seed: positive("seed", values.seed) ?? 1,
    help: values.help,
  };
};
