import { execFile } from "node:child_process";
import { totalmem } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

const gib = 2 ** 30;

/** Longest trial, ms. */
const timeoutMs = 5000;

/** Whether this user may make such a namespace: some machines forbid that, as containers with Docker's own seccomp profile do. */
const mayMake = async (kind: "net" | "mount"): Promise<boolean> => {
  const args = ["--user", "--map-current-user", "--keep-caps", `--${kind}`, "true"];
  return run("unshare", args, { timeout: timeoutMs }).then(
    () => true,
    () => false,
  );
};

/**
 * What browsers on this machine can be given, as BROWSERPOOL_BROWSER_FEATURES names it; tried out. A browser here may use the memory that
 * the machine has. GPUs are not looked for.
 */
export const localFeatures = async (): Promise<string[]> => {
  const [network, mount] = await Promise.all([mayMake("net"), mayMake("mount")]);
  return [
    ...(network ? ["network"] : []),
    ...(mount ? ["chrome_policy"] : []),
    ...(totalmem() >= 16 * gib ? ["memory_16GiB"] : []),
  ];
};
