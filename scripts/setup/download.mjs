import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { chartProgramVersions, clusterProgramVersions, pinnedVersions } from "../../src/local/locate-programs.mjs";

/** Time for the first answer, ms. Short, since a machine without a way out may drop packets and the build is the other way. */
const firstAnswerMs = 3_000;

/** Longest download of one archive, ms; below it a slow line still beats the build. */
const wholeDownloadMs = 5 * 60_000;

/** Larger than any of the archives (kube-apiserver has 85 MB), bytes. */
const largestBytes = 400 * 1024 * 1024;

/** Names of Node's architectures in the archives. @type {{ [arch: string]: string }} */
const architectures = { x64: "amd64", arm64: "arm64" };

/**
 * @typedef {object} Archive
 * @property {string} file name of the file as the list of checksums has it, where it may stand in a folder
 * @property {string} url
 * @property {string} checksumsUrl SHA-256: the bare sum, or lines `<sum>  <file>`
 * @property {string} [member] path of the program inside a .tar.gz; absent when the file is the program itself
 */

const { etcd, kubectl } = pinnedVersions;
const { helm, "helm-unittest": unittest, kubeconform } = chartProgramVersions;
const { kind } = clusterProgramVersions;

/** The archives on the pages of releases. @type {(repository: string, version: string) => string} */
const releases = (repository, version) => `https://github.com/${repository}/releases/download/${version}`;

/**
 * A program of Kubernetes itself, which is no archive.
 * @param {string} file @param {string} arch @returns {Archive}
 */
const kubernetesProgram = (file, arch) => {
  const url = `https://dl.k8s.io/${kubectl}/bin/linux/${arch}/${file}`;
  return { file, url, checksumsUrl: `${url}.sha256` };
};

/**
 * @param {string} place @param {string} file
 * @param {{ checksums: string, member: string }} details `checksums`: the file beside it
 * @returns {Archive}
 */
const packed = (place, file, { checksums, member }) => ({
  file,
  url: `${place}/${file}`,
  checksumsUrl: `${place}/${checksums}`,
  member,
});

/**
 * The official archives for Linux, by the name of the processor. Programs that are missing here are always built.
 * @type {{ [name in import("../../src/local/locate-programs.mjs").CachedProgram]?: (arch: string) => Archive }}
 */
const archives = {
  etcd: (arch) => {
    const folder = `etcd-${etcd}-linux-${arch}`;
    const details = { checksums: "SHA256SUMS", member: `${folder}/etcd` };
    return packed(releases("etcd-io/etcd", etcd), `${folder}.tar.gz`, details);
  },
  "kube-apiserver": (arch) => kubernetesProgram("kube-apiserver", arch),
  kubectl: (arch) => kubernetesProgram("kubectl", arch),
  helm: (arch) => {
    const file = `helm-${helm}-linux-${arch}.tar.gz`;
    return packed("https://get.helm.sh", file, { checksums: `${file}.sha256sum`, member: `linux-${arch}/helm` });
  },
  "helm-unittest": (arch) =>
    packed(releases("helm-unittest/helm-unittest", unittest), `helm-unittest-linux-${arch}-${unittest.slice(1)}.tgz`, {
      checksums: "helm-unittest-checksum.sha",
      member: "untt",
    }),
  kubeconform: (arch) =>
    packed(releases("yannh/kubeconform", kubeconform), `kubeconform-linux-${arch}.tar.gz`, {
      checksums: "CHECKSUMS",
      member: "kubeconform",
    }),
  kind: (arch) => {
    const url = `https://kind.sigs.k8s.io/dl/${kind}/kind-linux-${arch}`;
    return { file: `kind-linux-${arch}`, url, checksumsUrl: `${url}.sha256sum` };
  },
};

/**
 * The official archive of a program; undefined when there is none for this system.
 * `BROWSERPOOL_DOWNLOAD_MIRROR` replaces the official places by one with the same paths; the value "off" forbids downloads.
 * @param {import("../../src/local/locate-programs.mjs").CachedProgram} name
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 * @returns {Archive | undefined}
 */
export const officialArchive = (name, env) => {
  const arch = architectures[process.arch];
  const mirror = env.BROWSERPOOL_DOWNLOAD_MIRROR;
  if (process.platform !== "linux" || !arch || mirror === "off") return undefined;
  const archive = archives[name]?.(arch);
  if (!archive || !mirror) return archive;
  /** @param {string} url */
  const mirrored = (url) => mirror + new URL(url).pathname;
  return { ...archive, url: mirrored(archive.url), checksumsUrl: mirrored(archive.checksumsUrl) };
};

/** @param {string} url @param {AbortSignal} signal */
const open = async (url, signal) => {
  const response = await fetch(url, { signal });
  if (!response.ok || !response.body) throw new Error(`${url}: HTTP ${response.status}`);
  return response.body;
};

/** @param {Archive} archive @param {AbortSignal} signal */
const expectedSum = async ({ file, checksumsUrl }, signal) => {
  const body = await open(checksumsUrl, AbortSignal.any([signal, AbortSignal.timeout(firstAnswerMs)]));
  const text = (await new Response(body).text()).trim();
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const sum =
    lines.length === 1 ? lines[0]?.[0] : lines.find((line) => basename(line[1]?.replace("*", "") ?? "") === file)?.[0];
  if (!/^[0-9a-f]{64}$/.test(sum ?? "")) throw new Error(`${checksumsUrl} has no checksum of ${file}`);
  return sum;
};

/** @param {string} file */
const sumOf = async (file) => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
};

/**
 * Writes the archive to `target`; rejects when it can't be had, is larger than any archive can be, or has another checksum.
 * Nothing but a whole, checked archive may be used: on a rejection `target` may hold a part.
 * @param {Archive} archive
 * @param {string} target
 * @param {AbortSignal} signal
 */
export const downloadArchive = async (archive, target, signal) => {
  const expected = await expectedSum(archive, signal);
  const body = await open(archive.url, AbortSignal.any([signal, AbortSignal.timeout(wholeDownloadMs)]));
  mkdirSync(dirname(target), { recursive: true });
  let bytes = 0;
  await pipeline(
    Readable.fromWeb(/** @type {import("node:stream/web").ReadableStream} */ (body)),
    async function* (chunks) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > largestBytes) throw new Error(`${archive.url} has more than ${largestBytes} bytes`);
        yield chunk;
      }
    },
    createWriteStream(target),
  );
  if ((await sumOf(target)) !== expected) throw new Error(`${archive.url} has another checksum than its list says`);
};
