/** A login whose stored values can't be read: it is tried again ever more rarely, and ends in its time. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authConnectionKind } from "../../../../src/features/vaults/connections/auth-connection.ts";
import { createFlowStore, type FlowStore } from "../../../../src/features/vaults/own-logins/flow-store.ts";
import { secrets } from "../../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../../support/eventually.ts";
import { type OwnLoginParts, startOwnLoginParts, type TestLogin } from "./own-login-parts.ts";

let parts: OwnLoginParts;
let redis: Redis;
let flows: FlowStore;
beforeAll(async () => {
  parts = await startOwnLoginParts();
  redis = new Redis(parts.stack.redis_url);
  flows = createFlowStore(redis, "any");
});
afterAll(async () => {
  redis?.disconnect();
  await parts?.[Symbol.asyncDispose]();
});

/** A connection whose stored login is sealed by a key that nobody has. `mend`: has it as it was. */
const beginUnreadable = async (): Promise<{ login: TestLogin; uid: string; mend(): Promise<void> }> => {
  const { kube, namespace } = parts.stack;
  const login = await parts.begin("one-page", { begins: false });
  const { id } = await parts.call("GET", `/credentials/${login.credential}`);
  const ref = { namespace, name: `credential-${id}` };
  const { data } = (await kube.get(secrets, ref)) ?? {};
  const foreign = Buffer.from("bp-sealed:v1:00000000:AAAA").toString("base64");
  await kube.patch(secrets, ref, { data: { password: foreign } });
  const connection = await kube.get(authConnectionKind, { namespace, name: login.id });
  if (!connection) throw new Error("no connection");
  await login.login();
  return { login, uid: connection.metadata.uid, mend: async () => void (await kube.patch(secrets, ref, { data })) };
};

const told = async ({ id }: TestLogin): Promise<number[]> => {
  const folder = join(parts.stack.dataDir, "logs");
  const times: number[] = [];
  // Logs of pods are in a folder of their own.
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { name } of files)
    for (const line of (await readFile(join(folder, name), "utf8")).split("\n"))
      if (line.includes("a login can't go on now") && line.includes(id)) times.push(Date.parse(JSON.parse(line).time));
  return times.sort((a, b) => a - b);
};

// LOGIN-20
test("it is tried again ever more rarely, and at its time it has failed by name", async () => {
  const { login, uid } = await beginUnreadable();
  const times = await eventually("it was tried three times", async () => {
    const all = await told(login);
    return all.length >= 3 && all;
  });
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(pauses[0]).toBeGreaterThan(1900);
  expect(pauses[1]).toBeGreaterThan(3900);
  expect(await login.state()).toMatchObject({ flow_status: "IN_PROGRESS", flow_step: "DISCOVERING" });
  const flow = await flows.read(uid);
  if (!flow) throw new Error("no login");
  const { version, ...rest } = flow;
  expect(await flows.write(uid, version, { ...rest, expiresMs: Date.now() + 500 })).toBeDefined();
  expect(await login.over()).toMatchObject({
    flow_status: "FAILED",
    flow_step: "COMPLETED",
    error_code: "credential_unreadable",
    status: "NEEDS_AUTH",
  });
  expect((await login.timeline())[0]).toMatchObject({ status: "FAILED", error_code: "credential_unreadable" });
  const after = (await told(login)).length;
  await login.login();
  await eventually("another one begins", async () => (await told(login)).length > after);
});

// LOGIN-20
test("it goes on when the values can be read again", async () => {
  const { login, mend } = await beginUnreadable();
  await eventually("it was tried", async () => (await told(login)).length > 0);
  await mend();
  expect(await login.over()).toMatchObject({ flow_status: "SUCCESS", status: "AUTHENTICATED" });
});
