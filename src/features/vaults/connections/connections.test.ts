import { expect, test, vi } from "vitest";
import { unavailable } from "../../../platform/base/errors.ts";
import { profileKind } from "../../profiles/profile.ts";
import { authConnectionKind } from "./auth-connection.ts";
import { withProfile } from "./connections.ts";

const spec = { profileName: "shop", domain: "shop.example" } as never;

const metadata = { name: "c", namespace: "a", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z" };

/** A new connection where there are these profiles and connections; `create` makes profiles. */
const connect = async (
  { profiles = [], connections = [] }: { profiles?: object[]; connections?: object[] },
  create: () => Promise<unknown> = async () => ({ metadata, spec: { name: "shop" } }),
) => {
  const made = vi.fn(create);
  const kube = {
    list: async (kind: unknown) => ({
      items: kind === authConnectionKind ? connections : kind === profileKind ? profiles : [],
    }),
    create: made,
  };
  const locks = { hold: (_name: string[], work: () => Promise<unknown>) => work() };
  const work = vi.fn(async () => "connected");
  const outcome = await withProfile(
    { spec, project: { namespace: "a" } as never },
    { kube, locks } as never,
    work,
  ).catch((error: unknown) => error);
  return { outcome, created: made.mock.calls.length, worked: work.mock.calls.length };
};

// CONNECTION-24
test("a connection is made with its profile, which is created if there is none, and not without it", async () => {
  expect(await connect({})).toMatchObject({ outcome: "connected", created: 1 });
  const known = { metadata, spec: { name: "shop" } };
  expect(await connect({ profiles: [known] })).toMatchObject({ outcome: "connected", created: 0 });
  const failed = await connect({}, () => Promise.reject(unavailable("the Kubernetes API")));
  expect(failed).toMatchObject({ outcome: { code: "unavailable" }, worked: 0 });
});

// CONNECTION-9
test("a profile has one connection for a domain", async () => {
  const rival = { metadata, spec: { profileName: "shop", domain: "Shop.example" } };
  expect(await connect({ connections: [rival] })).toMatchObject({
    outcome: { code: "conflict" },
    created: 0,
    worked: 0,
  });
});
