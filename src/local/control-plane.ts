import type { Logger } from "../platform/base/log.ts";
import { startEtcd } from "./etcd.ts";
import { startApiServer } from "./kube-apiserver.ts";
import type { Programs } from "./locate-programs.mjs";

type ControlPlaneOptions = {
  /** Absolute; keeps the data across starts. Only one run at a time may use it (`lockDataDir`). */
  dataDir: string;
  programs: Programs;
  log: Logger;
  /** Tests only: a power failure may lose or break the data. */
  unsafeNoFsync?: boolean;
  /** Aborts the start. */
  signal?: AbortSignal;
};

export type ControlPlane = {
  kubeconfigPath: string;
  serverUrl: string;
  stop(): Promise<void>;
};

/**
 * Starts a real etcd and kube-apiserver on this machine, which its other users can't reach; resolves when objects can
 * be created. A program that ends by itself is started again at the same address. There is no controller manager, so
 * there is no garbage collection, no deletion of namespaces and no service accounts.
 */
export const startControlPlane = async (options: ControlPlaneOptions): Promise<ControlPlane> => {
  const etcd = await startEtcd(options);
  try {
    const apiServer = await startApiServer({ ...options, etcd });
    return {
      kubeconfigPath: apiServer.kubeconfigPath,
      serverUrl: apiServer.serverUrl,
      async stop() {
        await apiServer.stop();
        await etcd.stop();
      },
    };
  } catch (error) {
    await etcd.stop();
    throw error;
  }
};
