/** The charts of a release, in a real registry by the real Helm, crane and cosign. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { publishCharts } from "../../scripts/release/publish-charts.ts";
import { startRehearsal, withoutReleasePrograms } from "./start-rehearsal.ts";

const digest = `sha256:${"0a".repeat(32)}`;

test.skipIf(withoutReleasePrograms())(
  "a chart tells Artifact Hub its changes, definitions and images by digest, and whose it is",
  async () => {
    await using rehearsal = await startRehearsal("### Added\n\n- A thing.\n\n### Security\n\n- Chromium 2, after 1.\n");
    const { publication } = rehearsal;
    const { registry, tools, tree } = publication;
    const images = (["service", "browser", "local"] as const).map((target) => ({
      ...{ target, repository: `${registry}/${target}`, digest },
      platforms: { "linux/amd64": digest },
    }));
    const { charts } = await publishCharts(images, publication);
    const annotationsOf = async (name: string): Promise<Record<string, string>> => {
      const shown = ["show", "chart", `oci://${registry}/charts/${name}`, "--version", publication.version];
      const { annotations } = parse(await tools.helm(...shown, "--plain-http"));
      return Object.fromEntries(
        Object.entries(annotations as Record<string, string>).map(([key, value]) => [key.split("/")[1], value]),
      );
    };
    const [whole, definitions] = [await annotationsOf("browserpool"), await annotationsOf("browserpool-crds")];
    expect(parse(whole.images ?? "")).toEqual([
      { name: "service", image: `${registry}/service:${publication.version}@${digest}` },
      { name: "browser", image: `${registry}/browser:${publication.version}@${digest}` },
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
    const listed = await tools.crane("ls", `${registry}/charts/browserpool`);
    expect(listed.split("\n")).toEqual(expect.arrayContaining([publication.version, "artifacthub.io"]));
  },
);
