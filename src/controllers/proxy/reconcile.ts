import { refOf } from "../../kube/objects.ts";
import { secretFinalizer } from "../../resources/finalizers.ts";
import { ownProxySecretName, proxyKind } from "../../resources/proxy.ts";
import { deleteOwnSecret } from "../delete-own-secret.ts";
import { withFinalizer } from "../finalizers.ts";
import { type ObjectDeps, writeStatus } from "../object-deps.ts";
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
