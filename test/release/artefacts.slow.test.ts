/** What a release publishes beside its images: in a real registry and a folder, by the real Helm, crane, cosign and krew. */
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ReleasedChart } from "../../scripts/release/artefacts.ts";
import type { Publication } from "../../scripts/release/publication.ts";
import { publishCharts } from "../../scripts/release/publish-charts.ts";
import { publishFiles } from "../../scripts/release/publish-files.ts";
import { verifyPlugin } from "../../scripts/release/verify.ts";
import { findOnPath, locatePrograms } from "../../src/local/locate-programs.mjs";
import { startRehearsal, withoutReleasePrograms } from "./start-rehearsal.ts";

const run = promisify(execFile);
const digest = `sha256:${"0a".repeat(32)}`;

describe.skipIf(withoutReleasePrograms())("a release", () => {
  let rehearsal: AsyncDisposable & { publication: Publication };
  let charts: ReleasedChart[];
  let files: Record<string, string>;

  beforeAll(async () => {
    rehearsal = await startRehearsal("### Added\n\n- A thing.\n\n### Security\n\n- Chromium 2, after 1.\n");
    const { publication } = rehearsal;
    const images = (["service", "browser", "local"] as const).map((target) => ({
      ...{ target, repository: `${publication.registry}/${target}`, digest },
      platforms: { "linux/amd64": digest },
    }));
    const published = await publishCharts(images, publication);
    charts = published.charts;
    files = await publishFiles(published.packages, publication);
  });
  afterAll(() => rehearsal?.[Symbol.asyncDispose]());

  test("tells Artifact Hub of a chart's changes, definitions and images by digest, and whose it is", async () => {
    const { registry, tools, tree, version } = rehearsal.publication;
    const annotationsOf = async (name: string): Promise<Record<string, string>> => {
      const shown = ["show", "chart", `oci://${registry}/charts/${name}`, "--version", version];
      const { annotations } = parse(await tools.helm(...shown, "--plain-http"));
      return Object.fromEntries(
        Object.entries(annotations as Record<string, string>).map(([key, value]) => [key.split("/")[1], value]),
      );
    };
    const [whole, definitions] = [await annotationsOf("browserpool"), await annotationsOf("browserpool-crds")];
    expect(parse(whole.images ?? "")).toEqual([
      { name: "service", image: `${registry}/service:${version}@${digest}` },
      { name: "browser", image: `${registry}/browser:${version}@${digest}` },
      { name: "redis", image: expect.stringContaining("redis:") },
    ]);
    expect(definitions.images).toBeUndefined();
    for (const { changes, crds, containsSecurityUpdates, prerelease } of [whole, definitions]) {
      expect(parse(changes ?? "")).toEqual([
        { kind: "added", description: "A thing." },
        { kind: "security", description: "Chromium 2, after 1." },
      ]);
      expect([containsSecurityUpdates, prerelease]).toEqual(["true", "false"]);
      expect(parse(crds ?? "")).toContainEqual({
        ...{ kind: "SiteConfig", version: "v1alpha1", name: "siteconfigs.browserpool.dev", displayName: "Site config" },
        description: expect.stringMatching(/^What is known/),
      });
    }
    for (const { name, repository } of charts) {
      const { layers } = JSON.parse(await tools.crane("manifest", `${repository}:artifacthub.io`));
      expect(layers).toMatchObject([
        { mediaType: "application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml" },
      ]);
      const told = await tools.crane("blob", `${repository}@${layers[0].digest}`);
      expect(told).toBe((await readFile(join(tree, "charts", name, "artifacthub-repo.yml"), "utf8")).trim());
    }
  });

  test("has a plug-in of kubectl that krew installs, with all licences, and that says what it lacks", async () => {
    const { publication } = rehearsal;
    const { out, scratch, version } = publication;
    await verifyPlugin(publication);
    const archive = `kubectl-browserpool-${version}.tar.gz`;
    expect(Object.keys(files)).toEqual(expect.arrayContaining([archive, "browserpool.yaml"]));
    const { spec } = parse(await readFile(join(out, "browserpool.yaml"), "utf8"));
    expect(spec.platforms).toMatchObject([
      {
        uri: `https://forge.example/team/browserpool/releases/download/v${version}/${archive}`,
        sha256: files[archive],
      },
    ]);
    const installed = join(scratch, "krew/bin");
    const kubectl = locatePrograms().kubectl ?? "kubectl";
    const env = { ...process.env, PATH: [installed, dirname(process.execPath), process.env.PATH].join(delimiter) };
    const { stdout } = await run(kubectl, ["browserpool", "acquire", "--help"], { env });
    expect(stdout).toContain("Acquire a warm browser of a pool");
    const store = join(scratch, "krew/store/browserpool", `v${version}`);
    const licences = await readFile(join(store, "LICENSES-OF-PACKAGES"), "utf8");
    for (const name of ["commander", "ws", "yaml", "zod"]) expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));

    const bin = join(scratch, "bin");
    await mkdir(bin);
    for (const name of ["sh", "readlink", "dirname"])
      await symlink(findOnPath(name, process.env) ?? name, join(bin, name));
    const launched = () => run(join(installed, "kubectl-browserpool"), ["--version"], { env: { PATH: bin } });
    const wayOut = "needs Node 24 or newer on PATH: https://nodejs.org/en/download\n";
    await expect(launched()).rejects.toMatchObject({
      code: 2,
      stderr: `browserpool: there is no node on PATH; kubectl browserpool ${wayOut}`,
    });
    await writeFile(join(bin, "node"), "#!/bin/sh\necho v20.19.0\n", { mode: 0o755 });
    await expect(launched()).rejects.toMatchObject({
      code: 2,
      stderr: `browserpool: node on PATH is v20.19.0; kubectl browserpool ${wayOut}`,
    });
  });

  test("lists all files with their checksums, signed", async () => {
    const { out, tools, scratch } = rehearsal.publication;
    const list = join(out, "sha256sums.txt");
    const key = join(scratch, "rehearsal.pub");
    const trust = ["--key", key, "--insecure-ignore-tlog=true", "--bundle", `${list}.sigstore.json`];
    await tools.cosign("verify-blob", ...trust, list);
    await run("sha256sum", ["--check", "--strict", basename(list)], { cwd: out });
  });
});
