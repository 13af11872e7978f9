import { readFileSync } from "node:fs";

const recorder = readFileSync(new URL("./lease-recorder.lua", import.meta.url), "utf8");

/** A script's text that does what it did and records it. Its flags stay the first line. */
export const recordedScript = (name: string, text: string): string => {
  const flags = /^#!lua .*\n/.exec(text)?.[0] ?? "";
  return flags + recorded(name, text.slice(flags.length));
};

const recorded = (name: string, text: string): string =>
  [
    `local recording = ${JSON.stringify(name)}`,
    recorder,
    "local function script()",
    text,
    "end",
    "return finish(script())",
  ].join("\n");
