/**
 * The commands for a service that runs elsewhere as a plug-in of kubectl: an archive with all that they need but Node, and
 * the manifest by which krew installs it.
 */
import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { stringify } from "yaml";
import { bundleClient } from "./client-bundle.ts";
import type { Publication } from "./publication.ts";

/** The plug-in's name in krew, by which its files are found too. */
const plugin = "browserpool";

/** Starts the commands from where krew's link leads, with the Node of PATH. `oldest`: major version. */
const launcherOf = (oldest: number): string => `#!/bin/sh
# The commands of \`kubectl browserpool\` are JavaScript for Node ${oldest}.
set -eu
need() {
  echo "browserpool: $1; kubectl browserpool needs Node ${oldest} or newer on PATH: https://nodejs.org/en/download" >&2
  exit 2
}
file=$0
while [ -L "$file" ]; do
  link=$(readlink "$file")
  case $link in
    /*) file=$link ;;
    *) file=$(dirname "$file")/$link ;;
  esac
done
command -v node >/dev/null || need "there is no node on PATH"
version=$(node --version) || need "node on PATH does not start"
major=\${version#v}
[ "\${major%%.*}" -ge ${oldest} ] 2>/dev/null || need "node on PATH is $version"
exec node "$(dirname "$file")/dist/browserpool.mjs" "$@"
`;

/** What the licences of the packages in the bundle ask for: their texts, or where a package has none, whose it is. */
const licencesOf = async (folders: Iterable<string>): Promise<string> => {
  const texts: string[] = [];
  for (const folder of folders) {
    const { name, version, license, author, repository } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    const file = (await readdir(folder)).find((one) => /^licen[cs]e(\.\w+)?$/i.test(one));
    const text =
      file === undefined
        ? [author?.name ?? author, repository?.url].filter(Boolean).join(", ")
        : await readFile(join(folder, file), "utf8");
    texts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(80)}\n\n`);
};

/** Where the forge has the files of a release. */
const downloadsOf = ({ version, source }: Publication["build"]): string => {
  const page = source.replace(/^git@([^:]+):/, "https://$1/").replace(/\.git$/, "");
  return `${page}/releases/download/v${version}`;
};

const manifestOf = (
  archive: string,
  { sha256, oldest }: { sha256: string; oldest: number },
  { build }: Publication,
) => ({
  apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
  kind: "Plugin",
  metadata: { name: plugin },
  spec: {
    version: `v${build.version}`,
    homepage: "https://browserpool.dev",
    shortDescription: "Acquire and release warm browsers",
    description:
      "Acquires and releases browsers of Browserpool, and shows its pools and sessions. It calls the HTTP API of the\n" +
      "service, not the API server: it reads no kubeconfig.\n",
    caveats:
      `Needs Node ${oldest} or newer on PATH (https://nodejs.org/en/download). KERNEL_BASE_URL and KERNEL_API_KEY say which\n` +
      "service it calls, and with which key.\n",
    platforms: [
      {
        selector: { matchExpressions: [{ key: "os", operator: "In", values: ["darwin", "linux"] }] },
        uri: `${downloadsOf(build)}/${basename(archive)}`,
        sha256,
        bin: `kubectl-${plugin}`,
      },
    ],
  },
});

/** The files of the plug-in. */
export const krewFiles = (version: string) => ({
  manifest: `${plugin}.yaml`,
  archive: `kubectl-${plugin}-${version}.tar.gz`,
});

/** Makes them in `out`. Resolves with their paths. */
export const packageForKrew = async (publication: Publication): Promise<string[]> => {
  const { tree, version, scratch, out, tools } = publication;
  const folder = join(scratch, "krew-plugin");
  await mkdir(folder, { recursive: true });
  const { contained } = await bundleClient(tree, join(folder, "dist"), { packages: "contained" });
  const { engines } = JSON.parse(await readFile(join(tree, "package.json"), "utf8"));
  const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
  const launcher = join(folder, `kubectl-${plugin}`);
  await writeFile(launcher, launcherOf(oldest));
  await chmod(launcher, 0o755);
  await cp(join(tree, "LICENSE"), join(folder, "LICENSE"));
  await writeFile(join(folder, "LICENSES-OF-PACKAGES"), await licencesOf(contained));
  const names = krewFiles(version);
  const [archive, manifest] = [join(out, names.archive), join(out, names.manifest)];
  const nobody = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  await tools.tar(...nobody, "-czf", archive, "-C", folder, ".");
  const sha256 = createHash("sha256")
    .update(await readFile(archive))
    .digest("hex");
  await writeFile(manifest, stringify(manifestOf(archive, { sha256, oldest }, publication), { lineWidth: 0 }));
  return [archive, manifest];
};
