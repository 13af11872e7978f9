/** Mistakes in what a holder has beside its browser: files, hands and tools of pages. */
import type { KeptMistake } from "../mutation.ts";

export const besideMistakes: readonly KeptMistake[] = [
  {
    name: "folder-that-is-a-link",
    kind: "missing check",
    breaks: "a page that puts a link in the place of a folder leads a holder's call out of the session's files",
    file: "features/files/agent/session-folder.ts",
    find: "return await open(at, placeOnly | O_DIRECTORY | O_NOFOLLOW);",
    replace: "return await open(at, placeOnly | O_DIRECTORY);",
    foundBy: "test/features/files/agent/session-files.test.ts",
  },
  {
    name: "room-that-never-fills",
    kind: "lost update",
    breaks: "a holder writes as many bytes as the node has room for, and the pod is evicted with its browser",
    file: "features/files/agent/room.ts",
    find: "use.bytes += bytes;\n        if (use.bytes > limits.bytes)",
    replace: "if (use.bytes + bytes > limits.bytes)",
    foundBy: "test/features/files/agent/session-files.test.ts",
  },
  {
    name: "picture-before-the-look",
    kind: "missing check",
    breaks: "a screenshot by the holder's hands shows a password that a vault has typed into the page",
    file: "features/computer/agent/take-picture.ts",
    find: "if (!shownPages.hasFilled()) return true;",
    replace: "if (shownPages.hasFilled()) return true;",
    foundBy: "test/features/computer/agent/end.test.ts",
  },
  {
    name: "tool-of-the-page-before",
    kind: "stale input",
    breaks: "a reference to a tool of one page invokes the tool of the same name in the page that came after it",
    file: "features/webmcp/agent/webmcp.ts",
    find: "({ frameId, loaderId }) => frameId === ref.frameId && loaderId === ref.loaderId",
    replace: "({ frameId }) => frameId === ref.frameId",
    foundBy: "test/features/webmcp/agent/webmcp.test.ts",
  },
  {
    name: "feature-without-its-lease",
    kind: "wrong order",
    breaks: "the first call of each kind in a session is refused, as if the session were over",
    file: "core/agent/called-feature.ts",
    find: "    if (lease) feature.begin?.(lease);\n    return feature;",
    replace: "    return feature;",
    foundBy: "src/core/agent/called-feature.test.ts",
  },
];
