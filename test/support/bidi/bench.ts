/** A page in which commands and events of WebDriver BiDi are tried. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BidiClosed, BidiError, connectRawBidi, type RawBidi } from "./raw-bidi.ts";

const html = `<title>Tried</title><h1 id=heading>Tried</h1><input id=file type=file>
<script>globalThis.answers = [];</script><iframe srcdoc="in a frame"></iframe>`;

/**
 * A site with a page (`/`), one that wants a password (`/secret`), a download (`/file`), and one that never answers
 * (`/never`).
 */
const serveSite = async (): Promise<{ origin: string } & AsyncDisposable> => {
  const server = createServer(({ url }, response) => {
    if (url === "/never") return;
    const headers = { "content-type": "text/html", "access-control-allow-origin": "*" };
    if (url === "/secret")
      return void response.writeHead(401, { ...headers, "www-authenticate": 'Basic realm="tried"' }).end();
    if (url === "/file")
      return void response.writeHead(200, { "content-disposition": "attachment; filename=tried.bin" }).end("file");
    response.writeHead(200, headers).end(url === "/" ? html : "tried");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export type Bench = RawBidi & {
  context: string;
  origin: string;
  /** Evaluates in the page, without waiting for a promise. */
  evaluate(expression: string): Promise<{ realm: string; result: { handle?: string; sharedId?: string } }>;
  /** The reference to the element of this id. */
  element(id: string): Promise<{ sharedId: string }>;
  /** Opens the page anew. */
  reset(): Promise<void>;
};

/** The capabilities with which prompts wait to be handled. */
export const promptsWait = { unhandledPromptBehavior: { default: "ignore" } };

/** Connects, opens a tab with the page, and does `work`. `isNew`: whether the connection has no session yet. */
export const withBench = async <T>(
  { url, isNew = true }: { url: string; isNew?: boolean },
  work: (bench: Bench) => Promise<T>,
): Promise<T> => {
  await using site = await serveSite();
  const bidi = await connectRawBidi(url);
  if (isNew) await bidi.send("session.new", { capabilities: { alwaysMatch: promptsWait } });
  const { context } = await bidi.send<{ context: string }>("browsingContext.create", { type: "tab" });
  const evaluate: Bench["evaluate"] = (expression) =>
    bidi.send("script.evaluate", { expression, awaitPromise: false, resultOwnership: "root", target: { context } });
  const reset = async (): Promise<void> =>
    void (await bidi.send("browsingContext.navigate", { context, url: `${site.origin}/`, wait: "complete" }));
  const element: Bench["element"] = async (id) => ({
    sharedId: (await evaluate(`document.getElementById("${id}")`)).result.sharedId ?? "",
  });
  await reset();
  try {
    return await work({ ...bidi, context, origin: site.origin, evaluate, element, reset });
  } finally {
    await bidi.send("browsingContext.close", { context }).catch(() => undefined);
    await bidi.close();
  }
};

/** What came of a try: `yes`, the code of the error, or `no answer` when the connection was closed instead. */
export const outcomeOf = async (trying: Promise<unknown>): Promise<string> => {
  try {
    await trying;
    return "yes";
  } catch (error) {
    if (error instanceof BidiError) return error.message;
    if (error instanceof BidiClosed) return "no answer";
    throw error;
  }
};
