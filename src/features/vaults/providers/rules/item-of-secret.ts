/** A Secret of a store → an item, and its login (PROVIDER-5 to PROVIDER-7); pure. */
import { z } from "zod";
import type { Login } from "../../connections/rules/change-login.ts";
import type { ProviderItem } from "../provider.ts";
import { loginOfEntries, titleOf, urlsIn } from "./item.ts";

/** The annotation with the addresses that a login is for, with blanks or commas between them; without it a Secret is no item. */
const urlsAnnotation = "browserpool.dev/urls";

/** The annotation with the name of an item for people. */
const titleAnnotation = "browserpool.dev/title";

const text = z.string().catch("");

/** What is read of a Secret's metadata, whatever else there is. */
const ItemMetadata = z.object({
  name: z.string().min(1),
  uid: z.string().min(1),
  annotations: z
    .object({ [urlsAnnotation]: text, [titleAnnotation]: text })
    .partial()
    .nullish()
    .catch(undefined),
});

/** What is read of a Secret itself. */
export const ItemSecret = z.object({
  metadata: ItemMetadata,
  type: z.string().default("Opaque"),
  data: z.record(z.string(), z.string()).nullish(),
});

/** Other Secrets have another purpose, such as tokens of the cluster. */
const readableTypes = ["Opaque", "kubernetes.io/basic-auth"];

/** The item that a Secret is; undefined when it says no address. */
export const itemOf = (metadata: unknown, namespace: string): ProviderItem | undefined => {
  const { name, uid, annotations } = ItemMetadata.safeParse(metadata).data ?? {};
  const urls = urlsIn(annotations?.[urlsAnnotation] ?? "");
  if (name === undefined || uid === undefined || urls.length === 0) return undefined;
  const title = titleOf(annotations?.[titleAnnotation], name);
  return { id: uid, path: `${namespace}/${name}`, title, vault_id: namespace, vault_name: namespace, urls };
};

/** The text of an entry; undefined for bytes that are none. */
const textOf = (stored: string): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(stored, "base64"));
  } catch {
    return undefined;
  }
};

/** The login in a Secret; undefined when it has no value, or one that cannot be typed, or is of another type. */
export const loginOf = ({ type, data }: z.infer<typeof ItemSecret>): Login | undefined =>
  readableTypes.includes(type)
    ? loginOfEntries(Object.entries(data ?? {}).map(([name, stored]) => [name, textOf(stored)]))
    : undefined;
