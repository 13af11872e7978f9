/** A login by single sign-on that somebody chooses: by the API, and at the hosted page. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { passwordOf } from "./login-pages.ts";
import { type OwnLoginParts, startOwnLoginParts } from "./own-login-parts.ts";

let parts: OwnLoginParts;
beforeAll(async () => {
  parts = await startOwnLoginParts();
});
afterAll(() => parts?.[Symbol.asyncDispose]());

const toAllowed = { connection: { allowed_domains: ["127.0.0.2"] } };
const label = "Continue with Acme ID";
const success = { flow_status: "SUCCESS", status: "AUTHENTICATED", sso_provider: "acme-id" };

// LOGIN-22
test("the buttons are listed, one is pressed, and the provider's login is stored as one of that provider", async () => {
  const login = await parts.begin("idp-ask", { ...toAllowed, isStored: false });
  const asked = await login.settled();
  const selector = `//*[normalize-space()="${label}"]`;
  expect(asked).toMatchObject({
    flow_step: "AWAITING_INPUT",
    choices: [{ id: "choice-1", label, type: "sso_provider", provider: "acme-id", observed_selector: selector }],
    pending_sso_buttons: [{ label, provider: "acme-id", selector }],
  });
  expect(asked).not.toHaveProperty("mfa_options");
  for (const [body, text] of [
    [{ sso_provider: "google" }, /400 .*sso_provider/],
    [{ sso_button_selector: "//button" }, /400 .*sso_button_selector/],
    [{ sso_provider: "acme-id", sso_button_selector: selector }, /400 .*sso_button_selector/],
    [{ sign_in_option_id: "a" }, /400 .*sign_in_option_id/],
  ] as const)
    await expect(login.submit(body)).rejects.toThrow(text);
  await login.submit({ sso_button_selector: selector });
  const there = await login.settled(asked.interaction_id);
  expect(there).toMatchObject({ sso_provider: "acme-id", fields: [{ id: "username" }, { id: "password" }] });
  const values = { username: "ann", password: passwordOf("idp-ask") };
  await login.submit({ interaction_id: there.interaction_id, field_values: values });
  expect(await login.over()).toMatchObject(success);
  const { credential } = await eventually("the login is stored", async () => {
    const state = await login.state();
    return state.credential && state;
  });
  expect(await parts.call("GET", `/credentials/${credential.name}`)).toMatchObject({
    value_keys: ["password", "username"],
    sso_provider: "acme-id",
  });
  parts.site.endSessions("idp-ask");
  const before = parts.site.sent.length;
  await login.login();
  expect(await login.over()).toMatchObject(success);
  expect(parts.site.sent.slice(before).map(({ path }) => path)).toEqual(["sso"]);
});

// LOGIN-22
test("a person chooses the button at the hosted page, also by its provider's name", async () => {
  const login = await parts.begin("idp-hosted", { ...toAllowed, begins: false });
  const { hosted_url } = await login.login();
  await login.settled();
  const [place = "", code = ""] = hosted_url.split("#");
  const entered = await fetch(place, { method: "POST", body: new URLSearchParams({ code }), redirect: "manual" });
  const cookie = (entered.headers.getSetCookie()[0] ?? "").split(";", 1)[0] ?? "";
  const form = `${place}/form`;
  const html = await (await fetch(form, { headers: { cookie } })).text();
  expect(html).toMatch(/<button name="choice" value="choice-1"><bdi>Continue with Acme ID<\/bdi>/);
  const hidden = (name: string) => html.match(new RegExp(`name="${name}" value="([^"]*)"`))?.[1] ?? "";
  const body = new URLSearchParams({ csrf: hidden("csrf"), interaction: hidden("interaction"), choice: "choice-1" });
  expect((await fetch(form, { method: "POST", headers: { cookie }, body, redirect: "manual" })).status).toBe(303);
  // The stored login is typed at the provider.
  expect(await login.over()).toMatchObject(success);
  expect(parts.site.sent.filter(({ kind }) => kind === "idp-hosted").map(({ path }) => path)).toEqual(["sso"]);
});
