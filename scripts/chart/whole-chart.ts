/** What must hold for everything that the chart renders, whatever the templates are. */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseAllDocuments } from "yaml";
import { chartFolder, renderedChart } from "./render-chart.ts";

type Metadata = { name?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
type Rendered = { kind?: string; metadata?: Metadata } | null;

const everything = `--values=${join(chartFolder, "ci/everything-values.yaml")}`;

/** A user's objects are as the user writes them; a new password is new each time. */
const ownObjects = ["--set-json=extraObjects=[]", "--set=redis.existingSecret=redis"];

const objectsOf = async (...args: string[]): Promise<Rendered[]> =>
  parseAllDocuments(await renderedChart(everything, ...ownObjects, ...args))
    .map((document) => document.toJS() as Rendered)
    .filter((object) => object !== null);

/** Objects with the labels alone: other tools read them, and select them by label. */
const labelsAlone = /^(ServiceMonitor|PrometheusRule) |-dashboard$/;

const withoutMark = (marks: Record<string, string> = {}): object | undefined => {
  const { common: _, ...rest } = marks;
  return Object.keys(rest).length > 0 ? rest : undefined;
};

/** The object as it is without the mark in its own metadata. */
const unmarked = (object: Rendered): object =>
  JSON.parse(
    JSON.stringify({
      ...object,
      metadata: {
        ...object?.metadata,
        labels: withoutMark(object?.metadata?.labels),
        annotations: withoutMark(object?.metadata?.annotations),
      },
    }),
  ) as object;

/**
 * Throws an Error that names the objects that `commonLabels` and `commonAnnotations` don't reach, or in which they
 * change more than the metadata: a selector, a pod.
 */
export const checkCommonMetadata = async (): Promise<void> => {
  const plain = await objectsOf();
  const marked = await objectsOf("--set=commonLabels.common=mark,commonAnnotations.common=mark");
  const complaints = marked.flatMap((object, index) => {
    const { name = "", labels, annotations } = object?.metadata ?? {};
    const what = `${object?.kind} ${name}`;
    if (labels?.common !== "mark") return [`${what} does not have the labels of commonLabels`];
    if (annotations?.common !== "mark" && !labelsAlone.test(what))
      return [`${what} does not have the annotations of commonAnnotations`];
    return isDeepStrictEqual(unmarked(object), unmarked(plain[index] ?? null))
      ? []
      : [`commonLabels or commonAnnotations change more of ${what} than its metadata`];
  });
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
};

/** Throws an Error when the same values give other objects the second time: a tool would apply them for ever. */
export const checkSameTwice = async (): Promise<void> => {
  const [first, second] = await Promise.all([objectsOf(), objectsOf()]);
  const other = first?.filter((object, index) => !isDeepStrictEqual(object, second?.[index])) ?? [];
  if (other.length > 0 || first?.length !== second?.length)
    throw new Error(
      `rendered twice, these differ: ${other.map((it) => `${it?.kind} ${it?.metadata?.name}`).join(", ")}`,
    );
};
