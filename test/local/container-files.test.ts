/** What Docker is given for containers of local mode, compared with what the chart gives browsers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../setup/sandbox.ts";

type Rule = { names: string[]; action: string; args?: object[] };

const rulesOf = (path: string): Rule[] =>
  (JSON.parse(readFileSync(join(repository, path), "utf8")) as { syscalls: Rule[] }).syscalls;

test("the seccomp profile is that of browsers in a cluster, and allows what bubblewrap needs, nothing else", () => {
  const inCluster = rulesOf("charts/browserpool/files/seccomp/chromium.json");
  // Chromium's sandbox takes some namespaces; bubblewrap takes all kinds, and mounts in them.
  const expected = inCluster.map((rule) =>
    rule.names.join() === "clone,unshare" ? { names: rule.names, action: rule.action } : rule,
  );
  expected.push({ names: ["mount", "pivot_root", "umount2"], action: "SCMP_ACT_ALLOW" });
  expect(rulesOf(".devcontainer/seccomp.json")).toEqual(expected);
});
