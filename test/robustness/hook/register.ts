/**
 * Given to a process of the product by `node --import` in tests. It changes the text of the product's files while they
 * load (seeded bugs, recording, kill points), so that the product itself has no trace of any of it, and listens to the
 * run that started the process (process-control.ts).
 */
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { bugPatches } from "../bugs/bugs.ts";
import { HookOptions, hookVariable } from "./hook-options.ts";
import { passPoint } from "./kill-points.ts";
import { serveControl } from "./process-control.ts";
import { recordedScript } from "./record-leases.ts";
import { applyPatches } from "./source-patch.ts";
import { standingPatches } from "./standing-patches.ts";

const options = HookOptions.parse(JSON.parse(process.env[hookVariable] ?? "{}"));
const source = new URL("../../../src/", import.meta.url).href;

/** What patched sources call. */
const hook = {
  lua: (url: string, text: string): string => applyPatches(url.slice(source.length), text, patches),
  script: (name: string, text: string): string => (options.record ? recordedScript(name, text) : text),
  point: passPoint,
};
Object.assign(globalThis, { browserpoolTestHook: hook });

const patches = [...standingPatches, ...bugPatches(options.bug)];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith(source) || loaded.source == null) return loaded;
    const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: applyPatches(url.slice(source.length), text, patches) };
  },
});

// The product ends itself after an unhandled rejection; this line comes first, at once, and can be told from all
// others.
process.on("unhandledRejection", (reason) => {
  const message = reason instanceof Error ? reason.stack : String(reason);
  writeSync(2, `${JSON.stringify({ level: 60, msg: "test hook: unhandled rejection", reason: message })}\n`);
});
process.on("uncaughtExceptionMonitor", (error) => {
  writeSync(2, `${JSON.stringify({ level: 60, msg: "test hook: uncaught exception", reason: error.stack })}\n`);
});
serveControl();
