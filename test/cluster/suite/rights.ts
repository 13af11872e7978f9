import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Lane, type Phase, projectNamespace, systemNamespace, trialsNamespace } from "../lane.ts";
import { until } from "./until.ts";

/** What each account may do; written by `UPDATE=1 npm run test:cluster -- --only rights`, and read by people. */
const tableFile = resolve(import.meta.dirname, "../rights.txt");

/** A namespace that is none of the release's. */
const foreign = "kube-system";

const accounts = [
  `${systemNamespace}:browserpool-api`,
  `${systemNamespace}:browserpool-operator`,
  `${projectNamespace}:default`,
];

type Right = { resource: string; names: string; verbs: string };

/** A row of `kubectl auth can-i --list`; columns hold no blanks but within brackets. */
const row = /^(\S*)\s+\[(.*?)\]\s+\[(.*?)\]\s+\[(.*?)\]$/;

/**
 * What Kubernetes itself gives to every account: to ask about itself and, of newer versions, to read the certificates
 * that a cluster trusts.
 */
const isEverybodys = ({ resource, verbs }: Right): boolean =>
  resource.startsWith("selfsubject") ||
  (resource === "clustertrustbundles.certificates.k8s.io" && !/create|update|patch|delete/.test(verbs));

const rightsIn = (text: string): Right[] =>
  text
    .split("\n")
    .map((line) => row.exec(line))
    .flatMap((match) => {
      const [, resource = "", , names = "", verbs = ""] = match ?? [];
      return resource === "" ? [] : { resource, names, verbs };
    })
    .filter((right) => !isEverybodys(right));

const lineOf = ({ resource, names, verbs }: Right): string =>
  `  ${[resource, ...(names ? [`(${names})`] : [])].join(" ")}: ${verbs.split(" ").toSorted().join(" ")}`;

const sectionOf = async (lane: Lane, account: string, namespace: string): Promise<string> => {
  const as = `system:serviceaccount:${account}`;
  const text = await lane.kubectl("auth", "can-i", "--list", "--as", as, "--namespace", namespace);
  const lines = rightsIn(text).map(lineOf).toSorted();
  return [`${account} in ${namespace}`, ...(lines.length > 0 ? lines : ["  nothing"])].join("\n");
};

/** The operator gives these in every project, a moment after it has begun. */
const whenBound = async ({ kubectl, signal }: Lane): Promise<void> => {
  const bindings = ["rolebindings", "browserpool-api", "browserpool-operator"];
  for (const namespace of [projectNamespace, trialsNamespace])
    await until(
      `the bindings of ${namespace} are there`,
      async () =>
        (await kubectl("get", ...bindings, "--namespace", namespace, "--ignore-not-found", "--output", "name"))
          .trim()
          .split("\n").length === 2,
      { signal },
    );
};

const tableOf = async (lane: Lane): Promise<string> => {
  const sections = [];
  for (const account of accounts)
    for (const namespace of [systemNamespace, projectNamespace, trialsNamespace, foreign])
      sections.push(await sectionOf(lane, account, namespace));
  return `${sections.join("\n\n")}\n`;
};

/** The lines that only one of two texts has. */
const differences = (expected: string, actual: string): string[] => {
  const [before, now] = [new Set(expected.split("\n")), new Set(actual.split("\n"))];
  return [
    ...[...before].filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...[...now].filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ];
};

export const rights: Phase = {
  name: "rights",
  summary: "kubectl auth can-i --list of every account, compared with a table that is checked in",
  async run(lane, check) {
    await check("every account may do what the table says, and nothing else", async () => {
      await whenBound(lane);
      const actual = await tableOf(lane);
      if (process.env.UPDATE) await writeFile(tableFile, actual);
      const expected = await readFile(tableFile, "utf8");
      if (actual !== expected)
        throw new Error([`test/cluster/rights.txt differs:`, ...differences(expected, actual)].join("\n"));
      return `${actual.split("\n").filter((line) => line.startsWith("  ")).length} rights of ${accounts.length} accounts`;
    });
    await check("no pod of browsers has a token", async () => {
      const text = await lane.kubectl(
        "get",
        "pods",
        "--namespace",
        projectNamespace,
        "--output",
        "jsonpath={..serviceAccountToken}",
      );
      if (text !== "") throw new Error(text);
    });
  },
};
