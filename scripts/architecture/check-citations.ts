import { posix } from "node:path";
import { type CitedText, citedTexts } from "./cited-texts.ts";
import { lineAt } from "./parse-source.ts";
import { foldersOf } from "./repository.ts";
import type { SourceTree, Violation } from "./source-tree.ts";

/** Tests of the checks: their small trees name files that do not exist. */
const examples = /^scripts\/(architecture\.test\.ts|architecture\/[^/]+\.test\.ts)$/;

/** `ends`: ends of the paths of files that a remark in src/ may mean, and of those that one in test/ may mean. */
type Repository = {
  files: ReadonlySet<string>;
  folders: ReadonlySet<string>;
  ends: { src: ReadonlySet<string>; test: ReadonlySet<string> };
};

/** Ends of paths: `plan/plan.ts`, `plan/plan` and `plan.ts` for `src/core/pools/plan/plan.ts`, and for its folders. */
const endsOf = (file: string): string[] => {
  const parts = file.split("/");
  const ends = parts.map((_, index) => parts.slice(index).join("/"));
  const folders = parts.slice(0, -1).map((_, index) => parts.slice(index, -1).join("/"));
  return [...ends, ...ends.map((end) => end.replace(/\.\w+$/, "")), ...folders];
};

/** Whether a name, or the end of a path, is that of some file around: in src/ one of src/, in test/ one of any code. */
const isNameAround = (cited: string, file: string, { ends }: Repository): boolean =>
  (file.startsWith("src/") && ends.src.has(cited)) || (file.startsWith("test/") && ends.test.has(cited));

const exists = (path: string, { files, folders }: Repository): boolean => {
  const plain = posix.normalize(path).replace(/\/$/, "");
  return files.has(plain) || folders.has(plain) || plain === ".";
};

/** Whether a path is there beside the citing file, from the root, or in docs. */
const isThere = (cited: string, file: string, repository: Repository): boolean =>
  [posix.join(posix.dirname(file), cited), cited, `docs/${cited}`].some((path) => exists(path, repository));

const isThereOrAround = (cited: string, file: string, repository: Repository): boolean =>
  isThere(cited, file, repository) || isNameAround(cited, file, repository);

/** Whether there is a decision of this number, `0004`. */
const isDecision = (number: string, { files }: Repository): boolean =>
  [...files].some((known) => known.startsWith(`docs/adr/${number}-`));

/** One way to cite. `isRight`: whether what it names is there. */
type Citation = {
  pattern: RegExp;
  /** Left out: in remarks only. */
  inStrings?: true;
  /** Left out: in every file. */
  inFiles?: RegExp;
  isRight(cited: string, file: string, repository: Repository): boolean;
};

const citations: readonly Citation[] = [
  // vault.md, docs/vault.md, ../README.md
  { pattern: /(?<![\w/.*-])(?:[\w.-]+\/)*[\w-]+\.md\b/g, inStrings: true, isRight: isThere },
  // docs/adr/0004-own-kubernetes-client.md, docs/adr/0004, docs/adr
  {
    pattern: /(?<![\w/.*-])docs\/[\w./-]*\w/g,
    inStrings: true,
    isRight: (cited, file, repository) =>
      isThere(cited, file, repository) || (/^docs\/adr\/\d{4}$/.test(cited) && isDecision(cited.slice(-4), repository)),
  },
  // ADR 0004
  {
    pattern: /\bADR \d{4}\b/g,
    inStrings: true,
    isRight: (cited, _file, repository) => isDecision(cited.slice(-4), repository),
  },
  // (0004), as decisions name each other
  {
    pattern: /\(0\d{3}\)/g,
    inFiles: /^docs\/adr\//,
    isRight: (cited, _file, repository) => isDecision(cited.slice(1, -1), repository),
  },
  // src/platform/kube/client.ts, test/support
  {
    pattern: /(?<![\w/.*@-])(?:src|scripts|test|bench|charts|manifests|crds)\/[\w./-]*\w(?![\w*{<…-])/g,
    isRight: isThereOrAround,
  },
  // plan.ts, includes/notify.lua
  {
    pattern: /(?<![\w/.*@-])(?:[a-z][\w-]*\/)*[a-z][\w-]*\.(?:ts|mjs|lua)\b/g,
    inFiles: /^(src|test)\//,
    isRight: isThereOrAround,
  },
  // (features/sites), (archive/limits)
  {
    pattern: /\((?:[a-z][\w-]*\/)+[a-z][\w-]*\)/g,
    inFiles: /^(src|test)\//,
    isRight: (cited, file, repository) => isThereOrAround(cited.slice(1, -1), file, repository),
  },
];

/** Blanks out URLs: they end in what looks like our files. */
const withoutAddresses = (text: string): string =>
  text.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s)>"'`]*/g, (address) => " ".repeat(address.length));

const dangling = (file: string, { kind, text }: CitedText, repository: Repository): { cited: string; at: number }[] => {
  const plain = withoutAddresses(text);
  return citations
    .filter(({ inStrings, inFiles = /^/ }) => (kind === "remark" || inStrings) && inFiles.test(file))
    .flatMap(({ pattern, isRight }) =>
      [...plain.matchAll(pattern)]
        .map(({ 0: cited, index }) => ({ cited, at: index }))
        .filter(({ cited }) => !isRight(cited, file, repository)),
    );
};

/** Citations of documents, files and decisions that the repository does not have. `tree`: all of it. */
export const checkCitations = (tree: SourceTree): Violation[] => {
  const files = new Set(tree.keys());
  const endsIn = (folders: RegExp): Set<string> =>
    new Set([...files].filter((file) => folders.test(file)).flatMap(endsOf));
  const ends = { src: endsIn(/^src\//), test: endsIn(/^(src|test|scripts|bench)\//) };
  const repository = { files, folders: foldersOf(files), ends };
  return [...tree]
    .filter(([file]) => !examples.test(file))
    .flatMap(([file, text]) =>
      citedTexts(file, text).flatMap((piece) => {
        const places = dangling(file, piece, repository).map(
          ({ cited, at }) => `${file}:${lineAt(text, piece.start + at)} cites ${cited}, which is not there`,
        );
        return [...new Set(places)];
      }),
    );
};
