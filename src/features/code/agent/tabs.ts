import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";

const timeoutMs = 5000;

/** The tabs of the browser, looked up when they are asked for. */
export type Tabs = {
  /** The newest last. */
  list(): Promise<{ id: string; url: string }[]>;
  /** A tab that is gone is no error. */
  close(id: string): Promise<void>;
};

/** Over a connection of its own for each look. */
export const tabsOf = ({ devTools, pageOrder }: { devTools(): DevToolsPlace; pageOrder(): PageOrder }): Tabs => {
  const withBrowser = async <Result>(work: (cdp: CdpConnection) => Promise<Result>): Promise<Result> => {
    await using cdp = await connectDevTools(devTools());
    return await work(cdp);
  };
  return {
    list: () =>
      withBrowser(async (cdp) => {
        const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] }, { timeoutMs });
        // A page that Chromium prepares and nobody sees yet has a subtype.
        const tabs = targetInfos.filter(({ type, subtype }) => type === "page" && !subtype);
        return pageOrder()
          .sorted(tabs)
          .map(({ targetId, url }) => ({ id: targetId, url }));
      }),
    close: (id) =>
      withBrowser(async (cdp) => {
        await cdp.send("Target.closeTarget", { targetId: id }, { timeoutMs }).catch(() => undefined);
      }),
  };
};
