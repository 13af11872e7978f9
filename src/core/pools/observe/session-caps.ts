import type { Logger } from "../../../platform/base/log.ts";
import { projectLabel } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Namespace } from "../../../platform/kube/objects.ts";
import { type Reflector, startReflector } from "../../../platform/kube/reflector.ts";
import { namespaces } from "../../../platform/kube/resource-type.ts";
import { boundedCap, defaultCapAnnotation, projectCapAnnotation, readCap } from "../../model/sessions/session-room.ts";

/** How many browsers may run at once in each project, kept up to date by watches of namespaces. */
export type SessionCaps = {
  /** The cap of the project in this namespace, else the organization's default; undefined: none. */
  of(namespace: string): number | undefined;
  /** The namespaces of projects. */
  projects(): Namespace[];
  /** Resolves when all caps are known; rejects if `signal` is aborted first. */
  synced(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

const annotationOf = (namespace: Namespace | undefined, name: string): string | undefined =>
  namespace?.metadata.annotations?.[name];

type SessionCapsOptions = { kube: Kube; log: Logger; systemNamespace: string; organizationSessions: number };

/**
 * Watches the projects and the system namespace until `stop`. A changed cap counts from the next round of each object.
 */
export const startSessionCaps = ({
  kube,
  log,
  systemNamespace,
  organizationSessions,
}: SessionCapsOptions): SessionCaps => {
  const watched = { kube, type: namespaces, onChange: () => undefined, log };
  const projects: Reflector<Namespace> = startReflector({ ...watched, labelSelector: projectLabel });
  const system: Reflector<Namespace> = startReflector({
    ...watched,
    fieldSelector: `metadata.name=${systemNamespace}`,
  });
  return {
    of(name) {
      const own = readCap(annotationOf(projects.get({ name }), projectCapAnnotation));
      const fallback = readCap(annotationOf(system.get({ name: systemNamespace }), defaultCapAnnotation));
      return own ?? boundedCap(fallback, organizationSessions);
    },
    projects: projects.list,
    async synced(signal) {
      await Promise.all([projects.synced(signal), system.synced(signal)]);
    },
    async stop() {
      await Promise.all([projects.stop(), system.stop()]);
    },
  };
};
