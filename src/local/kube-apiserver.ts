import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Logger } from "../platform/base/log.ts";
import { connectKube } from "../platform/kube/client.ts";
import { namespaces } from "../platform/kube/resource-type.ts";
import { type SupervisedChild, superviseChild } from "../platform/process/supervised-child.ts";
import type { Etcd } from "./etcd.ts";
import { startOnFreePort } from "./free-port.ts";
import type { Programs } from "./locate-programs.mjs";
import { requiredProgram } from "./required-program.ts";

type ApiServer = SupervisedChild & { kubeconfigPath: string; serverUrl: string };

type ApiServerOptions = {
  dataDir: string;
  programs: Programs;
  etcd: Pick<Etcd, "endpoint" | "socketDir">;
  log: Logger;
  signal?: AbortSignal | undefined;
};

const contextName = "browserpool-local";

/** The API server creates these after its start; without them no object can be created. */
const neededNamespaces = ["default", "kube-node-lease"];

type Identity = { folder: string; token: string };

/**
 * Makes new certificates, keys and a new token at each start: so certificates can't expire in a data directory that is
 * used for years, and a leaked token is not valid after the run.
 */
const createIdentity = async (dataDir: string): Promise<Identity> => {
  const folder = join(dataDir, "kube-apiserver");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString("base64url");
  await writeFile(join(folder, "tokens.csv"), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "sec1", format: "pem" });
  await writeFile(join(folder, "service-account.key"), pem, { mode: 0o600 });
  return { folder, token };
};

const argumentsOf = (folder: string, endpoint: string, port: number): string[] => [
  `--etcd-servers=${endpoint}`,
  `--cert-dir=${folder}`,
  `--secure-port=${port}`,
  "--bind-address=127.0.0.1",
  // Else it looks for the address of the default route, and ends on a machine without one.
  "--advertise-address=127.0.0.1",
  `--token-auth-file=${join(folder, "tokens.csv")}`,
  "--anonymous-auth=false",
  "--authorization-mode=RBAC",
  "--service-account-issuer=https://browserpool.local",
  `--service-account-key-file=${join(folder, "service-account.key")}`,
  `--service-account-signing-key-file=${join(folder, "service-account.key")}`,
  "--service-cluster-ip-range=10.0.0.0/24",
  // Without a controller manager there is no default ServiceAccount, and this plug-in would refuse every pod.
  "--disable-admission-plugins=ServiceAccount",
  // The default reconciler refuses an endpoint on loopback and would only log errors.
  "--endpoint-reconciler-type=none",
  "--profiling=false",
];

/** Reads the API server's certificate; undefined until the server has written its key, which it writes last. */
const readCertificate = async (folder: string): Promise<Buffer | undefined> => {
  try {
    await stat(join(folder, "apiserver.key"));
    return await readFile(join(folder, "apiserver.crt"));
  } catch {
    return undefined;
  }
};

const kubeconfigOf = (serverUrl: string, certificate: Buffer, token: string): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: contextName,
        cluster: { server: serverUrl, "certificate-authority-data": certificate.toString("base64") },
      },
    ],
    users: [{ name: contextName, user: { token } }],
    contexts: [{ name: contextName, context: { cluster: contextName, user: contextName, namespace: "default" } }],
    "current-context": contextName,
  });

const answersAll = async (kubeconfigPath: string): Promise<boolean> => {
  const kube = connectKube({ kubeconfigPath, requestTimeoutMs: 2000 });
  try {
    if (!(await kube.ready())) return false;
    const found = await Promise.all(neededNamespaces.map((name) => kube.get(namespaces, { name })));
    return found.every(Boolean);
  } finally {
    await kube.close();
  }
};

/**
 * Starts the API server and writes `<dataDir>/kubeconfig`, readable by this user only; its one account has all rights.
 */
export const startApiServer = async (options: ApiServerOptions): Promise<ApiServer> => {
  const { dataDir, programs, etcd, log, signal } = options;
  const kubeconfigPath = join(dataDir, "kubeconfig");
  const { folder, token } = await createIdentity(dataDir);
  return startOnFreePort(async (port) => {
    const serverUrl = `https://127.0.0.1:${port}`;
    await rm(kubeconfigPath, { force: true });
    const isReady = async (): Promise<boolean> => {
      const certificate = await readCertificate(folder);
      if (!certificate) return false;
      await writeFile(kubeconfigPath, kubeconfigOf(serverUrl, certificate, token), { mode: 0o600 });
      return answersAll(kubeconfigPath);
    };
    const child = await superviseChild({
      dataDir,
      name: "kube-apiserver",
      command: [requiredProgram(programs, "kube-apiserver"), ...argumentsOf(folder, etcd.endpoint, port)],
      env: {},
      cwd: etcd.socketDir,
      logPath: join(dataDir, "logs", "kube-apiserver.log"),
      log,
      isReady,
      readyWithinMs: 60_000,
      stopGraceMs: 5000,
      signal,
    });
    return { kubeconfigPath, serverUrl, stop: child.stop };
  });
};
