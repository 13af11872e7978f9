import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Longest trial, ms. */
const timeoutMs = 5000;

/** Whether this user may make such a namespace: some machines forbid that, as containers with Docker's own seccomp profile do. */
export const mayUnshare = async (kind: "net" | "mount"): Promise<boolean> => {
  const args = ["--user", "--map-current-user", "--keep-caps", `--${kind}`, "true"];
  return run("unshare", args, { timeout: timeoutMs }).then(
    () => true,
    () => false,
  );
};
