/** What is left of other lines when one project floods the audit stream of a real service. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { RecentLine } from "../../src/platform/audit/audit-line.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
beforeAll(async () => {
  stack = await startProject();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const linesOf = async (project: string): Promise<RecentLine[]> => {
  const answer = await stack.call("GET", `/org/audit?${new URLSearchParams({ project, limit: "100" })}`, undefined, {
    authorization: `Bearer ${stack.organization_key}`,
  });
  return RecentLine.array().parse(await answer.json());
};

// AUDIT-7
test("a flood in one project leaves the lines of others, and is counted", async () => {
  const { id: flooded } = await stack.kernel.projects.create({ name: `flooded ${newId()}` });
  const name = `quiet-${newId()}`;
  await stack.call("POST", "/vaults", { name });
  const send = async (): Promise<void> => {
    for (let index = 0; index < 150; index++)
      await stack.call("POST", "/vaults", { name: "same" }, { "x-kernel-project-id": flooded });
  };
  const counted = async (): Promise<boolean> => {
    await Promise.all(Array.from({ length: 8 }, send));
    return (await linesOf(flooded)).some((line) => "left_out" in line && line.project === flooded);
  };
  await eventually("the flood is counted", counted, 120_000);
  expect(await linesOf(stack.project)).toContainEqual(
    expect.objectContaining({ verb: "upsertVault", project: stack.project, result: "done" }),
  );
  expect(await (await fetch(`${stack.url}/metrics`)).text()).toMatch(
    /browserpool_audit_lines_missing_total\{reason="left_out"\} [1-9]/,
  );
}, 180_000);
