/** The rules of a proxy's spec that neither its schema nor CEL can express; for requests and YAML alike. */

import { hostPatternProblem, serverHostProblem } from "../../../platform/addresses/host-pattern.ts";
import { reservedMessage, reservedName } from "../../../platform/kinds/selector.ts";
import { isCountry, isUsState } from "../../../platform/rules/countries.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import type { ProxySpec } from "../proxy.ts";
import { cityAlias } from "./proxy-provider.ts";

type Residential = NonNullable<ProxySpec["residential"]>;
type Mobile = NonNullable<ProxySpec["mobile"]>;
type Custom = NonNullable<ProxySpec["custom"]>;

/** The largest autonomous system number: they have 32 bits. */
const maxAsn = 4_294_967_295;

/** Beyond these a header of the proxy's login could not be told from the next one (RFC 7617). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f]/;

/** Why a text can't be a part of a proxy's login; undefined when it can. */
export const loginProblem = (text: string): string | undefined =>
  control.test(text) ? "must not contain control characters" : undefined;

const countryProblem = (country: string | undefined): string | undefined =>
  country === undefined || isCountry(country) ? undefined : `${country} is no country code of ISO 3166`;

const asnProblem = (asn = "1"): string | undefined => {
  const number = Number(asn.replace(/^as/i, ""));
  return number >= 1 && number <= maxAsn ? undefined : `must be a number from 1 to ${maxAsn}, with or without AS`;
};

const cityProblem = ({ city, country }: Pick<Residential, "city" | "country">): string | undefined => {
  if (city === undefined) return undefined;
  if (country === undefined) return "needs a country";
  return cityAlias(city) === "" ? "must have letters from a to z: write the provider's name of the city" : undefined;
};

const isInUs = (country: string | undefined): boolean => country === undefined || country === "US";

const zipProblem = ({ zip, country }: Residential): string | undefined =>
  zip === undefined || isInUs(country)
    ? undefined
    : "is a ZIP code of the US: only with country US or without a country";

/** Without a country a city of a mobile proxy is found by its name alone: `city` is the provider's alias. */
const mobileCityProblem = ({ city }: Mobile): string | undefined => cityProblem({ city, country: "US" });

const mobileStateProblem = ({ state, country }: Mobile): string | undefined => {
  if (state === undefined) return undefined;
  if (!isInUs(country)) return "only with country US or without a country";
  return isUsState(state) ? undefined : `${state} is no state of the US`;
};

const usernameProblem = ({ username = "" }: Custom): string | undefined =>
  username.includes(":") ? "must not contain a colon, which ends it (RFC 7617)" : loginProblem(username);

/** The problems of fields of one member of the union, by field. */
const at = (member: string, fields: Record<string, string | undefined>): SpecProblem[] =>
  Object.entries(fields).flatMap(([field, message]) =>
    message === undefined ? [] : [problemAt([member, field], message)],
  );

/** All problems of a spec that fits its schema; empty when there are none. */
export const proxyProblems = ({
  name,
  bypassHosts = [],
  datacenter,
  residential,
  mobile,
  custom,
}: ProxySpec): SpecProblem[] => [
  ...(name !== undefined && name.trim() !== name ? [problemAt(["name"], "must not begin or end with spaces")] : []),
  // The wire's schema sees the name with the spaces around it.
  ...(name !== undefined && reservedName.test(name) ? [problemAt(["name"], reservedMessage)] : []),
  ...bypassHosts.flatMap((host, index) => {
    const message = hostPatternProblem(host);
    return message === undefined ? [] : [problemAt(["bypassHosts", index], message)];
  }),
  ...(datacenter ? at("datacenter", { country: countryProblem(datacenter.country) }) : []),
  ...(residential
    ? at("residential", {
        country: countryProblem(residential.country),
        city: cityProblem(residential),
        zip: zipProblem(residential),
        asn: asnProblem(residential.asn),
      })
    : []),
  ...(mobile
    ? at("mobile", {
        country: countryProblem(mobile.country),
        city: mobileCityProblem(mobile),
        state: mobileStateProblem(mobile),
      })
    : []),
  ...(custom ? at("custom", { host: serverHostProblem(custom.host), username: usernameProblem(custom) }) : []),
];
