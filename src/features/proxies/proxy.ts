/**
 * The kind Proxy: a proxy that browsers reach the web through (the PROXY rules). A Secret contains its password and
 * certificates.
 */
import { z } from "zod";
import { Conditions, observedGeneration } from "../../platform/kinds/conditions.ts";
import { secretNameFor } from "../../platform/kinds/identity.ts";
import { apiGroup, type CelRule, type CustomResource, type Kind, validations } from "../../platform/kinds/kind.ts";
import { freeName, secretObjectName } from "../../platform/kinds/selector.ts";

/** The types of proxies. `custom` is a server of the user's; the others come from the installation's provider. */
export const proxyTypes = ["datacenter", "isp", "residential", "mobile", "custom"] as const;
export type ProxyType = (typeof proxyTypes)[number];

/** Longest password and username, characters (LIMIT of the public API). */
export const maxLoginLength = 4096;

/** Longest bundle of certificates, characters. */
export const maxBundleLength = 65_536;

/** The entries of a proxy's Secret. */
export const proxyEntries = { password: "password", caBundle: "ca.crt" } as const;

/** features/proxies/rules/proxy-problems.ts checks that it is a code of ISO 3166. */
const country = z
  .string()
  .regex(/^[A-Z]{2}$/)
  .describe("ISO 3166 code of the country, e.g. US.");

const state = z
  .string()
  .regex(/^[A-Z]{2}$/)
  .describe("Two-letter code of the state.");

const city = z
  .string()
  .max(128)
  .regex(/^[^\s]+$/)
  .describe("The provider's name of the city, without spaces, e.g. sanfrancisco.");

/** The countries of ISP proxies. */
const ispCountries = ["US", "GB", "FR", "DE", "SG", "KR"] as const;

const Datacenter = z
  .object({ country: country.default("US") })
  .describe("Settings of a datacenter proxy. Deprecated: use isp.");

const Isp = z
  .object({ country: z.enum(ispCountries).default("US").describe("The country of the proxy.") })
  .describe("Settings of an ISP proxy.");

const Residential = z
  .object({
    asn: z
      .string()
      .regex(/^([Aa][Ss])?[0-9]{1,10}$/)
      .optional()
      .describe("Autonomous system number, e.g. 7922."),
    city: city.optional().describe("Name of the city without spaces, e.g. sanfrancisco. Needs a country."),
    country: country.optional().describe("ISO 3166 code of the country. Left out: any country."),
    state: state.optional(),
    zip: z
      .string()
      .regex(/^[0-9]{5}(-[0-9]{4})?$/)
      .optional()
      .describe("US ZIP code."),
    os: z
      .enum(["windows", "macos", "android"])
      .optional()
      .describe("Deprecated: no provider selects by it. It is kept, and selects nothing."),
  })
  .describe("Settings of a residential proxy.");

const Mobile = z
  .object({
    city: city.optional(),
    country: country.optional().describe("ISO 3166 code of the country. Left out: any country."),
    state: state.optional().describe("Two-letter code of a state of the US."),
  })
  .describe("Settings of a mobile proxy. The place that sites see may differ.");

const Custom = z
  .object({
    host: z.string().min(1).max(253).describe("Host name or IP address of the proxy."),
    port: z.int().min(1).max(65535).describe("Port of the proxy."),
    username: z.string().min(1).max(maxLoginLength).optional().describe("Username for the proxy."),
    secretRef: z
      .object({ name: secretObjectName.describe("Its name.") })
      .optional()
      .describe("The Secret of the same namespace with the password and the certificates."),
    hasPassword: z.boolean().default(false).describe("Whether the Secret has the password, as password."),
    hasCaBundle: z
      .boolean()
      .default(false)
      .describe("Whether the Secret has certificates in PEM form that browsers trust, as ca.crt."),
  })
  .meta(
    validations({
      rule: "has(self.secretRef) || !(self.hasPassword || self.hasCaBundle)",
      message: "hasPassword and hasCaBundle need a secretRef",
      fieldPath: ".secretRef",
    }),
  )
  .describe("A proxy server of the user's.");

/** The settings of proxies that come from the installation's provider. */
export const managedProxyFields = {
  protocol: z
    .enum(["http", "https"])
    .optional()
    .describe("How browsers connect to the proxy. Left out: https; for other types than custom what the provider has."),
  bypassHosts: z
    .array(z.string().min(1).max(255))
    .max(256)
    .optional()
    .describe("Host patterns that browsers reach without the proxy, e.g. *.example.com."),
  datacenter: Datacenter.optional(),
  isp: Isp.optional(),
  residential: Residential.optional(),
  mobile: Mobile.optional(),
};

/** Each member is for its own type. */
export const memberRules = (types: readonly ProxyType[]): CelRule[] =>
  types.map((type) => ({
    rule: `!has(self.${type}) || self.type == '${type}'`,
    message: `${type} is for proxies of that type only`,
    fieldPath: `.${type}`,
  }));

export const ProxySpec = z
  .object({
    name: freeName(z.string().min(1).max(255))
      .optional()
      .describe("The proxy's name; other proxies may have it too. Left out: metadata.name."),
    type: z
      .enum(proxyTypes)
      .describe("The type. For avoiding bot detection mobile is better than residential, and that better than isp."),
    ...managedProxyFields,
    custom: Custom.optional(),
  })
  .meta(
    validations(...memberRules(proxyTypes), {
      rule: "self.type != 'custom' || has(self.custom)",
      message: "a custom proxy needs custom",
      fieldPath: ".custom",
    }),
  )
  .describe("The proxy: its type, and the settings of that type.");
export type ProxySpec = z.infer<typeof ProxySpec>;

const ProxyStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    availability: z
      .enum(["available", "unavailable"])
      .optional()
      .describe("What the last check of the proxy found. Left out: not checked since it was changed."),
    lastCheckTime: z.iso.datetime({ precision: 3 }).optional().describe("When it was last checked."),
    ipAddress: z.string().max(64).optional().describe("The address that sites see, as the last check found it."),
  })
  .describe("The observed state of the proxy. Written by the operator.");

export type WebProxy = CustomResource<typeof ProxySpec, typeof ProxyStatus>;

export const proxyKind: Kind<typeof ProxySpec, typeof ProxyStatus> = {
  ...apiGroup,
  kind: "Proxy",
  plural: "proxies",
  shortNames: ["px"],
  namespaced: true,
  description: "A proxy that browsers reach the web through. Its password and certificates are in a Secret.",
  spec: ProxySpec,
  status: ProxyStatus,
  printerColumns: [
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Host", type: "string", jsonPath: ".spec.custom.host" },
    { name: "Availability", type: "string", jsonPath: ".status.availability" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

const ownSecretPrefix = "proxy-";

/**
 * The name of a proxy's own Secret: the HTTP API writes it, and the operator deletes it with the proxy, even if a user
 * created it. A Secret with another name belongs to a user and is only read.
 */
export const ownProxySecretName = (proxyName: string): string => secretNameFor(ownSecretPrefix, proxyName);

/** Whether the password and the certificates are in the proxy's own Secret. */
export const hasOwnProxySecret = ({ metadata, spec }: WebProxy): boolean =>
  spec.custom?.secretRef?.name === ownProxySecretName(metadata.name);
