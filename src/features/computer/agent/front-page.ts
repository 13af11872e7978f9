/** The page that stands for the screen of a browser without one: the page that was opened last. */
import { CallRefused } from "../../../core/agent/call-routes.ts";
import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { evaluateInPage } from "../../../platform/cdp/commands.ts";
import type { Size } from "./hands.ts";

const timeoutMs = 5000;

const readSize = "[innerWidth, innerHeight, devicePixelRatio]";

type FrontPage = {
  /** The session of the page that is in front now. Throws a `CallRefused` when there is none. */
  session(): Promise<string>;
  /**
   * Its size in pixels of the screen, and how many of them a pixel of CSS has. Throws a `CallRefused` when it does not
   * answer.
   */
  look(): Promise<Size & { scale: number }>;
};

/** `cdp`: the sessions of pages are made on it. */
export const createFrontPage = (cdp: CdpConnection, order: () => PageOrder): FrontPage => {
  let attached: { targetId: string; sessionId: string } | undefined;

  const session = async (): Promise<string> => {
    const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{ type: "page" }] }, { timeoutMs });
    const targetId = order().sorted(targetInfos).at(-1)?.targetId;
    if (targetId === undefined) throw new CallRefused("conflict", "the browser has no page open");
    if (attached?.targetId !== targetId) {
      const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, { timeoutMs });
      attached = { targetId, sessionId };
    }
    return attached.sessionId;
  };
  return {
    session,
    async look() {
      const call = { sessionId: await session(), timeoutMs };
      const numbers = await evaluateInPage(cdp, readSize, call).catch(() => undefined);
      if (!Array.isArray(numbers)) throw new CallRefused("conflict", "the page in front does not answer");
      const [width, height, scale] = numbers.map(Number) as [number, number, number];
      return { width: Math.round(width * scale), height: Math.round(height * scale), scale };
    },
  };
};
