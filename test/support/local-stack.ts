/**
 * A local mode that belongs to one test: for tests that kill it, fill it, or start it with other settings. Others share
 * one (stack.ts).
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { prepareDataDir } from "./control-plane.ts";
import { type LocalMode, type LocalModeOptions, startLocalMode } from "./local-mode.ts";

export type LocalStack = LocalMode &
  Clients & {
    kube: Kube;
    /** Ends it and removes the data. */
    [Symbol.asyncDispose](): Promise<void>;
  };

/** Starts local mode and waits until it is ready. `dataDir`: the directory of a former run; by default a new one. */
export const startLocalStack = async (options: Partial<LocalModeOptions> = {}): Promise<LocalStack> => {
  await using parts = new AsyncDisposableStack();
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "bp-")));
  parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  if (options.dataDir === undefined) await prepareDataDir(dataDir);
  const local = await startLocalMode({ ...options, dataDir });
  parts.defer(async () => void (await local.stop()));
  const kube = connectKube({ kubeconfigPath: local.kubeconfig });
  parts.defer(() => kube.close());
  const kept = parts.move();
  return { ...local, kube, ...clientsOf(local), [Symbol.asyncDispose]: () => kept.disposeAsync() };
};
