/** The Chrome DevTools Protocol over a plain WebSocket, as a client without a library uses it. */
import { once } from "node:events";

export type RawCdp = {
  /**
   * Sends one command to the browser, or to the page of `sessionId`. Rejects with the browser's message, or when the
   * socket closes.
   */
  send<Result = Record<string, unknown>>(method: string, params?: object, sessionId?: string): Promise<Result>;
  /** Resolves when either side has closed the socket: with the code and the reason of the closing frame. */
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
};

type Reply = { id?: number; result?: unknown; error?: { message: string } };

/** Connects to a session's `cdp_ws_url`. Rejects when the upgrade is refused. */
export const connectRawCdp = async (url: string): Promise<RawCdp> => {
  const socket = new WebSocket(url);
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  const closed = once(socket, "close").then(([{ code, reason }]) => {
    for (const call of pending.values()) call.reject(new Error("the connection is closed"));
    return { code, reason };
  });
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error } = JSON.parse(data as string) as Reply;
    const call = pending.get(id ?? -1);
    pending.delete(id ?? -1);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
  });
  const opened = Promise.withResolvers<void>();
  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("close", () => opened.reject(new Error("the connection was refused")));
  await opened.promise;
  return {
    async send<Result>(method: string, params: object = {}, sessionId?: string) {
      if (socket.readyState !== WebSocket.OPEN) throw new Error("the connection is closed");
      lastId += 1;
      const call = Promise.withResolvers<unknown>();
      pending.set(lastId, call);
      socket.send(JSON.stringify({ id: lastId, method, params, ...(sessionId && { sessionId }) }));
      return (await call.promise) as Result;
    },
    closed,
    async close() {
      socket.close();
      await closed;
    },
  };
};

/** Does `work` over its own connection. */
export const withCdp = async <Result>(url: string, work: (cdp: RawCdp) => Promise<Result>): Promise<Result> => {
  const cdp = await connectRawCdp(url);
  try {
    return await work(cdp);
  } finally {
    await cdp.close();
  }
};

type Cookie = { name: string; value: string };

/** Sets a cookie that outlives its page, for a host that no test calls. */
export const setCookie = (cdp: RawCdp, name: string, value: string): Promise<unknown> =>
  cdp.send("Storage.setCookies", { cookies: [{ name, value, domain: "cookies.test", path: "/" }] });

/** The value of a cookie, or undefined. */
export const cookieOf = async (cdp: RawCdp, wanted: string): Promise<string | undefined> => {
  const { cookies } = await cdp.send<{ cookies: Cookie[] }>("Storage.getCookies");
  return cookies.find(({ name }) => name === wanted)?.value;
};

/** Opens a tab. */
export const openTab = async (cdp: RawCdp, url: string): Promise<void> => {
  await cdp.send("Target.createTarget", { url });
};

/** The URLs of all tabs. */
export const tabUrls = async (cdp: RawCdp): Promise<string[]> => {
  const { targetInfos } = await cdp.send<{ targetInfos: { type: string; url: string }[] }>("Target.getTargets");
  return targetInfos.filter(({ type }) => type === "page").map(({ url }) => url);
};

/** Runs an expression in a new blank page and returns its value. */
export const evaluate = async (cdp: RawCdp, expression: string): Promise<unknown> => {
  const { targetId } = await cdp.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await cdp.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
  const { result } = await cdp.send<{ result: { value: unknown } }>(
    "Runtime.evaluate",
    { expression, returnByValue: true },
    sessionId,
  );
  await cdp.send("Target.closeTarget", { targetId });
  return result.value;
};
