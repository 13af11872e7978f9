import type { Kube } from "../../kube/client.ts";
import { type Reflector, startReflector } from "../../kube/reflector.ts";
import type { Logger } from "../../log.ts";
import { type Browser, browserKind } from "../../resources/browser.ts";

/** All on-demand browsers of the organization, also those that ended within the last day, kept up to date by a watch. */
export type OnDemandBrowsers = Reflector<Browser> & {
  /** Calls `listener` for every change of this browser that the watch shows. Returns a function that unsubscribes. */
  listen(uid: string, listener: (browser: Browser) => void): () => void;
};

/** Starts the watch. It finds nothing before `synced` has resolved. */
export const startOnDemandBrowsers = ({ kube, log }: { kube: Kube; log: Logger }): OnDemandBrowsers => {
  const listeners = new Map<string, (browser: Browser) => void>();
  const reflector = startReflector({
    kube,
    type: browserKind,
    log,
    onChange: (browser) => listeners.get(browser.metadata.uid)?.(browser),
  });
  return {
    ...reflector,
    listen(uid, listener) {
      listeners.set(uid, listener);
      return () => void listeners.delete(uid);
    },
  };
};
