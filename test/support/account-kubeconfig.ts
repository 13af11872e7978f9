import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { json } from "node:stream/consumers";
import { parse, stringify } from "yaml";

type Kubeconfig = {
  clusters: [{ cluster: { server: string; "certificate-authority-data": string } }];
  users: [{ user: { token: string } }];
};

/**
 * Writes the kubeconfig of a ServiceAccount to `path`, with a token like those of its pods. `adminPath`: a kubeconfig
 * that may request the token.
 */
export const writeAccountKubeconfig = async (
  path: string,
  { namespace, name }: { namespace: string; name: string },
  adminPath: string,
): Promise<void> => {
  const config = parse(await readFile(adminPath, "utf8")) as Kubeconfig;
  const [{ cluster }] = config.clusters;
  const [{ user }] = config.users;
  const answer = await new Promise<{ status?: { token?: string } }>((resolve, reject) => {
    const url = `${cluster.server}/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const headers = { authorization: `Bearer ${user.token}`, "content-type": "application/json" };
    const ca = Buffer.from(cluster["certificate-authority-data"], "base64");
    const asked = request(url, { method: "POST", headers, ca }, (response) => resolve(json(response) as never));
    asked.once("error", reject);
    asked.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} }));
  });
  if (!answer.status?.token) throw new Error(`no token for ${name}: ${JSON.stringify(answer)}`);
  user.token = answer.status.token;
  await writeFile(path, stringify(config), { mode: 0o600 });
};
