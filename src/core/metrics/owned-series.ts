/**
 * A pool or a project that series belong to. `key`: a pool's uid or a project's id. `createdAt`: RFC 3339. `labels`: how
 * metrics name it.
 */
export type Owner<Labels> = { key: string; createdAt: string; labels: Labels };

/** Stands for all that have no labels of their own. No project and no pool has this name. */
export const other = "other";

/** How long the series of an owner that is gone stay, ms: so that the last values are scraped. */
const keptMs = 5 * 60_000;

/** The oldest keep their labels, so that a new one ends nobody's series. */
export const byAge = (a: Omit<Owner<unknown>, "labels">, b: Omit<Owner<unknown>, "labels">): number =>
  a.createdAt === b.createdAt ? (a.key < b.key ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;

/** A counter or a histogram of prom-client. */
export type Metric = { remove(labels: Record<string, string>): void };

type OwnedSeriesOptions<Labels> = {
  /** How many have labels of their own: the oldest. */
  most: number;
  /** Called at scrapes, and when something comes of an owner that it has not named before. */
  owners(): Owner<Labels>[];
  /** The labels of all others together. */
  others: Labels;
  nowMs?: () => number;
};

type OwnedSeries<Labels> = {
  /** The labels for what comes of this owner. */
  labelsOf(key: string): Labels;
  /** The keys of those that have labels of their own. */
  named(): string[];
  /** Notes that a metric has a series with these labels for this owner: it goes some minutes after the owner. */
  note(key: string, metric: Metric, labels: Record<string, string>): void;
  /** Removes the series of owners that are gone or have other labels now. To be called at each scrape. */
  sweep(): void;
};

/** Keeps the labels of pools or projects bounded: a caller can make and delete any number of them. */
export const createOwnedSeries = <Labels extends Record<string, string>>({
  most,
  owners,
  others,
  nowMs = () => performance.now(),
}: OwnedSeriesOptions<Labels>): OwnedSeries<Labels> => {
  /** Of each owner that there is: its labels, if it has some of its own. */
  let present = new Map<string, Labels | undefined>();
  const series = new Map<string, Map<string, { metric: Metric; labels: Record<string, string> }>>();
  const goneSince = new Map<string, number>();
  const drop = (key: string): void => {
    for (const { metric, labels } of series.get(key)?.values() ?? []) metric.remove(labels);
    series.delete(key);
    goneSince.delete(key);
  };
  const look = (): void => {
    const sorted = owners().sort(byAge);
    present = new Map(sorted.map(({ key, labels }, index) => [key, index < most ? labels : undefined]));
  };
  const hasLeft = (key: string): boolean => {
    if (present.has(key)) {
      goneSince.delete(key);
      return false;
    }
    const since = goneSince.get(key) ?? nowMs();
    goneSince.set(key, since);
    return nowMs() - since >= keptMs;
  };
  /** Renamed, since the series was made. */
  const isRenamed = (key: string): boolean => {
    const now = present.get(key);
    const [made] = series.get(key)?.values() ?? [];
    return (
      now !== undefined &&
      made !== undefined &&
      Object.entries(now).some(([name, value]) => made.labels[name] !== value)
    );
  };
  return {
    labelsOf(key) {
      if (!present.has(key)) look();
      return present.get(key) ?? others;
    },
    named: () => [...present].flatMap(([key, labels]) => (labels ? [key] : [])),
    note(key, metric, labels) {
      if (present.get(key) === undefined) return;
      const own = series.get(key) ?? new Map();
      series.set(key, own);
      const id = Object.values(labels).join("\n");
      if (!own.has(id)) own.set(id, { metric, labels });
    },
    sweep() {
      look();
      for (const key of [...series.keys()]) if (hasLeft(key) || isRenamed(key)) drop(key);
    },
  };
};
