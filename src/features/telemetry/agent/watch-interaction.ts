/** Clicks, keys and scrolling in pages, told by a script in a world of its own (in-page/interaction.js). */

import { readFileSync } from "node:fs";
import { z } from "zod";
import { tell } from "../../../platform/cdp/commands.ts";
import { contextOf, type Source, type SourceDeps } from "./source.ts";

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
