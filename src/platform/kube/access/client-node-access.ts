import type { Dispatcher } from "undici";
import type { Access, Proof } from "./access.ts";

/**
 * For what a kubeconfig may say beyond values and files: programs, identity providers, proxies, several files at once. client-node is loaded
 * here alone: with its generated models it is half of all the code that a replica would load.
 */
export const openClientNodeAccess = (kubeconfigPath: string | undefined): Access => {
  let dispatcher: Dispatcher | undefined;
  const load = async () => {
    const { KubeConfig, RequestContext } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    if (kubeconfigPath) config.loadFromFile(kubeconfigPath);
    else config.loadFromDefault();
    const server = config.getCurrentCluster()?.server;
    if (!server) throw new Error("no current cluster in the kubeconfig");
    return async (): Promise<Proof> => {
      const context = new RequestContext(server, "GET");
      await config.applySecurityAuthentication(context);
      const fresh = context.getDispatcher();
      if (dispatcher) await fresh?.close();
      else dispatcher = fresh;
      return { server, headers: context.getHeaders(), dispatcher };
    };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return {
    async prove() {
      loaded ??= load();
      return (await loaded)();
    },
    close: async () => dispatcher?.destroy(),
  };
};
