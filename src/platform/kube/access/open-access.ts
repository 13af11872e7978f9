/** Where the way to the API server is told: a kubeconfig, or the service account of the pod. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { environment } from "../../base/environment.ts";
import type { Access } from "./access.ts";
import { openClientNodeAccess } from "./client-node-access.ts";
import { type PlainKubeconfig, readPlainKubeconfig } from "./kubeconfig.ts";
import { openPlainAccess } from "./plain-access.ts";

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

const serviceAccount = (): PlainKubeconfig | undefined => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = environment;
  const token = join(accountFolder, "token");
  if (!host || !existsSync(token)) return undefined;
  return {
    server: `https://${bracketed(host)}:${port}`,
    ca: { file: join(accountFolder, "ca.crt") },
    token: { file: token },
    isUnverified: false,
  };
};

/** Paths of the kubeconfigs that the user has; several are merged. */
const usersFiles = (): string[] => {
  const told = environment.KUBECONFIG?.split(delimiter).filter((path) => path !== "") ?? [];
  if (told.length > 0) return told;
  const usual = environment.HOME && join(environment.HOME, ".kube", "config");
  return usual && existsSync(usual) ? [usual] : [];
};

/**
 * `kubeconfigPath`: the file to use; by default those of `KUBECONFIG`, that of the home folder, the pod's service account, in this order.
 * Throws an `Error` when there is none, or when a file cannot be read or has no current cluster.
 */
export const openAccess = (kubeconfigPath?: string): Access => {
  const files = kubeconfigPath ? [kubeconfigPath] : usersFiles();
  const [file] = files;
  if (file === undefined) {
    const account = serviceAccount();
    if (account) return openPlainAccess(account);
    throw new Error("no cluster: set KUBECONFIG to a kubeconfig, or run in a pod with a service account");
  }
  const plain = files.length === 1 ? readPlainKubeconfig(file) : undefined;
  return plain ? openPlainAccess(plain) : openClientNodeAccess(kubeconfigPath);
};
