/** What makes a page give each event of WebDriver BiDi. */
import type { EventData } from "webdriver-bidi-protocol";
import type { Bench } from "./bench.ts";

type Trigger = (bench: Bench) => Promise<unknown>;

const navigate =
  (path: string): Trigger =>
  ({ send, context, origin }) =>
    send("browsingContext.navigate", { context, url: path.includes(":") ? path : `${origin}${path}` }).catch(
      () => undefined,
    );

const evaluate =
  (expression: string): Trigger =>
  (bench) =>
    bench.evaluate(expression);

const fetching: Trigger = (bench) => bench.evaluate(`void fetch("${bench.origin}/tried")`);
const alerting = evaluate("void setTimeout(() => alert('tried'))");
const addFrame = evaluate("void document.body.append(document.createElement('iframe'))");
const removeFrame = evaluate("void document.querySelector('iframe').remove()");

/** Every event, by its name, with what triggers it. The compiler tells when the specification has one more. */
export const eventTries: Record<EventData["method"], Trigger> = {
  "browsingContext.contextCreated": addFrame,
  "browsingContext.contextDestroyed": removeFrame,
  "browsingContext.domContentLoaded": navigate("/"),
  "browsingContext.downloadEnd": navigate("/file"),
  "browsingContext.downloadWillBegin": navigate("/file"),
  "browsingContext.fragmentNavigated": navigate("/#fragment"),
  "browsingContext.historyUpdated": evaluate("history.pushState({}, '', '/tried')"),
  "browsingContext.load": navigate("/"),
  // Another navigation takes the place of one that has begun.
  "browsingContext.navigationAborted": (bench) =>
    bench.evaluate(`location = "${bench.origin}/never"; void setTimeout(() => { location = "/tried" }, 200)`),
  "browsingContext.navigationCommitted": navigate("/"),
  "browsingContext.navigationFailed": navigate("http://127.0.0.1:1/"),
  "browsingContext.navigationStarted": navigate("/"),
  "browsingContext.userPromptClosed": async (bench) => {
    const since = bench.events.length;
    await alerting(bench);
    await bench.event("browsingContext.userPromptOpened", since);
    await bench.send("browsingContext.handleUserPrompt", { context: bench.context });
  },
  "browsingContext.userPromptOpened": async (bench) => {
    const since = bench.events.length;
    await alerting(bench);
    await bench.event("browsingContext.userPromptOpened", since);
    await bench.send("browsingContext.handleUserPrompt", { context: bench.context });
  },
  "input.fileDialogOpened": ({ send, context }) =>
    send("script.evaluate", {
      ...{ expression: "document.getElementById('file').click()", awaitPromise: false },
      ...{ target: { context }, userActivation: true },
    }),
  "log.entryAdded": evaluate("console.log('tried')"),
  // It comes only where such requests are stopped.
  "network.authRequired": async ({ send, context, evaluate: run, origin }) => {
    await send("network.addIntercept", { phases: ["authRequired"], contexts: [context] });
    await run(`void fetch("${origin}/secret").catch(() => undefined)`);
  },
  "network.beforeRequestSent": fetching,
  "network.fetchError": evaluate("void fetch('http://127.0.0.1:1/').catch(() => undefined)"),
  "network.responseCompleted": fetching,
  "network.responseStarted": fetching,
  "script.message": ({ send, context }) =>
    send("script.callFunction", {
      functionDeclaration: "(tell) => tell('tried')",
      arguments: [{ type: "channel", value: { channel: "tried" } }],
      ...{ awaitPromise: false, target: { context } },
    }),
  "script.realmCreated": addFrame,
  "script.realmDestroyed": removeFrame,
};
