/** Kubeconfigs, as far as they hold their credentials themselves or name files that do. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const optional = z.string().optional();

/** Strict: what is not here (programs, identity providers, proxies, impersonation) is for client-node. */
const Cluster = z.strictObject({
  server: z.string(),
  "certificate-authority": optional,
  "certificate-authority-data": optional,
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": optional,
  extensions: z.unknown().optional(),
});
const User = z.strictObject({
  token: optional,
  tokenFile: optional,
  "client-certificate": optional,
  "client-certificate-data": optional,
  "client-key": optional,
  "client-key-data": optional,
  username: optional,
  password: optional,
  extensions: z.unknown().optional(),
});
const Named = z.object({ name: z.string() });
const File = z.object({
  "current-context": z.string(),
  contexts: z.array(Named.extend({ context: z.object({ cluster: z.string(), user: optional }) })),
  clusters: z.array(Named.extend({ cluster: z.unknown() })),
  users: z.array(Named.extend({ user: z.unknown() })).nullish(),
});

/** A credential as it stands, or the file that has it now. */
export type Source = { value: Buffer } | { file: string };

/** The current context of a kubeconfig. */
export type PlainKubeconfig = {
  server: string;
  ca?: Source | undefined;
  cert?: Source | undefined;
  key?: Source | undefined;
  token?: Source | undefined;
  basic?: { username: string; password: string };
  serverName?: string | undefined;
  isUnverified: boolean;
};

const named = <Entry extends { name: string }>(entries: readonly Entry[] | null | undefined, name?: string) =>
  entries?.find((entry) => entry.name === name);

const plainOf = (cluster: z.infer<typeof Cluster>, user: z.infer<typeof User>, folder: string): PlainKubeconfig => {
  const source = (data?: string, path?: string): Source | undefined => {
    if (data) return { value: Buffer.from(data, "base64") };
    return path ? { file: resolve(folder, path) } : undefined;
  };
  const token = user.token ? { value: Buffer.from(user.token) } : undefined;
  const { username, password = "" } = user;
  return {
    server: cluster.server.replace(/\/+$/, ""),
    ca: source(cluster["certificate-authority-data"], cluster["certificate-authority"]),
    cert: source(user["client-certificate-data"], user["client-certificate"]),
    key: source(user["client-key-data"], user["client-key"]),
    token: source(undefined, user.tokenFile) ?? token,
    ...(username && { basic: { username, password } }),
    serverName: cluster["tls-server-name"],
    isUnverified: cluster["insecure-skip-tls-verify"] ?? false,
  };
};

/**
 * What the current context of the file says; undefined when it says something else than values and files. Paths are
 * relative to the file. Throws an `Error` that names the file when it cannot be read or has no current cluster.
 */
export const readPlainKubeconfig = (path: string): PlainKubeconfig | undefined => {
  const { data: file } = File.safeParse(parse(readFileSync(path, "utf8")));
  const context = named(file?.contexts, file?.["current-context"])?.context;
  const entry = named(file?.clusters, context?.cluster);
  if (!entry) throw new Error(`${path}: no kubeconfig with a current context and its cluster`);
  const cluster = Cluster.safeParse(entry.cluster).data;
  const user = User.safeParse(named(file?.users, context?.user)?.user ?? {}).data;
  return cluster && user && plainOf(cluster, user, dirname(resolve(path)));
};
