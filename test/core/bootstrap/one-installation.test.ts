import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { requireOnlyInstallation } from "../../../src/core/bootstrap/one-installation.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { clusterRoles } from "../../../src/platform/kube/resource-type.ts";
import { sharedServers } from "../../support/control-plane.ts";

let kube: Kube;
/** A mark of this test's own: the real one would stop operators of other tests. */
let mark: string;
beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
});
beforeEach(() => {
  mark = `installation-${newId()}`;
});
afterEach(() => kube.delete(clusterRoles, { name: mark }));
afterAll(() => kube.close());

const markedFor = (namespace: string) =>
  kube.create(clusterRoles, {
    metadata: { name: mark, annotations: { "browserpool.dev/system-namespace": namespace } },
  });

test("an installation elsewhere in the cluster is named", async () => {
  await markedFor("first");
  await expect(requireOnlyInstallation({ kube, namespace: "second" }, mark)).rejects.toThrow(
    `Browserpool is in this cluster already, in namespace first (ClusterRole ${mark})`,
  );
});

test("one's own mark, a mark without a namespace, and none, are no other installation", async () => {
  await requireOnlyInstallation({ kube, namespace: "first" }, mark);
  await markedFor("first");
  await requireOnlyInstallation({ kube, namespace: "first" }, mark);
  await kube.patch(clusterRoles, { name: mark }, { metadata: { annotations: null } });
  await requireOnlyInstallation({ kube, namespace: "second" }, mark);
});
