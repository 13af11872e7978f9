import { z } from "zod";
import type { Sensitive } from "../base/sensitive.ts";
import { type AccountReads, openAccountReads } from "./account-reads.ts";
import { createCalls } from "./calls.ts";
import { KubeError } from "./kube-error.ts";
import { countObjects, listPages, type ObjectList, type Selection, selectors } from "./list-pages.ts";
import { type KubeObject, malformed, type NewObject, type Ref } from "./objects.ts";
import { pathOf, type ResourceType, resourceOf, typeMeta } from "./resource-type.ts";
import { type KubeRequest, openTransport, type Transport } from "./transport.ts";
import { readWatch, type WatchEvent } from "./watch.ts";

/**
 * One call. `method`: of HTTP, or WATCH. `resource`: e.g. `pods`, `browserpools/status`. `status`: of HTTP, 0 without
 * an answer.
 */
type KubeCall = { method: string; resource: string; status: number };

const callOf = ({ method, path, query }: KubeRequest, status: number): KubeCall => ({
  method: query?.watch ? "WATCH" : method,
  resource: resourceOf(path),
  status,
});

/** A transport that calls `onCall` for each call when its answer begins, or when none comes. A watch is one call. */
const reportingCalls = (transport: Transport, onCall: (call: KubeCall) => void): Transport => ({
  ...transport,
  async send(request) {
    let status = 0;
    try {
      const response = await transport.send(request);
      status = response.statusCode;
      return response;
    } finally {
      onCall(callOf(request, status));
    }
  },
});

/** One entry of API discovery. `name`: the plural, with `/<subresource>` for one. */
type ApiResource = z.infer<typeof ApiResource>;
const ApiResource = z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() });
const ApiResourceList = z.object({ resources: z.array(ApiResource) });

const Version = z.object({ gitVersion: z.string() });

/** The client of the Kubernetes API. Every call has a deadline and throws a `KubeError` when it fails. */
export type Kube = {
  /** Returns the object, or undefined when there is none. */
  get<T extends KubeObject>(type: ResourceType<T>, ref: Ref): Promise<T | undefined>;
  /**
   * All objects as they were at one moment. `limit`: returns no more than this many objects, the first by name. The
   * deadline is that of each page of 500.
   */
  list<T extends KubeObject>(type: ResourceType<T>, selection?: Selection & { limit?: number }): Promise<ObjectList<T>>;
  /**
   * How many objects of a kind a namespace has, nearly, at the cost of one object. `namespace`: left out, all of them.
   */
  count<T extends KubeObject>(type: ResourceType<T>, namespace?: string): Promise<number>;
  create<T extends KubeObject>(type: ResourceType<T>, object: NoInfer<NewObject<T>>): Promise<T>;
  /** Writes the whole object; fails with `Conflict` when its `resourceVersion` is not the newest. */
  replace<T extends KubeObject>(
    type: ResourceType<T>,
    object: NoInfer<T>,
    options?: { subresource?: "status" },
  ): Promise<T>;
  /**
   * JSON merge patch; replaces lists whole. With `metadata.resourceVersion` in the patch, it fails on a concurrent
   * change. With the subresource `resize` it is a strategic merge patch, which knows containers by their names.
   */
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: Ref,
    mergePatch: object,
    options?: { subresource?: "status" | "resize" },
  ): Promise<T>;
  /** Deletes an object. It is no error when the object is gone or now has another `uid`. */
  delete<T extends KubeObject>(
    type: ResourceType<T>,
    ref: Ref,
    options?: { uid?: string; gracePeriodSeconds?: number },
  ): Promise<void>;
  /** Deletes all objects of a kind that the selectors match, in one namespace. It is no error when there is none. */
  deleteAll<T extends KubeObject>(
    type: ResourceType<T>,
    selection: { namespace: string; labelSelector: string; fieldSelector?: string },
  ): Promise<void>;
  /** Server-side apply, taking over conflicting fields. */
  apply<T extends KubeObject>(
    type: ResourceType<T>,
    object: NoInfer<NewObject<T>>,
    options: { fieldManager: string },
  ): Promise<void>;
  createSubresource<T extends KubeObject>(
    type: ResourceType<T>,
    ref: Ref,
    subresource: string,
    body: object,
  ): Promise<void>;
  /**
   * Events after `resourceVersion`, until the server or `signal` ends the stream; throws `Expired` when that version is
   * too old.
   */
  watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: Selection & { resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  /** Lists the resources of a group and version, e.g. `apps/v1`, or `v1` of the core group. */
  resources(apiVersion: string): Promise<ApiResource[]>;
  /** Returns true when the API server reports itself ready. Never throws. */
  ready(): Promise<boolean>;
  /** The API server's version, such as `v1.37.2`, and its clock, ms since the epoch, to the second. */
  server(): Promise<{ version: string; nowMs: number }>;
  /** Reads by the rights of the account that has this token, and by no right of this client; the caller must close it. */
  asAccount(token: Sensitive, options: { timeoutMs: number }): AccountReads;
  close(): Promise<void>;
};

