import { hostPort } from "../../../platform/base/host-port.ts";
import type { NamespacedRef, NewObject, Pod } from "../../../platform/kube/objects.ts";
import { stableHash } from "../../../platform/rules/stable-hash.ts";
import type { PoolLikeSpec } from "../../model/browsers/on-demand-pool.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { agentConfigOf, configHash, needsSetup } from "../../model/settings/browser-config.ts";
import { closeProfileSeconds, keepProfileSeconds } from "../../protocol/profile-save.ts";
import { agentName } from "./agent-name.ts";
import { cpuNotes, resourcesOf } from "./pod-resources.ts";
import { applyPodTemplate, gpuTemplate, type PodTemplate } from "./pod-template.ts";

/** The port on which every agent listens in its pod. */
export const agentPort = 7510;

/** Label on a browser's pod: the uid of its pool, or of the on-demand browser itself. */
export const poolLabel = "browserpool.dev/pool";

const nameLabel = "app.kubernetes.io/name";
const browserName = "browserpool-browser";

/** Label on a browser's pod: the kind of the object that owns it. */
const ownerLabel = "browserpool.dev/owner";

/** Label selector of the browser pods of all owners of one kind. */
export const browserPodSelector = (kind: string): string => `${nameLabel}=${browserName},${ownerLabel}=${kind}`;

/** Annotation on a pod: the hash of the configuration that it was created with. */
export const configHashAnnotation = "browserpool.dev/config-hash";
/** Annotation on a pod: its browser starts when the API has delivered its setup. */
const awaitsSetupAnnotation = "browserpool.dev/awaits-setup";
/** Label on a pod: the uid of the profile that its browser is saved to at its end. */
export const savesProfileLabel = "browserpool.dev/saves-profile";
/** Annotation beside it: the name of that object. */
const savesProfileAnnotation = "browserpool.dev/saves-profile";
const generationAnnotation = "browserpool.dev/pool-generation";
const templateHashAnnotation = "browserpool.dev/template-hash";
const failedStartsAnnotation = "browserpool.dev/failed-starts";

/** Grace period of a pod that the operator deletes, s: the agent closes its sockets and its browser. */
export const endGraceSeconds = 10;

/**
 * Default grace period of a pod that is evicted or deleted by anything but the operator, s: the agent serves its lease
 * on, if it has one.
 */
const drainGraceSeconds = 600;

/** The same for a pod whose browser saves its profile: its agent ends as soon as that is saved, or can't be. */
export const saveGraceSeconds = keepProfileSeconds + closeProfileSeconds;

/**
 * The name of the Secret with the key of a pod's agent. The admission policies know it too
 * (charts/browserpool/templates/rbac).
 */
export const agentKeySecretName = (podName: string): string => `${podName}-agent-key`;

/** The entry of that Secret. */
export const agentKeyEntry = "key";

export type PodSettings = {
  image: string;
  /** The key with which agents check their callers' tokens: base64 of SPKI DER. */
  agentPublicKey: string;
  /** What the installation adds to every pod; undefined: nothing. */
  template: PodTemplate | undefined;
};

/** Equal for settings that give equal pods. */
const templateHash = (settings: PodSettings): string => stableHash(settings);

/**
 * Returns a function that tells whether a pod was made with other settings than these. Images are not compared: an
 * admission webhook may have changed them.
 */
export const outdatedBy = (settings: PodSettings): ((pod: Pick<NewObject<Pod>, "metadata">) => boolean) => {
  const wanted = templateHash(settings);
  return ({ metadata }) => metadata.annotations?.[templateHashAnnotation] !== wanted;
};

/** How much of the pool's name a pod's name keeps: with the suffix it must fit in 63 characters (a host name). */
const maxPrefix = 50;

/**
 * What names of pods begin with, of a pool with this name. A cut name could end with a dot or a dash; after a dot,
 * Kubernetes allows only a letter or a digit.
 */
export const prefixOf = (name: string): string => name.slice(0, maxPrefix).replace(/[.-]+$/, "");

/** A kubelet expands `$(NAME)` in values; a user's URL must stay unchanged. */
const env = (name: string, value: string) => ({ name, value: value.replaceAll("$", () => "$$") });
const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const secret = (name: string, secretName: string, key: string) => ({
  name,
  valueFrom: { secretKeyRef: { name: secretName, key } },
});

/** A pool with the `apiVersion` and `kind` of the object behind it. */
export type PodOwner = BrowserPool & { apiVersion: string; kind: string; spec: PoolLikeSpec };

/** A new pod. `suffix`: from `newPodSuffix`, new for every pod. `profile`: that of the pool, if it has one. */
type NewPod = { suffix: string; profile?: { uid: string; name: string } | undefined };

/** The pod of one browser. */
export const buildPod = (pool: PodOwner, made: NewPod, settings: PodSettings): NewObject<Pod> =>
  applyPodTemplate(
    ownPod(pool, made, settings),
    pool.spec.gpu ? gpuTemplate(settings.template) : settings.template,
    pool.spec.region,
  );

