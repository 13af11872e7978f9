import { createHash } from "node:crypto";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { archiveKey, extensionKind } from "../../../src/features/extensions/extension.ts";
import { profileKind } from "../../../src/features/profiles/profile.ts";
import { proxyKind } from "../../../src/features/proxies/proxy.ts";
import type { KubeObject, NewObject } from "../../../src/platform/kube/objects.ts";
import { type ResourceType, secrets } from "../../../src/platform/kube/resource-type.ts";
import { fastest } from "../../support/filled-pool.ts";
import { markingExtension } from "../../support/marking-extension.ts";
import { blobsOf, saveVersion } from "../../support/saved-profile.ts";
import { ownAddress } from "../../support/wall/machine.ts";
import { extensionNames, type MakePool, proxyLogin, type World } from "./world.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Server-side apply, as `kubectl apply --server-side` does it. */
const apply = <T extends KubeObject>({ stack }: World, type: ResourceType<T>, name: string, rest: object) =>
  stack.kube.apply(type, { metadata: { name, namespace: stack.namespace }, ...rest } as NewObject<T>, {
    fieldManager: "kubectl",
  });

/** YAML has no archive; it comes into the store as from a backup, and then the object says so. */
const applyExtension = async (world: World, name: string, extension: string): Promise<void> => {
  const archive = markingExtension(extension);
  await apply(world, extensionKind, name, { spec: {} });
  const object = await world.stack.kube.get(extensionKind, { name, namespace: world.stack.namespace });
  if (!object) throw new Error(`no extension ${name}`);
  const signal = AbortSignal.timeout(10_000);
  await (await blobsOf(world.stack)).put(archiveKey(object), once(archive), { signal });
  const sha256 = createHash("sha256").update(archive).digest("hex");
  await apply(world, extensionKind, name, {
    spec: { archive: { sha256, sizeBytes: archive.length, name: extension, version: "1.0" } },
  });
};

const applyProxies = async (world: World, name: string): Promise<void> => {
  const { parent, route, authority } = world;
  const custom = { host: ownAddress, secretRef: { name: `${name}-proxy` }, hasCaBundle: true };
  const { username, password } = proxyLogin;
  await apply(world, secrets, `${name}-proxy`, {
    type: "Opaque",
    data: { password: base64(password), "ca.crt": base64(authority) },
  });
  await apply(world, proxyKind, `${name}-proxy`, {
    spec: { type: "custom", protocol: "https", custom: { ...custom, port: parent.port, username, hasPassword: true } },
  });
  await apply(world, proxyKind, `${name}-routed`, {
    spec: { type: "custom", protocol: "http", custom: { ...custom, port: route.port } },
  });
};

/** Makes everything by YAML: custom resources and a Secret, by server-side apply. */
export const makeByYaml: MakePool = async (world, { name, headless }) => {
  for (const extension of extensionNames) await applyExtension(world, `${name}-${extension}`, extension);
  await applyProxies(world, name);
  await apply(world, profileKind, `${name}-work`, { spec: {} });
  await saveVersion(`${name}-work`, world.login, world.stack);
  await apply(world, browserPoolKind, name, {
    spec: {
      size: 1,
      fillRatePerMinute: fastest,
      headless,
      stealth: true,
      viewport: { width: 900, height: 700 },
      startUrl: "https://secure.test/start",
      chromePolicy: { URLBlocklist: ["blocked.test"] },
      extensions: extensionNames.map((extension) => ({ name: `${name}-${extension}` })),
      profile: { name: `${name}-work` },
      proxyId: `${name}-proxy`,
      network: {
        allowedHosts: ["*.test"],
        privateHosts: [],
        proxyRoutes: [{ hosts: ["routed.test"], proxy: { name: `${name}-routed` } }],
      },
    },
  });
};
