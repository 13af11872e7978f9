/** The data that a user of a running local mode needs. Paths are absolute. */
export type RunningLocal = {
  url: string;
  apiKey: string;
  kubeconfigPath: string;
  kubectlFolder: string;
  logFolder: string;
  /** Whether Chromium keeps its own sandbox. */
  hasSandbox: boolean;
};

const noSandbox = `
WARNING: Chromium runs without its sandbox (--no-sandbox), because this is root. A page that breaks out of its renderer is root on
this machine. Open only pages that you trust, or start local mode as another user.
`;

/** The text that local mode prints when it is ready. `tookMs`: time since the start of the command. */
export const banner = (
  { url, apiKey, kubeconfigPath, kubectlFolder, logFolder, hasSandbox }: RunningLocal,
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
${hasSandbox ? "" : noSandbox}`;
