import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pinnedVersions } from "../../src/local/locate-programs.mjs";

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
 * @property {string} file name of the file as the list of checksums has it
 * @property {string} url
 * @property {string} checksumsUrl SHA-256: the bare sum, or lines `<sum>  <file>`
 * @property {string} [member] path of the program inside a .tar.gz; absent when the file is the program itself
 */

/**
 * The official archive of a control plane program; undefined when there is none for this system.
 * `BROWSERPOOL_DOWNLOAD_MIRROR` replaces the official places by one with the same paths; the value "off" forbids downloads.
 * @param {import("../../src/local/locate-programs.mjs").ControlPlaneProgram} name
 * @param {import("../../src/local/locate-programs.mjs").Environment} env
 * @returns {Archive | undefined}
 */
export const officialArchive = (name, env) => {
  const arch = architectures[process.arch];
  const mirror = env.BROWSERPOOL_DOWNLOAD_MIRROR;
  if (process.platform !== "linux" || !arch || mirror === "off") return undefined;
  const version = pinnedVersions[name];
  if (name !== "etcd") {
    const url = `${mirror || "https://dl.k8s.io"}/${version}/bin/linux/${arch}/${name}`;
    return { file: name, url, checksumsUrl: `${url}.sha256` };
  }
  const releases = `${mirror || "https://github.com"}/etcd-io/etcd/releases/download/${version}`;
  const folder = `etcd-${version}-linux-${arch}`;
  const file = `${folder}.tar.gz`;
  return { file, url: `${releases}/${file}`, checksumsUrl: `${releases}/SHA256SUMS`, member: `${folder}/etcd` };
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
  const sum = lines.length === 1 ? lines[0]?.[0] : lines.find((line) => line[1] === file)?.[0];
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
