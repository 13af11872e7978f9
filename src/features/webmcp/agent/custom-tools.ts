/** The tools that a holder adds to the pages of its session: what they are, and how they are run in a page. */
import { randomUUID } from "node:crypto";
import type { Protocol } from "devtools-protocol";
import { z } from "zod";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { withOwnPage } from "../../../core/agent/own-page.ts";
import { awaitWith } from "../../../platform/base/retry.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpRefused, CdpTimeout } from "../../../platform/cdp/cdp-errors.ts";
import type { PageFrame } from "../../../platform/cdp/page-frames.ts";
import { CustomMatch, type Definition, type Invocation, mostCustomTools, ToolMetadata } from "../calls.ts";
import { canceled } from "./page-tools.ts";

/** Time to evaluate a source, ms. */
const evaluateMs = 2000;

const commandMs = 5000;

/** Most characters of all sources of a session. */
const mostSourceChars = 4_000_000;

/** `index`: of its definition in the array that the source gives. */
export type CustomTool = Definition & { source: string; index: number; patterns: readonly URLPattern[] };

const Read = z.array(
  z.object({
    kind: z.string().default("page"),
    match: CustomMatch,
    tool: ToolMetadata,
    isFunction: z.literal(true, "execute: is no function"),
  }),
);

const reading = (source: string): string => `((tools) => JSON.stringify(Array.isArray(tools) && tools.map((one) => ({
  kind: one?.kind, match: one?.match, tool: one?.tool, isFunction: typeof one?.execute === "function" }))))(
${source}
)`;

const refused = (message: string): CallRefused => new CallRefused("bad_request", `source: ${message}`);

const textOf = ({ exception, text }: Protocol.Runtime.ExceptionDetails): string =>
  (exception?.description ?? String(exception?.value ?? text)).split("\n", 1)[0]?.slice(0, 300) ?? text;

/** Evaluates a source in an empty page of the agent's own: it is the holder's code, which runs nowhere else. */
const evaluateSource = (cdp: CdpConnection, source: string, hidden: boolean): Promise<unknown> =>
  withOwnPage(cdp, { hidden }, async (targetId) => {
    const call = { timeoutMs: commandMs };
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true }, call);
    const evaluation = { expression: reading(source), returnByValue: true, timeout: evaluateMs };
    const evaluated = cdp.send("Runtime.evaluate", evaluation, { sessionId, timeoutMs: 2 * evaluateMs });
    const { result, exceptionDetails } = await evaluated.catch((error: unknown) => {
      if (!(error instanceof CdpRefused || error instanceof CdpTimeout)) throw error;
      throw refused(`was not evaluated within ${evaluateMs / 1000} s`);
    });
    if (exceptionDetails) throw refused(textOf(exceptionDetails));
    return JSON.parse(String(result.value));
  });

const patternOf = (text: string): URLPattern => {
  let pattern: URLPattern;
  try {
    pattern = text === "*" ? new URLPattern({}) : new URLPattern(text);
  } catch {
    throw refused(`${text.slice(0, 100)} is no URL pattern`);
  }
  // The agent matches the URLs of pages with it: an expression could take for ever.
  if (pattern.hasRegExpGroups) throw refused(`${text.slice(0, 100)} has a group with a regular expression`);
  return pattern;
};

/** What a source defines. Throws a `CallRefused` that names the definition and the field. */
export const readCustomTools = async (
  cdp: CdpConnection,
  { namespace, source }: { namespace: string; source: string },
  { hidden }: { hidden: boolean },
): Promise<CustomTool[]> => {
  const given = await evaluateSource(cdp, source, hidden);
  if (!Array.isArray(given) || given.length === 0) throw refused("its value is no array with definitions");
  if (given.length > mostCustomTools) throw refused(`more than ${mostCustomTools} definitions`);
  const read = Read.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw refused(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is no definition"}`);
  }
  return read.data.map(({ kind, match, tool }, index) => {
    if (kind !== "page")
      throw new CallRefused("not_supported_here", `kind: only page; for code over CDP there is /repl`);
    return {
      id: randomUUID(),
      kind,
      match,
      namespace,
      tool,
      source,
      index,
      patterns: match.url_patterns.map(patternOf),
    };
  });
};

