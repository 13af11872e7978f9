import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lane, type Phase, projectNamespace } from "../lane.ts";
import { until } from "./until.ts";

/** So many `Extension` objects without an archive, as a List. They have nothing but their names. */
const extensions = (count: number): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "List",
    items: Array.from({ length: count }, (_, index) => ({
      apiVersion: "browserpool.dev/v1alpha1",
      kind: "Extension",
      metadata: { name: `quotas-${index}`, namespace: projectNamespace, labels: { made: "quotas" } },
      spec: {},
    })),
  });

type Counts = Record<string, string>;

const readQuota = async ({ kubectl }: Lane): Promise<{ hard: Counts; used: Counts } | undefined> => {
  const args = ["get", "resourcequota", "browserpool-objects", `--namespace=${projectNamespace}`];
  const text = await kubectl(...args, "--ignore-not-found", "--output=json");
  if (text === "") return undefined;
  const { spec, status } = JSON.parse(text) as { spec: { hard: Counts }; status: { used?: Counts } };
  return { hard: spec.hard, used: status.used ?? {} };
};

export const quotas: Phase = {
  name: "quotas",
  summary: "kubectl makes no more objects of a project than its ResourceQuota allows",
  async run(lane, check) {
    const { kubectl, signal } = lane;
    await check("the cluster counts every kind of the quota", async () => {
      // A new installation has its quotas a minute and a half after the operator's start.
      const { hard } = await until(
        "the quota has its counts",
        async () => {
          const quota = await readQuota(lane);
          return quota && Object.keys(quota.hard).every((key) => key in quota.used) && quota;
        },
        { signal, limitMs: 150_000 },
      );
      return `${Object.keys(hard).length} kinds`;
    });
    await check("the extension above it is refused by name", async () => {
      const file = join(lane.folder, "extensions.json");
      await writeFile(file, extensions(101));
      const said = await kubectl("create", `--filename=${file}`).catch((error: unknown) => error);
      await kubectl(
        "delete",
        "extensions.browserpool.dev",
        `--namespace=${projectNamespace}`,
        "--selector=made=quotas",
      );
      if (!(said instanceof Error)) throw new Error(`all were taken: ${String(said)}`);
      const [refusal] = /exceeded quota: browserpool-objects[^\n]*/.exec(said.message) ?? [];
      if (refusal === undefined) throw new Error(said.message);
      return refusal;
    });
  },
};
