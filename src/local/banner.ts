/** What a person needs to use a local mode that runs. Paths are absolute. */
export type RunningLocal = {
  url: string;
  apiKey: string;
  kubeconfigPath: string;
  kubectlFolder: string;
  logFolder: string;
};

/** What a person is told when local mode is ready. `tookMs`: since the command was given. */
export const banner = (
  { url, apiKey, kubeconfigPath, kubectlFolder, logFolder }: RunningLocal,
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
`;
