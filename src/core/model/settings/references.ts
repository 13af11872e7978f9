/** Which objects the settings of a pool or browser refer to, and which of them there are. */
import { byAge, wireId, wireName } from "../../../platform/kinds/identity.ts";
import { apiGroup } from "../../../platform/kinds/kind.ts";
import type { Selector } from "../../../platform/kinds/selector.ts";
import type { Path } from "../../../platform/kinds/wire.ts";
import type { ResourceType } from "../../../platform/kube/resource-type.ts";
import { problemAt, type SpecProblem } from "../../../platform/rules/problem.ts";
import type { BrowserSpec } from "../browsers/browser.ts";
import type { BrowserPoolSpec } from "../pools/browser-pool.ts";

// The kinds that settings of pools and browsers refer to by id or name. A feature has each of them; what a reference
// needs is here.

/** An object that can be referred to. */
export type Referable = Parameters<typeof wireName>[0];

const referable = (kind: string, plural: string): ResourceType<Referable> => ({
  ...apiGroup,
  kind,
  plural,
  namespaced: true,
});

/** The kinds by their names. */
export const referencedKinds = {
  Extension: referable("Extension", "extensions"),
  Profile: referable("Profile", "profiles"),
  Proxy: referable("Proxy", "proxies"),
  TelemetryDestination: referable("TelemetryDestination", "telemetrydestinations"),
  Vault: referable("Vault", "vaults"),
} as const;

/** The name of such a kind. */
export type ReferencedKind = keyof typeof referencedKinds;

/** The settings that refer to objects. */
export type Referring = Partial<
  Pick<BrowserPoolSpec, "profile" | "proxyId" | "extensions" | "network" | "telemetry"> & Pick<BrowserSpec, "vaults">
>;

/** A setting that refers to an object. `path`: from the spec down. */
export type Reference = { kind: ReferencedKind; path: Path; selector: Selector };

/** Objects of one project by kind, in any order. Those that are being deleted count as gone. */
export type ReferencedObjects = Partial<Record<ReferencedKind, readonly Referable[]>>;

/** The ids that settings name; undefined, and left out of `extensionIds`, where there is no such object. */
export type ResolvedReferences = {
  profileId?: string | undefined;
  proxyId?: string | undefined;
  /** In load order. */
  extensionIds: string[];
  /** One for each of `network.proxyRoutes`. */
  routeProxyIds: (string | undefined)[];
};

/** `missing`: there is no such object. `ambiguous`: several have the name. */
type ReferenceProblem = SpecProblem & { is: "missing" | "ambiguous" };

const nouns: Record<ReferencedKind, string> = {
  Profile: "profile",
  Extension: "extension",
  Proxy: "proxy",
  Vault: "vault",
  TelemetryDestination: "telemetry destination",
};

/** The kinds whose names are not unique. Of two objects of another kind with one name, the older has it. */
const sharedNames: ReadonlySet<ReferencedKind> = new Set(["Proxy"]);

/** All references in the settings of a pool or a browser, in the order of the fields. */
export const referencesOf = ({
  profile,
  proxyId,
  extensions = [],
  network,
  telemetry,
  vaults = [],
}: Referring): Reference[] => {
  const destination = telemetry?.export?.otlp?.destination;
  const refer = (kind: ReferencedKind, path: Path, selector: Selector): Reference => ({ kind, path, selector });
  return [
    ...(profile ? [refer("Profile", ["profile"], profile)] : []),
    ...(proxyId ? [refer("Proxy", ["proxyId"], { id: proxyId })] : []),
    ...extensions.map((selector, index) => refer("Extension", ["extensions", index], selector)),
    ...(network?.proxyRoutes ?? []).map(({ proxy }, index) =>
      refer("Proxy", ["network", "proxyRoutes", index, "proxy"], proxy),
    ),
    ...(destination
      ? [refer("TelemetryDestination", ["telemetry", "export", "otlp", "destination"], destination)]
      : []),
    ...vaults.map((selector, index) => refer("Vault", ["vaults", index, "id"], selector)),
  ];
};

const isNamed = ({ id, name }: Selector, object: Referable): boolean =>
  id === undefined ? wireName(object) === name : wireId(object) === id;

const candidates = ({ kind, selector }: Reference, objects: ReferencedObjects): Referable[] =>
  (objects[kind] ?? []).filter((object) => !object.metadata.deletionTimestamp && isNamed(selector, object)).sort(byAge);

const resolve = (reference: Reference, objects: ReferencedObjects): string | undefined => {
  const [first, second] = candidates(reference, objects);
  if (!first || (second && sharedNames.has(reference.kind))) return undefined;
  return wireId(first);
};

const problemOf = (reference: Reference, objects: ReferencedObjects): ReferenceProblem[] => {
  const found = candidates(reference, objects);
  const { kind, path, selector } = reference;
  const text = selector.id === undefined ? `name ${selector.name}` : `id ${selector.id}`;
  if (found.length === 0)
    return [{ is: "missing", ...problemAt(path, `no ${nouns[kind]} with ${text} in this project`) }];
  if (found.length === 1 || !sharedNames.has(kind)) return [];
  const ids = found.slice(0, 3).map(wireId).join(", ");
  const message = `several have the ${text} (${ids}${found.length > 3 ? ", …" : ""}): give the id`;
  return [{ is: "ambiguous", ...problemAt(path, message) }];
};

/** One problem for each reference that does not name exactly one object. */
export const referenceProblems = (references: Reference[], objects: ReferencedObjects): ReferenceProblem[] =>
  references.flatMap((reference) => problemOf(reference, objects));

/** The ids of the objects that settings name. */
export const resolveReferences = (settings: Referring, objects: ReferencedObjects): ResolvedReferences => {
  const idOf = (kind: ReferencedKind, selector: Selector | undefined): string | undefined =>
    selector && resolve({ kind, path: [], selector }, objects);
  return {
    profileId: idOf("Profile", settings.profile),
    proxyId: idOf("Proxy", settings.proxyId ? { id: settings.proxyId } : undefined),
    extensionIds: (settings.extensions ?? []).flatMap((selector) => idOf("Extension", selector) ?? []),
    routeProxyIds: (settings.network?.proxyRoutes ?? []).map(({ proxy }) => idOf("Proxy", proxy)),
  };
};

/** Whether settings refer to this object, by its id or by its name. */
export const refersTo = (settings: Referring, { kind, object }: { kind: ReferencedKind; object: Referable }): boolean =>
  referencesOf(settings).some((reference) => reference.kind === kind && isNamed(reference.selector, object));
