/** What a kubeconfig may say, against a TLS server that tells what it was shown, and against the real API server. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { Sensitive } from "../../../src/platform/base/sensitive.ts";
import { openAccess, openTokenAccess } from "../../../src/platform/kube/access.ts";
import { connectKube } from "../../../src/platform/kube/client.ts";
import { namespaces } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers } from "../../support/control-plane.ts";
import { type TestCertificates, testCertificates } from "../../support/test-certificates.ts";

let folder: string;
let server: Server;
let url: string;
const own = testCertificates(["IP:127.0.0.1", "DNS:cluster.test"]);
const [first, second] = [testCertificates(), testCertificates()];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "browserpool-access-"));
  server = createServer(
    { cert: own.certificate, key: own.key, requestCert: true, rejectUnauthorized: false },
    (incoming, response) => {
      const socket = incoming.socket as TLSSocket;
      response.end(
        JSON.stringify({
          authorization: incoming.headers.authorization,
          certificate: socket.getPeerCertificate().fingerprint256,
          name: socket.servername,
        }),
      );
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const authority = { "certificate-authority-data": base64(own.authority) };

let files = 0;
const kubeconfig = async (cluster: object, user?: object): Promise<string> => {
  const path = join(folder, `kubeconfig-${++files}`);
  const config = {
    "current-context": "here",
    contexts: [
      { name: "elsewhere", context: { cluster: "none", user: "none" } },
      { name: "here", context: { cluster: "c", ...(user && { user: "u" }) } },
    ],
    clusters: [{ name: "c", cluster: { server: url, ...cluster } }],
    users: user ? [{ name: "u", user }] : [],
  };
  await writeFile(path, stringify(config));
  return path;
};

type Seen = { authorization?: string; certificate?: string; name: string | false };

/** What the server is shown by the credentials of the kubeconfig as it stands now. */
const shownBy = async (access: ReturnType<typeof openAccess>): Promise<Seen> => {
  const { server: base, headers, dispatcher } = await access.authenticate();
  const { body } = await request(base, { headers, ...(dispatcher && { dispatcher }) });
  return (await body.json()) as Seen;
};
const shown = async (cluster: object, user?: object): Promise<Seen> => {
  const access = openAccess(await kubeconfig(cluster, user));
  try {
    return await shownBy(access);
  } finally {
    await access.close();
  }
};
const fingerprint = ({ certificate }: TestCertificates): string => new X509Certificate(certificate).fingerprint256;
const clientData = ({ certificate, key }: TestCertificates) => ({
  "client-certificate-data": base64(certificate),
  "client-key-data": base64(key),
});

test.each([
  ["a token", { token: "abc" }, { authorization: "Bearer abc" }],
  ["a name and a password", { username: "alice", password: "pw" }, { authorization: `Basic ${base64("alice:pw")}` }],
  ["a certificate", clientData(first), { certificate: fingerprint(first) }],
  ["a program", { exec: undefined }, { authorization: "Bearer of-a-program" }],
])("the user proves who it is by %s", async (_what, user, wanted) => {
  const program = join(folder, "program");
  const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential" };
  await writeFile(
    program,
    `#!/bin/sh\necho '${JSON.stringify({ ...credential, status: { token: "of-a-program" } })}'\n`,
  );
  await chmod(program, 0o700);
  const exec = { apiVersion: credential.apiVersion, command: program, interactiveMode: "Never" };
  expect(await shown(authority, "exec" in user ? { exec } : user)).toMatchObject(wanted);
});

test("without a user nothing is proven", async () => {
  expect(await shown(authority)).toEqual({ name: false });
});

test("tokens and certificates in files, relative to the kubeconfig, are those that stand there now", async () => {
  const write = (token: string, { certificate, key }: TestCertificates) =>
    Promise.all([
      writeFile(join(folder, "token"), `${token}\n`),
      writeFile(join(folder, "client.crt"), certificate),
      writeFile(join(folder, "client.key"), key),
      writeFile(join(folder, "ca.crt"), own.authority),
    ]);
  await write("one", first);
  const user = { token: "ignored", tokenFile: "token", "client-certificate": "client.crt", "client-key": "client.key" };
  const access = openAccess(await kubeconfig({ "certificate-authority": "ca.crt" }, user));
  try {
    expect(await shownBy(access)).toMatchObject({ authorization: "Bearer one", certificate: fingerprint(first) });
    await write("two", second);
    expect(await shownBy(access)).toMatchObject({ authorization: "Bearer two", certificate: fingerprint(second) });
    const { dispatcher } = await access.authenticate();
    expect((await access.authenticate()).dispatcher, "the connections stay when nothing has changed").toBe(dispatcher);
  } finally {
    await access.close();
  }
});

// PROVIDER-4: else a token that is void would have the rights of the certificate.
test("whoever comes with a token of its own proves nothing else, and the server is checked all the same", async () => {
  const user = {
    ...{ token: "of the service", username: "u", password: "p" },
    ...{ "client-certificate-data": base64(first.certificate), "client-key-data": base64(first.key) },
  };
  const path = await kubeconfig(authority, user);
  const access = openTokenAccess(new Sensitive("of-a-team"), path);
  expect(await shownBy(access)).toEqual({ authorization: "Bearer of-a-team", name: false });
  await access.close();
  const unchecked = openTokenAccess(new Sensitive("of-a-team"), await kubeconfig({}, user));
  await expect(shownBy(unchecked)).rejects.toThrow();
  await unchecked.close();
  const program = { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x", interactiveMode: "Never" } };
  const others = await kubeconfig(authority, program);
  expect(() => openTokenAccess(new Sensitive("of-a-team"), others)).toThrow("plain kubeconfig");
});

test("the server is checked: by its authority, by another name, or not at all", async () => {
  const refused = expect.objectContaining({ code: expect.stringMatching(/CERT|VERIFY|SIGNATURE/) });
  await expect(shown({})).rejects.toEqual(refused);
  await expect(shown({ ...authority, "tls-server-name": "another.test" })).rejects.toEqual(refused);
  expect(await shown({ ...authority, "tls-server-name": "cluster.test" })).toEqual({ name: "cluster.test" });
  expect(await shown({ "insecure-skip-tls-verify": true })).toEqual({ name: false });
});

test("a kubeconfig that cannot be used is refused at once, by its name", async () => {
  expect(() => openAccess(join(folder, "none"))).toThrow(join(folder, "none"));
  const path = join(folder, "empty");
  await writeFile(path, "{}");
  expect(() => openAccess(path)).toThrow(`${path}: no kubeconfig with a current context and its cluster`);
});

test("a program's token opens the real API server", async () => {
  const { kubeconfigPath } = await sharedServers();
  const config = parse(await readFile(kubeconfigPath, "utf8"));
  const [{ user }] = config.users;
  const program = join(folder, "real-program");
  const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: user };
  await writeFile(program, `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, { mode: 0o700 });
  config.users[0].user = {
    exec: { apiVersion: credential.apiVersion, command: program, interactiveMode: "Never" },
  };
  const path = join(folder, "real");
  await writeFile(path, stringify(config), { mode: 0o600 });
  const kube = connectKube({ kubeconfigPath: path });
  try {
    expect((await kube.get(namespaces, { name: "default" }))?.metadata.name).toBe("default");
  } finally {
    await kube.close();
  }
});
