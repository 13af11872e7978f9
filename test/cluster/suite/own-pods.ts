import type { Pod } from "../../../src/platform/kube/objects.ts";
import { type Lane, type Phase, projectNamespace } from "../lane.ts";
import { fullPool } from "./pools.ts";
import { until } from "./until.ts";

/** Somebody with every right in the cluster who is not the operator. Nothing is kept: the API server only tries. */
const asAnybody = ["--as=ann", "--as-group=system:masters", "--dry-run=server"];

const refusal = "only the operator of browserpool";

/** Rejects when another user may do this, and when anything but the policy refuses it. */
const expectRefused = async ({ kubectl }: Lane, what: string, args: string[]): Promise<string> => {
  const said = await kubectl(...args, ...asAnybody).catch((error: unknown) => error);
  if (!(said instanceof Error)) throw new Error(`${what}: taken: ${String(said)}`);
  if (!said.message.includes(refusal)) throw new Error(`${what}: ${said.message}`);
  return what;
};

/** What would make a pod look like a browser of the same pool as `browser`, with the arguments of kubectl. */
const imitations = ({ images }: Lane, browser: Pod): [string, string[]][] => {
  const labels = Object.entries(browser.metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const owners = browser.metadata.ownerReferences ?? [];
  const run = ["run", "imitation", "--namespace=default", `--image=${images.prefix}/service:${images.tag}`];
  const own = ["pod", browser.metadata.name, `--namespace=${projectNamespace}`];
  const override = JSON.stringify({ apiVersion: "v1", metadata: { ownerReferences: owners } });
  return [
    ["a pod with a pool's labels", [...run, `--labels=${labels.join(",")}`]],
    ["a pod with a pool as its owner", [...run, `--overrides=${override}`]],
    ["a pod with an annotation", [...run, "--annotations=browserpool.dev/config-hash=x"]],
    ["another pool's label on a browser", ["label", "--overwrite", ...own, "browserpool.dev/pool=other"]],
    ["a browser without its label", ["label", ...own, "browserpool.dev/pool-"]],
    [
      "another label on an agent's key",
      [
        "label",
        "secret",
        `${browser.metadata.name}-agent-key`,
        `--namespace=${projectNamespace}`,
        "browserpool.dev/x=y",
      ],
    ],
  ];
};

export const ownPods: Phase = {
  name: "own-pods",
  summary: "nobody but the operator makes pods that look like its own, tried with kubectl as another user",
  async run(lane, check) {
    await using pool = await fullPool(lane, "own-pods", 1);
    const [browser] = await pool.pods();
    if (!browser) throw new Error("no browser");
    await check("what imitates a browser is refused", async () => {
      const refused = [];
      for (const [what, args] of imitations(lane, browser)) refused.push(await expectRefused(lane, what, args));
      return refused.join(", ");
    });
    await check("the agent's key is in a Secret of its own, which goes with its pod", async () => {
      const name = `${browser.metadata.name}-agent-key`;
      const find = () =>
        lane.kubectl("get", "secret", name, `--namespace=${projectNamespace}`, "--ignore-not-found", "--output=name");
      if ((await find()).trim() !== `secret/${name}`) throw new Error(`there is no Secret ${name}`);
      const session = await pool.acquire();
      await lane.stack.kernel.browserPools.release(pool.name, { session_id: session.session_id, reuse: false });
      await pool.whenAvailable(1);
      await until(`${name} is gone`, async () => (await find()).trim() === "", { signal: lane.signal });
      return name;
    });
  },
};
