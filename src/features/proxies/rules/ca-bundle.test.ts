import { expect, test } from "vitest";
import { testCertificates } from "../../../../test/support/test-certificates.ts";
import { parseCaBundle } from "./ca-bundle.ts";

const { authority, key, certificate } = testCertificates();

// PROXY-15
test("a bundle is its certificates, without what stands between them", () => {
  expect(parseCaBundle(authority)).toEqual({ ok: true, certificates: authority.trim() });
  const both = parseCaBundle(`# ours\n${authority}\nsubject=/CN=x\n${certificate}`);
  expect(both).toEqual({ ok: true, certificates: `${authority.trim()}\n${certificate.trim()}` });
});

// PROXY-15
test.each([
  ["nothing", "", "PEM form"],
  ["no certificate", "hello", "PEM form"],
  ["a private key", key, "nothing but certificates"],
  ["a private key behind a certificate", `${authority}${key}`, "nothing but certificates"],
  ["a half certificate", authority.slice(0, -40), "PEM form"],
  ["a half one behind a whole one", `${authority}${authority.slice(0, 300)}`, "PEM form"],
  ["a broken one", authority.replace(/\n[A-Za-z0-9+/]{20}/, "\nAAAAAAAAAAAAAAAAAAAA"), "number 1 can't be read"],
  [
    "a broken one behind a good one",
    `${authority}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    "number 2",
  ],
  ["more than 65536 characters", `${authority}${" ".repeat(65_537)}`, "65536 characters"],
])("%s is no bundle", (_what, text, problem) => {
  expect(parseCaBundle(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test("what was taken is taken again, however close its certificates are", () => {
  const first = parseCaBundle(`${authority.trim()}${certificate.trim()}`);
  expect(first.ok && parseCaBundle(first.certificates)).toEqual(first);
});

test("65536 characters are not too many", () => {
  expect(parseCaBundle(`${authority}${" ".repeat(65_536 - authority.length)}`).ok).toBe(true);
});
