import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Config } from "../core/config/config.ts";
import { parseCaBundle } from "../features/proxies/rules/ca-bundle.ts";
import {
  type Gateway,
  type GatewayFile,
  gatewayOf,
  ProviderFile,
  type ProxyProvider,
} from "../features/proxies/rules/proxy-provider.ts";
import { Sensitive } from "../platform/base/sensitive.ts";
import { checkValue } from "../platform/kinds/check-value.ts";
import { readYamlFile } from "../platform/kinds/yaml-file.ts";

const bundleIn = (file: string): string => {
  const bundle = parseCaBundle(readFileSync(file, "utf8"));
  if (!bundle.ok) throw new Error(`${file}: ${bundle.problem}`);
  return bundle.certificates;
};

/** A line break at the end of the file is not a part of the password. */
const passwordIn = (file: string): Sensitive => new Sensitive(readFileSync(file, "utf8").replace(/\r?\n$/, ""));

const readGateway = (folder: string, gateway: GatewayFile): Gateway =>
  gatewayOf(gateway, {
    ...(gateway.passwordFile && { password: passwordIn(resolve(folder, gateway.passwordFile)) }),
    ...(gateway.caBundleFile && { caBundle: bundleIn(resolve(folder, gateway.caBundleFile)) }),
  });

const readGateways = (file: string | undefined): ProxyProvider => {
  if (file === undefined) return {};
  const documents = readYamlFile(file);
  if (documents.length > 1) throw new Error(`${file}: give one document`);
  const gateways = checkValue(ProviderFile, documents[0] ?? {}, file);
  const read = Object.entries(gateways).flatMap(([type, gateway]) =>
    gateway ? [[type, readGateway(dirname(file), gateway)]] : [],
  );
  return Object.fromEntries(read);
};

/**
 * What proxies there may be here. Reads the provider's file and the files that it names; no gateways without one.
 * Throws an `Error` that names the file and field.
 */
export const readProxyProvider = ({
  proxyProviderFile,
  browserFeatures,
}: Pick<Config, "proxyProviderFile" | "browserFeatures">): ProxyProvider => ({
  ...readGateways(proxyProviderFile),
  reachesLoopback: browserFeatures.includes("loopback"),
});
