import { expect, test } from "vitest";
import { quoted } from "./quoted.ts";

test.each([
  ["/data/a-b.c", "/data/a-b.c"],
  ["/my data/x", "'/my data/x'"],
  ["/it's", "'/it'\\''s'"],
])("a shell reads %s as it is, written %s", (text, written) => expect(quoted(text)).toBe(written));
