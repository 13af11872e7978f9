/** The request of `POST /proxies` → the spec of a new proxy, and what goes into its Secret. */

import { Sensitive } from "../../../platform/base/sensitive.ts";
import { joinPath } from "../../../platform/kinds/wire.ts";
import type { Problem, SpecProblem } from "../../../platform/rules/problem.ts";
import { ProxySpec, type ProxyType } from "../proxy.ts";
import { type CreateProxy, proxySettings } from "../proxy-wire.ts";
import { parseCaBundle } from "./ca-bundle.ts";
import type { ProxySecret } from "./parent-proxy.ts";
import { loginProblem, proxyProblems } from "./proxy-problems.ts";

type Config = NonNullable<CreateProxy["config"]>;
type Field = keyof Config;

type CreatedProxy = { ok: true; spec: ProxySpec; secret: ProxySecret } | { ok: false; problems: Problem[] };

const at = (field: string, message: string): Problem => ({ path: `config.${field}`, message });

/** A place of a spec as requests write it. */
const wirePlace = ({ path, message }: SpecProblem): Problem => {
  const [first = "", ...rest] = path;
  const places: Record<string, string> = {
    name: "name",
    type: "type",
    protocol: "protocol",
    bypassHosts: "bypass_hosts",
  };
  const name = places[first];
  return { path: joinPath([name ?? "config", ...rest]), message };
};

/** The problems of a spec as requests write its fields. */
export const wireProxyProblems = (problems: SpecProblem[]): Problem[] => problems.map(wirePlace);

const foreignFields = (type: ProxyType, config: Config): Problem[] =>
  (Object.keys(config) as Field[])
    .filter((field) => config[field] !== undefined && !proxySettings[type].includes(field))
    .map((field) => at(field, `is no setting of ${type} proxies; these have ${proxySettings[type].join(", ")}`));

/** Without empty texts, which mean that nothing is given; codes in capitals. */
const settingsOf = ({ password: _, ca_bundle: __, ...config }: Config): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== undefined && value !== "")
      .map(([field, value]) => [field, field === "country" || field === "state" ? String(value).toUpperCase() : value]),
  );

const secretOf = ({ password, ca_bundle }: Config): { secret: ProxySecret; problems: Problem[] } => {
  const bundle = ca_bundle ? parseCaBundle(ca_bundle) : undefined;
  const passwordProblem = password ? loginProblem(password) : undefined;
  return {
    secret: {
      ...(password && { password: new Sensitive(password) }),
      ...(bundle?.ok && { caBundle: bundle.certificates }),
    },
    problems: [
      ...(passwordProblem ? [at("password", passwordProblem)] : []),
      ...(bundle?.ok === false ? [at("ca_bundle", bundle.problem)] : []),
    ],
  };
};

const memberFor = (type: ProxyType, config: Config, secret: ProxySecret, secretName: string): object => {
  const settings = settingsOf(config);
  if (type !== "custom") return settings;
  const hasPassword = secret.password !== undefined;
  const hasCaBundle = secret.caBundle !== undefined;
  return {
    ...settings,
    ...((hasPassword || hasCaBundle) && { secretRef: { name: secretName } }),
    hasPassword,
    hasCaBundle,
  };
};

const missing = (type: ProxyType, { host, port }: Config): Problem[] =>
  type === "custom"
    ? [
        ...(host ? [] : [at("host", "is required for a custom proxy")]),
        ...(port === undefined ? [at("port", "is required for a custom proxy")] : []),
      ]
    : [];

/** `request`: parsed by `CreateProxy`. `secretName`: the name of the proxy's own Secret. Problems quote no secret. */
export const createProxy = (request: CreateProxy, secretName: string): CreatedProxy => {
  const { type, name, protocol, bypass_hosts, config = {} } = request;
  const { secret, problems: secretProblems } = secretOf(config);
  const asked = [...foreignFields(type, config), ...missing(type, config)];
  if (asked.length > 0) return { ok: false, problems: asked };
  const { data, error } = ProxySpec.safeParse({
    type,
    ...(name !== undefined && { name: name.trim() }),
    ...(protocol && { protocol }),
    ...(bypass_hosts && bypass_hosts.length > 0 && { bypassHosts: bypass_hosts }),
    [type]: memberFor(type, config, secret, secretName),
  });
  const problems = error
    ? error.issues.map(({ path, message }) => ({ path: path.filter((key) => typeof key !== "symbol"), message }))
    : proxyProblems(data);
  const all = [...wireProxyProblems(problems), ...secretProblems];
  return data && all.length === 0 ? { ok: true, spec: data, secret } : { ok: false, problems: all };
};
