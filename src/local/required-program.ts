import type { Programs } from "./locate-programs.mjs";

/** The path of a located program. When it is missing, throws an error that says how to get it. */
export const requiredProgram = (programs: Programs, name: keyof Programs): string => {
  const path = programs[name];
  if (!path) throw new Error(`${name} was not found: run \`npm run setup\`, which installs it or says how to`);
  return path;
};
