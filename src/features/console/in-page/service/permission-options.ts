import { permissionTexts } from "../../../../core/model/permission-texts.ts";

/** The permissions to choose from, each with what it allows. */
export const permissionOptions = (isOffered: (name: string) => boolean): { value: string; text: string }[] =>
  Object.entries(permissionTexts)
    .filter(([name]) => isOffered(name))
    .map(([value, text]) => ({ value, text }));
