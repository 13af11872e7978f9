/**
 * Looks for pods whose creation was not answered. The API server may have created such a pod; another one in its place
 * would be one too many.
 *
 *   unanswered ──it is there──► known, as if it had been answered
 *     └───────it is not there, and no call still lasts──► not created
 */
import type { Kube } from "../../../platform/kube/client.ts";
import type { Expectations } from "../../../platform/kube/expectations.ts";
import type { Pod } from "../../../platform/kube/objects.ts";
import type { Reflector } from "../../../platform/kube/reflector.ts";
import { pods as podType } from "../../../platform/kube/resource-type.ts";
import type { KeySweeps } from "../apply/agent-key-secrets.ts";
import type { StartCount } from "../apply/start-count.ts";

/**
 * What the API server has not created by then, ms after the call failed, it does not create: a call lasts ten seconds
 * at most.
 */
const overMs = 15_000;

export type ConfirmCreationsDeps = {
  kube: Pick<Kube, "get">;
  pods: Pick<Reflector<Pod>, "put">;
  expectations: Pick<Expectations, "unanswered" | "creationObserved">;
  starts: Pick<StartCount, "begun">;
  keySweeps: Pick<KeySweeps, "request">;
};

/** Returns how many may still be created. Never rejects: while the API server does not answer, they count. */
export const confirmCreations = async (
  { namespace, uid }: { namespace: string; uid: string },
  { kube, pods, expectations, starts, keySweeps }: ConfirmCreationsDeps,
): Promise<number> => {
  const settle = async ({ name, forMs }: { name: string; forMs: number }): Promise<boolean> => {
    const pod = await kube.get(podType, { namespace, name }).catch(() => "unknown" as const);
    if (pod === "unknown" || (!pod && forMs < overMs)) return false;
    expectations.creationObserved(uid, name);
    if (!pod) {
      keySweeps.request(uid, name);
      return true;
    }
    starts.begun(pod.metadata.uid);
    pods.put(pod);
    return true;
  };
  const settled = await Promise.all(expectations.unanswered(uid).map(settle));
  return settled.filter((is) => !is).length;
};
