/**
 * The tools of a session's pages, for its holder:
 *
 *   list ──► the tools that documents have registered, and the custom tools that match a tab; each with a reference
 *   invoke ──► the reference's document, if it is still there ──► Chromium's WebMCP, or the custom tool's code in it
 *
 * The agent keeps the custom tools and the numbers of frames until the lease ends, and nothing else.
 */
import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import type { Browser } from "../../../core/agent/browser.ts";
import { type CallHandler, CallRefused, callHandler } from "../../../core/agent/call-routes.ts";
import { connectDevTools } from "../../../core/agent/connect-dev-tools.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { PageFrame } from "../../../platform/cdp/page-frames.ts";
import {
  addCustomTools,
  type Definition,
  type Invocation,
  invokeTool,
  listCustomTools,
  listTools,
  mostTools,
  removeCustomTool,
  type Tool,
  type ToolMetadata,
} from "../calls.ts";
import {
  type CustomTool,
  type CustomTools,
  createCustomTools,
  matchedFrame,
  readCustomTools,
  runCustomTool,
} from "./custom-tools.ts";
import { createPageTools, mostMessageBytes, type PageTools, type ToolPage } from "./page-tools.ts";
import { readRef, type ToolRef, writeRef } from "./tool-ref.ts";

const usualSeconds = 30;

/** Each has a connection to Chromium. */
const mostAtOnce = 8;

/** Most characters of one list as JSON. */
const mostListChars = 4 * 1024 * 1024;

type WebmcpDeps = { browser: Pick<Browser, "devTools" | "pageOrder" | "screen">; config: Pick<AgentConfig, "browser"> };

type Webmcp = LeaseFollower & { handlers: readonly CallHandler[] };

const shown = ({ id, kind, match, namespace, tool }: CustomTool): Definition => ({ id, kind, match, namespace, tool });

const goneTool = (): CallRefused =>
  new CallRefused("missing", "no such tool any more: list the tools again for its present reference");

/** Frames by number, as long as they are there. */
const createFrameNumbers = () => {
  let numbers = new Map<string, number>();
  let last = 0;
  return {
    of(frameId: string): number {
      const known = numbers.get(frameId);
      if (known !== undefined) return known;
      last += 1;
      numbers.set(frameId, last);
      return last;
    },
    keep(present: ReadonlySet<string>): void {
      numbers = new Map([...numbers].filter(([frameId]) => present.has(frameId)));
    },
  };
};

type Listing = { frames: ReturnType<typeof createFrameNumbers>; custom: CustomTools };

const toolsOf = async (page: ToolPage, pageTools: PageTools, { frames, custom }: Listing): Promise<Tool[]> => {
  const { targetId, title: page_title, url: page_url, tabId: tab_id, windowId: window_id } = page;
  const [top] = page.frames;
  if (!top) return [];
  const entry = (tool: ToolMetadata, frame: PageFrame, key: string, extra?: Partial<Tool["source"]>): Tool => ({
    tool,
    tool_ref: writeRef({
      isCustom: extra !== undefined,
      targetId,
      frameId: frame.frameId,
      loaderId: frame.loaderId,
      key,
    }),
    source: {
      ...{ page_title, page_url, tab_id, window_id },
      frame: frame.frameId === top.frameId ? null : { frame_id: frames.of(frame.frameId), url: frame.url },
      ...extra,
    },
  });
  const own = (await pageTools.toolsOf(page)).map(({ metadata, frame, digest }) => entry(metadata, frame, digest));
  const added = custom.list().flatMap((tool) => {
    const { id, namespace } = tool;
    if (!matchedFrame(tool, page.frames)) return [];
    return entry(tool.tool, top, id, { custom: { id, namespace }, target_id: targetId });
  });
  return [...own, ...added];
};

/** The first tools that fit into an answer: a page can have any number of them. */
const firstOf = (tools: readonly Tool[]): Tool[] => {
  let chars = 0;
  return tools.slice(0, mostTools).filter((tool) => {
    chars += JSON.stringify(tool).length;
    return chars <= mostListChars;
  });
};

