/**
 * On-demand browsers that no caller knows of: its caller hung up or got an error, or the API server did not answer
 * their creation. The replica deletes each of them. It works in the background and repeats while the API server is
 * away, so no caller waits for it. When the replica dies before, the browser is in the list of sessions and ends by its
 * idle timeout.
 */
import { unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Ref } from "../../platform/kube/objects.ts";
import { createBackgroundRetries } from "../../platform/redis/background-retries.ts";
import { browserKind } from "../model/browsers/browser.ts";

export type AbandonedBrowsers = {
  /**
   * Begins to delete the browser and returns at once. `inDoubt`: its creation was not answered, so it may come to be
   * later, or never.
   */
  add(browser: Ref, options?: { inDoubt: boolean }): void;
  /** Waits until all are deleted, `withinMs` at most. */
  drain(withinMs: number): Promise<void>;
};

/** What the API server has not created by then, ms after the call failed, it does not create. */
const doubtMs = 15_000;

/** Longest outage of the API server that is waited for, ms. */
const outageMs = 10 * 60_000;

/** Browsers at a time. In an outage callers may leave more; those end by their idle timeout. */
const mostAtOnce = 1000;

/** Does nothing before `add`. `kube`: its outages are `unavailable` (objects/kube-for-requests.ts). */
export const createAbandonedBrowsers = ({
  kube,
  log,
}: {
  kube: Pick<Kube, "get" | "delete">;
  log: Logger;
}): AbandonedBrowsers => {
  const retries = createBackgroundRetries();

  /** Names of these browsers are never given twice, so no uid is needed. */
  const remove = async (browser: Ref, doubtUntilMs: number): Promise<void> => {
    if (performance.now() < doubtUntilMs && !(await kube.get(browserKind, browser)))
      throw unavailable("a browser whose creation was not answered");
    await kube.delete(browserKind, browser);
  };
  return {
    add({ namespace, name }, { inDoubt } = { inDoubt: false }) {
      if (retries.size() >= mostAtOnce) {
        log.warn({ browser: name }, "too many abandoned browsers to delete; this one ends by its idle timeout");
        return;
      }
      const browser = { ...(namespace && { namespace }), name };
      const doubtUntilMs = inDoubt ? performance.now() + doubtMs : 0;
      retries
        .add(() => remove(browser, doubtUntilMs), { withinMs: outageMs })
        .catch((err: unknown) =>
          log.warn({ err, browser: name }, "an abandoned browser could not be deleted; it ends by its idle timeout"),
        );
    },
    drain: retries.drain,
  };
};
