import { join } from "node:path";
import type { PreparePart } from "../../../core/agent/browser-parts.ts";

/** Unpacks the extensions of the setup, and loads them once Chromium is up. */
export const extensionPart: PreparePart = async ({ received, folder, signal }) => {
  const wanted = received?.setup.extensions ?? [];
  if (!received || wanted.length === 0) return {};
  const [{ unpackExtensions }, { loadExtensions }] = await Promise.all([
    import("./unpack-extensions.ts"),
    import("./load-extensions.ts"),
  ]);
  const extensions = await unpackExtensions({ ...received, extensions: wanted }, join(folder, "extensions"), signal);
  return { needsFullBrowser: true, onUp: (cdp) => loadExtensions(extensions, cdp) };
};
