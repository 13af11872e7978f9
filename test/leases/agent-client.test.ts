import { createSecretKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createAgentClient } from "../../src/leases/agent-client.ts";
import type { LeaseRecord } from "../../src/leases/records.ts";
import { createAgentKeys } from "../../src/protocol/agent-key.ts";
import { createAgentTokens } from "../../src/protocol/agent-token.ts";

test("many calls to one agent, binds and ends, share a kept-alive connection", async () => {
  const state = { pod_uid: "pod", fence: { epoch: 1, seq: 1 }, binding: null, resetting: false, lease: null };
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify(state)));
  });
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const tokens = createAgentTokens(generateKeyPairSync("ed25519").privateKey);
  const keys = createAgentKeys(createSecretKey(randomBytes(32)));
  const agents = createAgentClient({ tokens, keys });
  try {
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const lease = { session: "s", browser: "pod", pod: "pod", address, epoch: 1, seq: 1 } as LeaseRecord;
    for (let round = 0; round < 10; round++) {
      expect(
        await agents.bind(lease, {
          session_id: "s",
          epoch: 1,
          seq: 1,
          timeout_seconds: 10,
          max_seconds: 60,
          request: "{}",
        }),
      ).toMatchObject({
        kind: "ok",
      });
      expect(await agents.end(lease, "reset")).toMatchObject({ kind: "ok" });
    }
    // The client opens a second connection while it checks an idle one before reuse.
    expect(connections).toBeLessThanOrEqual(2);
  } finally {
    await agents.close();
    server.close();
  }
});
