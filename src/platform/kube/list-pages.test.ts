import { expect, test } from "vitest";
import type { Calls } from "./calls.ts";
import { KubeError } from "./kube-error.ts";
import { listPages } from "./list-pages.ts";
import { pods } from "./resource-type.ts";

const expired = new KubeError("Expired", 410, "the provided continue parameter is too old");
const pod = (name: string) => ({ metadata: { name, namespace: "ns", uid: name, resourceVersion: "1" } });

/** Answers with the pages, one a call; an error is thrown. */
const answering = (pages: (string[] | Error)[]) => {
  const asked: unknown[] = [];
  const parsed = (async ({ query }: { query: { continue?: string } }) => {
    asked.push(query.continue);
    const page = pages.shift();
    if (page instanceof Error || !page) throw page;
    const metadata = { resourceVersion: "7", ...(page.at(-1) === "…" && { continue: "more" }) };
    return { items: page.filter((name) => name !== "…").map(pod), metadata };
  }) as unknown as Calls["parsed"];
  return { asked, parsed };
};

test("a list whose moment the API server has forgotten begins anew, and keeps nothing of the first attempt", async () => {
  const { asked, parsed } = answering([["gone", "…"], expired, ["a", "…"], ["b"]]);
  const { items, resourceVersion } = await listPages(pods, {}, parsed);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  expect(resourceVersion).toBe("7");
  expect(asked).toEqual([undefined, "more", undefined, "more"]);
});

test("a list that expires again and again, or fails otherwise, fails", async () => {
  const again = answering(Array.from({ length: 9 }, (_, n) => (n % 2 === 0 ? ["a", "…"] : expired)));
  await expect(listPages(pods, {}, again.parsed)).rejects.toBe(expired);
  expect(again.asked).toHaveLength(6);
  const broken = new KubeError("Unreachable", 0, "no answer");
  await expect(listPages(pods, {}, answering([["a", "…"], broken]).parsed)).rejects.toBe(broken);
});
