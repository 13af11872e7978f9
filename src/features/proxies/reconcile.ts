import { deleteOwnSecret } from "../../core/reconcile/delete-own-secret.ts";
import { withFinalizer } from "../../core/reconcile/finalizers.ts";
import { type ObjectDeps, writeStatus } from "../../core/reconcile/object-deps.ts";
import { secretFinalizer } from "../../platform/kinds/finalizers.ts";
import { refOf } from "../../platform/kube/objects.ts";
import { ownProxySecretName, proxyKind } from "./proxy.ts";
import { proxyStatus } from "./status.ts";

/** One round for one proxy; `key` is `namespace/name`. Safe to repeat at any point. */
export const reconcileProxy = async (key: string, deps: ObjectDeps): Promise<undefined> => {
  const { proxies } = deps.caches;
  const known = proxies.get(refOf(key));
  if (!known) return;
  if (known.metadata.deletionTimestamp) {
    await deleteOwnSecret(proxyKind, { object: known, secret: ownProxySecretName(known.metadata.name) }, deps);
    return;
  }
  deps.lead.check();
  const proxy = await withFinalizer(proxyKind, { object: known, finalizer: secretFinalizer }, deps.kube);
  proxies.put(proxy);
  const status = proxyStatus(proxy, { provider: deps.proxyProvider, nowMs: deps.now() });
  await writeStatus(proxyKind, { object: proxy, status, cache: proxies }, deps);
};
