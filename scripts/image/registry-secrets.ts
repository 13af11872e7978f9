import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const npmrcOf = async (place: "globalconfig" | "userconfig"): Promise<string> => {
  const { stdout } = await run("npm", ["config", "get", place]);
  return readFile(stdout.trim(), "utf8").catch(() => "");
};

/**
 * Passes this machine's npm registry settings (mirror, login, certificate authority) to `docker build` as secrets:
 * packages are installed with them, and no layer holds them. Disposing of the result removes the copies.
 */
export const registrySecrets = async (
  certificates: string | undefined,
): Promise<{ args: string[] } & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-image-"));
  const file = join(folder, "npmrc");
  // In an .npmrc the later line wins, and the user's settings override the machine's.
  await writeFile(file, `${await npmrcOf("globalconfig")}\n${await npmrcOf("userconfig")}`, { mode: 0o600 });
  return {
    args: [
      "--secret",
      `id=npmrc,src=${file}`,
      ...(certificates ? ["--secret", `id=ca-certificates,src=${certificates}`] : []),
    ],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
};
