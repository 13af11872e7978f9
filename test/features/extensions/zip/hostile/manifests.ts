import { writeZip } from "../../../../support/zip-writer.ts";
import { manifest } from "../extension-files.ts";
import { type Hostile, hostile } from "./hostile.ts";

/** No manifest, or one that Chromium does not take. */
export const manifests: Hostile[] = [
  hostile("no entries", "no_manifest", "manifest.json", () => writeZip([])),
  hostile("no manifest", "no_manifest", "manifest.json", () => writeZip([{ name: "a.js", content: "x" }])),
  hostile("a folder around everything", "no_manifest", '"sample/manifest.json"', () =>
    writeZip([{ ...manifest(), name: "sample/manifest.json" }]),
  ),
  hostile("a folder named like the manifest", "no_manifest", "manifest.json", () =>
    writeZip([{ name: "manifest.json/", method: 0 }]),
  ),
  ...(
    [
      ["no JSON", "{", "JSON"],
      ["a comma at the end", '{"manifest_version": 3, "name": "x", "version": "1",}', "JSON"],
      ["a comment without an end", '{"manifest_version": 3, "name": "x", "version": "1"} /* more', "JSON"],
      ["a comment within a word", '{"manifest_version": 3, "name": "x", "version": "1", "a": tr/**/ue}', "JSON"],
      ["a version of five numbers", '{"manifest_version": 3, "name": "x", "version": "1.2.3.4.5"}', "version"],
      ["a leading zero", '{"manifest_version": 3, "name": "x", "version": "01.2"}', "version"],
      ["a number of 33 bits", '{"manifest_version": 3, "name": "x", "version": "1.4294967296"}', "version"],
      ["a list", "[]", "manifest.json"],
      ["manifest_version 2", '{"manifest_version": 2, "name": "x", "version": "1"}', "manifest_version"],
      ["manifest_version 1", '{"manifest_version": 1, "name": "x", "version": "1"}', "manifest_version"],
      ["manifest_version as text", '{"manifest_version": "3", "name": "x", "version": "1"}', "manifest_version"],
      ["no name", '{"manifest_version": 3, "version": "1"}', "name"],
      ["a blank name", '{"manifest_version": 3, "name": " ", "version": "1"}', "name"],
      ["no version", '{"manifest_version": 3, "name": "x"}', "version"],
      ["a version that is a number", '{"manifest_version": 3, "name": "x", "version": 1}', "version"],
      ["a version that is no version", '{"manifest_version": 3, "name": "x", "version": "1.a"}', "version"],
      [
        "an icon whose size is no number, and can't be shown",
        '{"manifest_version": 3, "name": "x", "version": "1", "icons": {"\ufeff16": "i.png"}}',
        'icons["\\u{feff}16"]: the archive has no file "i.png"',
      ],
      [
        "an icon whose size has no end",
        `{"manifest_version": 3, "name": "x", "version": "1", "icons": {"${"1".repeat(5000)}": "i.png"}}`,
        `icons["${"1".repeat(100)}…"]: the archive`,
      ],
      ["nested too deeply", "[".repeat(500_000), "JSON"],
    ] as const
  ).map(([what, content, mentioned]) =>
    hostile(`a manifest: ${what}`, "bad_manifest", mentioned, () => writeZip([{ name: "manifest.json", content }])),
  ),
  hostile("a manifest above 1 MiB", "bad_manifest", "1048576", () =>
    writeZip([{ ...manifest({ description: Buffer.alloc(1_100_000, "ab c1").toString() }), method: 0 }]),
  ),
];
