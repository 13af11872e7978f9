/** Makes docs/openapi.json from the routes (src/cmd/features.ts). */
import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { routes } from "../src/cmd/features.ts";
import { openApiDocument } from "../src/core/http/openapi.ts";
import { generateFile, root } from "./generated-file.ts";

/** The JSON in the repository's format, because `npm run check` formats every file. */
const format = (json: string): string => {
  const biome = join(root, "node_modules", ".bin", "biome");
  const { status, stdout, stderr } = spawnSync(biome, ["format", "--stdin-file-path=docs/openapi.json"], {
    cwd: root,
    input: json,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`the OpenAPI document could not be formatted: ${stderr}`);
  return stdout;
};

/** Writes docs/openapi.json, or with `check` compares it. Returns what it wrote. Throws an Error when it is stale. */
export const generateOpenApi = async ({ check }: { check: boolean }): Promise<string> => {
  const docs = join(root, "docs");
  await mkdir(docs, { recursive: true });
  const text = format(JSON.stringify(openApiDocument(routes), null, 2));
  return generateFile(join(docs, "openapi.json"), text, { check });
};
