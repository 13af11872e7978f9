import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tools } from "./tools.ts";

/** The predicates that we attach, in cosign's words. */
export const sbomType = "cyclonedx";
export const provenanceType = "slsaprovenance1";

/** Signs artefacts, and attaches signed statements to them as referrers in their registry. */
export type Signer = {
  /** `name`: with a digest. Of an index, all its images are signed, too. */
  sign(name: string): Promise<void>;
  attest(name: string, type: typeof sbomType | typeof provenanceType, predicate: object): Promise<void>;
  /** Writes the signature of a file beside it, as `<file>.sigstore.json`. */
  signFile(file: string): Promise<void>;
};

/**
 * How to sign. `key`: file of a private key, for rehearsals and private registries; its password is in COSIGN_PASSWORD.
 * Without it cosign signs by the identity of the workflow that runs it, and notes it in the public log.
 */
export const createSigner = (
  { cosign }: Pick<Tools, "cosign">,
  { key, scratch }: { key?: string; scratch: string },
): Signer => {
  const how = key === undefined ? [] : ["--key", key, "--tlog-upload=false", "--use-signing-config=false"];
  let statements = 0;
  return {
    sign: async (name) => void (await cosign("sign", "--yes", "--recursive", ...how, name)),
    async attest(name, type, predicate) {
      statements += 1;
      const file = join(scratch, `statement-${statements}.json`);
      await writeFile(file, JSON.stringify(predicate));
      await cosign("attest", "--yes", ...how, "--type", type, "--predicate", file, name);
    },
    signFile: async (file) =>
      void (await cosign("sign-blob", "--yes", ...how, "--bundle", `${file}.sigstore.json`, file)),
  };
};

/** Who must have signed: a key, or a workflow's identity. */
export type Trust = { publicKey: string } | { identity: string; issuer: string };

/** The arguments by which cosign verifies. */
export const trustArgs = (trust: Trust): string[] =>
  "publicKey" in trust
    ? ["--key", trust.publicKey, "--insecure-ignore-tlog=true"]
    : ["--certificate-identity-regexp", trust.identity, "--certificate-oidc-issuer", trust.issuer];
