import { expect, test } from "vitest";
import type { CdpConnection, CdpEvent } from "../../platform/cdp/cdp-connection.ts";
import { followPageOrder, ownPageUrl } from "./page-order.ts";

const ids = (targets: { targetId: string }[]): string => targets.map(({ targetId }) => targetId).join("");
const list = (text: string): { targetId: string }[] => [...text].map((targetId) => ({ targetId }));

// VIEW-5
test("pages are in the order in which they were made; one that was not told of yet is the newest", async () => {
  let tell: (event: CdpEvent) => void = () => undefined;
  const cdp: Pick<CdpConnection, "send" | "onEvent"> = {
    send: async () => ({}) as never,
    onEvent(listener) {
      tell = listener;
    },
  };
  const order = await followPageOrder(cdp);
  const event = (method: string, params: unknown) => tell({ method, params, sessionId: undefined });
  for (const targetId of "bca") event("Target.targetCreated", { targetInfo: { targetId } });
  expect(ids(order.sorted(list("xabc")))).toBe("bcax");
  event("Target.targetCreated", { targetInfo: { targetId: "b" } });
  event("Target.targetCreated", "nonsense");
  expect(ids(order.sorted(list("abc")))).toBe("bca");
  event("Target.targetDestroyed", { targetId: "b" });
  expect(ids(order.sorted(list("bac")))).toBe("cab");
  // The agent's own, by where it began or by where it is.
  event("Target.targetCreated", { targetInfo: { targetId: "o", url: ownPageUrl } });
  expect(ids(order.sorted([...list("oab"), { targetId: "p", url: ownPageUrl }]))).toBe("ab");
});
