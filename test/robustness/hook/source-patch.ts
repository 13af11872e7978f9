/**
 * A change of the product's source in a test process: the text `find`, which must stand in the file exactly once,
 * becomes `replace`.
 */
export type SourcePatch = {
  /** A TypeScript file or a Lua script: its path below `src/`, or from wherever the user of the patch begins. */
  file: string;
  find: string;
  replace: string;
};

/** `text` of `file` with its patches; throws when one does not fit, so that none can rot unnoticed. */
export const applyPatches = (file: string, text: string, patches: readonly SourcePatch[]): string =>
  patches
    .filter((patch) => patch.file === file)
    .reduce((patched, { find, replace }) => {
      const places = patched.split(find).length - 1;
      if (places !== 1) throw new Error(`a patch of ${file} fits ${places} places instead of one: ${find}`);
      return patched.replace(find, () => replace);
    }, text);
