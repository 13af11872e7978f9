/** Documents of tabs and their frames. */
import { tell } from "../../../platform/cdp/commands.ts";
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
