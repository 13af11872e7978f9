import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { installCrds } from "../../src/local/install-crds.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";

export type TestControlPlane = {
  kube: Kube;
  /** The file with its address and its administrator's rights. */
  kubeconfig: string;
  /** Runs kubectl and returns its stdout. Rejects when kubectl fails. */
  kubectl: (...args: string[]) => Promise<string>;
  stop(): Promise<void>;
};

/** A control plane of its own with the established CRDs of the project. */
export const startTestControlPlane = async (): Promise<TestControlPlane> => {
  const dataDir = await mkdtemp(join(tmpdir(), "browserpool-crds-"));
  const programs = locatePrograms(process.env);
  const log = createLogger("error", "test");
  const plane = await startControlPlane({ dataDir, programs, log, unsafeNoFsync: true });
  const kube = connectKube({ kubeconfigPath: plane.kubeconfigPath });
  const kubectl = async (...args: string[]): Promise<string> => {
    const all = [`--kubeconfig=${plane.kubeconfigPath}`, `--cache-dir=${join(dataDir, "kubectl-cache")}`, ...args];
    const { stdout } = await promisify(execFile)(programs.kubectl ?? "kubectl", all, { timeout: 30_000 });
    return stdout;
  };
  const stop = async (): Promise<void> => {
    await kube.close();
    await plane.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await installCrds(kube);
  } catch (error) {
    await stop();
    throw error;
  }
  return { kube, kubeconfig: plane.kubeconfigPath, kubectl, stop };
};
