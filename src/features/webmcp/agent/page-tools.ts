/**
 * The tools that the documents of pages have registered, read and invoked by Chromium's CDP domain WebMCP. Everything
 * that it tells is a page's: what is no tool, or is too large, is left out.
 */
import { createHash } from "node:crypto";
import type { Protocol } from "devtools-protocol";
import { z } from "zod";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import type { PageOrder } from "../../../core/agent/page-order.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import { CdpRefused } from "../../../platform/cdp/cdp-errors.ts";
import { evaluateApart } from "../../../platform/cdp/commands.ts";
import { listFrames, type PageFrame } from "../../../platform/cdp/page-frames.ts";
import type { CdpCall } from "../../../platform/cdp/pending-calls.ts";
import { type Invocation, mostTools, ToolMetadata } from "../calls.ts";

/** For each command: a page that hangs must not keep the tools of the others back. */
const commandMs = 2000;

/** Longest JSON Schema of a tool as JSON, characters. */
const mostSchemaChars = 64 * 1024;

/** Most frames of a page that are asked for tools, the outer ones first. */
const mostFrames = 50;

const mostErrorChars = 500;

/** Largest message of Chromium, bytes; a larger one is left out. */
export const mostMessageBytes = 8 * 1024 * 1024;

/** An open tab. `tabId`, `windowId`: of Tool's source. */
export type ToolPage = {
  targetId: string;
  sessionId: string;
  title: string;
  url: string;
  tabId: number;
  windowId: number;
  frames: PageFrame[];
};

/**
 * `digest`: of all that it says of itself, to tell it from one that is registered anew. `waits`: a form that its
 * invocation fills in and does not submit.
 */
type PageTool = { frame: PageFrame; metadata: ToolMetadata; digest: string; waits: boolean };

type Told = Protocol.WebMCP.ToolRespondedEvent | Protocol.WebMCP.ToolInvokedEvent;

