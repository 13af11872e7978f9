import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { newTicket, readTicket, type TicketUse } from "./login-code.ts";

const signingKey = generateKeyPairSync("ed25519").privateKey;
const use: TicketUse = { stage: "code", projectId: "p", connectionId: "c" };
const untilMs = Date.parse("2030-01-01T00:00:00.123Z");
const ticket = newTicket(use, untilMs, signingKey);

// CONNECTION-17
test("a ticket tells until when it is good, has 256 random bits, and is new each time", () => {
  expect(readTicket(ticket, use, signingKey)).toBe(untilMs);
  expect(newTicket(use, untilMs, signingKey).slice(0, 42)).not.toBe(ticket.slice(0, 42));
});

// CONNECTION-18
test.each<[string, Partial<TicketUse>]>([
  ["stage", { stage: "visit" }],
  ["project", { projectId: "q" }],
  ["connection", { connectionId: "d" }],
  ["split of the two names", { projectId: 'p","c', connectionId: "" }],
])("a ticket is good for no other %s", (_, other) => {
  expect(readTicket(ticket, { ...use, ...other }, signingKey)).toBeUndefined();
});

test("a ticket with any other byte is no ticket, and so is one of another key", () => {
  const bytes = Buffer.from(ticket, "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    expect(readTicket(changed.toString("base64url"), use, signingKey)).toBeUndefined();
  }
  expect(readTicket(ticket, use, generateKeyPairSync("ed25519").privateKey)).toBeUndefined();
});

test.each(["", "a", `${ticket}A`, ticket.slice(1), `${ticket.slice(1)}=`, `${ticket.slice(1)}/`, "ü".repeat(72)])(
  "%j is no ticket",
  (text) => {
    expect(readTicket(text, use, signingKey)).toBeUndefined();
  },
);
