import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startControlPlane } from "../../../src/local/control-plane.ts";
import { locatePrograms } from "../../../src/local/locate-programs.mjs";
import { createLogger } from "../../../src/platform/base/log.ts";
import { connectKube } from "../../../src/platform/kube/client.ts";
import type { Secret } from "../../../src/platform/kube/objects.ts";
import { startReflector } from "../../../src/platform/kube/reflector.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { processNamed } from "../../support/processes.ts";

const log = createLogger("silent", "test");

test("after the API server was killed and restarted, a reflector reports every change once", async () => {
  await using parts = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), "bp-"));
  parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  const plane = await startControlPlane({ dataDir, programs: locatePrograms(process.env), log, unsafeNoFsync: true });
  parts.defer(() => plane.stop());
  const kube = connectKube({ kubeconfigPath: plane.kubeconfigPath });
  parts.defer(() => kube.close());
  const changes: string[] = [];
  const namespace = "default";
  const reflector = startReflector<Secret>({
    kube,
    type: secrets,
    namespace,
    onChange: ({ metadata }, change) => void changes.push(`${change} ${metadata.name}`),
    log,
  });
  parts.defer(() => reflector.stop());
  await kube.create(secrets, { metadata: { name: "before", namespace } });
  await eventually("it is seen", () => changes.length === 1);

  process.kill((await processNamed(dataDir, "kube-apiserver")).pid, "SIGKILL");
  await eventually("the API server is away", async () => !(await kube.ready()));
  await eventually("it can be written to again", () =>
    kube.create(secrets, { metadata: { name: "after", namespace } }).catch(() => undefined),
  );
  await kube.delete(secrets, { name: "before", namespace });
  await eventually("the last change is seen", () => changes.includes("DELETED before"));
  await eventually("the other one is seen", () => changes.includes("ADDED after"));
  // Changes that happen while no watch is open are reported in any order.
  expect(changes.toSorted()).toEqual(["ADDED after", "ADDED before", "DELETED before"]);
});
