import type { NewObject, Pod } from "../../src/platform/kube/objects.ts";

export type AgentPod = {
  name: string;
  namespace: string;
  args?: string[];
  env?: Record<string, string>;
  graceSeconds?: number;
};

/** A pod like those of a pool's browsers; `args` tell the fake agent (`fake-agent.ts`) how to behave. */
export const agentPod = ({ name, namespace, args = [], env = {}, graceSeconds = 10 }: AgentPod): NewObject<Pod> => ({
  metadata: { name, namespace },
  spec: {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: graceSeconds,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    containers: [
      {
        name: "agent",
        image: "browserpool-browser",
        args,
        env: [
          { name: "BROWSERPOOL_AGENT_PORT", value: "7510" },
          { name: "BROWSERPOOL_AGENT_ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          { name: "BROWSERPOOL_POD_UID", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } },
          { name: "BROWSERPOOL_POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          ...Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
        ],
        ports: [{ name: "agent", containerPort: 7510 }],
        readinessProbe: {
          httpGet: { path: "/readyz", port: "agent" },
          periodSeconds: 1,
          timeoutSeconds: 5,
          failureThreshold: 2,
        },
      },
    ],
  },
});
