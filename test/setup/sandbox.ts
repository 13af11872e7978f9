import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Programs that the set-up searches on PATH. */
export const systemPrograms = [
  "redis-server",
  "chromium",
  "chromium-headless-shell",
  "Xvfb",
  "socat",
  "ip",
  "bwrap",
  "ffmpeg",
  "chromedriver",
];

type SetupRun = { child: ChildProcess; stderr: () => string; ended: Promise<SetupResult> };
type SetupResult = { code: number | null; output: string };

/**
 * A machine of its own for one set-up: an empty home folder and cache, and a PATH that has only what the test puts
 * there. Downloads are off, of Go too; a test that needs them sets its own mirror.
 */
export const createSandbox = () => {
  const folder = mkdtempSync(join(tmpdir(), "setup-test-"));
  const bin = join(folder, "path");
  const cache = join(folder, "cache");
  const running = new Set<ChildProcess>();
  mkdirSync(bin);

  const env = {
    PATH: bin,
    HOME: join(folder, "home"),
    BROWSERPOOL_CACHE_DIR: cache,
    BROWSERPOOL_DOWNLOAD_MIRROR: "off",
    GOPROXY: "http://127.0.0.1:3",
    SANDBOX: folder,
  };

  /** Writes a shell script that runs with the real PATH. */
  const script = (path: string, body: string): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  /** Puts a shell script on PATH. */
  const program = (name: string, body = "exit 0"): string => script(join(bin, name), body);

  /** Puts a program of this machine on the sandbox's PATH. */
  const link = (name: string): void => {
    const real = ["/usr/bin", "/bin"].map((place) => join(place, name)).find((path) => existsSync(path));
    symlinkSync(real ?? name, join(bin, name));
  };

  const start = (args: string[] = [], more: Record<string, string> = {}, root = repository): SetupRun => {
    const child = spawn(process.execPath, [join(root, "scripts/setup.mjs"), ...args], { env: { ...env, ...more } });
    running.add(child);
    const output = { all: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.all += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.all += text;
      output.stderr += text;
    });
    const ended = new Promise<SetupResult>((resolve) =>
      child.once("close", (code) => {
        running.delete(child);
        resolve({ code, output: output.all });
      }),
    );
    return { child, stderr: () => output.stderr, ended };
  };

  const setUp = (args?: string[], more?: Record<string, string>, root?: string): Promise<SetupResult> =>
    start(args, more, root).ended;

  /** Lines of a file in the sandbox; none when it is missing. */
  const lines = (name: string): string[] =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean) : [];

  const remove = (): void => {
    for (const child of running) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };

  return { folder, bin, cache, env, script, program, link, start, setUp, lines, remove };
};

export type Sandbox = ReturnType<typeof createSandbox>;

/**
 * Puts a go command on PATH that notes each call in `calls` and "builds" an empty program. A file `fail-<name>` makes
 * the build of that program fail; a file `hold` blocks builds until it is removed.
 */
export const fakeGo = (sandbox: Sandbox, version = "go1.26.8", path = join(sandbox.bin, "go")): string =>
  sandbox.script(
    path,
    `if [ "$1 $2" = "env GOVERSION" ]; then echo ${version}; exit; fi
for last; do :; done
name=\${last##*/}
if [ "$name" = . ]; then name=\${PWD##*/}; fi
echo "$0 $1 $name $GOFLAGS" >>"$SANDBOX/calls"
if [ "$1" = mod ]; then cat "$SANDBOX/download.json"; exit; fi
while [ -e "$SANDBOX/hold" ]; do sleep 0.1 & echo $! >"$SANDBOX/grandchild"; wait; done
if [ -e "$SANDBOX/fail-$name" ]; then echo "$name.go:1: does not compile"; exit 1; fi
while [ "$1" != -o ]; do shift; done
echo '#!/bin/sh' >"$2"`,
  );

/** Puts a Python on PATH that makes empty environments, and installs all that it is asked for. */
export const fakePython = (sandbox: Sandbox): void => {
  for (const name of ["mkdir", "cp"]) sandbox.link(name);
  sandbox.program("python3", `if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi`);
};

/** Resolves when `condition` holds; rejects after 20 s. */
export const eventually = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const giveUpAtMs = Date.now() + 20_000; !(await condition()); ) {
    if (Date.now() > giveUpAtMs) throw new Error(`never became true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
};
