import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import { ownPageUrl } from "./page-order.ts";

const timeoutMs = 5000;

/**
 * Opens an empty page of the agent's own for some work, which gets its target, and closes it then. `hidden`: whether the
 * browser can have a page that nobody sees; else it is in the background.
 */
export const withOwnPage = async <Result>(
  cdp: CdpConnection,
  { hidden }: { hidden: boolean },
  work: (targetId: string) => Promise<Result>,
): Promise<Result> => {
  const place = hidden ? { hidden: true } : { background: true };
  const { targetId } = await cdp.send("Target.createTarget", { url: ownPageUrl, ...place }, { timeoutMs });
  try {
    return await work(targetId);
  } finally {
    await cdp.send("Target.closeTarget", { targetId }, { timeoutMs }).catch(() => undefined);
  }
};
