/** docs/support.md agrees with the charts, with what the service asks of Redis, with the changelog and with the version. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../scripts/generated-file.ts";
import { withRelease } from "../../scripts/release/support-page.ts";
import { pinnedVersions } from "../../src/local/locate-programs.mjs";
import { checkRedis } from "../../src/platform/redis/check-redis.ts";
import type { RedisConnection } from "../../src/platform/redis/connection.ts";
import { silent } from "../support/lease-parts.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/support.md");

/** The cells of the page's rows whose first cell looks so. */
const rows = (first: RegExp): string[][] =>
  page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split("|").slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
    .filter(([cell = ""]) => first.test(cell));

const releases = rows(/^\d/);
const [newest = []] = releases;
const [minor = "", released = "", , kubernetes = "", redis = "", valkey = "", chromium = ""] = newest;

const minorOf = (version: string): string => version.replace(/^v?(\d+\.\d+).*$/, "$1");
const compare = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

/** The minor versions of it that were tried, the oldest first. */
const tried = (what: string): string[] => rows(new RegExp(`^${what}$`)).map(([, version = ""]) => minorOf(version));
const rangeOf = (what: string): string => {
  const versions = tried(what).sort(compare);
  return `${versions[0]} to ${versions.at(-1)}`;
};

test("its newest release is that of package.json, with the date of the changelog", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  expect(minor).toBe(minorOf(version));
  const date = new RegExp(`^## \\[${minor}\\.0\\] - (\\S+)$`, "m").exec(read("CHANGELOG.md"))?.[1];
  expect(released).toBe(date ?? "not yet");
  // `npm run release` finds its table.
  expect(withRelease(page, { version: "99.0.0", date: "2099-01-02" })).toContain("\n| 99.0 | 2099-01-02 |");
});

test("supported is what lies between the oldest and the newest version that were tried", () => {
  expect(kubernetes).toBe(rangeOf("Kubernetes"));
  expect(redis).toBe(rangeOf("Redis"));
  expect(valkey).toBe(rangeOf("Valkey"));
  expect(chromium).toBe(`Debian's newest, ${minorOf(rows(/^Chromium$/)[0]?.[1] ?? "").split(".")[0]} or newer`);
});

test.each(["browserpool", "browserpool-crds"])(
  "the oldest Kubernetes that was tried is that of the chart %s",
  (name) => {
    const { kubeVersion } = parse(read(`charts/${name}/Chart.yaml`)) as { kubeVersion: string };
    expect(kubeVersion).toBe(`>=${tried("Kubernetes").sort(compare)[0]}.0-0`);
  },
);

test("the newest Kubernetes that was tried is that of the tests", () => {
  const versions = rows(/^Kubernetes$/).map(([, version = ""]) => version);
  expect(`v${versions.sort(compare).at(-1)}`).toBe(pinnedVersions["kube-apiserver"]);
});

test("the cluster tests run on the oldest and on the newest Kubernetes that were tried", () => {
  const versions = rows(/^Kubernetes$/).map(([, version = ""]) => version);
  const { jobs } = parse(read(".github/workflows/kubernetes.yml"));
  expect(jobs.cluster.strategy.matrix.kubernetes).toEqual([versions.sort(compare)[0], versions.at(-1)]);
});

test("what is installed is of stable versions of Kubernetes' APIs, which all between oldest and newest serve", () => {
  const versions = [...read("manifests/install.yaml").matchAll(/^apiVersion: (\S+)$/gm)].map(
    ([, version = ""]) => version,
  );
  const foreign = versions.filter((version) => !version.startsWith("browserpool.dev/"));
  expect(foreign.length).toBeGreaterThan(20);
  expect(foreign.filter((version) => !/^([a-z0-9.]+\/)?v\d+$/.test(version))).toEqual([]);
});

test("the service takes the oldest Redis, and refuses the one before it", async () => {
  const check = (version: string) => {
    const info = `# Server\r\nredis_version:${version}\r\nrun_id:1\r\nmaxmemory_policy:noeviction\r\n`;
    // The test needs only the version; no package offers all of them.
    return checkRedis({ eval: async () => info } as unknown as RedisConnection, silent);
  };
  const oldest = redis.split(" ")[0] ?? "";
  await expect(check(`${oldest}.0`)).resolves.toBeUndefined();
  await expect(check(`${Number(oldest.split(".")[0]) - 1}.99.0`)).rejects.toThrow(`Redis ${oldest} or newer is needed`);
});

test("the bundled Redis is named, and is a supported one", () => {
  type Values = { redis: { bundled: { image: { repository: string; tag: string } } } };
  const { repository, tag } = (parse(read("charts/browserpool/values.yaml")) as Values).redis.bundled.image;
  expect(page).toContain(`\`${repository.split("/").at(-1)}:${tag}\``);
  const [oldest = "", latest = ""] = redis.split(" to ");
  expect(compare(oldest, minorOf(tag))).toBeLessThanOrEqual(0);
  expect(compare(minorOf(tag), latest)).toBeLessThanOrEqual(0);
});
