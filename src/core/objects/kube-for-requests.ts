import { AppError, unavailable } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { isTransient, KubeError } from "../../platform/kube/kube-error.ts";
import { type ObjectBounds, requireQuotaFor } from "./project-quota.ts";

/** etcd refuses values above its limit; the API server reports that as an internal error. */
const tooLargeForEtcd = /request is too large/;

/**
 * True when RBAC refused the call, not an admission rule. In a new project the operator creates the service's rights
 * with the project's objects, a moment after the namespace.
 */
const isRightMissing = ({ reason, message }: KubeError): boolean =>
  reason === "Forbidden" && /^[\w./-]+( "[^"]*")? is forbidden: User "/.test(message);

/** A ResourceQuota of the project's namespace, which a cluster may count for a moment after it was made. */
const isAboveQuota = ({ reason, message }: KubeError): boolean =>
  reason === "Forbidden" && message.includes("exceeded quota: ");
const isQuotaUncounted = ({ reason, message }: KubeError): boolean =>
  reason === "Forbidden" && message.includes("status unknown for quota: ");

/**
 * Translates an error of the Kubernetes API for the caller of a request. Errors that a use case handles itself stay
 * unchanged.
 */
const translate = (error: unknown): unknown => {
  if (!(error instanceof KubeError)) return error;
  if (error.status === 413 || tooLargeForEtcd.test(error.message))
    return new AppError("payload_too_large", "the object is larger than the Kubernetes API stores", { cause: error });
  if (isTransient(error)) return unavailable("the Kubernetes API", error);
  if (isRightMissing(error))
    return new AppError("unavailable", "the service has no right to do this in the project yet; repeat the request", {
      cause: error,
      retryAfterSeconds: 1,
    });
  if (isQuotaUncounted(error)) return unavailable("the quota of this project", error);
  if (isAboveQuota(error)) return new AppError("conflict", error.message, { cause: error });
  if (error.reason === "Invalid" || error.reason === "BadRequest")
    return new AppError("bad_request", error.message, { cause: error });
  return error;
};

/**
 * The same client with errors that a caller may see: an outage becomes `unavailable`, an invalid object `bad_request`.
 * It creates no more objects of a project than `bounds` allows.
 */
export const kubeForRequests = (kube: Kube, bounds: ObjectBounds = {}): Kube => {
  const translated = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call();
    } catch (error) {
      throw translate(error);
    }
  };
  return {
    ...kube,
    get: (type, ref) => translated(() => kube.get(type, ref)),
    list: (type, selection) => translated(() => kube.list(type, selection)),
    count: (type, namespace) => translated(() => kube.count(type, namespace)),
    create: (type, object) =>
      translated(async () => {
        await requireQuotaFor(type, object.metadata.namespace, { kube, bounds });
        return kube.create(type, object);
      }),
    replace: (type, object, options) => translated(() => kube.replace(type, object, options)),
    patch: (type, ref, mergePatch, options) => translated(() => kube.patch(type, ref, mergePatch, options)),
    delete: (type, ref, options) => translated(() => kube.delete(type, ref, options)),
    apply: (type, object, options) => translated(() => kube.apply(type, object, options)),
  };
};
