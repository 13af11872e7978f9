import { expect, test } from "vitest";
import type { SeenFrame } from "../../fill/page-survey.ts";
import { ssoButtonsOf, ssoProviderOf, xpathOf } from "./sso-buttons.ts";

const frameOf = (texts: string[], origin = "https://shop.example"): SeenFrame => ({
  url: `${origin}/login`,
  origin,
  isLoading: false,
  isBusy: false,
  text: "",
  fields: [],
  pressables: texts.map((text) => ({ kind: "button", text, isDisabled: false, isChecked: false, group: 0 })),
  embeds: [],
});
const isAllowed = (origin: string): boolean => origin === "https://shop.example";

// LOGIN-22
test.each<[string, string | undefined]>([
  ["Continue with Google", "google"],
  ["Sign in with your Google account", "google"],
  ["Weiter mit Apple", "apple"],
  ["Mit Microsoft anmelden", "microsoft"],
  ["Se connecter avec Acme ID", "acme-id"],
  ["Microsoft", "microsoft"],
  ["Use single sign-on (SSO)", "sso"],
  ["Continue with email", undefined],
  ["Sign up with Google", undefined],
  ["Google Privacy Policy", undefined],
  ["Continue", undefined],
  ["Continue with ", undefined],
  ["Continue with a passkey", undefined],
  [`Continue with ${"x".repeat(90)}`, undefined],
])("%s leads to %s", (text, provider) => expect(ssoProviderOf(text)).toBe(provider));

// LOGIN-22
test("a page lists as many buttons as it likes: twenty are looked at, and none of a foreign frame", () => {
  const many = frameOf(Array.from({ length: 80 }, (_, index) => `Continue with Provider ${index}`));
  const all = ssoButtonsOf([many, many], isAllowed);
  expect(all).toHaveLength(20);
  expect(all[19]).toMatchObject({ provider: "provider-19", place: { frame: 0, index: 19 } });
  expect(ssoButtonsOf([frameOf(["Continue with Google"], "https://evil.example")], isAllowed)).toEqual([]);
});

test("an XPath has any text", () => {
  expect(xpathOf({ text: "Continue with Acme" })).toBe('//*[normalize-space()="Continue with Acme"]');
  expect(xpathOf({ text: 'with "Acme"' })).toBe("//*[normalize-space()='with \"Acme\"']");
  expect(xpathOf({ text: `"it's"` })).toBe(`//*[normalize-space()=concat("",'"',"it's",'"',"")]`);
});
