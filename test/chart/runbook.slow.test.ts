/** Every command of docs/runbook.md, by kubectl and an API server that has the objects of the chart. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { registeredMetrics } from "../../scripts/gen-metrics.ts";
import { root } from "../../scripts/generated-file.ts";
import { readConfig } from "../../src/core/config/config.ts";
import { type Cluster, startCluster, systemNamespace } from "./start-cluster.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const runbook = read("docs/runbook.md");

/** Code of the page: the indented lines, and what stands between backticks, on one line. */
const code = [
  ...[...runbook.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = ""]) => line),
  ...[...runbook.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text.replace(/\s+/g, " ")),
];

/** The calls of kubectl in it, without what follows them in a pipe. */
const calls = code.flatMap((line) => {
  const parts = line.replace(/\s#.*$/, "").split(/[;&|]/);
  return parts.map((part) => part.replace(/>\S+/g, "").trim()).filter((part) => /^kubectl \S+ \S/.test(part));
});

/** Kinds that BrowserpoolProjectObjectsNear may name. */
const plurals = Object.keys(readConfig().limits.objectsPerProject);

const commands = [...new Set(calls)].flatMap((call) => {
  const args = call
    .replace(/^kubectl /, "")
    .replace(/\bNS\b/g, systemNamespace)
    .replace(/\bPROJECT\b/g, "team")
    .replace(/\bNAME\b/g, "checkout");
  return /\bKIND\b/.test(args) ? plurals.map((plural) => args.replace(/\bKIND\b/, plural)) : [args];
});

/** Of a pod that no node runs. Anything else, such as an unknown flag or name, is a mistake of the page. */
const withoutNode = /does not have a host assigned|pod is not running|timed out waiting for the condition/;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  const podOf = ({ kind, metadata: { name }, spec = {} }: Cluster["workloads"][number]) => {
    const template = spec.template as { metadata: { labels: object }; spec: { containers: object[] } };
    const containers = template.spec.containers.map((container) => ({ ...container, volumeMounts: [] }));
    return {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: {
        name: kind === "StatefulSet" ? `${name}-0` : `${name}-x`,
        namespace: systemNamespace,
        labels: template.metadata.labels,
      },
      spec: { ...template.spec, volumes: [], containers },
    };
  };
  const pool = {
    ...{ apiVersion: "browserpool.dev/v1alpha1", kind: "BrowserPool" },
    ...{ metadata: { name: "checkout", namespace: "team" }, spec: { size: 1 } },
  };
  const { ok, text } = await cluster.kubectl("admin", "create -f -", [...cluster.workloads.map(podOf), pool]);
  expect(ok, text).toBe(true);
  const lease = {
    ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
    metadata: { name: "browserpool-operator", namespace: systemNamespace },
  };
  const made = await cluster.kubectl("operator", "create -f -", [lease]);
  expect(made.ok, made.text).toBe(true);
});
afterAll(() => cluster?.stop());

describe("commands", () => {
  test("are found on the page", () => {
    expect(commands.length).toBeGreaterThan(15);
  });

  test.each(commands)("kubectl %s", async (args) => {
    const needsNode = /^(logs|port-forward) /.test(args);
    const limited = args.startsWith("port-forward ") ? `${args} --pod-running-timeout=1s` : args;
    const { ok, text } = await cluster.kubectl("admin", limited);
    expect(ok || (needsNode && withoutNode.test(text)), text).toBe(true);
    const [selector] = / -l \S+/.exec(args) ?? [];
    if (selector) {
      const found = await cluster.kubectl("admin", `get pods -n ${systemNamespace}${selector} -o name`);
      expect(found.text).toMatch(/^pod\//);
    }
    if (args.startsWith("auth can-i ")) expect(text.trim()).toBe("yes");
  });

  test("of our own program have the options that it has", () => {
    const help = read("docs/cli.md");
    const own = code.filter((line) => line.startsWith("npx browserpool "));
    expect(own.length).toBeGreaterThan(0);
    for (const line of own)
      for (const [option] of line.replace(/#.*$/, "").matchAll(/--[\w-]+/g)) expect(help).toContain(`  ${option} `);
  });

  test("of the ops port name the port of its Service", () => {
    const rendered = read("manifests/install.yaml");
    for (const call of calls.filter((one) => one.startsWith("kubectl port-forward "))) {
      const [, service = "", port = ""] = /service\/(\S+) (\d+)/.exec(call) ?? [];
      const found = new RegExp(
        `kind: Service\\nmetadata:\\n  name: ${service}\\n(?:(?!---)[^])*?port: ${port}\\b`,
      ).exec(rendered);
      expect(found, `${service} ${port}`).not.toBeNull();
    }
  });
});

test("settings, values of the chart and metrics that the page names exist", async () => {
  const settings = [...runbook.matchAll(/BROWSERPOOL_[A-Z_]+/g)].map(([name]) => name);
  const table = read("docs/configuration.md");
  expect(settings.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
  const values = parse(read("charts/browserpool/values.yaml")) as Record<string, unknown>;
  const top = Object.keys(values);
  const paths = code.filter(
    (text) => /^[a-z]\w+(\.[a-zA-Z]\w*)+$/.test(text) && top.includes(text.split(".")[0] ?? ""),
  );
  const missing = paths.filter((path) => {
    let at: unknown = values;
    for (const name of path.split(".")) {
      // An object that is empty by default takes any field that its schema names.
      if (typeof at === "object" && at !== null && Object.keys(at).length === 0) return false;
      at = (at as Record<string, unknown> | undefined)?.[name];
    }
    return at === undefined;
  });
  expect(paths.length).toBeGreaterThan(5);
  expect(missing).toEqual([]);
  const { api, operator } = await registeredMetrics();
  const names = [...api, ...operator].map(({ name }) => name);
  const metrics = [...runbook.matchAll(/\bbrowserpool_\w+/g)].map(([name]) => name);
  expect(metrics.filter((name) => !names.includes(name))).toEqual([]);
});
