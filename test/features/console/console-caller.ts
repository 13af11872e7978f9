/** A caller of the console's own routes, as its pages are. */
import { consoleHeader } from "../../../src/core/http/console-session.ts";

type Asked = { method?: string; body?: unknown; cookie?: string; headers?: Record<string, string> };

/** Calls as a page of the console does: with its header, and with the cookie where there is one. */
export const asConsole = (url: string, path: string, { method = "GET", body, cookie, headers }: Asked = {}) =>
  fetch(url + path, {
    method,
    headers: {
      [consoleHeader]: "1",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(cookie !== undefined && { cookie }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: "manual",
  });

/** The cookie that an answer sets, as a request carries it. */
export const cookieIn = (answer: Response): string => answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";

/** The cookie of a person who has signed in with this key. */
export const signedIn = async (url: string, key: string): Promise<string> => {
  const answer = await asConsole(url, "/console/session", { method: "POST", body: { api_key: key } });
  if (!answer.ok) throw new Error(`signing in answered ${answer.status}`);
  return cookieIn(answer);
};
