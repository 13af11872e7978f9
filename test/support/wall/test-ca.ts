import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export type TestCa = {
  /** PEM. */
  certificate: string;
  /** A key and a certificate for these names or addresses. */
  issue(names: string[]): Promise<{ key: string; cert: string }>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A certificate authority that nobody knows. */
export const createTestCa = async (): Promise<TestCa> => {
  const folder = await mkdtemp(join(tmpdir(), "test-ca-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => run("openssl", args);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
    "-days",
    "2",
    "-subj",
    "/CN=Test authority",
  );
  let serial = 0;
  return {
    certificate: await readFile(at("ca.pem"), "utf8"),
    async issue(names) {
      serial += 1;
      const [key, request, cert, extensions] = ["key", "csr", "pem", "ext"].map((kind) => at(`${serial}.${kind}`)) as [
        string,
        string,
        string,
        string,
      ];
      const list = names.map((name) => `${/^[\d.]+$|:/.test(name) ? "IP" : "DNS"}:${name}`);
      await writeFile(extensions, `subjectAltName=${list.join(",")}\n`);
      await openssl("req", ...newKey, "-keyout", key, "-out", request, "-subj", "/CN=test");
      await openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        at("ca.pem"),
        "-CAkey",
        at("ca.key"),
        "-set_serial",
        `${serial}`,
        "-days",
        "2",
        "-extfile",
        extensions,
        "-out",
        cert,
      );
      return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
};
