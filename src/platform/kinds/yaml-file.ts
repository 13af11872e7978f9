/** YAML files that configure the operator. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

/**
 * Reads the documents of a file, without empty ones, as plain values. Throws an `Error` that names the file and the
 * line.
 */
export const readYamlFile = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(file, "utf8")).flatMap((document): unknown[] => {
    const [error] = document.errors;
    if (error) throw new Error(`${file}: ${error.message}`);
    return document.contents === null ? [] : [document.toJS()];
  });
