/** A version of Semantic Versioning without a suffix. */
export type Version = `${number}.${number}.${number}`;

const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** Throws an Error that names the text. */
export const readVersion = (text: string): Version => {
  if (!pattern.test(text)) throw new Error(`${text} is no version: give three numbers, e.g. 1.2.3`);
  return text as Version;
};

/** What commits ask for (conventionalcommits.org). A change that breaks something says so by `!` or `BREAKING CHANGE:`. */
export type Bump = "major" | "minor" | "patch";

const subject = /^(?<type>[a-z]+)(\([^)]+\))?(?<breaks>!)?: ./;
const breaks = /^BREAKING[ -]CHANGE: ./m;

/** `messages`: of the commits since the last release, whole. Undefined: none of them changes what users get. */
export const bumpOf = (messages: readonly string[]): Bump | undefined => {
  const found = messages.map((message) => subject.exec(message)?.groups);
  if (found.some((groups, index) => groups?.breaks || breaks.test(messages[index] ?? ""))) return "major";
  if (found.some((groups) => groups?.type === "feat")) return "minor";
  return found.some((groups) => groups?.type === "fix" || groups?.type === "perf") ? "patch" : undefined;
};

/** Below 1.0.0 a change that breaks something raises the minor version, as Semantic Versioning allows. */
export const nextVersion = (version: Version, bump: Bump): Version => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (bump === "patch") return `${major}.${minor}.${patch + 1}`;
  if (bump === "minor" || major === 0) return `${major}.${minor + 1}.0`;
  return `${major + 1}.0.0`;
};
