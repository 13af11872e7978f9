import { expect, test } from "vitest";
import { checkProjectObjects } from "./project-objects.ts";

const check = (...documents: unknown[]) => checkProjectObjects(documents, "objects.yaml");

const anObject = (metadata: object = { name: "x" }) => ({ apiVersion: "v1", kind: "ConfigMap", metadata });

test("labels of namespaces stand apart from objects, which keep their order and fields", () => {
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "quota" }, spec: { hard: { pods: "9" } } };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { labels: { level: "restricted" } } };
  expect(check(quota, namespace, anObject())).toEqual({
    namespaceLabels: { level: "restricted" },
    objects: [quota, anObject()],
  });
});

test.each([
  ["a namespace", anObject({ name: "x", namespace: "y" }), /document 2: metadata\.namespace: leave it out/],
  ["no name", anObject({}), /document 2: metadata\.name/],
  ["no kind", { ...anObject(), kind: undefined }, /document 2: kind/],
  ["a malformed version", { ...anObject(), apiVersion: "../x" }, /document 2: apiVersion: expected a version/],
  [
    "another mark of projects",
    { apiVersion: "v1", kind: "Namespace", metadata: { labels: { "browserpool.dev/project": "x" } } },
    /document 2: metadata\.labels: browserpool\.dev\/project/,
  ],
  [
    "a name for namespaces",
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "x", labels: {} } },
    /document 2: metadata: .*name/,
  ],
  ["no object", "text", /document 2: the document/],
])("a document with %s is refused by name", (_, document, message) => {
  expect(() => check(anObject(), document)).toThrow(message);
});