const withoutFragment = (url: string): string => url.replace(/#.*$/s, "");

/**
 * The tools of one document. The events of Chromium's domain tell of those in the main frame alone. Its object is
 * called in a world of the agent's own, where the page can't have replaced it.
 */
const listing = `(async () => {
  const forms = new Map([...document.querySelectorAll("form[toolname]")].map((form) =>
    [form.getAttribute("toolname"), form.hasAttribute("toolautosubmit")]));
  const tools = (await document.modelContext.getTools()).filter((tool) => tool.window === window);
  return tools.slice(0, ${mostTools}).map(({ name, title, description, inputSchema, annotations }) => ({
    form: forms.get(name),
    tool: {
      name,
      title: title || undefined,
      description,
      inputSchema: inputSchema ?? { type: "object", properties: {} },
      annotations: annotations && {
        readOnlyHint: annotations.readOnlyHint,
        untrustedContentHint: annotations.untrustedContentHint,
        consequentialHint: annotations.consequentialHint,
        autosubmit: forms.get(name),
      },
    },
  }));
})()`;

/** `form`: whether a form submits itself; undefined for a tool that is none. */
const Listed = z.object({ form: z.boolean().optional(), tool: ToolMetadata });

const toolsIn = (listed: unknown, frame: PageFrame): PageTool[] =>
  (Array.isArray(listed) ? listed : []).flatMap((one) => {
    const { data } = Listed.safeParse(one);
    if (!data || JSON.stringify(data.tool.inputSchema).length > mostSchemaChars) return [];
    const digest = createHash("sha256").update(JSON.stringify(data.tool)).digest("base64url");
    return { frame, metadata: data.tool, digest, waits: data.form === false };
  });

const statuses = { Completed: "completed", Canceled: "canceled", Error: "error" } as const;

const outcomeOf = (told: Told, { waits }: PageTool): Invocation | undefined => {
  const { invocationId: invocation_id } = told;
  if ("status" in told) {
    const thrown = told.exception?.description?.split("\n", 1)[0]?.slice(0, mostErrorChars);
    const errorText = told.errorText || thrown;
    const text = errorText ? { error_text: errorText } : {};
    return { invocation_id, status: statuses[told.status], ...text, ...("output" in told && { output: told.output }) };
  }
  return waits ? { invocation_id, status: "awaiting_submission" } : undefined;
};

/** The outcome of what took too long. */
export const canceled = (invocation_id: string): Invocation => ({
  invocation_id,
  status: "canceled",
  error_text: "no answer in time",
});

const enableWebmcp = async (cdp: CdpConnection, call: CdpCall): Promise<void> => {
  try {
    await cdp.send("WebMCP.enable", undefined, call);
  } catch (error) {
    if (!(error instanceof CdpRefused)) throw error;
    throw new CallRefused("not_supported_here", "the Chromium of this browser has no WebMCP", { cause: error });
  }
};

export type PageTools = {
  /** The open tabs, the newest last; left out are those that give no answer. */
  pages(): Promise<ToolPage[]>;
  /** The tab of this target; undefined when it is gone. */
  page(targetId: string): Promise<ToolPage | undefined>;
  /** Those that a page's frames have registered now. */
  toolsOf(page: ToolPage): Promise<PageTool[]>;
  /** Resolves when the tool has answered, or its form waits. The abort of the signal cancels it. */
  invoke(tool: PageTool, input: object, signal: AbortSignal): Promise<Invocation>;
};

/** Over a connection that was opened for one call, whose only listener this is. */
export const createPageTools = (cdp: CdpConnection, order: PageOrder): PageTools => {
  const told: Told[] = [];
  let isInvoking = false;
  let look = (): void => undefined;
  let leave = (_sessionId: string): void => undefined;
  cdp.onEvent(({ method, params, sessionId = "" }) => {
    if (method === "Target.detachedFromTarget") leave((params as { sessionId: string }).sessionId);
    if (method === "Inspector.targetCrashed") leave(sessionId);
    if (!isInvoking || (method !== "WebMCP.toolResponded" && method !== "WebMCP.toolInvoked")) return;
    told.push(params as Told);
    look();
  });

  const attach = async ({ targetId, title, url }: Protocol.Target.TargetInfo): Promise<ToolPage | undefined> => {
    const tabId = order.numberOf({ targetId });
    if (tabId === undefined) return undefined;
    const call = { timeoutMs: commandMs };
    try {
      const [{ sessionId }, { windowId }] = await Promise.all([
        cdp.send("Target.attachToTarget", { targetId, flatten: true }, call),
        cdp.send("Browser.getWindowForTarget", { targetId }, call),
      ]);
      const frames = await listFrames(cdp, sessionId, commandMs);
      return { targetId, sessionId, title, url: withoutFragment(url), tabId, windowId, frames };
    } catch (error) {
      if (cdp.isOpen()) return undefined;
      throw error;
    }
  };
  const tabs = async (): Promise<Protocol.Target.TargetInfo[]> => {
    const { targetInfos } = await cdp.send(
      "Target.getTargets",
      { filter: [{ type: "page" }] },
      { timeoutMs: commandMs },
    );
    return order.sorted(targetInfos.filter(({ subtype }) => !subtype));
  };

  return {
    async pages() {
      const pages = await Promise.all((await tabs()).map(attach));
      return pages.filter((page) => page !== undefined);
    },
    async page(targetId) {
      const found = (await tabs()).find((tab) => tab.targetId === targetId);
      return found && (await attach(found));
    },
    async toolsOf({ frames }) {
      const lists = frames.slice(0, mostFrames).map(async (frame) => {
        const place = { sessionId: frame.sessionId, frameId: frame.frameId, timeoutMs: commandMs };
        const listed = await evaluateApart(cdp, listing, place).catch(() => undefined);
        return toolsIn(listed, frame);
      });
      return (await Promise.all(lists)).flat();
    },
    async invoke(tool, input, signal) {
      const { sessionId, frameId } = tool.frame;
      const call = { sessionId, timeoutMs: commandMs };
      await enableWebmcp(cdp, call);
      isInvoking = true;
      const request = { frameId, toolName: tool.metadata.name, input };
      const { invocationId } = await cdp.send("WebMCP.invokeTool", request, call);
      const outcome = Promise.withResolvers<Invocation>();
      look = () => {
        const own = told.filter((event) => event.invocationId === invocationId);
        const found = own.map((event) => outcomeOf(event, tool)).find((one) => one !== undefined);
        if (found) outcome.resolve(found);
      };
      leave = (left) => {
        const gone = { invocation_id: invocationId, status: "error", error_text: "its page is gone" } as const;
        if (left === sessionId) outcome.resolve(gone);
      };
      const cancel = (): void => {
        cdp.send("WebMCP.cancelInvocation", { invocationId }, call).catch(() => undefined);
        outcome.resolve(canceled(invocationId));
      };
      look();
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      try {
        return await outcome.promise;
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
  };
};