export type CustomTools = {
  list(): readonly CustomTool[];
  /** All or none; `overwrite`: in place of all tools of their namespace. Throws a `CallRefused`. */
  add(tools: readonly CustomTool[], overwrite: boolean): void;
  /** False when there is none. */
  remove(id: string): boolean;
};

const sourceChars = (tools: readonly CustomTool[]): number =>
  [...new Set(tools.map(({ source }) => source))].reduce((sum, { length }) => sum + length, 0);

/** Those of one session; none at first. */
export const createCustomTools = (): CustomTools => {
  let present: readonly CustomTool[] = [];
  return {
    list: () => present,
    add(tools, overwrite) {
      const [first] = tools;
      const kept = overwrite ? present.filter(({ namespace }) => namespace !== first?.namespace) : present;
      const after = [...kept, ...tools];
      const names = after.map(({ namespace, tool }) => `${namespace}/${tool.name}`);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined)
        throw new CallRefused("conflict", `${twice} is there already; remove it, or give force_overwrite_namespace`);
      if (after.length > mostCustomTools)
        throw new CallRefused("conflict", `a session has ${mostCustomTools} custom tools at most`);
      if (sourceChars(after) > mostSourceChars)
        throw new CallRefused("conflict", `the sources of a session have ${mostSourceChars} characters at most`);
      present = after;
    },
    remove(id) {
      const after = present.filter((tool) => tool.id !== id);
      const isThere = after.length < present.length;
      present = after;
      return isThere;
    },
  };
};

/** The first frame that a tool matches: the page itself, if it does. */
export const matchedFrame = ({ patterns }: CustomTool, frames: readonly PageFrame[]): PageFrame | undefined =>
  frames.find(({ url }) => patterns.some((pattern) => pattern.test(url)));

/** The document of a frame, in the world of its page. */
const documentOf = async (
  cdp: CdpConnection,
  { sessionId, frameId, isRoot }: PageFrame,
): Promise<string | undefined> => {
  const call = { sessionId, timeoutMs: commandMs };
  if (isRoot) return (await cdp.send("Runtime.evaluate", { expression: "document" }, call)).result.objectId;
  await cdp.send("DOM.enable", {}, call);
  const owner = await cdp.send("DOM.getFrameOwner", { frameId }, call);
  const { node } = await cdp.send("DOM.describeNode", { backendNodeId: owner.backendNodeId }, call);
  const backendNodeId = node.contentDocument?.backendNodeId;
  if (backendNodeId === undefined) return undefined;
  return (await cdp.send("DOM.resolveNode", { backendNodeId }, call)).object.objectId;
};

type CustomRun = { id: string; tool: CustomTool; frame: PageFrame; input: object };

const runInPage = async (cdp: CdpConnection, { id, tool, frame, input }: CustomRun): Promise<Invocation> => {
  const invocation_id = id;
  const objectId = await documentOf(cdp, frame);
  if (objectId === undefined) return { invocation_id, status: "error", error_text: "its page is gone" };
  const functionDeclaration = `async function (input) {
const tools = (
${tool.source}
);
return JSON.stringify((await tools[${tool.index}].execute(input)) ?? null);
}`;
  const request = { objectId, functionDeclaration, arguments: [{ value: input }], awaitPromise: true };
  const { result, exceptionDetails } = await cdp.send(
    "Runtime.callFunctionOn",
    { ...request, returnByValue: true },
    { sessionId: frame.sessionId },
  );
  if (exceptionDetails) return { invocation_id, status: "error", error_text: textOf(exceptionDetails) };
  return { invocation_id, status: "completed", output: JSON.parse(String(result.value)) };
};

/** Runs a tool in a frame, until the signal is aborted. A page's code can't be ended: it may go on. */
export const runCustomTool = async (
  cdp: CdpConnection,
  run: Omit<CustomRun, "id">,
  signal: AbortSignal,
): Promise<Invocation> => {
  const id = randomUUID();
  const outcome = runInPage(cdp, { ...run, id });
  return awaitWith(outcome, signal).catch((error: unknown) => {
    if (signal.aborted) return canceled(id);
    throw error;
  });
};
