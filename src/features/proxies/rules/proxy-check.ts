/** What the last check of a proxy found. The API keeps it in an annotation of the proxy; the operator writes it into the status. */
import { z } from "zod";
import { stableHash } from "../../../platform/rules/stable-hash.ts";
import type { WebProxy } from "../proxy.ts";

/** Annotation with a `ProxyCheck` as JSON. */
export const proxyCheckAnnotation = "browserpool.dev/proxy-check";

const ProxyCheck = z.object({
  status: z.enum(["available", "unavailable"]),
  /** RFC 3339 with milliseconds. */
  checkedAt: z.iso.datetime({ precision: 3 }),
  /** The address that sites see. */
  ipAddress: z.string().max(64).optional(),
  /** Of what was checked: a later change of it makes the result void. */
  hash: z.string(),
});
type ProxyCheck = z.infer<typeof ProxyCheck>;

const hashOf = ({ spec: { name: _, bypassHosts: __, ...checked } }: WebProxy): string => stableHash(checked);

/** The annotation's text for a result. */
export const checkText = (proxy: WebProxy, found: Omit<ProxyCheck, "hash">): string =>
  JSON.stringify({ ...found, hash: hashOf(proxy) });

/** The last check; undefined when there was none since the proxy was changed, or the annotation is none of ours. */
export const lastCheck = (proxy: WebProxy): ProxyCheck | undefined => {
  const text = proxy.metadata.annotations?.[proxyCheckAnnotation];
  if (text === undefined) return undefined;
  try {
    const { data } = ProxyCheck.safeParse(JSON.parse(text));
    return data?.hash === hashOf(proxy) ? data : undefined;
  } catch {
    return undefined;
  }
};
