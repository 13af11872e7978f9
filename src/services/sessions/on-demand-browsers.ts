import type { Kube } from "../../kube/client.ts";
import { type Reflector, startReflector } from "../../kube/reflector.ts";
import type { Logger } from "../../log.ts";
import { type Browser, browserKind } from "../../resources/browser.ts";

/** All on-demand browsers of the organization, kept by a watch; those that ended within the last day included. */
export type OnDemandBrowsers = Reflector<Browser> & {
  /** Calls `tell` at every change of this browser that is heard of, until the returned function is called. */
  listen(uid: string, tell: (browser: Browser) => void): () => void;
};

/** Nothing is found before `synced` has resolved. */
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
    listen(uid, tell) {
      listeners.set(uid, tell);
      return () => void listeners.delete(uid);
    },
  };
};