/** An on-demand browser is in use from its start to its end. */
const sizesOf = ({ kind }: PodOwner, { template }: PodSettings): PodTemplate | undefined =>
  kind === "Browser" && template ? { ...template, idleCpu: undefined } : template;

/** The pod without the template: all fields that make it a browser of this pool. */
const ownPod = (pool: PodOwner, { suffix, profile }: NewPod, settings: PodSettings): NewObject<Pod> => {
  const savesTo = pool.spec.savesProfile ? profile : undefined;
  const name = `${prefixOf(pool.metadata.name)}-${suffix}`;
  const graceSeconds = settings.template?.spec?.terminationGracePeriodSeconds ?? drainGraceSeconds;
  return {
    metadata: {
      name,
      namespace: pool.metadata.namespace,
      labels: {
        [nameLabel]: browserName,
        [ownerLabel]: pool.kind,
        [poolLabel]: pool.metadata.uid,
        ...(savesTo && { [savesProfileLabel]: savesTo.uid }),
      },
      annotations: {
        [configHashAnnotation]: configHash(pool.spec),
        [templateHashAnnotation]: templateHash(settings),
        ...cpuNotes(sizesOf(pool, settings)),
        ...(needsSetup(pool.spec) && { [awaitsSetupAnnotation]: "true" }),
        ...(savesTo && { [savesProfileAnnotation]: savesTo.name }),
        [generationAnnotation]: String(pool.metadata.generation ?? 0),
        [failedStartsAnnotation]: String(pool.status?.failedStarts ?? 0),
      },
      ownerReferences: [
        {
          apiVersion: pool.apiVersion,
          kind: pool.kind,
          name: pool.metadata.name,
          uid: pool.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: graceSeconds + (savesTo ? saveGraceSeconds : 0),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: [
        {
          name: agentName,
          image: settings.image,
          args: ["agent"],
          env: [
            env("BROWSERPOOL_BROWSER", JSON.stringify(agentConfigOf(pool.spec))),
            env("BROWSERPOOL_AGENT_PUBLIC_KEY", settings.agentPublicKey),
            secret("BROWSERPOOL_AGENT_KEY", agentKeySecretName(name), agentKeyEntry),
            env("BROWSERPOOL_AGENT_PORT", String(agentPort)),
            env("BROWSERPOOL_AGENT_GRACE_SECONDS", String(graceSeconds)),
            field("BROWSERPOOL_AGENT_ADDRESS", "status.podIP"),
            field("BROWSERPOOL_POD_UID", "metadata.uid"),
            field("BROWSERPOOL_POD_NAME", "metadata.name"),
          ],
          ...resourcesOf(pool.spec, sizesOf(pool, settings)),
          ports: [{ name: "agent", containerPort: agentPort }],
          readinessProbe: {
            httpGet: { path: "/readyz", port: "agent" },
            periodSeconds: 1,
            timeoutSeconds: 5,
            failureThreshold: 3,
          },
          terminationMessagePath: "/dev/termination-log",
        },
      ],
    },
  };
};

/** Label on the pod of a browser in use; a PodDisruptionBudget selects by it. */
const leasedLabel = "browserpool.dev/leased";

/** Annotation that keeps Cluster Autoscaler from removing the pod's node. */
const safeToEvictAnnotation = "cluster-autoscaler.kubernetes.io/safe-to-evict";

/** Whether the pod has the in-use mark. */
export const isMarked = ({ metadata }: Pick<NewObject<Pod>, "metadata">): boolean =>
  metadata.labels?.[leasedLabel] === "true";

/** The patch of a pod's metadata that sets or removes the in-use mark. */
export const markPatch = (isInUse: boolean): object => ({
  labels: { [leasedLabel]: isInUse ? "true" : null },
  annotations: { [safeToEvictAnnotation]: isInUse ? "false" : null },
});

/** `status.failedStarts` of the pool when the pod was created. */
export const failedStartsBefore = ({ metadata }: Pod): number =>
  Number(metadata.annotations?.[failedStartsAnnotation] ?? 0);

/** Whether the pod's browser needs a setup, and its agent can be called by now. */
export const canTakeSetup = ({ metadata, status }: Pod): boolean =>
  metadata.annotations?.[awaitsSetupAnnotation] === "true" && status?.phase === "Running" && status.podIP !== undefined;

/** The uid of the profile that the pod's browser is saved to; undefined when it is not. */
export const savedProfileUid = ({ metadata }: Pick<NewObject<Pod>, "metadata">): string | undefined =>
  metadata.labels?.[savesProfileLabel];

/** That profile's object. */
export const savedProfile = ({ metadata }: Pod): ({ uid: string } & NamespacedRef) | undefined => {
  const uid = metadata.labels?.[savesProfileLabel];
  const name = metadata.annotations?.[savesProfileAnnotation];
  return uid && name ? { uid, name, namespace: metadata.namespace } : undefined;
};

/** The address of the agent in a running pod, `host:port` as URLs write it. */
export const addressOf = ({ status }: Pod): string => hostPort(`${status?.podIP}`, agentPort);

/** The value of `status.selector`, which the scale subresource shows. */
export const podSelector = (poolUid: string): string => `${poolLabel}=${poolUid}`;
