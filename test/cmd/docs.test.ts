/** docs/cluster-settings.md matches the code. */
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { checkPodTemplate } from "../../src/core/pools/pod/pod-template.ts";
import { checkProjectObjects } from "../../src/core/projects/project-objects.ts";
import { docExamples } from "../support/doc-examples.ts";

test("its examples are valid", () => {
  const [template = "", objects = ""] = docExamples("cluster-settings.md", "yaml");
  const [first] = parseAllDocuments(template).map((document) => document.toJS() as unknown);
  expect(checkPodTemplate(first, "page").regions?.["eu-west"]).toBeDefined();
  const wanted = checkProjectObjects(
    parseAllDocuments(objects).map((document) => document.toJS() as unknown),
    "page",
  );
  expect(wanted.objects.map(({ kind }) => kind)).toEqual(["NetworkPolicy"]);
});
