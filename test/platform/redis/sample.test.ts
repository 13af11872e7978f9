/** manifests/samples/redis-sentinel.yaml is the recipe of docs/redis.md, and a cluster takes it. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { connectKube } from "../../../src/platform/kube/client.ts";
import { openShell } from "../../features/vaults/kubectl.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";
import { docExamples } from "../../support/doc-examples.ts";
import { recipePasswords, userRights } from "../../support/redis-recipes.ts";
import { redisCli, startRedisServer } from "../../support/redis-servers.ts";

const run = promisify(execFile);
const text = await readFile(join(import.meta.dirname, "../../../manifests/samples/redis-sentinel.yaml"), "utf8");

type Sample = { kind: string; stringData: Record<string, string>; data: Record<string, string> };
const documents = parseAllDocuments(text).map((document) => document.toJS() as Sample);
const of = (kind: string): Sample => documents.find((one) => one.kind === kind) ?? expect.fail(`no ${kind}`);
const { stringData: secret } = of("Secret");
const { data: config } = of("ConfigMap");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "redis-sample-"));
  for (const name of ["redis.conf", "sentinel.conf"]) await writeFile(join(folder, name), secret[name] ?? "");
  // The image calls it so, whichever server the tests run.
  await symlink(redisCli(), join(folder, "redis-cli"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The lines of the files that a pod makes when no other one answers. */
const filesOf = async (pod: string): Promise<Record<"redis" | "sentinel", string[]>> => {
  const data = join(folder, pod);
  await mkdir(data);
  const env = { PATH: `${folder}:${process.env.PATH}`, POD: pod, NAMESPACE: "nowhere" };
  const script = config["make-files.sh"] ?? "";
  await run("/bin/sh", ["-euc", script], { env: { ...env, SOURCE: folder, DATA: data, REDISCLI_AUTH: "watch" } });
  const lines = async (name: string): Promise<string[]> =>
    (await readFile(join(data, name), "utf8")).trimEnd().split("\n");
  return { redis: await lines("redis.conf"), sentinel: await lines("sentinel.conf") };
};

const named = (line: string): string =>
  line.replaceAll(/redis-sentinel-(\d)\.redis-sentinel\.nowhere\.svc\.cluster\.local/g, "redis-$1.example");

test("the API server takes the sample, without a field that it does not know", async () => {
  const kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  const { name } = await testNamespace(kube);
  await kube.close();
  await using shell = await openShell(name);
  const here = text.replaceAll("browserpool-system", name);
  const out = await shell.kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], here);
  expect(out.trim().split("\n")).toHaveLength(documents.length);
});

test("its files are those of the page, for the first server and for one that follows it", async () => {
  const [first, second] = [await filesOf("redis-sentinel-0"), await filesOf("redis-sentinel-1")];
  const blocks = docExamples("redis.md", "ini").map((example) => example.trimEnd().split("\n"));
  const block = (title: string): string[] => blocks.find(([line]) => line === `# ${title}`)?.slice(1) ?? [];
  const wanted = [...block("redis.conf: every server"), ...block("redis.conf: with Sentinel")];
  const user = `user browserpool ${userRights("password").join(" ")}`;
  const isOwn = (line: string): boolean => !line.startsWith("dir ");
  expect(second.redis.filter(isOwn).map(named).sort()).toEqual(
    [...wanted, user].map((line) => line.replace("replica-announce-ip redis-0", "replica-announce-ip redis-1")).sort(),
  );
  expect(first.redis.filter(isOwn).map(named).sort()).toEqual(
    [...wanted, user].filter((line) => !line.startsWith("replicaof")).sort(),
  );
  expect(first.sentinel.filter(isOwn).map(named).sort()).toEqual(block("sentinel.conf").sort());
});

test("Redis takes its file, and the user of its URL may do what the page says", async () => {
  const lines = (secret["redis.conf"] ?? "").trimEnd().split("\n");
  const login = { password: recipePasswords.servers };
  await using server = await startRedisServer(lines, { login });
  expect(secret.url).toMatch(/^redis-sentinel:\/\/browserpool:password@.*&sentinel_password=watch$/);
  expect(secret["sentinel-password"]).toBe(recipePasswords.sentinels);
  const ask = ["-p", `${server.port}`, "--user", "browserpool", "--pass", "password", "--no-auth-warning"];
  const { stdout } = await run(redisCli(), [...ask, "eval", 'return redis.call("INFO", "server")', "0"]);
  expect(stdout).toContain("run_id:");
});
