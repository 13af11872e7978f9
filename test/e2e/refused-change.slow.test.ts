/** `PATCH /browsers/{id_or_name}`: what it refuses, and that a refusal changes nothing. */
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { sdkRefusal } from "../support/refused-request.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let kernel: Kernel;
beforeAll(async () => {
  stack = await startProject();
  kernel = new Kernel({ baseURL: stack.url, apiKey: stack.api_key, maxRetries: 0 });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const fresh = (): string => `n-${newId()}`;

// BROWSER-27, HTTP-2
test.each<[string, object, string]>([
  ["viewport", { viewport: "large" }, "viewport"],
  ["viewport", { viewport: null }, "viewport"],
  ["viewport", { viewport: { width: 0, height: 600 } }, "viewport.width"],
  ["viewport", { viewport: { width: 800 } }, "viewport.height"],
  ["viewport", { viewport: { width: 800, height: 600, force: 1 } }, "viewport.force"],
  ["proxy_id", { proxy_id: 7 }, "proxy_id"],
  ["profile", { profile: "work" }, "profile"],
  ["profile", { profile: {} }, "profile"],
  ["profile", { profile: { id: "" } }, "profile"],
  ["profile", { profile: { id: "a", name: "b" } }, "profile"],
  ["profile.save_changes", { profile: { name: "a", save_changes: true } }, "profile.save_changes"],
  ["profile.save_changes", { profile: { name: "a", save_changes: "yes" } }, "profile.save_changes"],
  ["disable_default_proxy", { disable_default_proxy: "no" }, "disable_default_proxy"],
])("a change with a bad %s is 400, which names it: %j", async (_, body, path) => {
  const session = await kernel.browsers.create({ headless: true });
  const response = await stack.call("PATCH", `/browsers/${session.session_id}`, { name: fresh(), ...body });
  const error = (await response.json()) as { code: string; details: { path: string }[] };
  expect([response.status, error.code, error.details[0]?.path]).toEqual([400, "bad_request", path]);
  expect(await kernel.browsers.retrieve(session.session_id)).not.toHaveProperty("name");
  await kernel.browsers.deleteByID(session.session_id);
});

// BROWSER-26, HTTP-31, PROFILE-1, PROXY-1
test("a change names what is not there, and takes what holds as it is", async () => {
  const session = await kernel.browsers.create({ headless: true });
  const { session_id } = session;
  const missing = (text: string) => sdkRefusal(404, "not_found", text);
  await expect(kernel.browsers.update(session_id, { profile: { name: "nobody" } })).rejects.toMatchObject(
    missing("profile: no profile with name nobody"),
  );
  await expect(kernel.browsers.update(session_id, { proxy_id: "none" })).rejects.toMatchObject(
    missing("proxy_id: no proxy with id none"),
  );
  for (const disable_default_proxy of [true, false])
    expect(await kernel.browsers.update(session_id, { disable_default_proxy })).toMatchObject({ session_id });
  expect(await kernel.browsers.update(session_id, { proxy_id: "" })).not.toHaveProperty("proxy_id");
  expect(await kernel.browsers.update(session_id, { unknown: 1 } as never)).toMatchObject({ session_id });
  await kernel.browsers.deleteByID(session_id);
  await expect(kernel.browsers.update(session_id, { viewport: { width: 800, height: 600 } })).rejects.toMatchObject(
    missing("has ended"),
  );
});

// AUTH-11, PROFILE-14
test("a change of a key without profiles:use gives no profile, and one of another project finds no browser", async () => {
  const { name } = await kernel.profiles.create({ name: fresh() });
  const session = await kernel.browsers.create({ headless: true });
  const keyWith = async (body: object): Promise<Kernel> => {
    const { key } = (await (await stack.call("POST", "/org/api_keys", { name: fresh(), ...body })).json()) as {
      key: string;
    };
    return new Kernel({ baseURL: stack.url, apiKey: key, maxRetries: 0 });
  };
  const limited = await keyWith({ permissions: ["browsers:use", "pools:read"], project_id: stack.project });
  await expect(limited.browsers.update(session.session_id, { profile: { name: name ?? "" } })).rejects.toMatchObject({
    status: 403,
  });
  expect(await limited.browsers.update(session.session_id, { viewport: { width: 640, height: 480 } })).toMatchObject({
    viewport: { width: 640 },
  });
  const project = (await stack.kernel.projects.create({ name: fresh() })) as { id: string };
  const stranger = await keyWith({ project_id: project.id });
  await eventually("the stranger's key is known", () =>
    stranger.browsers.list().then(
      () => true,
      ({ status }: { status?: number }) => status !== 401 && undefined,
    ),
  );
  await expect(
    stranger.browsers.update(session.session_id, { viewport: { width: 800, height: 600 } }),
  ).rejects.toMatchObject({ status: 404 });
  await kernel.browsers.deleteByID(session.session_id);
});
