import { expect, test } from "vitest";
import { changesOf } from "./artifact-hub.ts";

test("each item of a version's notes is a change of its section's kind, on one line", () => {
  const notes =
    "### Added\n\n- One thing,\n  on two lines.\n- Another - thing.\n\n### Security\n\n- Chromium 2, after 1.";
  expect(changesOf(notes)).toEqual([
    { kind: "added", description: "One thing, on two lines." },
    { kind: "added", description: "Another - thing." },
    { kind: "security", description: "Chromium 2, after 1." },
  ]);
});

test("what users have to do says so, since Artifact Hub has no kind for it", () =>
  expect(changesOf("The second version.\n\n### Action required\n\n- Rename `a`.")).toEqual([
    { kind: "changed", description: "Action required: Rename `a`." },
  ]));
