import { join } from "node:path";
import { quoted } from "../local/quoted.ts";
import { CommandError, readConnection } from "./service.ts";

/** What a shell evaluates to have the public SDK, `kubectl` and these commands use the local mode that runs on `dataDir`. */
export const exportLines = async (dataDir: string): Promise<string> => {
  const local = await readConnection(dataDir);
  if (!local) throw new CommandError(`no local mode runs on ${dataDir}: start one by npm start`);
  return [
    `export KERNEL_BASE_URL=${quoted(local.url)}`,
    `export KERNEL_API_KEY=${quoted(local.api_key)}`,
    `export KUBECONFIG=${quoted(local.kubeconfig)}`,
    `export PATH=${quoted(join(dataDir, "bin"))}:"$PATH"`,
  ].join("\n");
};
