/** A certificate authority of a test and a server's certificate that it has signed, made by openssl. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All in PEM form. `key`: of `certificate`. */
export type TestCertificates = { authority: string; certificate: string; key: string };

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/**
 * `names`: the server's names and addresses as openssl writes them, e.g. `DNS:site.test` and `IP:127.0.0.1`. Valid for
 * a day.
 */
export const testCertificates = (names: string[] = ["DNS:localhost"]): TestCertificates => {
  const folder = mkdtempSync(join(tmpdir(), "browserpool-certificates-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): unknown =>
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
  try {
    openssl(
      "req",
      "-x509",
      ...newKey,
      "-days",
      "1",
      "-subj",
      "/CN=test-authority",
      "-keyout",
      at("ca.key"),
      "-out",
      at("ca"),
    );
    openssl("req", ...newKey, "-subj", "/CN=test-server", "-keyout", at("key"), "-out", at("request"));
    writeFileSync(at("extensions"), `subjectAltName=${names.join(",")}\n`);
    const signed = [
      "-CA",
      at("ca"),
      "-CAkey",
      at("ca.key"),
      "-CAcreateserial",
      "-days",
      "1",
      "-extfile",
      at("extensions"),
    ];
    openssl("x509", "-req", "-in", at("request"), ...signed, "-out", at("certificate"));
    const [authority = "", certificate = "", key = ""] = ["ca", "certificate", "key"].map((name) =>
      readFileSync(at(name), "utf8"),
    );
    return { authority, certificate, key };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
