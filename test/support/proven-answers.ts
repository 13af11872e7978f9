/** Answers of a program in an agent's place, with the proof of the agent's key. */
import type { KeyObject } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { nonceHeader, nonceIn, proofHeader, proofOf, upgradeTo } from "../../src/core/protocol/agent-proof.ts";

/** Answers the request with this object as JSON. */
export const sendProven = (
  key: KeyObject,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  status: number,
  answered: object,
): void => {
  const { method = "", url: path = "", headers } = request;
  const body = JSON.stringify(answered);
  const nonce = nonceIn(headers);
  const proof = nonce && proofOf(key, { nonce, method, path, status, body });
  response.writeHead(status, proof ? { [proofHeader]: proof } : {}).end(body);
};

/** The answer to an upgrade to `/cdp`. `head`: of the request, as it came. */
export const provenUpgrade = (key: KeyObject, head: string, status: 101 | 401 = 101): string => {
  const nonce = new RegExp(`^${nonceHeader}: (\\S+)`, "im").exec(head)?.[1] ?? "";
  const lines = status === 101 ? ["Connection: Upgrade", "Upgrade: websocket"] : ["Content-Length: 0"];
  const proof = `${proofHeader}: ${proofOf(key, { ...upgradeTo("/cdp"), nonce, status })}`;
  return [`HTTP/1.1 ${status} As asked`, ...lines, proof, "", ""].join("\r\n");
};
