/** A HashiCorp Vault with its key-value store, as tools/vault-server runs it; a test installs it when it first needs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { installPrograms } from "../../../../scripts/setup/programs.mjs";
import { locatePrograms } from "../../../../src/local/locate-programs.mjs";
import { docExamples } from "../../../support/doc-examples.ts";
import { installed } from "../../../support/installed.ts";
import { testCertificates } from "../../../support/test-certificates.ts";

/** The program; undefined where it can't be built. */
export const vaultServer = (): Promise<string | undefined> =>
  installed(
    "vault-server",
    () => locatePrograms(process.env)["vault-server"],
    (deps) => installPrograms(["vault-server"], { ...deps, whenPackages: () => Promise.resolve() }),
  );

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Body = any;

export type RealVault = AsyncDisposable & {
  address: string;
  /** A file with the authority of its certificate. */
  caFile: string;
  /** Lets this process trust it, as NODE_EXTRA_CA_CERTS does for a whole process, or not. */
  trust(isTrusted: boolean): void;
  /** Sends a request by the rights of the root token; throws for a refusal. */
  call(method: string, path: string, body?: object): Promise<Body>;
  /** Writes an entry of the mount `secret` with its custom metadata. */
  put(path: string, data: object, custom?: { urls?: string; title?: string }): Promise<void>;
  /** A token with this policy, in HCL. */
  token(policy: string): Promise<string>;
  seal(): Promise<void>;
  unseal(): Promise<void>;
};

/** Starts one with a key-value store of version 2 at `secret`, as `vault server -dev` has it. */
export const startRealVault = async (program: string): Promise<RealVault> => {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "browserpool-hashicorp-vault-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const { authority, certificate, key } = testCertificates(["IP:127.0.0.1"]);
  const [caFile, certificateFile, keyFile] = [join(folder, "ca"), join(folder, "certificate"), join(folder, "key")];
  await writeFile(caFile, authority);
  await writeFile(certificateFile, certificate);
  await writeFile(keyFile, key);
  const child = spawn(program, ["127.0.0.1:0", certificateFile, keyFile], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(child, "exit");
  parts.defer(async () => {
    child.stdin.end();
    await ended;
  });
  const lines = createInterface(child.stdout);
  const [listening] = await Promise.race([once(lines, "line"), ended.then(() => [])]);
  if (listening === undefined) throw new Error("the Vault ended at once");
  const address = `https://${listening}`;
  const known = getCACertificates("default");
  const trust = (isTrusted: boolean): void => setDefaultCACertificates(isTrusted ? [...known, authority] : known);
  parts.defer(() => trust(false));
  trust(true);
  let root = "";
  const call: RealVault["call"] = async (method, path, body) => {
    const response = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { ...(root !== "" && { "x-vault-token": root }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const { keys, root_token } = await call("PUT", "sys/init", { secret_shares: 1, secret_threshold: 1 });
  const unseal = (): Promise<void> => call("PUT", "sys/unseal", { key: keys[0] });
  await unseal();
  root = root_token;
  await call("POST", "sys/mounts/secret", { type: "kv", options: { version: "2" } });
  let policies = 0;
  const kept = parts.move();
  return {
    ...{ address, caFile, trust, call, unseal },
    async put(path, data, custom) {
      const place = path.split("/").map(encodeURIComponent).join("/");
      await call("POST", `secret/data/${place}`, { data });
      if (custom) await call("POST", `secret/metadata/${place}`, { custom_metadata: custom });
    },
    async token(policy) {
      policies += 1;
      await call("PUT", `sys/policies/acl/p${policies}`, { policy });
      const { auth } = await call("POST", "auth/token/create", { policies: [`p${policies}`], no_default_policy: true });
      return auth.client_token;
    },
    seal: () => call("PUT", "sys/seal"),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

/** What docs/credential-providers.md gives a provider's token, for the entries below `team`. */
export const [teamPolicy = ""] = docExamples("credential-providers.md", "hcl");
