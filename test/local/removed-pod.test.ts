import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const leftovers = join(import.meta.dirname, "../../src/local/leftovers.ts");

/** In a user namespace where this user is no root, whom permissions would not stop. */
const asNobody = (program: string): Promise<unknown> =>
  promisify(execFile)("unshare", [
    ...["--user", "--map-user=1000", "--map-group=1000"],
    ...[process.execPath, "--input-type=module", "--eval", program],
  ]);

test("a user removes the folder of a killed pod, with folders in it that nobody may write to, and follows no link", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "removed-pod-"));
  const [pod, other] = [join(dataDir, "pods/one"), join(dataDir, "other")];
  const received = join(pod, "browser/policies/managed");
  await mkdir(received, { recursive: true });
  await mkdir(other);
  await writeFile(join(received, "policy.json"), "{}");
  await symlink(other, join(pod, "link"));
  for (const folder of [received, join(received, ".."), other]) await chmod(folder, 0o500);
  await asNobody(`import { removePodFolders } from ${JSON.stringify(leftovers)};
    await removePodFolders(${JSON.stringify(dataDir)}, "one");`);
  expect(await readdir(join(dataDir, "pods"))).toEqual([]);
  await expect(
    asNobody(`import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(join(other, "x"))}, "")`),
  ).rejects.toThrow("EACCES");
  await chmod(other, 0o700);
  await rm(dataDir, { recursive: true });
});
