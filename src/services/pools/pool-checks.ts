import { isDeepStrictEqual } from "node:util";
import { missingReference, type Reference, referencesOf } from "../../domain/pool-references.ts";
import { sessionTooLong } from "../../domain/session-limit.ts";
import { AppError, type ErrorDetail, invalidInput } from "../../errors.ts";
import { type BrowserPool, type BrowserPoolSpec, browserPoolKind } from "../../resources/browser-pool.ts";
import { wireName } from "../../resources/identity.ts";
import { fetchOrganizationLimits } from "../projects/organization-limits.ts";
import { projectSessionLimit } from "../projects/project-limits.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Wanted = {
  spec: BrowserPoolSpec;
  project: Project;
  /** The pool before the change; undefined for a new pool. Unchanged values are not checked again. */
  before?: BrowserPool;
};

const sumOfSizes = (pools: BrowserPool[]): number => pools.reduce((sum, { spec }) => sum + spec.size, 0);

const limitDetails = async (
  { spec, project, before }: Wanted,
  others: BrowserPool[],
  { config, kube }: ServiceDeps,
): Promise<ErrorDetail[]> => {
  const { pooledSessions, fillRatePerMinute } = config.limits;
  const tooLong =
    spec.maxSessionSeconds === before?.spec.maxSessionSeconds
      ? undefined
      : sessionTooLong(spec, config.limits.sessionSeconds);
  const details: ErrorDetail[] = tooLong ? [tooLong] : [];
  if (spec.fillRatePerMinute > Math.max(fillRatePerMinute, before?.spec.fillRatePerMinute ?? 0))
    details.push({ path: "fill_rate_per_minute", message: `above the organization's cap of ${fillRatePerMinute}` });
  if (spec.size <= (before?.spec.size ?? 0)) return details;
  const total = sumOfSizes(others);
  if (total + spec.size > pooledSessions)
    details.push({
      path: "size",
      message: `with ${total} of other pools it exceeds the organization's limit of ${pooledSessions} pooled sessions`,
    });
  const { defaultProjectMaxConcurrentSessions } = await fetchOrganizationLimits({ kube, config });
  const cap = projectSessionLimit(project, defaultProjectMaxConcurrentSessions);
  const inProject = sumOfSizes(others.filter(({ metadata }) => metadata.namespace === project.namespace));
  if (cap !== undefined && inProject + spec.size > cap)
    details.push({
      path: "size",
      message: `with ${inProject} of other pools it exceeds the project's limit of ${cap} sessions`,
    });
  return details;
};

/** References that the spec did not have before, at any place in a list. */
const newReferences = ({ spec, before }: Wanted): Reference[] => {
  const known = before ? referencesOf(before.spec) : [];
  return referencesOf(spec).filter(
    ({ kind, selector }) => !known.some((old) => old.kind === kind && isDeepStrictEqual(old.selector, selector)),
  );
};

/**
 * Checks a pool's spec against the other pools and objects: limits (LIMIT-2), a free name, existing references. Throws
 * `bad_request` or `name_taken`. Two requests at once can both pass; then the operator refuses one of them.
 */
export const checkPool = async (wanted: Wanted, deps: ServiceDeps): Promise<void> => {
  const { items } = await deps.kube.list(browserPoolKind);
  const others = items.filter(
    ({ metadata }) => !metadata.deletionTimestamp && metadata.uid !== wanted.before?.metadata.uid,
  );
  const { name } = wanted.spec;
  const rival = others.find(
    (other) => other.metadata.namespace === wanted.project.namespace && name !== undefined && wireName(other) === name,
  );
  if (rival) throw new AppError("name_taken", `name: ${name} is the name of another browser pool of this project`);

  const details = [
    ...(await limitDetails(wanted, others, deps)),
    ...newReferences(wanted).map((reference) => ({ path: reference.path, message: missingReference(reference) })),
  ];
  if (details.length > 0) throw invalidInput(details);
};
