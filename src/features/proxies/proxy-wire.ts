/** Proxies over HTTP; field names as on the wire (the SDK's `proxies`). Requests contain secrets, answers never do. */
import { z } from "zod";
import { documentedForms } from "../../platform/kinds/document-rules.ts";
import { freeName } from "../../platform/kinds/selector.ts";
import { wireSchema } from "../../platform/kinds/wire.ts";
import { maxBundleLength, maxLoginLength, type ProxyType, proxyTypes } from "./proxy.ts";

const types =
  "mobile, residential, isp and datacenter come from the provider of the installation; datacenter is deprecated";

/** Proxy names are free texts; spaces around them are taken away. */
const name = wireSchema(
  freeName(
    z
      .string()
      .max(1000)
      .regex(/^\s*\S(?:[\s\S]{0,253}\S)?\s*$/, "must have 1 to 255 characters"),
  ),
).describe("A name; others may have it too.");

/** An empty text is none; letters of codes may be small. */
const code = z.string().regex(/^([A-Za-z]{2})?$/);

/** The settings of all types; features/proxies/rules/proxy-problems.ts has their rules. */
export const ProxyConfig = z
  .object({
    country: code.optional().describe("ISO 3166 code. datacenter, isp: US when left out; others: any country."),
    city: z
      .string()
      .max(128)
      .regex(/^\S*$/)
      .optional()
      .describe("residential, mobile: the provider's name of the city, without spaces."),
    state: code.optional().describe("residential, mobile: two-letter code of the state."),
    zip: z
      .string()
      .regex(/^([0-9]{5}(-[0-9]{4})?)?$/)
      .optional()
      .describe("residential: US ZIP code."),
    asn: z
      .string()
      .regex(/^(([Aa][Ss])?[0-9]{1,10})?$/)
      .optional()
      .describe("residential: autonomous system number."),
    os: z.enum(["windows", "macos", "android"]).optional().describe("residential: deprecated, selects nothing."),
    host: z.string().max(253).optional().describe("custom, required: host name or address of the proxy."),
    port: z.int().min(1).max(65535).optional().describe("custom, required: port of the proxy."),
    username: z.string().max(maxLoginLength).optional().describe("custom: username for the proxy."),
    password: z.string().max(maxLoginLength).optional().describe("custom: password for the proxy."),
    ca_bundle: z
      .string()
      .max(maxBundleLength)
      .optional()
      .describe("custom: certificates in PEM form that browsers trust, for a proxy that ends TLS."),
  })
  .describe("The settings of the type.");

type Setting = keyof z.infer<typeof ProxyConfig>;

/** The settings of each type; features/proxies/rules/proxy-create.ts refuses others. */
export const proxySettings: Record<ProxyType, readonly Setting[]> = {
  datacenter: ["country"],
  isp: ["country"],
  residential: ["country", "city", "state", "zip", "asn", "os"],
  mobile: ["country", "city", "state"],
  custom: ["host", "port", "username", "password", "ca_bundle"],
};

/** What the document says of the settings of a type. */
const formOf = (type: ProxyType): Record<string, unknown> => {
  const foreign = Object.keys(ProxyConfig.shape).filter((field) => !proxySettings[type].some((own) => own === field));
  const config = { propertyNames: { not: { enum: foreign } } };
  const place = { required: ["host", "port"], properties: { host: { minLength: 1 } } };
  return type === "custom"
    ? { properties: { type: { const: type }, config: { ...config, ...place } }, required: ["config"] }
    : { properties: { type: { const: type }, config } };
};

const hosts = z
  .array(z.string().min(1).max(255))
  .max(256)
  .describe("Host patterns that browsers reach without the proxy, e.g. *.example.com.");

/** The request of `POST /proxies`. */
export const CreateProxy = documentedForms(
  z.object({
    type: z.enum(proxyTypes).describe(`The type; ${types}.`),
    name: name.optional(),
    protocol: z
      .enum(["http", "https"])
      .optional()
      .describe(
        "How browsers connect to the proxy. Left out: https; for other types than custom what the provider has.",
      ),
    bypass_hosts: hosts.optional(),
    config: ProxyConfig.optional(),
  }),
  proxyTypes.map(formOf),
);
export type CreateProxy = z.infer<typeof CreateProxy>;

/** A proxy keeps everything but its name. */
export const UpdateProxy = z.object({ name });

export const CheckProxy = z.object({
  url: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .max(2048)
    .optional()
    .describe("What to reach through the proxy: its host must be public. The result is answered, and not kept."),
});
export type CheckProxy = z.infer<typeof CheckProxy>;

export const ProxyAnswer = z.object({
  id: z.string().describe("The proxy's id."),
  name: z.string().optional().describe("The proxy's name, if set."),
  type: z.enum(proxyTypes),
  protocol: z.enum(["http", "https"]).describe("How browsers connect to the proxy."),
  bypass_hosts: hosts.optional(),
  config: ProxyConfig.omit({ password: true, ca_bundle: true })
    .extend({
      has_password: z.boolean().optional().describe("custom: whether a password is stored."),
      has_ca_bundle: z.boolean().optional().describe("custom: whether certificates are stored."),
    })
    .describe("The settings of the type, without secrets."),
  status: z
    .enum(["available", "unavailable"])
    .optional()
    .describe("What the last check found; left out before the first."),
  last_checked: z.iso.datetime().optional().describe("When that was."),
  ip_address: z.string().optional().describe("The address that sites see, as the last check found it."),
});
export type ProxyAnswer = z.infer<typeof ProxyAnswer>;
