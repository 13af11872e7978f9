/** What there is in a project, for the message of a test that waited in vain. */

import { browserKind } from "../../src/core/model/browsers/browser.ts";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import type { KubeObject } from "../../src/platform/kube/objects.ts";
import { events, pods } from "../../src/platform/kube/resource-type.ts";

type Condition = { type: string; status: unknown; reason?: string | undefined; message?: string | undefined };
type Described = KubeObject & { status?: { phase?: string; conditions?: Condition[] | undefined } | undefined };

const lineOf = (kind: string, { metadata, status }: Described): string => {
  const conditions = (status?.conditions ?? []).filter((condition) => condition.status !== "True");
  return [
    `${kind} ${metadata.name}: ${status?.phase ?? ""}${metadata.deletionTimestamp ? " being deleted" : ""}`,
    ...conditions.map(({ type, status: is, reason, message }) => `${type}=${is} ${reason} ${message}`),
  ].join("; ");
};

/** Its pools, browsers and pods, with the conditions that do not hold, and the warnings. */
export const describeProject = async (kube: Kube, namespace: string): Promise<string> => {
  const described = await Promise.all(
    [browserPoolKind, browserKind, pods].map(async (kind) => {
      const { items } = await kube.list<Described>(kind, { namespace });
      return items.map((item) => lineOf(kind.kind, item));
    }),
  );
  const { items } = await kube.list(events, { namespace });
  const warnings = items.filter(({ type }) => type === "Warning");
  return [...described.flat(), ...warnings.map(({ reason, note }) => `${reason}: ${note}`)].join("\n");
};
