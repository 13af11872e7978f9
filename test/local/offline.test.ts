import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startLocalMode } from "../support/local-mode.ts";

/** A network of its own with nothing but loopback: a machine that is on no network has no default route. */
const offline = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];

test("local mode starts on a machine without a network", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "offline-"));
  const local = await startLocalMode({ dataDir, inside: offline });
  expect(local.output()).toContain("starting the node");
  expect(await local.stop()).toBe(0);
  await rm(dataDir, { recursive: true });
});
