/** A holder's changes, from the sealed call to the agent's disk. */
import { createSecretKey, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentServer, startAgentHttp } from "../../../src/core/agent/agent-http.ts";
import { changeRoutes } from "../../../src/core/agent/change-routes.ts";
import { sealText } from "../../../src/core/protocol/sealed-bytes.ts";
import { silent } from "../../support/lease-parts.ts";

const agentKey = createSecretKey(randomBytes(32));
let folder: string;
let agent: AgentServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "change-routes-"));
  const leases = { change: async () => "changed" as const, isHeldBy: () => true, prepare: () => true };
  agent = await startAgentHttp({
    address: "127.0.0.1",
    port: 0,
    verify: async () => true,
    agentKey,
    routes: changeRoutes({ leases, agentKey, folder: join(folder, "disk", "archives") }),
    requestTimeoutMs: 10_000,
    log: silent,
  });
});
afterAll(async () => {
  agent?.close();
  await rm(folder, { recursive: true, force: true });
});

const change = async (): Promise<{ status: number; body: unknown }> => {
  const asked = { session_id: "s", epoch: 1, seq: 1, apply: true, viewport: { width: 800, height: 600 } };
  const answer = await fetch(`http://127.0.0.1:${agent.port}/change`, {
    method: "PUT",
    headers: { authorization: "Bearer token" },
    body: sealText(agentKey, JSON.stringify(asked)),
  });
  return { status: answer.status, body: await answer.json() };
};

test("a disk that fails once fails one change of a lease, and not the next ones", async () => {
  const disk = join(folder, "disk");
  await writeFile(disk, "no folder");
  expect(await change()).toMatchObject({ status: 500 });
  await rm(disk);
  expect(await change()).toEqual({ status: 200, body: { missing: [] } });
});
