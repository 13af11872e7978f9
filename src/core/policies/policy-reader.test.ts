import { expect, test } from "vitest";
import { createLogger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { KubeError } from "../../platform/kube/kube-error.ts";
import type { ConfigMap, NewObject, Ref } from "../../platform/kube/objects.ts";
import { packPolicy } from "./policy-parts.ts";
import { createPolicyReader } from "./policy-reader.ts";

const namespace = "project";

/** A Kubernetes API of ConfigMaps alone, which counts what is asked of it. */
const fakeKube = () => {
  const parts = new Map<string, NewObject<ConfigMap>>();
  const asked = { times: 0, fails: false };
  const get = async (_: unknown, ref: Ref): Promise<NewObject<ConfigMap> | undefined> => {
    asked.times += 1;
    if (asked.fails) throw new KubeError("Unreachable", 0, "out");
    return parts.get(`${ref.namespace}/${ref.name}`);
  };
  return { parts, asked, get: get as unknown as Kube["get"] };
};

const setUp = async (...texts: string[]) => {
  const kube = fakeKube();
  const policies = texts.map((text) => ({ Text: text }));
  const packed = await Promise.all(
    policies.map((policy, i) => packPolicy(policy, { name: "pool", namespace }, `w${i}`)),
  );
  for (const { parts } of packed) for (const part of parts) kube.parts.set(`${namespace}/${part.metadata.name}`, part);
  const log = createLogger("silent", "test");
  const refs = packed.map(({ ref }) => ref) as [(typeof packed)[0]["ref"], ...(typeof packed)[0]["ref"][]];
  return {
    ...kube,
    policies,
    refs,
    reader: (maxKeptBytes?: number) => createPolicyReader({ kube, log, ...(maxKeptBytes && { maxKeptBytes }) }),
  };
};

test("a policy is read once, also by those who ask at the same moment", async () => {
  const { reader, refs, policies, asked } = await setUp("a");
  const { read } = reader();
  expect(await Promise.all([read(namespace, refs[0]), read(namespace, refs[0])])).toEqual([policies[0], policies[0]]);
  expect(await read(namespace, refs[0])).toEqual(policies[0]);
  expect(asked.times).toBe(1);
});

test("of too many policies the one that was asked for longest ago is forgotten", async () => {
  const { reader, refs, asked } = await setUp("a", "b", "c");
  const [a, b, c] = refs as [(typeof refs)[0], (typeof refs)[0], (typeof refs)[0]];
  const { read } = reader(2 * JSON.stringify({ Text: "a" }).length);
  for (const ref of [a, b, a, c]) await read(namespace, ref);
  expect(asked.times).toBe(3);
  await read(namespace, a);
  expect(asked.times).toBe(3);
  await read(namespace, b);
  expect(asked.times).toBe(4);
});

test("a hash alone does not open another namespace's policy", async () => {
  const { reader, refs, policies } = await setUp("a");
  const { read } = reader();
  expect(await read(namespace, refs[0])).toEqual(policies[0]);
  expect(await read("other", refs[0])).toBeUndefined();
});

test("a missing part gives no policy, and is looked for again", async () => {
  const { reader, refs, policies, parts } = await setUp("a");
  const { read } = reader();
  const stored = [...parts];
  parts.clear();
  expect(await read(namespace, refs[0])).toBeUndefined();
  for (const [name, part] of stored) parts.set(name, part);
  expect(await read(namespace, refs[0])).toEqual(policies[0]);
});

test("an outage is not taken for a missing policy", async () => {
  const { reader, refs, policies, asked } = await setUp("a");
  const { read } = reader();
  asked.fails = true;
  await expect(read(namespace, refs[0])).rejects.toThrow("out");
  asked.fails = false;
  expect(await read(namespace, refs[0])).toEqual(policies[0]);
});
