import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { Agent } from "undici";
import type { Access } from "./access.ts";
import type { PlainKubeconfig, Source } from "./kubeconfig.ts";

const contentOf = async (source: Source | undefined): Promise<Buffer | undefined> => {
  if (!source) return undefined;
  return "file" in source ? await readFile(source.file) : source.value;
};

/** Proves by values and by files, which are read each time: Kubernetes renews tokens and certificates there. */
export const openPlainAccess = (config: PlainKubeconfig): Access => {
  const { server, basic, serverName, isUnverified } = config;
  const authorization = async (): Promise<string | undefined> => {
    const token = await contentOf(config.token);
    if (token) return `Bearer ${token.toString().trim()}`;
    return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
  };
  let connections: { tls: object; agent: Agent } | undefined;
  /** Other certificates need other connections; what is under way on the former ones goes on. */
  const agentFor = (tls: object): Agent => {
    if (connections && isDeepStrictEqual(connections.tls, tls)) return connections.agent;
    void connections?.agent.close();
    connections = { tls, agent: new Agent({ connect: tls }) };
    return connections.agent;
  };
  return {
    async prove() {
      const [ca, cert, key, authorizationHeader] = await Promise.all([
        contentOf(config.ca),
        contentOf(config.cert),
        contentOf(config.key),
        authorization(),
      ]);
      const tls = {
        ...(ca && { ca }),
        ...(cert && { cert }),
        ...(key && { key }),
        ...(serverName && { servername: serverName }),
        ...(isUnverified && { rejectUnauthorized: false }),
      };
      return {
        server,
        headers: authorizationHeader === undefined ? {} : { authorization: authorizationHeader },
        dispatcher: agentFor(tls),
      };
    },
    close: async () => connections?.agent.destroy(),
  };
};
