/**
 * What a platform team does with a release: pulls it from a registry, looks at its signatures, installs it, goes on to
 * the next one and back, while people use it.
 */
import { join, resolve } from "node:path";
import { fillBaseMirror } from "../../../scripts/image/substitutes/base-mirror.ts";
import { planRelease } from "../../../scripts/release/prepare.ts";
import { rehearsalKey, rehearsalOf } from "../../../scripts/release/rehearsal.ts";
import { carryOut } from "../../../scripts/release/release.ts";
import { createTools } from "../../../scripts/release/tools.ts";
import { nextVersion } from "../../../scripts/release/version.ts";
import { connectStack } from "../../support/stack.ts";
import { type Lane, release as name, type Phase, systemNamespace } from "../lane.ts";
import { Skipped } from "../report.ts";
import { addressOf, installAnew } from "../setup/install-release.ts";
import { startNodeRegistry } from "../setup/node-registry.ts";
import { deploy, remove, type Version, versionOf } from "../setup/release.ts";
import { underLoad } from "./under-load.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Makes two releases of HEAD, the second as if more had come. Resolves with their versions and the lines of both. */
const makeTwo = async (lane: Lane, registry: string): Promise<{ versions: [string, string]; said: string[] }> => {
  const { folder, signal, platforms, run } = lane;
  const tools = createTools(root, signal);
  // One platform's base images are in docker, from wherever they came.
  const base = platforms.length === 1 ? undefined : await fillBaseMirror({ registry, platforms, run, folder, signal });
  const first = await planRelease(tools.git, undefined);
  const second = { ...first, version: nextVersion(first.version, "minor") };
  const key = await rehearsalKey(tools, folder);
  const said: string[] = [];
  for (const plan of [first, second]) {
    const scratch = join(folder, `release-${plan.version}`);
    const rehearsal = await rehearsalOf(root, {
      ...key,
      ...{ plan, signal, registry, scratch, tools, platforms },
      ...{ base, chromium: undefined, network: "host", out: join(scratch, "out") },
      hasLocal: () => false,
      source: "https://browserpool.dev",
      say: (line) => said.push(line),
    });
    await carryOut(rehearsal);
  }
  return { versions: [first.version, second.version], said };
};

/** The chart of a release as users get it: its images are its own. */
const fromRegistry = (registry: string, version: string): Version => ({
  chart: `oci://${registry}/charts/browserpool`,
  args: ["--version", version, "--plain-http"],
});

/** Images of the release's pods, each once. */
const imagesInUse = async ({ kubectl }: Lane): Promise<string[]> => {
  const path = "jsonpath={.items[*].spec.containers[*].image}";
  const images = await kubectl("get", "pods", "--namespace", systemNamespace, "--output", path);
  return [...new Set(images.split(" "))];
};

export const release: Phase = {
  name: "release",
  summary:
    "two releases from HEAD in a local registry: signatures, SBOMs and provenance verify; install, upgrade and rollback under load",
  async run(lane, check) {
    const { cluster, kube, run, images, folder, signal } = lane;
    if (cluster.kindName === undefined) throw new Skipped("only nodes of kind can be told of a registry");
    await using stack = new AsyncDisposableStack();
    await run(process.execPath, join(root, "scripts/setup.mjs"), "--release");
    const registry = await startNodeRegistry(lane, stack);
    let versions: [string, string] = ["", ""];
    await check("two releases are made, verified and promoted", async () => {
      const made = await makeTwo(lane, registry.name);
      ({ versions } = made);
      return made.said.join("\n          ");
    });
    const [older, newer] = versions;
    if (older === "") return;
    stack.defer(async () => {
      await remove(run);
      await installAnew(versionOf(images), { kube, run });
    });
    await check(`helm install oci://${registry.name}/charts/browserpool --version ${older}`, async () => {
      await remove(run);
      await installAnew(fromRegistry(registry.name, older), { kube, run });
      const used = await imagesInUse(lane);
      const foreign = used.filter(
        (image) => !image.startsWith(`${registry.name}/service@sha256:`) && !image.includes("redis"),
      );
      if (foreign.length > 0) throw new Error(`not of the release: ${foreign.join(", ")}`);
      return used.join(", ");
    });
    const service = stack.use(connectStack(await addressOf({ cluster, kube, run }, { folder, signal })));
    const installed: Lane = { ...lane, stack: service };
    await underLoad(installed, check, {
      name: "release-up",
      change: () => check(`helm upgrade to ${newer}`, () => deploy(fromRegistry(registry.name, newer), { kube, run })),
    });
    await underLoad(installed, check, {
      name: "release-back",
      change: () =>
        check(`helm rollback to ${older}`, async () => {
          await run("helm", "rollback", name, "1", "--namespace", systemNamespace, "--wait", "--timeout", "5m");
        }),
    });
  },
};
