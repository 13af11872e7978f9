/**
 * The installation's provider of proxies: for each managed type a gateway, which is told by the username what is
 * wanted. The administrator writes it as a YAML file (docs/proxies.md).
 */
import { z } from "zod";
import { namesLoopback, serverHostProblem } from "../../../platform/addresses/host-pattern.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { isCountry } from "../../../platform/rules/countries.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import { type ProxySpec, type ProxyType, proxyTypes } from "../proxy.ts";
import { neededValues, parseTemplate, renderTemplate, type UsernameTemplate, valuesOf } from "./username-template.ts";

/**
 * A city as providers name it in usernames: lower case, without accents, and nothing but letters, digits and `_`. So a
 * city can't add parameters of its own to the username that it becomes a part of. Empty for a name without any such
 * letter.
 */
export const cityAlias = (city: string): string =>
  city
    .normalize("NFD")
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, "");

/** The types whose proxies come from the provider. */
type ManagedType = Exclude<ProxyType, "custom">;

/** The values of username templates. Capitals: the value in capitals. */
const templateValues = ["country", "COUNTRY", "city", "state", "STATE", "asn", "zip", "session"] as const;
type TemplateValue = (typeof templateValues)[number];

const usernameTemplate = z
  .string()
  .min(1)
  .max(2048)
  .superRefine((text, context) => {
    try {
      parseTemplate(text, templateValues);
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message });
    }
  });

/** One gateway in the provider's file. Files: absolute, or beside the provider's file. */
const GatewayFile = z.strictObject({
  host: z
    .string()
    .max(253)
    .refine((host) => serverHostProblem(host) === undefined, "is no host name or address"),
  port: z.int().min(1).max(65535),
  protocol: z.enum(["http", "https"]).default("https"),
  /** The one country of all its proxies, where the username does not tell it. */
  country: z.string().refine(isCountry, "is no country code of ISO 3166, in capitals").optional(),
  username: usernameTemplate.optional(),
  passwordFile: z.string().min(1).optional(),
  caBundleFile: z.string().min(1).optional(),
});
export type GatewayFile = z.infer<typeof GatewayFile>;

/** The provider's file. */
export const ProviderFile = z.strictObject({
  datacenter: GatewayFile.optional(),
  isp: GatewayFile.optional(),
  residential: GatewayFile.optional(),
  mobile: GatewayFile.optional(),
});

/** A gateway with the contents of its files. */
export type Gateway = Pick<GatewayFile, "host" | "port" | "protocol" | "country"> & {
  username: UsernameTemplate;
  password?: Sensitive;
  caBundle?: string;
};

/** The gateways of the installation; none for a type that it does not have. */
export type ProxyProvider = Readonly<
  Partial<Record<ManagedType, Gateway>> & {
    /** Whether browsers here reach custom proxies on loopback: in local mode. */
    reachesLoopback?: boolean;
  }
>;

/** The gateway of an entry of the provider's file. */
export const gatewayOf = (
  { username = "", passwordFile: _, caBundleFile: __, ...gateway }: GatewayFile,
  { password, caBundle }: Pick<Gateway, "password" | "caBundle">,
): Gateway => ({
  ...gateway,
  username: parseTemplate(username, templateValues),
  ...(password && { password }),
  ...(caBundle && { caBundle }),
});

/** Where a proxy is to be, as its spec asks for; `os` selects nothing. */
type Wanted = Partial<Record<"country" | "city" | "state" | "asn" | "zip", string | undefined>>;

const wantedOf = (spec: ProxySpec): Wanted => {
  switch (spec.type) {
    case "datacenter":
      return { country: spec.datacenter?.country ?? "US" };
    case "isp":
      return { country: spec.isp?.country ?? "US" };
    case "residential": {
      const { country, city, state, asn, zip } = spec.residential ?? {};
      // ZIP codes are of the US only.
      return { country: country ?? (zip && "US"), city, state, asn, zip };
    }
    case "mobile": {
      const { country, city, state } = spec.mobile ?? {};
      // So are the states of mobile proxies.
      return { country: country ?? (state && "US"), city, state };
    }
    case "custom":
      return {};
  }
};

const valuesFor = (
  { country, city, state, asn, zip }: Wanted,
  session: string,
): Record<TemplateValue, string | undefined> => ({
  country: country?.toLowerCase(),
  COUNTRY: country?.toUpperCase(),
  city: city && cityAlias(city),
  state: state?.toLowerCase(),
  STATE: state?.toUpperCase(),
  asn: asn?.replace(/^as/i, ""),
  zip: zip?.slice(0, 5),
  session,
});

/** The gateway of a proxy's type; undefined for custom proxies, and where the installation has none. */
export const gatewayFor = ({ type }: ProxySpec, provider: ProxyProvider): Gateway | undefined =>
  type === "custom" ? undefined : provider[type];

const fieldsOf: Record<string, TemplateValue[]> = {
  country: ["country", "COUNTRY"],
  city: ["city"],
  state: ["state", "STATE"],
  asn: ["asn"],
  zip: ["zip"],
};

const fieldProblems = (spec: ProxySpec, { username, country }: Gateway): SpecProblem[] => {
  const used = valuesOf(username);
  const needed = neededValues(username);
  const given = wantedOf(spec);
  return Object.entries(fieldsOf).flatMap(([field, names]) => {
    const path = [spec.type, field];
    const wanted = given[field as keyof Wanted];
    const isGiven = wanted !== undefined;
    const isFixed = field === "country" && wanted === country;
    if (isGiven && !isFixed && !names.some((name) => used.has(name)))
      return [
        problemAt(path, `the provider of this installation can't select ${spec.type} proxies by it: leave it out`),
      ];
    if (!isGiven && names.some((name) => needed.has(name)))
      return [problemAt(path, `the provider of this installation needs it for ${spec.type} proxies`)];
    return [];
  });
};

const notOnLoopback =
  "is on loopback, where browsers of this installation reach no proxy; only local mode does. Name an address that pods reach";

/** What of a spec this installation can't carry out. */
export const unsupportedSettings = (spec: ProxySpec, provider: ProxyProvider): SpecProblem[] => {
  if (spec.type === "custom") {
    const { host = "" } = spec.custom ?? {};
    return provider.reachesLoopback || !namesLoopback(host) ? [] : [problemAt(["custom", "host"], notOnLoopback)];
  }
  const gateway = gatewayFor(spec, provider);
  if (!gateway) {
    const types = [...proxyTypes.filter((type) => type !== "custom" && provider[type]), "custom"].join(", ");
    const message = `this installation has no provider of ${spec.type} proxies; it has proxies of the type ${types}`;
    return [problemAt(["type"], message)];
  }
  const protocol =
    spec.protocol !== undefined && spec.protocol !== gateway.protocol
      ? [problemAt(["protocol"], `browsers reach ${spec.type} proxies by ${gateway.protocol} here: leave it out`)]
      : [];
  return [...protocol, ...fieldProblems(spec, gateway)];
};

/** Providers take a session's name as a part of the username, so it has nothing but letters and digits. */
const sessionName = (session: string): string => session.replace(/[^A-Za-z0-9]/g, "").slice(0, 32);

/**
 * The username for a managed proxy; undefined when the spec lacks what the template needs. An empty template gives "".
 */
export const usernameFor = (spec: ProxySpec, { username }: Gateway, session: string): string | undefined =>
  renderTemplate(username, valuesFor(wantedOf(spec), sessionName(session)));
