/**
 * Given to a real agent by `node --import`, so that it tells what it does with its leases as a simulated one does: a
 * line each, appended to the file that a variable names. Commands over CDP are not told: they go to the browser as
 * bytes.
 */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import type { LeaseKeeper } from "../../../src/core/agent/lease-keeper.ts";
import { speakerOf } from "../../support/simulated-node/agent-event.ts";
import { observedLeases } from "../../support/simulated-node/observed-leases.ts";
import { applyPatches, type SourcePatch } from "../hook/source-patch.ts";

const fileVariable = "BROWSERPOOL_TEST_AGENT_EVENTS";

/** What an agent is started with: `args` stand before its script. */
export const realAgentHook = (eventsFile: string): { args: string[]; env: Record<string, string> } => ({
  args: ["--import", pathToFileURL(import.meta.filename).href],
  env: { [fileVariable]: eventsFile },
});

const { [fileVariable]: file, BROWSERPOOL_POD_UID: uid = "", BROWSERPOOL_POD_NAME: name = "" } = process.env;

const patches: SourcePatch[] = [
  {
    file: "cmd/serve-browser.ts",
    find: "createLeaseKeeper(keeping)",
    replace: "(globalThis as any).browserpoolTestAgent(createLeaseKeeper(keeping))",
  },
];

/** Also imported by the run itself, which has no such file and must not be patched. */
if (file !== undefined) {
  const say = speakerOf({ uid, name }, (event) => appendFileSync(file, `${JSON.stringify(event)}\n`));
  Object.assign(globalThis, { browserpoolTestAgent: (keeper: LeaseKeeper) => observedLeases(keeper, say) });
  process.on("exit", () => say({ what: "exit" }));
  const source = new URL("../../../src/", import.meta.url).href;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith(source) || loaded.source == null) return loaded;
      const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: applyPatches(url.slice(source.length), text, patches) };
    },
  });
}
