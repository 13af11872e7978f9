import { expect, test } from "vitest";
import type { ServiceDeps } from "../../../cmd/service-deps.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { fetchBrowser } from "./attached-browser.ts";

const project = { id: "p", namespace: "project" } as Project;
const session = "session-of-the-browser";
/** An on-demand browser whose session has the name `checkout`. */
const deps = {
  browsers: {
    get: ({ name }: { name: string }) => (name === session ? { metadata: { uid: "uid" } } : undefined),
    list: () => [],
  },
  pools: { list: () => [] },
  names: {
    find: async (_project: string, name: string) => (name === "checkout" ? { poolUid: "uid", session } : undefined),
  },
  store: { lease: async (uid: string, of: string) => (uid === "uid" && of === session ? { session } : undefined) },
} as unknown as ServiceDeps;

// FILL-2
test("a fill's browser is named by its session's id; a name is refused, because another session can have it soon", async () => {
  expect(await fetchBrowser(session, project, deps)).toEqual({ session });
  await expect(fetchBrowser("checkout", project, deps)).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("browser_id is the session_id"),
  });
});
