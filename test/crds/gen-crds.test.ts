import { appendFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { generateCrds } from "../../scripts/gen-crds.ts";
import { kinds } from "../../src/cmd/features.ts";

const crd = "browserpool.dev_browserpools.yaml";
const all = kinds.map((kind) => `${kind.group}_${kind.plural}.yaml`).sort();

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "browserpool-gen-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("the committed CRDs match the schemas", async () => {
  await expect(generateCrds({ check: true })).resolves.toBeUndefined();
});

test("freshly generated CRDs are not stale", async () => {
  await generateCrds({ check: false, folder });
  expect((await readdir(folder)).sort()).toEqual(all);
  await expect(generateCrds({ check: true, folder })).resolves.toBeUndefined();
});

test("a CRD that is missing, changed or belongs to no kind is named, with the command that repairs it", async () => {
  const stale = `stale: crds/${crd}; run \`npm run gen\``;
  await expect(generateCrds({ check: true, folder })).rejects.toThrow(`crds/${crd}`);
  await generateCrds({ check: false, folder });
  await appendFile(join(folder, crd), "# by hand\n");
  await expect(generateCrds({ check: true, folder })).rejects.toThrow(stale);
  await generateCrds({ check: false, folder });
  await writeFile(join(folder, "other.yaml"), "");
  await expect(generateCrds({ check: true, folder })).rejects.toThrow("stale: crds/other.yaml; run `npm run gen`");
});
