import type { Dispatcher } from "undici";

/** What a call to the API server needs: its base URL, headers that prove who calls, and the connections. */
export type Proof = { server: string; headers: Record<string, string>; dispatcher: Dispatcher | undefined };

/** The way to one API server. */
export type Access = {
  /** Reads anew what may have been renewed: files, or the answer of a program. Rejects with an `Error` that names what is missing. */
  prove(): Promise<Proof>;
  /** Cuts all connections. */
  close(): Promise<void>;
};