const invokeByRef = async (
  cdp: CdpConnection,
  { ref, input, custom, pageTools }: { ref: ToolRef; input: object; custom: CustomTools; pageTools: PageTools },
  signal: AbortSignal,
): Promise<Invocation> => {
  const page = await pageTools.page(ref.targetId);
  const frame = page?.frames.find(({ frameId, loaderId }) => frameId === ref.frameId && loaderId === ref.loaderId);
  if (!page || !frame) throw goneTool();
  if (ref.isCustom) {
    const tool = custom.list().find(({ id }) => id === ref.key);
    const at = tool && matchedFrame(tool, page.frames);
    if (!at) throw goneTool();
    return runCustomTool(cdp, { tool, frame: at, input }, signal);
  }
  const found = (await pageTools.toolsOf(page)).find((tool) => tool.frame === frame && tool.digest === ref.key);
  if (!found) throw goneTool();
  return pageTools.invoke(found, input, signal);
};

/** Its handlers refuse while no lease is held. */
export const createWebmcp = ({ browser, config }: WebmcpDeps): Webmcp => {
  let custom = createCustomTools();
  let frames = createFrameNumbers();
  let underWay = 0;

  const withBrowser = async <Result>(
    work: (cdp: CdpConnection, pageTools: PageTools) => Promise<Result>,
  ): Promise<Result> => {
    if (config.browser.stealth)
      throw new CallRefused("not_supported_here", "a stealth browser has no WebMCP: pages could tell it by that");
    if (underWay >= mostAtOnce)
      throw new CallRefused("too_many_requests", `${mostAtOnce} calls for tools of this session are under way already`);
    underWay += 1;
    try {
      const bounds = { maxMessageBytes: mostMessageBytes, onLongEvent: () => undefined };
      await using cdp = await connectDevTools(browser.devTools(), bounds);
      return await work(cdp, createPageTools(cdp, browser.pageOrder()));
    } finally {
      underWay -= 1;
    }
  };

  const list = (withCustom: boolean): Promise<{ tools: Tool[] }> =>
    withBrowser(async (_cdp, pageTools) => {
      const pages = await pageTools.pages();
      frames.keep(new Set(pages.flatMap((page) => page.frames.map(({ frameId }) => frameId))));
      const listing = { frames, custom: withCustom ? custom : createCustomTools() };
      const tools = await Promise.all(pages.map((page) => toolsOf(page, pageTools, listing)));
      return { tools: firstOf(tools.flat()) };
    });

  const invoke = (ref: ToolRef, input: object, seconds: number, asked: AbortSignal): Promise<Invocation> => {
    const signal = AbortSignal.any([asked, AbortSignal.timeout(seconds * 1000)]);
    return withBrowser((cdp, pageTools) => invokeByRef(cdp, { ref, input, custom, pageTools }, signal));
  };

  return {
    begin: () => undefined,
    end() {
      custom = createCustomTools();
      frames = createFrameNumbers();
    },
    handlers: [
      callHandler(listTools, async ({ query }) => ({ value: await list(query.exclude_custom !== "true") })),
      callHandler(invokeTool, async ({ body, signal }) => {
        const ref = readRef(body.tool_ref);
        if (!ref) throw new CallRefused("bad_request", "tool_ref: is no reference of a tool in the list");
        return { value: await invoke(ref, body.input, body.timeout_sec ?? usualSeconds, signal) };
      }),
      callHandler(listCustomTools, async () => ({ value: { tools: custom.list().map(shown) } })),
      callHandler(addCustomTools, async ({ body: { force_overwrite_namespace: overwrite = false, ...given } }) => {
        const mine = custom;
        const hidden = browser.screen() === undefined;
        const tools = await withBrowser((cdp) => readCustomTools(cdp, given, { hidden }));
        mine.add(tools, overwrite);
        return { value: { tools: mine.list().map(shown) } };
      }),
      callHandler(removeCustomTool, async ({ param }) => {
        if (!custom.remove(param)) throw new CallRefused("missing", `no custom tool ${param.slice(0, 64)}`);
        return {};
      }),
    ],
  };
};
