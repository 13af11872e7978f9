import { createHash } from "node:crypto";
import type { z } from "zod";
import type { BrowserChange } from "../../src/core/protocol/browser-change.ts";
import { sealStream, sealText } from "../../src/core/protocol/sealed-bytes.ts";
import type { Answer, TestAgent } from "./agent-process.ts";

/** Has the agent change the browser of the lease `s{seq}`, as the API does. */
export const changeBrowser = (
  agent: TestAgent,
  seq: number,
  wanted: Partial<z.input<typeof BrowserChange>>,
): Promise<Answer> => {
  const whole = { session_id: `s${seq}`, epoch: 1, seq, apply: true, ...wanted };
  return agent.call("PUT", "/change", sealText(agent.agentKey, JSON.stringify(whole)));
};

/** How an archive is named. */
export const refOf = (archive: Buffer): { sha256: string; bytes: number } => ({
  sha256: createHash("sha256").update(archive).digest("hex"),
  bytes: archive.length,
});

export const sendArchive = async (agent: TestAgent, archive: Buffer): Promise<Answer> => {
  const parts: Buffer[] = [];
  for await (const part of sealStream(agent.agentKey, [archive])) parts.push(part);
  return agent.call("PUT", `/archives/${refOf(archive).sha256}`, Buffer.concat(parts));
};
