import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkProgramVersions, pinnedVersions, serverPrograms } from "../../src/local/locate-programs.mjs";
import { createSandbox, fakeGo, type Sandbox, systemPrograms } from "./sandbox.ts";

let sandbox: Sandbox;
let server: Server | undefined;

beforeEach(() => {
  sandbox = createSandbox();
  for (const name of systemPrograms) sandbox.program(name);
  for (const name of ["tar", "gzip"]) sandbox.link(name);
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  sandbox.remove();
});

const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");
const program = "#!/bin/sh\nexit 0\n";

/** An archive with one program; `member`: its path in the archive. */
const archiveOf = (member: string): Buffer => {
  const pack = join(sandbox.folder, "pack");
  mkdirSync(dirname(join(pack, member)), { recursive: true });
  writeFileSync(join(pack, member), program, { mode: 0o755 });
  return execFileSync("tar", ["-czf", "-", "-C", pack, member]);
};

const arch = process.arch === "x64" ? "amd64" : process.arch;

/** All files of the official sites, by path. */
const officialFiles = (): Map<string, string | Buffer> => {
  const files = new Map<string, string | Buffer>();
  for (const name of ["kube-apiserver", "kubectl"] as const) {
    const path = `/${pinnedVersions[name]}/bin/linux/${arch}/${name}`;
    files.set(path, program).set(`${path}.sha256`, sha256(program));
  }
  const folder = `etcd-${pinnedVersions.etcd}-linux-${arch}`;
  const releases = `/etcd-io/etcd/releases/download/${pinnedVersions.etcd}`;
  const archive = archiveOf(`${folder}/etcd`);
  const sums = `${sha256("other")}  ${folder}.zip\n${sha256(archive)}  ${folder}.tar.gz\n`;
  return files.set(`${releases}/${folder}.tar.gz`, archive).set(`${releases}/SHA256SUMS`, sums);
};

/** The chart's checkers, with checksums in the form of each project. */
const chartFiles = (): Map<string, string | Buffer> => {
  const { helm, "helm-unittest": unittest, kubeconform } = checkProgramVersions;
  const files = new Map<string, string | Buffer>();
  const helmArchive = archiveOf(`linux-${arch}/helm`);
  const helmPath = `/helm-${helm}-linux-${arch}.tar.gz`;
  files.set(helmPath, helmArchive).set(`${helmPath}.sha256sum`, `${sha256(helmArchive)}  ${helmPath.slice(1)}\n`);
  const unittestPlace = `/helm-unittest/helm-unittest/releases/download/${unittest}`;
  const unittestFile = `helm-unittest-linux-${arch}-${unittest.slice(1)}.tgz`;
  const untt = archiveOf("untt");
  const sums = `${sha256("x")} *./_dist/other.tgz\n${sha256(untt)} *./_dist/${unittestFile}\n`;
  files.set(`${unittestPlace}/${unittestFile}`, untt).set(`${unittestPlace}/helm-unittest-checksum.sha`, sums);
  const place = `/yannh/kubeconform/releases/download/${kubeconform}`;
  const file = `kubeconform-linux-${arch}.tar.gz`;
  const archive = archiveOf("kubeconform");
  files.set(`${place}/${file}`, archive);
  return files.set(`${place}/CHECKSUMS`, `${sha256("x")}  other.zip\n${sha256(archive)}  ${file}\n`);
};

/** Serves `files` on loopback; without files it never answers. Returns the mirror's URL. */
const serve = async (files?: Map<string, string | Buffer>): Promise<string> => {
  const mirror = createServer((request, response) => {
    const body = files?.get(request.url ?? "");
    if (files) response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  server = mirror;
  await new Promise<void>((resolve) => mirror.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`;
};

const cached = (): string[] => readdirSync(join(sandbox.cache, "bin")).sort();
const servers = serverPrograms.map((name) => `${name}-${pinnedVersions[name]}`).sort();

describe.skipIf(process.platform !== "linux")("downloading programs", () => {
  test("takes the official archives, with no Go on the machine", async () => {
    const { code } = await sandbox.setUp([], { BROWSERPOOL_DOWNLOAD_MIRROR: await serve(officialFiles()) });
    expect(code).toBe(0);
    expect(cached()).toEqual(servers);
    expect(readFileSync(join(sandbox.cache, "bin", `etcd-${pinnedVersions.etcd}`), "utf8")).toBe(program);
  });

  test("takes the official archives of the checkers that have one, and goes on without the others", async () => {
    const { code } = await sandbox.setUp(["--check"], { BROWSERPOOL_DOWNLOAD_MIRROR: await serve(chartFiles()) });
    expect(code).toBe(0);
    const packed = ["helm", "helm-unittest", "kubeconform"] as const;
    expect(cached()).toEqual(packed.map((name) => `${name}-${checkProgramVersions[name]}`).sort());
  });

  test("never uses an archive with another checksum, and builds that program instead", async () => {
    fakeGo(sandbox);
    const files = officialFiles();
    const path = [...files.keys()].find((key) => key.endsWith("/kubectl")) ?? "";
    files.set(path, "#!/bin/sh\necho not the one\n");
    const { code, output } = await sandbox.setUp(["--kubectl"], { BROWSERPOOL_DOWNLOAD_MIRROR: await serve(files) });
    expect(code).toBe(0);
    expect(output).toContain("another checksum");
    expect(sandbox.lines("calls").map((line) => line.split(" ")[2])).toEqual(["kubectl"]);
    expect(readFileSync(join(sandbox.cache, "bin", `kubectl-${pinnedVersions.kubectl}`), "utf8")).toBe("#!/bin/sh\n");
  });

  test("builds when the official sites refuse or never answer", async () => {
    fakeGo(sandbox);
    const { code, output } = await sandbox.setUp([], { BROWSERPOOL_DOWNLOAD_MIRROR: await serve() });
    expect(code).toBe(0);
    expect(output).toContain("can't be downloaded");
    expect(cached()).toEqual([`control-plane-${pinnedVersions.etcd}-${pinnedVersions["kube-apiserver"]}`, ...servers]);
  });
});
