/** An installation whose logins have browsers with a display. */
import { connect } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalStack, startLocalStack } from "../../../support/local-stack.ts";
import { type LoginPages, startLoginPages } from "./login-pages.ts";
import { loginsAt } from "./own-login-parts.ts";

let stack: LocalStack;
let site: LoginPages;
beforeAll(async () => {
  stack = await startLocalStack({ env: { BROWSERPOOL_LOGIN_BROWSERS: "headful" } });
  site = await startLoginPages();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

// LOGIN-24
test("a person finds a whole browser, does what is needed in it, and the login goes on", async () => {
  const logins = loginsAt((method, path, body) => stack.call(method, path, body), site);
  const login = await logins.begin("captcha");
  const state = await login.settled();
  expect(state).toMatchObject({
    flow_step: "AWAITING_EXTERNAL_ACTION",
    live_view_url: expect.stringContaining("/live?jwt="),
  });
  const { headless, cdp_ws_url } = await logins.call("GET", `/browsers/${state.browser_session_id}`);
  expect(headless).toBe(false);
  const browser = await connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null });
  expect(await browser.userAgent()).not.toContain("Headless");
  const page = (await browser.pages()).find((one) => one.url().includes("captcha"));
  await page?.click(".g-recaptcha");
  await page?.click("button");
  await browser.disconnect();
  expect(await login.over()).toMatchObject({ flow_status: "SUCCESS", status: "AUTHENTICATED" });
});
