/** Objects as the YAML that makes them. */
import type { Pool } from "./pool-state.ts";

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Fields whose keys are not ours: they stay as they are. */
const foreign = new Set(["chrome_policy", "tags"]);

const camelKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(camelKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [camel(name), foreign.has(name) ? inner : camelKeys(inner)]),
  );
};

/** A word that Kubernetes takes as a name. */
const nameFor = (text: string, fallback: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "") || fallback;

/** A manifest of our own group. `name`: of the object, for people; `spec`: with names as on the wire. */
export const manifestOf = (
  kind: string,
  { name, id }: { name?: string | null | undefined; id: string },
  spec: object,
) => ({
  apiVersion: "browserpool.dev/v1alpha1",
  kind,
  metadata: { name: name ? nameFor(name, id) : id },
  spec: camelKeys(spec),
});

/** The manifest of a pool with the same settings. */
export const poolManifest = (pool: Pool): object => {
  const { autoscale, size, ...config } = pool.browser_pool_config;
  return manifestOf("BrowserPool", pool, { ...config, ...(autoscale ? { autoscale } : { size }) });
};
