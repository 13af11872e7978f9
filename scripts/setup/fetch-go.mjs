/**
 * Fetches a Go toolchain as a module, for machines whose Go is missing or too old: from the module proxy, checked
 * against the sum that Go's checksum database has of it, which is the pinned one. Run by the Node of node_modules, which
 * goes through the proxies of HTTPS_PROXY and has the packages of the product:
 *
 *   node scripts/setup/fetch-go.mjs VERSION SYSTEM SUM FOLDER
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import yauzl from "yauzl";
import { downloadFile } from "./download.mjs";

const [version = "", system = "", sum = "", folder = ""] = process.argv.slice(2);
const moduleVersion = `v0.0.1-go${version}.${system}`;
/** Before the name of every file of the archive. */
const prefix = `golang.org/toolchain@${moduleVersion}/`;

/** Limit of the whole download, ms. */
const wholeDownloadMs = 10 * 60_000;

/** The module proxies of this machine, in their order; Go's own where none is named. */
const proxies = (process.env.GOPROXY || "https://proxy.golang.org")
  .split(/[,|]/)
  .filter((proxy) => /^https?:/.test(proxy));

/** @param {string} proxy @param {string} target */
const download = async (proxy, target) => {
  const url = new URL(`${proxy.replace(/\/$/, "")}/golang.org/toolchain/@v/${moduleVersion}.zip`);
  const { username, password } = url;
  [url.username, url.password] = ["", ""];
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  await downloadFile(url, target, {
    headers: username ? { authorization: `Basic ${login}` } : {},
    signal: AbortSignal.timeout(wholeDownloadMs),
  });
};

/** Modules keep no permission to execute. @param {string} path */
const isProgram = (path) => /^(bin|pkg\/tool)\//.test(path);

/** Modules have no files of this name below their root. @param {string} path */
const plainName = (path) => path.replace(/(^|\/)_go\.mod$/, "$1go.mod");

/** Unpacks the archive, and returns the sum of its files, as go.sum has them (Hash1 of golang.org/x/mod). @param {string} archive @param {string} target */
const unpack = async (archive, target) => {
  const zip = await yauzl.openPromise(archive);
  /** @type {[name: string, digest: string][]} */
  const digests = [];
  const made = new Set();
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName;
    if (!name.startsWith(prefix) || name.includes("/../")) throw new Error(`${name} is no file of ${moduleVersion}`);
    const path = name.slice(prefix.length);
    const file = join(target, plainName(path));
    if (!made.has(dirname(file))) await mkdir(dirname(file), { recursive: true });
    made.add(dirname(file));
    const hash = createHash("sha256");
    await pipeline(
      await zip.openReadStreamPromise(entry),
      async function* (chunks) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(file, { mode: isProgram(path) ? 0o755 : 0o644 }),
    );
    digests.push([name, hash.digest("hex")]);
  }
  const lines = digests.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, digest]) => `${digest}  ${name}\n`);
  return `h1:${createHash("sha256").update(lines.join("")).digest("base64")}`;
};

/** The archive of the first proxy that has it. @param {string} target */
const downloadFromAny = async (target) => {
  const reasons = [];
  for (const proxy of proxies) {
    try {
      return await download(proxy, target);
    } catch (error) {
      reasons.push(error instanceof Error ? `${error.message} ${error.cause ?? ""}`.trim() : error);
    }
  }
  throw new Error(`Go ${version} can't be downloaded: ${reasons.join("; ") || "GOPROXY names no proxy"}`);
};

const fetchGo = async () => {
  const place = dirname(folder);
  await mkdir(place, { recursive: true });
  const parts = `${basename(folder)}.part`;
  // Of former runs that were killed: only one set-up runs at a time.
  for (const name of await readdir(place))
    if (name.startsWith(parts)) await rm(join(place, name), { recursive: true, force: true });
  const part = await mkdtemp(join(place, parts));
  try {
    const archive = join(part, "toolchain.zip");
    await downloadFromAny(archive);
    const found = await unpack(archive, join(part, "go"));
    if (found !== sum) throw new Error(`Go ${version} has the sum ${found} instead of ${sum}`);
    await rename(join(part, "go"), folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
};

try {
  await fetchGo();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
