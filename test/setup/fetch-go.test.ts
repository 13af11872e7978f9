import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeZip } from "../support/zip-writer.ts";
import { repository } from "./sandbox.ts";

const module = "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64";
const files = {
  "bin/go": "#!/bin/sh\necho go\n",
  "pkg/tool/linux_amd64/compile": "x",
  "src/_go.mod": "module std\n",
  VERSION: "go1.99.0",
};

let folder: string;
let server: Server;
let proxy: string;
let archive: Buffer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fetch-go-"));
  archive = writeZip(Object.entries(files).map(([name, data]) => ({ name: `${module}/${name}`, content: data })));
  const path = "/golang.org/toolchain/@v/v0.0.1-go1.99.0.linux-amd64.zip";
  server = createServer((request, response) => {
    const isAllowed = request.headers.authorization === `Basic ${Buffer.from("me:pass").toString("base64")}`;
    response.writeHead(request.url === path && isAllowed ? 200 : 404).end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy = `http://me:pass@127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** As Go's checksum database has it: the digest of a list of the files' digests, in the order of their names. */
const sum = `h1:${createHash("sha256")
  .update(
    Object.entries(files)
      .map(([name, text]) => [`${module}/${name}`, digest(text)] as const)
      .toSorted()
      .map(([name, one]) => `${one}  ${name}\n`)
      .join(""),
  )
  .digest("base64")}`;

const fetchGo = (expected: string, proxies: string) =>
  promisify(execFile)(
    process.execPath,
    [join(repository, "scripts/setup/fetch-go.mjs"), "1.99.0", "linux-amd64", expected, join(folder, "go-1.99.0")],
    { env: { PATH: process.env.PATH, GOPROXY: proxies } },
  );

test("a toolchain comes from the first module proxy that has it, with what modules lack", async () => {
  await fetchGo(sum, `http://127.0.0.1:3|${proxy},direct`);
  const go = join(folder, "go-1.99.0");
  expect(readdirSync(folder)).toEqual(["go-1.99.0"]);
  for (const name of ["bin/go", "pkg/tool/linux_amd64/compile"])
    expect(statSync(join(go, name)).mode & 0o777).toBe(0o755);
  expect(readFileSync(join(go, "src/go.mod"), "utf8")).toBe(files["src/_go.mod"]);
});

test("a toolchain with another sum is not used, nor what is no file of it", async () => {
  await expect(fetchGo(`${sum.slice(0, -3)}xx=`, proxy)).rejects.toThrow(`has the sum ${sum} instead of`);
  archive = writeZip([{ name: `${module}/../../evil`, content: "x" }]);
  await expect(fetchGo(sum, proxy)).rejects.toThrow();
  expect(readdirSync(folder)).toEqual([]);
  expect(existsSync(join(folder, "../evil"))).toBe(false);
});

test("without a proxy that answers, it says which were tried", async () => {
  await expect(fetchGo(sum, "http://127.0.0.1:3")).rejects.toThrow("ECONNREFUSED 127.0.0.1:3");
  await expect(fetchGo(sum, "off")).rejects.toThrow("GOPROXY names no proxy");
});
