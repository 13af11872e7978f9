/** The image of local mode: built, run as docs/install-local.md says, used, and started again on its data. */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import type { Lane, Phase, Run } from "../lane.ts";
import { until } from "./until.ts";

const root = resolve(import.meta.dirname, "../../..");

type Container = AsyncDisposable & {
  url: string;
  exec(...command: string[]): Promise<string>;
  logs(): Promise<string>;
};

/** What the document gives `docker run`, so that each browser is apart. */
const security = [`seccomp=${resolve(root, ".devcontainer/seccomp.json")}`, "systempaths=unconfined"];

/** A container of the image with this volume, on a free port of loopback. Resolves when a browser of its pool is warm. */
const start = async (image: string, volume: string, { run, signal }: Lane): Promise<Container> => {
  const options = [...security.flatMap((option) => ["--security-opt", option]), "--volume", `${volume}:/data`];
  const id = (await run("docker", "run", "--detach", "--publish", "127.0.0.1::8080", ...options, image)).trim();
  const logs = (): Promise<string> => run("docker", "logs", id);
  const stack = new AsyncDisposableStack();
  stack.defer(async () => {
    await run("docker", "stop", "--time", "20", id);
    await run("docker", "rm", "--force", id);
  });
  try {
    await until("a browser is warm", async () => (await logs()).includes("first warm browser"), { signal });
    const [address = ""] = (await run("docker", "port", id, "8080/tcp")).trim().split("\n");
    return {
      url: `http://${address}`,
      exec: (...command) => run("docker", "exec", id, ...command),
      logs,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

const wrongIn = async (container: Container): Promise<Finding[]> => {
  const findings = JSON.parse(await container.exec("browserpool", "doctor", "-o", "json")) as Finding[];
  return findings.filter(({ state }) => state !== "ok");
};

/** Acquires a browser from outside, as the printed curl does. */
const acquire = async ({ url, exec }: Container): Promise<string> => {
  const [name = "", value = ""] = (await exec("cat", "/data/authorization")).trim().split(": ");
  const answer = await fetch(`${url}/browser_pools/demo/acquire`, { method: "POST", headers: { [name]: value } });
  const session = (await answer.json()) as { session_id: string; cdp_ws_url: string };
  // The URLs lead where the caller has come in.
  if (!answer.ok || new URL(session.cdp_ws_url).host !== new URL(url).host) throw new Error(JSON.stringify(session));
  return session.session_id;
};

/** Removes what the phase has made, whatever came of it. */
const removeAll = async (image: string, volume: string, run: Run): Promise<void> => {
  await run("docker", "volume", "rm", "--force", volume);
  await run("docker", "image", "rm", image, image.replace("/local:", "/servers:"));
};

const secondsOf = (logs: string): string => /ready after ([\d.]+) s/.exec(logs)?.[1] ?? "?";

export const localImage: Phase = {
  name: "local-image",
  summary: "the image of local mode serves what npm start does",
  async run(lane, check) {
    const { run, images } = lane;
    const image = `${images.prefix}/local:${images.tag}`;
    const volume = `browserpool-${randomBytes(4).toString("hex")}`;
    await check("it is built", async () => {
      const args = ["--local", "--tag", images.tag, "--prefix", images.prefix, "--network", "host"];
      await run(process.execPath, resolve(root, "scripts/image.ts"), ...args);
      return `${(Number(await run("docker", "image", "inspect", "--format", "{{.Size}}", image)) / 1e6).toFixed(0)} MB`;
    });
    try {
      await check("its browsers are apart, run as no root, and are acquired from outside", async () => {
        await using container = await start(image, volume, lane);
        const wrong = await wrongIn(container);
        if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
        const id = await acquire(container);
        const sessions = await container.exec("browserpool", "sessions", "-o", "name");
        if (!sessions.includes(id)) throw new Error(sessions);
        const users = await container.exec("sh", "-c", "stat -c %u /proc/[0-9]* 2>/dev/null | sort -u");
        if (users.trim() !== "10001") throw new Error(`users: ${users}`);
        await container.exec("kubectl", "annotate", "browserpool", "demo", "--namespace", "default", "note=kept");
        return `ready after ${secondsOf(await container.logs())} s`;
      });
      await check("a new container on its volume has the same objects", async () => {
        await using container = await start(image, volume, lane);
        const path = "jsonpath={.metadata.annotations.note}";
        const note = await container.exec(
          "kubectl",
          "get",
          "browserpool",
          "demo",
          "--namespace",
          "default",
          "-o",
          path,
        );
        if (note !== "kept") throw new Error(`note: ${note}`);
        return `ready after ${secondsOf(await container.logs())} s`;
      });
    } finally {
      await removeAll(image, volume, run);
    }
  },
};
