/** The data that a user of a running local mode needs. Paths are absolute. */
export type RunningLocal = {
  url: string;
  apiKey: string;
  kubeconfigPath: string;
  kubectlFolder: string;
  logFolder: string;
  /** Whether Chromium keeps its own sandbox. */
  hasSandbox: boolean;
  /** Whether each browser has namespaces, in which it sees its own files, processes and ports only. */
  isApart: boolean;
};

const noSandbox = `
WARNING: Chromium runs without its sandbox (--no-sandbox), because this is root. A page that breaks out of its renderer is root on
this machine. Open only pages that you trust, or start local mode as another user.
`;

const notApart = `
WARNING: this machine gives browsers no namespaces (bubblewrap is missing, or unprivileged user namespaces are forbidden). Users of a
browser can read and write this user's files, the API key among them, and reach every port of this machine, other sessions' DevTools
among them. network, proxies and chrome_policy are refused. Give browsers only to people whom you trust with this account.
`;

/** The text that local mode prints when it is ready. `tookMs`: time since the start of the command. */
export const banner = (
  { url, apiKey, kubeconfigPath, kubectlFolder, logFolder, hasSandbox, isApart }: RunningLocal,
  tookMs: number,
): string =>
  `browserpool: ready after ${(tookMs / 1000).toFixed(1)} s

  API       ${url}
  API key   ${apiKey}
  Docs      ${url}/docs
  Logs      ${logFolder}
  kubectl   export KUBECONFIG=${kubeconfigPath} PATH=${kubectlFolder}:$PATH

Next, in another terminal: set the kubectl line above, then
  kubectl apply -f manifests/samples/pool.yaml
Ctrl-C stops everything; pools come back with the next start.
${hasSandbox ? "" : noSandbox}${isApart ? "" : notApart}`;
