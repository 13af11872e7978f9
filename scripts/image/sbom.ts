import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Docker } from "./docker.ts";

const run = promisify(execFile);

/** The fields of a CycloneDX 1.5 component that we write. */
type Component = { type: string; name: string; version: string; purl: string; "bom-ref": string };

const component = (type: string, name: string, version: string, purl: string): Component => ({
  type,
  name,
  version,
  purl,
  "bom-ref": purl,
});

const debianComponent = (line: string): Component => {
  const [name = "", version = "", arch = ""] = line.split("\t");
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=debian-12`;
  return component("library", name, version, purl);
};

/** Runs `program` in a container of the image, without a network. */
const inside = (docker: Docker, image: string, program: string, ...args: string[]): Promise<string> =>
  docker("run", "--rm", "--network", "none", "--entrypoint", program, image, ...args);

/**
 * Lists an image's contents as one CycloneDX document: the runtime npm packages of package-lock.json (from npm's own
 * list), Debian's packages (from dpkg in the image), and Node. `root`: the repository's root.
 */
export const sbomOf = async (image: string, { docker, root }: { docker: Docker; root: string }): Promise<object> => {
  const npm = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg expands it
  const format = "${Package}\\t${Version}\\t${Architecture}\\n";
  const [{ stdout }, packages, nodeVersion] = await Promise.all([
    run("npm", npm, { cwd: root, maxBuffer: 64 * 1024 * 1024 }),
    inside(docker, image, "dpkg-query", "--show", `--showformat=${format}`),
    inside(docker, image, "node", "--version"),
  ]);
  const document = JSON.parse(stdout);
  const version = nodeVersion.trim().slice(1);
  const [name = "", tag = ""] = image.split(/:(?=[^/]*$)/);
  return {
    ...document,
    metadata: {
      ...document.metadata,
      lifecycles: [{ phase: "build" }],
      component: component("container", name, tag, `pkg:oci/${name.split("/").at(-1)}?tag=${tag}`),
    },
    components: [
      component("application", "node", version, `pkg:generic/node@${version}`),
      ...document.components,
      ...packages.trim().split("\n").map(debianComponent),
    ],
    // The image doesn't hold npm's root package; the rest of npm's graph is correct.
    dependencies: document.dependencies.filter(({ ref }: { ref: string }) => !ref.startsWith("browserpool@")),
  };
};
