import { toFile } from "@onkernel/sdk";
import { fastest } from "../../support/filled-pool.ts";
import { markingExtension } from "../../support/marking-extension.ts";
import { saveVersion } from "../../support/saved-profile.ts";
import { ownAddress } from "../../support/wall/machine.ts";
import { extensionNames, type MakePool, proxyLogin } from "./world.ts";

/** Makes everything by the public SDK. */
export const makeBySdk: MakePool = async ({ stack, parent, route, authority, login }, { name, headless }) => {
  const { kernel } = stack;
  for (const extension of extensionNames)
    await kernel.extensions.upload({
      name: `${name}-${extension}`,
      file: await toFile(markingExtension(extension), `${extension}.zip`),
    });
  const customProxy = (protocol: "http" | "https", config: object) =>
    kernel.proxies.create({
      type: "custom",
      protocol,
      config: { host: ownAddress, ca_bundle: authority, ...config } as never,
    });
  const proxy = await customProxy("https", { port: parent.port, ...proxyLogin });
  const routed = await customProxy("http", { port: route.port });
  const profile = await kernel.profiles.create({ name: `${name}-work` });
  await saveVersion(profile.id, login, stack);
  await kernel.browserPools.create({
    name,
    size: 1,
    fill_rate_per_minute: fastest,
    headless,
    stealth: true,
    viewport: { width: 900, height: 700 },
    start_url: "https://secure.test/start",
    chrome_policy: { URLBlocklist: ["blocked.test"] },
    extensions: extensionNames.map((extension) => ({ name: `${name}-${extension}` })),
    profile: { name: `${name}-work` },
    proxy_id: proxy.id ?? "",
    // The SDK does not know this field yet.
    ...{
      network: {
        allowed_hosts: ["*.test"],
        private_hosts: [],
        proxy_routes: [{ hosts: ["routed.test"], proxy: { id: routed.id } }],
      },
    },
  });
};
