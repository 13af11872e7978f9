/** Fills into what only answers on a browser's address: not one byte is sent over such a connection. */
import { createSecretKey, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createAgentKeys, isUpgradeBy, newPodSuffix } from "../../../../src/core/protocol/agent-key.ts";
import { fillPage } from "../../../../src/features/vaults/fill/fill-page.ts";
import { Sensitive } from "../../../../src/platform/base/sensitive.ts";
import { eventually } from "../../../support/eventually.ts";
import { type ImpostorKind, startImpostor } from "../../../support/impostor.ts";

const keys = createAgentKeys(createSecretKey(randomBytes(32)));

const fill = async (kind: ImpostorKind, isChecked: boolean): Promise<{ result: unknown; heard: string }> => {
  const pod = `shop-${newPodSuffix()}`;
  await using impostor = await startImpostor({ kind, recordedWith: keys.keyOf(pod) });
  const challenge = keys.challenge(pod);
  const result = await fillPage(
    {
      connect: {
        url: `ws://${impostor.address}/cdp`,
        headers: challenge.headers,
        ...(isChecked && { accepts: (answer) => isUpgradeBy(challenge, answer) }),
      },
      timeoutMs: 500,
      bindings: [{ selector: "#password", value: () => new Sensitive("canary") }],
    },
    new AbortController().signal,
  ).catch((error: unknown) => error);
  await eventually("it was asked", async () => impostor.asked.length > 0);
  return { result, heard: impostor.heard() };
};

// POD-3
test.each<ImpostorKind>(["none", "another-key", "replay"])(
  "an impostor whose proof is of the kind %s gets nothing",
  async (kind) => {
    expect(await fill(kind, true)).toMatchObject({ result: { code: "browser_not_ready" }, heard: "" });
  },
);

test("without the check it would have got the first command", async () => {
  expect((await fill("none", false)).heard).not.toBe("");
});
