import { quoted } from "./quoted.ts";

/** The data that a user of a running local mode needs. Paths are absolute. */
export type RunningLocal = {
  url: string;
  apiKey: string;
  /** The file from which curl reads the header with the key: an argument could be read by other users. */
  headerFile: string;
  logFolder: string;
  /** The pool that was made just now, since there was none. */
  demoPool?: string | undefined;
  /** Why Chromium has no sandbox; undefined: it has one. */
  noSandbox: "root" | "namespaces" | undefined;
  /** Whether each browser has namespaces, in which it sees its own files, processes and ports only. */
  isApart: boolean;
  /** In a container of the image `local`, its id. */
  container?: string | undefined;
};

const sandboxWarnings = {
  root: `
WARNING: Chromium runs without its sandbox (--no-sandbox), because this is root, and root may not start processes of other users
here. A page that breaks out of its renderer is root on this machine. Open only pages that you trust, or start local mode as
another user.
`,
  namespaces: `
WARNING: Chromium runs without its sandbox (--no-sandbox), because user namespaces are forbidden here. A page that breaks out of
its renderer has the rights of this user. Open only pages that you trust; browserpool doctor says how to allow namespaces.
`,
};

const notApart = `
WARNING: this machine gives browsers no namespaces (browserpool doctor says why). Users of a browser can read and write this user's
files, the API key among them, and reach every port of this machine, other sessions' DevTools among them. network, proxies and
chrome_policy are refused. Give browsers only to people whom you trust with this account.
`;

/** A program that acquires a browser by the public SDK, as an argument of Node. */
const sdkLine = (pool: string): string =>
  `import Kernel from "@onkernel/sdk"; console.log(await new Kernel().browserPools.acquire("${pool}", {}))`;

/** What somebody does next, in a clone and outside a container. */
const nextSteps = ({ url, headerFile, container }: RunningLocal, pool: string | undefined): string => {
  const acquire = (base: string, header: string): string =>
    `curl -X POST -H @${quoted(header)} ${base}/browser_pools/${encodeURIComponent(pool ?? "demo")}/acquire`;
  if (container !== undefined)
    return `In another terminal, outside the container (localhost:8080 is where \`docker run --publish 8080:8080\` puts it):
  docker exec ${container} browserpool acquire
  docker exec ${container} cat ${quoted(headerFile)} > authorization     # for curl; keep it to yourself
  ${acquire("http://localhost:8080", "authorization")}`;
  const withPool = `  ${acquire(url, headerFile)}
  node --input-type=module -e '${sdkLine(pool ?? "")}'
  browserpool sessions`;
  return `In another terminal, in this folder:
  eval "$(npm run -s env)"      # variables for the SDK, browserpool and kubectl on PATH
${pool === undefined ? "  kubectl apply -f manifests/samples/pool.yaml" : withPool}`;
};

/**
 * The text that local mode prints when it is ready. `tookMs`: time since the start of the command. `pool`: a pool to
 * acquire from, by name or id; undefined when there is none. `page`: the URL that opens the console once.
 */
export const banner = (
  running: RunningLocal,
  { pool, page }: { pool: string | undefined; page: string },
  tookMs: number,
): string => {
  const { url, apiKey, logFolder, noSandbox, isApart } = running;
  return `browserpool: ready after ${(tookMs / 1000).toFixed(1)} s

  Console   ${page}
  API       ${url}
  API key   ${apiKey}
  Docs      ${url}/docs
  Logs      ${logFolder}

${nextSteps(running, pool)}

The console's URL signs in once; browserpool open prints another. Ctrl-C stops everything; pools come back with the next start.
${noSandbox ? sandboxWarnings[noSandbox] : ""}${isApart ? "" : notApart}`;
};
