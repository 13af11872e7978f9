/** A project whose namespace accepts only restricted pods, and a pod template that makes such pods. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { KubeObject } from "../../../src/platform/kube/objects.ts";
import { events, pods, type ResourceType } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { newPool } from "../../support/pool-client.ts";
import { startSimulatedCluster } from "../../support/simulated-node/simulated-cluster.ts";

const restricted = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
};

const template = {
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      { name: "agent", securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } },
    ],
  },
};

test("browsers that a namespace refuses are reported, and start once the template fits the namespace", {
  timeout: 120_000,
}, async () => {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bp-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const [objectsFile, templateFile] = [join(folder, "objects.yaml"), join(folder, "template.yaml")];
  await writeFile(objectsFile, stringify(restricted));
  await writeFile(templateFile, "{}");
  const env = { BROWSERPOOL_PROJECT_OBJECTS_FILE: objectsFile, BROWSERPOOL_BROWSER_TEMPLATE_FILE: templateFile };
  const cluster = parts.use(await startSimulatedCluster({ env }));
  const before = cluster.startOperator("operator-a");
  const api = await cluster.startApi("api");
  const pool = await newPool(api.call, 1);
  const note = await eventually("people are told", async () => {
    const type: ResourceType<KubeObject & { reason?: string; note?: string }> = events;
    const { items } = await cluster.kube.list(type, { namespace: cluster.namespace });
    return items.find(({ reason }) => reason === "FailedCreate")?.note;
  });
  expect(note).toMatch(/^no browser is started: violates PodSecurity "restricted:latest": .*runAsNonRoot/);
  expect((await cluster.kube.list(pods, { namespace: cluster.namespace })).items).toEqual([]);
  before.kill("SIGTERM");
  await before.exited;

  await writeFile(templateFile, stringify(template));
  cluster.startOperator("operator-b");
  await pool.whenCounts({ acquired: 0, available: 1 });
});

test("an operator with a malformed file exits and names the wrong field", async () => {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bp-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const templateFile = join(folder, "template.yaml");
  await writeFile(templateFile, "spec: { nodeSelector: [] }");
  const main = join(import.meta.dirname, "../../../src/main.ts");
  const env = { BROWSERPOOL_BROWSER_TEMPLATE_FILE: templateFile };
  const operator = spawn(process.execPath, [main, "operator"], { env, stdio: ["ignore", "ignore", "pipe"] });
  const [said, [code]] = await Promise.all([text(operator.stderr), once(operator, "exit")]);
  expect(said).toContain(`${templateFile}: spec.nodeSelector: `);
  expect(code).toBe(1);
});
