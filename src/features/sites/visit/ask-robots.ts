import type { CDPSession, Protocol } from "puppeteer-core";
import type { BrowserPage } from "./connect-browser.ts";
import { isAllowed, maxRobotsBytes, rulesFor } from "./robots.ts";
import type { Visit } from "./visit.ts";
import { wallError } from "./wall-error.ts";

/** Documents stop before their body is read, so no more of it is loaded than we ask for. */
const beforeBodies = [{ resourceType: "Document" as const, requestStage: "Response" as const }];

type Answer = { status: number; requestId: string; error: Visit["error"] };

/** Whether this is an answer, and no failure and no redirect, which Chromium follows. */
const isAnswer = ({ responseStatusCode: status, responseHeaders = [] }: Protocol.Fetch.RequestPausedEvent): boolean =>
  status !== undefined &&
  !(status >= 300 && status < 400 && responseHeaders.some(({ name }) => /^location$/i.test(name)));

/** The answer to a GET of this URL in the page; text: why there is none. */
const answerOf = (page: CDPSession, url: string): Promise<Answer | `ERR_${string}`> => {
  const answer = Promise.withResolvers<Answer | `ERR_${string}`>();
  page.on("Fetch.requestPaused", (event) => {
    const { requestId, responseStatusCode: status = 0, responseHeaders = [] } = event;
    const headers = Object.fromEntries(responseHeaders.map(({ name, value }) => [name.toLowerCase(), value]));
    if (isAnswer(event)) answer.resolve({ status, requestId, error: wallError(headers) });
    else page.send("Fetch.continueRequest", { requestId }).catch(answer.reject);
  });
  page
    .send("Page.navigate", { url })
    .then(({ errorText = "ERR_FAILED" }) => answer.resolve(`ERR_${errorText.replace(/^(net::)?(ERR_)?/, "")}`))
    .catch(answer.reject);
  return answer.promise;
};

/** Reads the body of an answer up to the bound. */
const readBody = async (page: CDPSession, requestId: string): Promise<string> => {
  const { stream: handle } = await page.send("Fetch.takeResponseBodyAsStream", { requestId });
  const parts: Buffer[] = [];
  let left = maxRobotsBytes;
  while (left > 0) {
    const { data, eof, base64Encoded } = await page.send("IO.read", { handle, size: left });
    const part = Buffer.from(data, base64Encoded ? "base64" : "utf8");
    parts.push(part);
    left -= part.length;
    if (eof) break;
  }
  await page.send("IO.close", { handle });
  return Buffer.concat(parts).toString("utf8");
};

/**
 * Asks the site's robots.txt, by the browser itself, so that it takes the same way as the visit. Resolves with why there must be no visit:
 * the file says so, or the site fails to answer what it says; undefined when the visit may be. A site that has no file allows all.
 */
export const askRobots = async ({ page }: BrowserPage, url: string, agent: string): Promise<Visit["error"]> => {
  await page.send("Fetch.enable", { patterns: beforeBodies });
  const answer = await answerOf(page, new URL("/robots.txt", url).href);
  if (typeof answer === "string") return answer;
  const { status, requestId, error } = answer;
  const file = status < 300 ? await readBody(page, requestId) : "";
  // The page stays where it was.
  await page.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
  await page.send("Fetch.disable");
  if (error) return error;
  if (status >= 500) return "ROBOTS_DISALLOWED";
  return status >= 300 || isAllowed(rulesFor(file, agent), url) ? undefined : "ROBOTS_DISALLOWED";
};
