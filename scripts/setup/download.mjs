import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { checkProgramVersions, clusterProgramVersions, pinnedVersions } from "../../src/local/locate-programs.mjs";

/**
 * Timeout of the first answer, ms. It is short: a machine without internet access may drop packets, and the set-up can
 * build instead.
 */
const firstAnswerMs = 3_000;

/** Timeout of one download, ms. Below it, even a slow connection is faster than a build. */
const wholeDownloadMs = 5 * 60_000;

/** Upper limit of an archive's size, bytes. The largest, kube-apiserver, has 85 MB. */
const largestBytes = 400 * 1024 * 1024;

/** Node's architecture names → those in archive names. @type {{ [arch: string]: string }} */
const architectures = { x64: "amd64", arm64: "arm64" };

/**
 * @typedef {object} Archive
 * @property {string} file the file's name in the list of checksums; the list may put a folder before it
 * @property {string} url
 * @property {string} checksumsUrl SHA-256: the bare sum, or lines `<sum>  <file>`
 * @property {string} [member] path of the program inside a .tar.gz; absent when the file is the program itself
 */

const { etcd, kubectl } = pinnedVersions;
const { helm, "helm-unittest": unittest, kubeconform } = checkProgramVersions;
const { kind } = clusterProgramVersions;

/** Archives on GitHub release pages. @type {(repository: string, version: string) => string} */
const releases = (repository, version) => `https://github.com/${repository}/releases/download/${version}`;

/**
 * A program of Kubernetes itself; it is downloaded as a plain file.
 * @param {string} file @param {string} arch @returns {Archive}
 */
const kubernetesProgram = (file, arch) => {
  const url = `https://dl.k8s.io/${kubectl}/bin/linux/${arch}/${file}`;
  return { file, url, checksumsUrl: `${url}.sha256` };
};

/**
 * @param {string} place @param {string} file
 * @param {{ checksums: string, member: string }} details `checksums`: the name of the checksum file beside the archive
 * @returns {Archive}
 */
const packed = (place, file, { checksums, member }) => ({
  file,
  url: `${place}/${file}`,
  checksumsUrl: `${place}/${checksums}`,
  member,
});

/**
 * The official archives for Linux, by architecture. Programs without an entry are always built.
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
 * The official archive of a program; undefined when there is none for this system. `BROWSERPOOL_DOWNLOAD_MIRROR` names a
 * mirror with the same paths as the official URLs; "off" forbids downloads.
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

/** @param {string | URL} url @param {RequestInit & { signal: AbortSignal }} request */
const open = async (url, request) => {
  const response = await fetch(url, request);
  if (!response.ok || !response.body) throw new Error(`${url}: HTTP ${response.status}`);
  return response.body;
};

/** @param {Archive} archive @param {AbortSignal} signal */
const expectedSum = async ({ file, checksumsUrl }, signal) => {
  const body = await open(checksumsUrl, { signal: AbortSignal.any([signal, AbortSignal.timeout(firstAnswerMs)]) });
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
 * Downloads a file to `target`. Rejects when that fails, or the file is too large.
 * @param {string | URL} url @param {string} target @param {RequestInit & { signal: AbortSignal }} request
 */
export const downloadFile = async (url, target, request) => {
  const body = await open(url, request);
  mkdirSync(dirname(target), { recursive: true });
  let bytes = 0;
  await pipeline(
    Readable.fromWeb(/** @type {import("node:stream/web").ReadableStream} */ (body)),
    async function* (chunks) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > largestBytes) throw new Error(`${url} has more than ${largestBytes} bytes`);
        yield chunk;
      }
    },
    createWriteStream(target),
  );
};

/**
 * Downloads the archive to `target` and checks it. Rejects when the download fails, is too large or has a wrong checksum;
 * `target` may then hold a part, which must not be used.
 * @param {Archive} archive
 * @param {string} target
 * @param {AbortSignal} signal
 */
export const downloadArchive = async (archive, target, signal) => {
  const expected = await expectedSum(archive, signal);
  await downloadFile(archive.url, target, { signal: AbortSignal.any([signal, AbortSignal.timeout(wholeDownloadMs)]) });
  if ((await sumOf(target)) !== expected) throw new Error(`${archive.url} has another checksum than its list says`);
};
