import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Sensitive } from "../base/sensitive.ts";
import { open, readSecretsKeys, seal } from "./sealing.ts";

const folder = mkdtempSync(join(tmpdir(), "browserpool-key-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const keyFile = (text: string): string => {
  files += 1;
  const file = join(folder, `keys-${files}`);
  writeFileSync(file, text);
  return file;
};
const newKey = (): string => randomBytes(32).toString("base64");

const place = { namespace: "ns", name: "secret", entry: "password" };
const value = "s3cret-canary-ü";
const sealed = (keys = readSecretsKeys(keyFile(newKey()))) => ({ keys, text: seal(new Sensitive(value), keys, place) });

describe("a sealed value", () => {
  test("opens with its key, and tells nothing without it", () => {
    const { keys, text } = sealed();
    expect(text).toMatch(/^bp-sealed:v1:[0-9a-f]{8}:[\w-]+$/);
    expect(Buffer.from(text.split(":").at(-1) ?? "", "base64url").toString("latin1")).not.toContain("canary");
    expect(open(text, keys, place).reveal()).toBe(value);
  });

  test("is another text each time", () => {
    const { keys, text } = sealed();
    expect(seal(new Sensitive(value), keys, place)).not.toBe(text);
  });

  test.each([{ namespace: "other" }, { name: "other" }, { entry: "other" }])("does not open at %j", (elsewhere) => {
    const { keys, text } = sealed();
    expect(() => open(text, keys, { ...place, ...elsewhere })).toThrow("copied from another place");
  });

  test("does not open when it was changed or cut", () => {
    const { keys, text } = sealed();
    const last = text.at(-2) === "A" ? "B" : "A";
    for (const wrong of [`${text.slice(0, -2)}${last}${text.at(-1)}`, text.slice(0, -9), text.slice(0, 22)])
      expect(() => open(wrong, keys, place)).toThrow(/can't be read/);
  });

  test("opens after its key was replaced, as long as that is in the file", () => {
    const [old, young] = [newKey(), newKey()];
    const { text } = sealed(readSecretsKeys(keyFile(old)));
    const rotated = readSecretsKeys(keyFile(`${young}\n${old}\n`));
    expect(open(text, rotated, place).reveal()).toBe(value);
    const again = seal(new Sensitive(value), rotated, place);
    expect(() => open(again, readSecretsKeys(keyFile(old)), place)).toThrow("BROWSERPOOL_SECRETS_KEY_FILE");
    expect(open(again, readSecretsKeys(keyFile(young)), place).reveal()).toBe(value);
  });
});

test("without a key a value is stored as it is, and goes on to be read when there is one", () => {
  const { keys } = sealed();
  expect(seal(new Sensitive(value), [], place)).toBe(value);
  expect(open(value, keys, place).reveal()).toBe(value);
});

describe("a key file is refused, with the line and without its content", () => {
  test.each([
    ["", "holds no key"],
    ["canary", "line 1"],
    [randomBytes(31).toString("base64"), "line 1"],
    [`${newKey()}\n\ncanary`, "line 3"],
    [newKey().slice(0, -1), "line 1"],
  ])("%#", (text, message) => {
    const read = () => readSecretsKeys(keyFile(text));
    expect(read).toThrow(message);
    expect(read).not.toThrow("canary");
  });

  test("when there is none", () => expect(() => readSecretsKeys(join(folder, "none"))).toThrow("none"));
});
