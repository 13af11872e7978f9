/**
 * A feature whose code an agent loads with the first call of it: most sessions make none, and what is loaded costs
 * memory in each pod.
 *
 *   first call ──► load ──► the feature begins with the lease that is held then
 *   lease begins, changes, ends ──► told to the feature, once it is loaded; a lease may need it without a call
 *
 * So with upgrades, by the first client.
 */
import type { BindLease } from "../protocol/agent-api.ts";
import type { CallHandler } from "./call-routes.ts";
import type { LeaseFollower } from "./lease-keeper.ts";
import type { ServeUpgrade } from "./upgrades.ts";

/** What carries the calls out. */
type Called = Partial<LeaseFollower> & { handlers: readonly CallHandler[] };

export type CalledFeature<Feature extends Called = Called> = LeaseFollower & {
  /** The first parts of the names of its calls, e.g. `fs` of `fs/read_file`. */
  names: readonly string[];
  load(): Promise<Feature>;
  /** Undefined until it is loaded. */
  loaded(): Feature | undefined;
};

/** Not loaded yet. `make`: imports the code, and runs once. `isNeeded`: tells of a lease whether it needs it uncalled. */
export const onFirstCall = <Feature extends Called>(
  names: readonly string[],
  make: () => Promise<Feature>,
  { isNeeded = () => false }: { isNeeded?(lease: BindLease): boolean } = {},
): CalledFeature<Feature> => {
  let lease: BindLease | undefined;
  let loading: Promise<Feature> | undefined;
  let feature: Feature | undefined;
  const begun = async (): Promise<Feature> => {
    feature = await make();
    if (lease) feature.begin?.(lease);
    return feature;
  };
  const load = (): Promise<Feature> => {
    loading ??= begun();
    return loading;
  };
  return {
    names,
    load,
    loaded: () => feature,
    begin(request) {
      lease = request;
      feature?.begin?.(request);
      // A call of it fails, too, when it can't be loaded.
      if (isNeeded(request)) load().catch(() => undefined);
    },
    end() {
      lease = undefined;
      feature?.end?.();
    },
    left: () => feature?.left?.(),
    changed: (...change) => feature?.changed?.(...change),
  };
};

/** `make`: imports the code, and runs once. */
export const onFirstClient = (make: () => Promise<ServeUpgrade>): ServeUpgrade => {
  let loading: Promise<ServeUpgrade> | undefined;
  return async (upgrade) => {
    loading ??= make();
    const serve = await loading;
    if (!upgrade.client.destroyed) await serve(upgrade);
  };
};
