import { type Lane, type Phase, projectNamespace, release, systemNamespace } from "../lane.ts";
import { deploy, packageChartAs, versionOf } from "../setup/release.ts";
import { spare, underLoad } from "./under-load.ts";
import { until } from "./until.ts";

const imagesOf = (pods: { spec?: { containers: { image?: string }[] } }[]): string[] =>
  pods.flatMap(({ spec }) => spec?.containers.map(({ image }) => image ?? "") ?? []);

/** Chart and version as Helm has them. */
const deployed = async ({ run }: Lane): Promise<string> => {
  const [found] = JSON.parse(
    await run("helm", "list", "--namespace", systemNamespace, "--filter", `^${release}$`, "--output", "json"),
  );
  return found?.chart ?? "nothing";
};

export const upgrade: Phase = {
  name: "upgrade",
  summary: "helm upgrade from the previous chart and image under load; leaves the version under test",
  async run(lane, check) {
    const { images, kube, run, signal, folder } = lane;
    const wanted = `${images.prefix}/browser:${images.tag}`;
    let from = "";
    await check("a release that skips one is refused", async () => {
      const chartFile = await packageChartAs("0.2.0", run, folder);
      const refusal = await deploy(versionOf({ ...images, chartFile }), { kube, run }).catch(String);
      if (!/First go to 0\.1/.test(refusal ?? "")) throw new Error(refusal ?? "Helm installed it");
      return /\d\S* is installed.*?First go to \S+/.exec(refusal ?? "")?.[0];
    });
    await underLoad(lane, check, {
      name: "upgrade",
      change: () =>
        check("helm upgrade", async () => {
          from = await deployed(lane);
          await deploy(versionOf(images), { kube, run });
          return `${from} to ${await deployed(lane)}`;
        }),
      after: async ({ held, busy, sessions }) => {
        const allNew = (pool: typeof held) => async () =>
          imagesOf(await pool.pods()).every((image) => image === wanted);
        await check("idle browsers of the old image are replaced", async () => {
          await until("all of the new image", allNew(busy), { signal, limitMs: 120_000 });
          await busy.whenAvailable(spare);
        });
        await check("leased ones stay until they are returned", async () => {
          const old = imagesOf(await held.pods()).filter((image) => image !== wanted).length;
          if (old !== sessions.length)
            throw new Error(`${old} of ${sessions.length} leased browsers have the old image`);
          for (const session of sessions) await held.release(session);
          await until("all of the new image", allNew(held), { signal, limitMs: 180_000 });
          await held.whenAvailable(sessions.length);
        });
      },
    });
    await check("everything in the cluster is of the new version", async () => {
      const all = await lane.kubectl("get", "pods", "--namespace", systemNamespace, "--output", "jsonpath={..image}");
      const old = all.split(/\s+/).filter((image) => image.endsWith(images.previousTag));
      if (old.length > 0) throw new Error(`still there: ${old.join(", ")} (${projectNamespace} has its own check)`);
    });
  },
};
