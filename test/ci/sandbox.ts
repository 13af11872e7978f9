/** A small project in which `.ci/run` does its work with the real vitest, and with stand-ins for all other stages. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * In the place of npm. `test` is the real vitest, without our own options; any other command ends with the next line of
 * the file of its name.
 */
const npm = `#!/usr/bin/env bash
echo "$*" >>calls
if [ "$1" = test ]; then
  shift 2
  case "$*" in *--slow-of*) filter=slow; set -- "\${@:1:$#-4}" ;; *.test.mjs*) filter= ;; *) filter='--exclude=*.slow.*' ;; esac
  exec "${process.execPath}" node_modules/vitest/vitest.mjs run $filter "$@"
fi
codes="codes/$2"
[ -e "$codes" ] || exit 0
code=$(head -n 1 "$codes")
sed -i 1d "$codes"
exit "\${code:-0}"
`;

type CiRun = { code: number; output: string; lastLine: string; calls: string[] };

type Sandbox = AsyncDisposable & {
  /** A file of the project. */
  write(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  /** Exit codes of `npm run NAME`, one after the other; later calls succeed. */
  codes(name: string, ...codes: number[]): Promise<void>;
  run(...stages: string[]): Promise<CiRun>;
};

export const makeSandbox = async (): Promise<Sandbox> => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-ci-"));
  const write: Sandbox["write"] = async (path, text) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { mode: 0o755 });
  };
  await cp(join(root, ".ci"), join(folder, ".ci"), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await write("package.json", '{ "type": "module" }');
  await write("vitest.config.mjs", "export default { test: { include: ['*.test.mjs'], cache: false } };");
  await write("scripts/setup.mjs", "");
  await write("bin/npm", npm);
  await write("calls", "");
  return {
    write,
    read: (path) => readFile(join(folder, path), "utf8"),
    codes: (name, ...codes) => write(`codes/${name}`, codes.map((code) => `${code}\n`).join("")),
    async run(...stages) {
      const path = [join(folder, "bin"), dirname(process.execPath), process.env.PATH].join(":");
      const env = { PATH: path, HOME: folder, NO_COLOR: "1" };
      const { code, stdout, stderr } = await new Promise<{ code: number; stdout: string; stderr: string }>(
        (resolve) => {
          execFile(join(folder, ".ci/run"), stages, { env }, (error, stdout, stderr) =>
            resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
          );
        },
      );
      const calls = (await readFile(join(folder, "calls"), "utf8")).split("\n").filter(Boolean);
      return { code, output: `${stdout}${stderr}`, lastLine: stdout.trimEnd().split("\n").at(-1) ?? "", calls };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
};
