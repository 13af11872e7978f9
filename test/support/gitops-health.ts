/** What GitOps tools say of objects, by the program of tools/gitops-health and by what examples/gitops gives these tools. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import type { KubeObject } from "../../src/platform/kube/objects.ts";

const folder = join(import.meta.dirname, "..", "..", "examples", "gitops");

/** The objects of a file of examples/gitops. */
export const exampleObjects = (file: string): KubeObject[] =>
  parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((document) => document.toJS({}) as KubeObject);

const Exprs = z.array(z.object({ apiVersion: z.string(), kind: z.string(), failed: z.string(), current: z.string() }));

/** The expressions of the example for Flux, one entry for each kind. */
export const fluxExpressions = (): z.infer<typeof Exprs> =>
  exampleObjects("flux.yaml").flatMap((object) => {
    const { spec } = z.looseObject({ spec: z.looseObject({ healthCheckExprs: Exprs.default([]) }) }).parse(object);
    return spec.healthCheckExprs;
  });

/** The script of the example for Argo CD. */
const argoScript = (): string => {
  const [config] = exampleObjects("argocd-cm.yaml");
  const { data } = z.looseObject({ data: z.object({ "resource.customizations": z.string() }) }).parse(config);
  return parse(data["resource.customizations"])["browserpool.dev/*"]["health.lua"];
};

/** What tools/gitops-health answers. */
const Answer = z.object({
  objects: z.array(
    z.object({
      kstatus: z.string(),
      flux: z.string().optional(),
      argo: z.string(),
      argoMessage: z.string().default(""),
    }),
  ),
});
type Health = z.infer<typeof Answer>["objects"][number];

/** Why tests with the program are left out on this machine, if they are; in CI it has to be there. */
export const withoutGitOpsHealth = (): string | undefined =>
  locatePrograms(process.env)["gitops-health"] || process.env.CI === "true"
    ? undefined
    : "gitops-health is missing: node scripts/setup.mjs --tests";

/** What kstatus, Flux and Argo CD say of each object, in their order; rejects when the program fails. */
export const gitOpsHealth = async (objects: readonly object[]): Promise<Health[]> => {
  const program = locatePrograms(process.env)["gitops-health"];
  if (!program) throw new Error("gitops-health is missing: node scripts/setup.mjs --tests");
  const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  child.stdin.on("error", () => undefined); // it has ended before it read everything, and its exit code says so
  child.stdin.end(JSON.stringify({ objects, expressions: fluxExpressions(), lua: argoScript() }));
  const [answer, [code]] = await Promise.all([text(child.stdout), exited]);
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return Answer.parse(JSON.parse(answer)).objects;
};
