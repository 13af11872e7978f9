/** The objects that settings of pools and browsers refer to, as the API server has them now. */

import { AppError, invalidInput } from "../../platform/base/errors.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import { fromWire, type Wire } from "../../platform/kinds/wire.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { wireProblems } from "../../platform/rules/problem.ts";
import { type LeaseStore, parseLease } from "../leases/lease-store.ts";
import { requestOf } from "../leases/records.ts";
import { BrowserSpec, browserKind, isOver } from "../model/browsers/browser.ts";
import { BrowserPoolSpec, browserPoolKind } from "../model/pools/browser-pool.ts";
import {
  type Referable,
  type Reference,
  type ReferencedKind,
  type ReferencedObjects,
  referencedKinds,
  referenceProblems,
  referencesOf,
  refersTo,
} from "../model/settings/references.ts";
import { Telemetry } from "../model/settings/telemetry.ts";
import { fetchObject, fetchObjects } from "./fetch-object.ts";

type Deps = { kube: Kube };
type LeaseDeps = { kube: Kube; store: LeaseStore };
type Place = { namespace: string };

/** The settings of pools, and the settings that only browsers have: for the paths of both. */
const Settings = BrowserPoolSpec.extend({ vaults: BrowserSpec.shape.vaults });

const fetchKind = async (
  kind: ReferencedKind,
  references: Reference[],
  project: Place,
  deps: Deps,
): Promise<Referable[]> => {
  const type = referencedKinds[kind];
  const ids = references.flatMap(({ selector }) => selector.id ?? []);
  if (ids.length < references.length) return fetchObjects(type, project, deps);
  const found = await Promise.all([...new Set(ids)].map((id) => fetchObject(type, { id, project }, deps)));
  return found.filter((object) => object !== undefined);
};

/** Fetches the objects that can be meant: by their ids, and all of a kind when one of it is named. */
export const fetchReferenced = async (
  references: Reference[],
  project: Place,
  deps: Deps,
): Promise<ReferencedObjects> => {
  const kinds = [...new Set(references.map(({ kind }) => kind))];
  const objects = kinds.map(async (kind) => {
    const ofKind = references.filter((reference) => reference.kind === kind);
    return [kind, await fetchKind(kind, ofKind, project, deps)] as const;
  });
  return Object.fromEntries(await Promise.all(objects));
};

/**
 * Throws `bad_request` for a name that several objects have, and `not_found` for references that name nothing; both
 * name the field and what it asks for.
 */
export const requireReferences = async (references: Reference[], project: Place, deps: Deps): Promise<void> => {
  const problems = referenceProblems(references, await fetchReferenced(references, project, deps));
  const ambiguous = problems.filter(({ is }) => is === "ambiguous");
  if (ambiguous.length > 0) throw invalidInput(wireProblems(Settings, ambiguous));
  if (problems.length === 0) return;
  const details = wireProblems(Settings, problems);
  const message = details.map((detail) => `${detail.path}: ${detail.message}`).join("; ");
  throw new AppError("not_found", message, { details });
};

type Wanted = { kind: ReferencedKind; object: Referable };

/** The session whose holder has given the object to its running browser, by name or id. */
const holderOf = async (
  owners: { metadata: { uid: string } }[],
  wanted: Wanted,
  { store }: LeaseDeps,
): Promise<string | undefined> => {
  const texts = await Promise.all(owners.map(({ metadata }) => store.leaseTexts(metadata.uid)));
  for (const text of texts.flat()) {
    const { session, request } = parseLease(text);
    const { name = session, changed, telemetry } = requestOf({ request });
    const { profile, proxy_id: proxyId } = changed ?? {};
    const settings = {
      ...(profile?.id && { profile: { id: profile.id } }),
      ...(proxyId && { proxyId }),
      // The acquire has checked them.
      ...(telemetry ? { telemetry: fromWire(Telemetry, telemetry as Wire<Telemetry>) } : {}),
    };
    if (refersTo(settings, wanted)) return name;
  }
  return undefined;
};

/**
 * Throws `conflict` when a pool, or a browser that has not ended, refers to the object. `what`: its kind, for people.
 */
export const requireUnused = async (
  { kind, object, what }: Wanted & { what: string },
  project: Place,
  deps: LeaseDeps,
): Promise<void> => {
  const [pools, browsers] = await Promise.all([
    fetchObjects(browserPoolKind, project, deps),
    fetchObjects(browserKind, project, deps),
  ]);
  const pool = pools.find(({ spec }) => refersTo(spec, { kind, object }));
  const browser = browsers.find((each) => !isOver(each) && refersTo(each.spec, { kind, object }));
  const holder = browser
    ? (wireName(browser) ?? browser.metadata.name)
    : await holderOf([...pools, ...browsers.filter((each) => !isOver(each))], { kind, object }, deps);
  const user = pool ? `the browser pool ${wireName(pool) ?? pool.metadata.name}` : holder && `the browser ${holder}`;
  const change = pool ? "change or delete that first" : "end that first";
  if (user)
    throw new AppError(
      "conflict",
      `the ${what} ${wireName(object) ?? object.metadata.name} is in use by ${user}; ${change}`,
    );
};

/** The references of `after` that `before` does not have, at any place of a list. */
export const newReferences = (
  after: Parameters<typeof referencesOf>[0],
  before: Parameters<typeof referencesOf>[0] = {},
): Reference[] => {
  const known = referencesOf(before);
  return referencesOf(after).filter(
    ({ kind, selector }) =>
      !known.some((old) => old.kind === kind && old.selector.id === selector.id && old.selector.name === selector.name),
  );
};
