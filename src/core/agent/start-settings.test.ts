import { expect, test } from "vitest";
import { BrowserSetup } from "../protocol/browser-setup.ts";
import type { ArchiveFolder } from "./archive-folder.ts";
import { addedExtensions, hasOtherProfile, needsStart, type StartSettings, settingsAfter } from "./start-settings.ts";

const viewport = { width: 800, height: 600 };
const none = { has: () => false } as unknown as ArchiveFolder;
const madeOf = (setup: object, more: Partial<StartSettings> = {}): StartSettings => ({
  viewport,
  location: undefined,
  received: { setup: BrowserSetup.parse(setup), archive: () => expect.fail("no archive is asked for") },
  ...more,
});
const proxy = { id: "p", protocol: "http" as const, host: "proxy.example", port: 3128, bypass_hosts: [] };
const other = { ...proxy, id: "q" };
const location = { locale: "de-AT", timezone: "Europe/Vienna" };
const archive = { sha256: "0".repeat(64), bytes: 1 };
const withAuthority = (name: string) => ({ policy: { CACertificates: [name] } });

test.each<[string, StartSettings, StartSettings, boolean]>([
  ["nothing else", madeOf({ network: {} }), madeOf({ network: {} }), false],
  ["another viewport", madeOf({}), madeOf({}, { viewport: { width: 640, height: 480 } }), false],
  ["a wall", madeOf({}), madeOf({ network: {} }), true],
  [
    "a wall, without any setup before",
    { viewport, location: undefined, received: undefined },
    madeOf({ network: {} }),
    true,
  ],
  ["another proxy behind the wall", madeOf({ network: {} }), madeOf({ network: { proxies: [proxy] } }), false],
  ["no wall any more", madeOf({ network: {} }), madeOf({}), false],
  ["a profile", madeOf({}), madeOf({}, { loaded: { archive } }), true],
  ["the same profile", madeOf({}, { loaded: { archive } }), madeOf({}, { loaded: { archive } }), false],
  ["another place", madeOf({}), madeOf({}, { location }), true],
  ["the same place", madeOf({}, { location }), madeOf({}, { location }), false],
  ["another authority", madeOf(withAuthority("one")), madeOf(withAuthority("two")), true],
  ["the same authority", madeOf(withAuthority("one")), madeOf(withAuthority("one")), false],
  ["no authority any more", madeOf(withAuthority("one")), madeOf({}), false],
])("Chromium starts anew for %s: %#", (_what, before, after, expected) => {
  expect(needsStart(before, after, { startedWith: before.received?.setup, isShell: false })).toBe(expected);
});

test("extensions come besides those that are there, and only the shell starts anew for them", () => {
  const [made, more] = [
    { id: "made", name: "made", ...archive },
    { id: "more", name: "more", ...archive },
  ];
  const before = madeOf({ extensions: [made] });
  const after = settingsAfter(before, { extensions: [more] }, none);
  expect(after.received?.setup.extensions).toEqual([made, more]);
  expect(addedExtensions(before, after)).toEqual([more]);
  expect(addedExtensions({ viewport, location: undefined, received: undefined }, after)).toEqual([made, more]);
  for (const isShell of [true, false]) {
    expect(needsStart(before, after, { startedWith: before.received?.setup, isShell })).toBe(isShell);
    expect(needsStart(after, after, { startedWith: before.received?.setup, isShell })).toBe(false);
  }
});

test("a proxy takes all traffic, and those of routes stay; without one the routes stay alone", () => {
  const routes = [{ hosts: ["*.example"], proxy: "q" }];
  const before = madeOf({ network: { allowed_hosts: ["a.example"], routes, proxies: [other, proxy], proxy: "p" } });
  const changed = settingsAfter(before, { proxy: { ...proxy, id: "r" } }, none).received?.setup.network;
  expect(changed).toEqual({
    allowed_hosts: ["a.example"],
    routes,
    proxies: [other, { ...proxy, id: "r" }],
    proxy: "r",
  });
  const without = settingsAfter(before, { proxy: null }, none).received?.setup.network;
  expect(without).toEqual({ allowed_hosts: ["a.example"], routes, proxies: [other] });
});

test("no proxy for a browser without a wall is no wall", () => {
  expect(settingsAfter(madeOf({}), { proxy: null }, none).received?.setup.network).toBeUndefined();
});

test("a profile is another one than that which is loaded or was given, and none is none", () => {
  const wanted = { profile: { archive } };
  expect(hasOtherProfile(madeOf({}), wanted)).toBe(false);
  expect(hasOtherProfile(madeOf({}, { loaded: { archive } }), wanted)).toBe(false);
  expect(hasOtherProfile(madeOf({}, { loaded: {} }), wanted)).toBe(true);
  expect(hasOtherProfile(madeOf({ profile: archive }), wanted)).toBe(true);
  expect(hasOtherProfile(madeOf({ profile: archive }), {})).toBe(false);
});
