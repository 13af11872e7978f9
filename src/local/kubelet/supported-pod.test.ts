import { expect, test } from "vitest";
import { storedMeta } from "../../../test/support/stored-meta.ts";
import type { Pod } from "../../platform/kube/objects.ts";
import { whyUnsupported } from "./supported-pod.ts";

type Spec = NonNullable<Pod["spec"]>;
type Container = Spec["containers"][number];

const pod = (spec: Partial<Spec>, container: Partial<Container> = {}): Pod => ({
  metadata: storedMeta("pod"),
  spec: { restartPolicy: "Never", containers: [{ name: "agent", ...container }], ...spec },
});

test("a browser's pod is supported, with empty folders and a probe over HTTP", () => {
  const volumes = [{ name: "tmp", emptyDir: {} }];
  const env = [
    { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "KEY", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
  ];
  expect(whyUnsupported(pod({ volumes }, { env, readinessProbe: { httpGet: { port: 1 } } }))).toBeUndefined();
});

test.each<[string, Pod]>([
  ["restartPolicy Always", pod({ restartPolicy: "Always" })],
  ["containers other than one", pod({ containers: [{ name: "a" }, { name: "b" }] })],
  ["init containers", pod({ initContainers: [{ name: "init" }] })],
  ["the volume keys", pod({ volumes: [{ name: "keys", secret: { secretName: "keys" } }] })],
  ["a command of its own", pod({}, { command: ["sh"] })],
  ["envFrom", pod({}, { envFrom: [{ secretRef: { name: "s" } }] })],
  ["liveness", pod({}, { livenessProbe: { httpGet: { port: 1 } } })],
  ["lifecycle", pod({}, { lifecycle: {} })],
  ["other than httpGet", pod({}, { readinessProbe: { tcpSocket: { port: 1 } } })],
  [
    "the variable CONFIG",
    pod({}, { env: [{ name: "CONFIG", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }] }),
  ],
  ["the variable NODE", pod({}, { env: [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] })],
])("refused, and named: %s", (why, refused) => {
  expect(whyUnsupported(refused)).toContain(why);
});
