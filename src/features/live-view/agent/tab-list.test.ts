import { expect, test, vi } from "vitest";
import { listedOrder } from "../../../../test/support/listed-order.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { followTabs } from "./tab-list.ts";

const secret = "s3cret-of-a-vault";
const mask = (text: string): string => text.replaceAll(secret, "•••");

test("a filled value is masked before a long title or URL is cut, so none of it is shown", async () => {
  const closed = Promise.withResolvers<void>();
  const target = (title: string, url: string) => ({ targetId: "t", type: "page", title, url, attached: false });
  for (let at = 990; at <= 1000; at++) {
    const send = vi.fn(async (method: string) =>
      method === "Target.getTargets"
        ? { targetInfos: [target(`${"t".repeat(at - 800)}${secret}`, `https://${"u".repeat(at - 8)}${secret}`)] }
        : {},
    );
    const list = await followTabs({ send, closed: closed.promise } as unknown as CdpConnection, {
      order: listedOrder,
      mask,
    });
    const [tab] = list.tabs();
    expect(JSON.stringify(tab)).not.toContain("s3");
    expect([(tab?.title.length ?? 0) <= 200, (tab?.url.length ?? 0) <= 1000]).toEqual([true, true]);
  }
  closed.resolve();
});
