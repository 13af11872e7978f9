/** Documents of tabs and their frames. */

import { readFileSync } from "node:fs";
import { z } from "zod";
import { tell } from "../../../platform/cdp/commands.ts";
import type { Emit } from "./recorder.ts";
import { contextOf, type Source, type SourceDeps, shownUrl } from "./source.ts";

/** Makes the events of the category `page`, but for tabs that open (capture.ts). */
export const watchPages = ({ cdp, emit }: SourceDeps): Source => ({
  enable: ({ sessionId }) => tell(cdp.send("Page.enable", undefined, { sessionId })),
  handlers: {
    "Page.frameNavigated": ({ frame }, tab) => {
      if (frame.parentId === undefined) tab.url = frame.url;
      emit(
        "page_navigation",
        {
          ...contextOf(tab),
          frame_id: frame.id,
          loader_id: frame.loaderId,
          url: shownUrl(frame.url),
          ...(frame.parentId !== undefined && { parent_frame_id: frame.parentId }),
        },
        { kind: "cdp", event: "Page.frameNavigated" },
      );
    },
    "Page.domContentEventFired": (_params, tab) =>
      emit("page_dom_content_loaded", contextOf(tab), { kind: "cdp", event: "Page.domContentEventFired" }),
    "Page.loadEventFired": (_params, tab) =>
      emit("page_load", contextOf(tab), { kind: "cdp", event: "Page.loadEventFired" }),
  },
});

// Captchas that pages show: by the addresses of their frames. Nothing here solves one.

const captchas: readonly [type: "hcaptcha" | "recaptcha" | "turnstile" | "geetest", host: RegExp, path: RegExp][] = [
  ["recaptcha", /^(www\.)?(google\.com|recaptcha\.net)$/, /^\/recaptcha\/(api2|enterprise)\/(anchor|bframe)/],
  ["hcaptcha", /(^|\.)hcaptcha\.com$/, /^\//],
  ["turnstile", /^challenges\.cloudflare\.com$/, /^\//],
  ["geetest", /(^|\.)geetest\.com$/, /^\//],
];

/** The kind of captcha that a frame of this URL shows. */
const captchaOf = (url: string): (typeof captchas)[number][0] | undefined => {
  const { protocol, hostname = "", pathname = "" } = URL.parse(url) ?? {};
  if (protocol !== "https:") return undefined;
  return captchas.find(([, host, path]) => host.test(hostname) && path.test(pathname))?.[0];
};

/** Tells each captcha once for its frame. `frame`: as the browser lists it. */
export const watchCaptchas = (emit: Emit) => {
  const told = new Map<string, string>();
  return {
    take({ targetId, url }: { targetId: string; url: string }): void {
      const type = captchaOf(url);
      if (!type || told.get(targetId) === type) return;
      told.set(targetId, type);
      const data = { target_id: targetId, target_type: "other" as const, url: shownUrl(url), captcha_type: type };
      emit("captcha_detected", data, { kind: "cdp", event: "Target.targetInfoChanged" });
    },
    forget: (targetId: string): void => void told.delete(targetId),
  };
};

// Clicks, keys and scrolling in pages, told by a script in a world of its own (in-page/interaction.js).

const script = readFileSync(new URL("in-page/interaction.js", import.meta.url), "utf8");
const worldName = "browserpool-interaction";
const binding = "browserpoolInteraction";

const coordinate = z.number().min(-1e7).max(1e7);
/** The renderer of a hostile page may send anything. */
const Told = z.discriminatedUnion("type", [
  z.object({ type: z.literal("click"), tag: z.string().max(100).optional(), x: coordinate, y: coordinate }),
  z.object({ type: z.literal("key"), tag: z.string().max(100).optional(), key: z.string().max(32).optional() }),
  z.object({ type: z.literal("scroll"), x: coordinate, y: coordinate }),
]);

const parse = (text: string): z.infer<typeof Told> | undefined => {
  try {
    return Told.parse(JSON.parse(text.slice(0, 1024)));
  } catch {
    return undefined;
  }
};

/** Makes the events of the category `interaction`. */
export const watchInteraction = ({ cdp, emit }: SourceDeps): Source => ({
  enable({ sessionId }) {
    const call = { sessionId };
    tell(cdp.send("Page.enable", undefined, call));
    tell(cdp.send("Runtime.addBinding", { name: binding, executionContextName: worldName }, call));
    const added = { source: script, worldName, runImmediately: true };
    tell(cdp.send("Page.addScriptToEvaluateOnNewDocument", added, call));
  },
  handlers: {
    "Runtime.bindingCalled": ({ name, payload }, tab) => {
      const told = name === binding ? parse(payload) : undefined;
      if (!told) return;
      const source = { kind: "cdp" as const, event: "Runtime.bindingCalled" };
      const { tag, ...context } = { tag: "tag" in told ? told.tag : undefined, ...contextOf(tab) };
      if (told.type === "click") emit("interaction_click", { ...context, tag, x: told.x, y: told.y }, source);
      if (told.type === "key") emit("interaction_key", { ...context, tag, key: told.key }, source);
      if (told.type === "scroll")
        emit("interaction_scroll_settled", { ...context, to_x: told.x, to_y: told.y }, source);
    },
  },
});