type KubeOptions = {
  /** Default: `KUBECONFIG`, the home folder, the pod's service account, in this order. */
  kubeconfigPath?: string;
  /** Deadline of each call but `watch`, ms. */
  requestTimeoutMs?: number;
  /** Called for each call when its answer begins, or when none comes. */
  onCall?: (call: KubeCall) => void;
};

const withTypeMeta = (type: ResourceType<KubeObject>, object: object): object => ({ ...typeMeta(type), ...object });

/** Makes a client. It reads the kubeconfig at once and connects with the first call. */
export const connectKube = ({ kubeconfigPath, requestTimeoutMs = 10_000, onCall }: KubeOptions = {}): Kube => {
  const connection = openTransport(kubeconfigPath);
  const transport = onCall ? reportingCalls(connection, onCall) : connection;

  const { open, call, parsed, one } = createCalls(transport, requestTimeoutMs);
  const unless = async <T>(reasons: string[], result: Promise<T>): Promise<T | undefined> =>
    result.catch((error: unknown) => {
      if (error instanceof KubeError && reasons.includes(error.reason)) return undefined;
      throw error;
    });

  return {
    get: (type, ref) => unless(["NotFound"], one(type, { method: "GET", path: pathOf(type, ref) })),
    list: (type, selection = {}) => listPages(type, selection, parsed),
    count: (type, namespace) => countObjects(type, namespace, parsed),
    create: (type, object) =>
      one(type, {
        method: "POST",
        path: pathOf(type, object.metadata.namespace ? { namespace: object.metadata.namespace } : {}),
        body: withTypeMeta(type, object),
      }),
    replace: (type, object, options) =>
      one(type, {
        method: "PUT",
        path: pathOf(type, object.metadata, options?.subresource),
        body: withTypeMeta(type, object),
      }),
    patch: (type, ref, mergePatch, options) =>
      one(type, {
        method: "PATCH",
        path: pathOf(type, ref, options?.subresource),
        body: mergePatch,
        contentType: `application/${options?.subresource === "resize" ? "strategic-merge-patch" : "merge-patch"}+json`,
      }),
    async delete(type, ref, { uid, gracePeriodSeconds } = {}) {
      const body = {
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
        ...(uid && { preconditions: { uid } }),
        propagationPolicy: "Background",
      };
      await unless(
        ["NotFound", ...(uid ? ["Conflict"] : [])],
        call({ method: "DELETE", path: pathOf(type, ref), body }),
      );
    },
    async deleteAll(type, { namespace, ...selection }) {
      await call({ method: "DELETE", path: pathOf(type, { namespace }), query: selectors(selection) });
    },
    async apply(type, object, { fieldManager }) {
      await call({
        method: "PATCH",
        path: pathOf(type, object.metadata),
        query: { fieldManager, force: true },
        body: withTypeMeta(type, object),
        contentType: "application/apply-patch+yaml",
      });
    },
    createSubresource: async (type, ref, subresource, body) => {
      await call({ method: "POST", path: pathOf(type, ref, subresource), body });
    },
    watch: (type, { namespace, resourceVersion, ...selection }, signal) =>
      readWatch(
        type,
        (query, watchSignal) =>
          open({
            method: "GET",
            path: pathOf(type, namespace ? { namespace } : {}),
            query: { ...query, ...selectors(selection), resourceVersion },
            signal: watchSignal,
          }),
        signal,
      ),
    async resources(apiVersion) {
      const path = `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}`;
      return (await parsed({ method: "GET", path }, ApiResourceList)).resources;
    },
    async ready() {
      try {
        const response = await open({ method: "GET", path: "/readyz", signal: AbortSignal.timeout(requestTimeoutMs) });
        await response.body.dump();
        return true;
      } catch {
        return false;
      }
    },
    async server() {
      const response = await open({ method: "GET", path: "/version", signal: AbortSignal.timeout(requestTimeoutMs) });
      const { data } = Version.safeParse(await response.body.json().catch(() => undefined));
      if (!data) throw malformed("does not say its version");
      return { version: data.gitVersion, nowMs: Date.parse(String(response.headers.date)) };
    },
    asAccount: (token, { timeoutMs }) => openAccountReads(token, { kubeconfigPath, timeoutMs }),
    close: () => transport.close(),
  };
};
