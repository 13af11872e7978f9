/** A test's own S3 server: versitygw, with a folder below the system's temporary one. Loopback only. */
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/local/free-port.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import type { S3BlobSettings } from "../../src/platform/blobs/open-blob-store.ts";
import { type RestartableProgram, startProgram } from "./restartable-program.ts";

export type S3Server = RestartableProgram & {
  settings: S3BlobSettings;
  /** The folder of the bucket: an object is the file of its key. */
  bucketFolder: string;
};

/** Why tests with S3 are left out on this machine, if they are. */
export const withoutS3 = (): string | undefined =>
  locatePrograms(process.env).versitygw ? undefined : "versitygw is missing: node scripts/setup.mjs --tests";

/** Its login. The AWS SDK reads it from the environment, as in a pod. */
export const s3Login = { AWS_ACCESS_KEY_ID: "test-access", AWS_SECRET_ACCESS_KEY: "test-secret-of-the-server" };

/** Starts it with an empty bucket, and sets this process's AWS variables. */
export const startS3Server = async (): Promise<S3Server> => {
  const program = locatePrograms(process.env).versitygw;
  const port = await freePort("127.0.0.1");
  if (!program || port === undefined) throw new Error(withoutS3() ?? "no free port on 127.0.0.1");
  Object.assign(process.env, s3Login);
  const folder = await mkdtemp(join(tmpdir(), "s3-"));
  const bucketFolder = join(folder, "data", "blobs-of-test");
  await mkdir(bucketFolder, { recursive: true });
  await mkdir(join(folder, "meta"));
  const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = s3Login;
  const server = ["--port", `127.0.0.1:${port}`, "--access", access, "--secret", secret, "--keep-alive", "--quiet"];
  // Without extended attributes, which not every temporary folder has.
  const backend = ["posix", "--sidecar", join(folder, "meta"), join(folder, "data")];
  const running = await startProgram(program, { args: [...server, ...backend], port, folder });
  return {
    settings: {
      kind: "s3",
      bucket: "blobs-of-test",
      prefix: "",
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      pathStyle: true,
    },
    bucketFolder,
    ...running,
  };
};
