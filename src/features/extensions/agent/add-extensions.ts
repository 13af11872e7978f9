import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { connectDevTools } from "../../../core/agent/connect-dev-tools.ts";
import type { AgentParts } from "../../../core/agent/running-chromium.ts";
import { loadExtensions } from "./load-extensions.ts";
import { unpackExtensions } from "./unpack-extensions.ts";

/** Loads further extensions into a Chromium that runs: all, or none. They are unpacked in its folder, and go with it. */
export const addExtensions: AgentParts["addExtensions"] = async (extensions, { archive, folder, devTools }, signal) => {
  const all = join(folder, "extensions");
  await mkdir(all, { recursive: true, mode: 0o700 });
  const mine = join(all, randomUUID());
  await using cdp = await connectDevTools(devTools);
  const cut = (): void => void cdp[Symbol.asyncDispose]();
  signal.addEventListener("abort", cut, { once: true });
  try {
    await loadExtensions(await unpackExtensions({ extensions, archive }, mine, signal), cdp);
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    throw error;
  } finally {
    signal.removeEventListener("abort", cut);
  }
};
