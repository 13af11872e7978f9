/** What reading and watching need of a page's CDP session: a visit has Puppeteer's, an agent its own. */
import type { CDPEvents, Protocol } from "puppeteer-core";

/** The events of a page. */
export type PageEvents = {
  on<Event extends keyof CDPEvents>(event: Event, listener: (params: CDPEvents[Event]) => void): unknown;
};

/** The commands that read a page. */
export type PageCommands = {
  send(
    method: "Page.createIsolatedWorld",
    params: Protocol.Page.CreateIsolatedWorldRequest,
  ): Promise<Protocol.Page.CreateIsolatedWorldResponse>;
  send(
    method: "Runtime.evaluate",
    params: Protocol.Runtime.EvaluateRequest,
  ): Promise<Protocol.Runtime.EvaluateResponse>;
};
