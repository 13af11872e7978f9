import { readYamlFile } from "../yaml-file.ts";
import { checkProjectObjects, type ProjectObjects } from "./project-objects.ts";

/** What a file says that every project has; undefined for no file. Throws an `Error` that names the file and the field. */
export const readProjectObjects = (file: string | undefined): ProjectObjects | undefined =>
  file === undefined ? undefined : checkProjectObjects(readYamlFile(file), file);
