/** The files and folders of an archive as a tree, in which no two nodes can be taken for each other on any file system. */
import { ArchiveRefused } from "./archive-refused.ts";
import type { EntryName } from "./entry-name.ts";
import { maxNodes } from "./limits.ts";

type Node = {
  /** As the first entry spells it. */
  segment: string;
  isFolder: boolean;
  /** Whether an entry of its own names it; a folder may only be implied. */
  isNamed: boolean;
  children: Map<string, Node>;
};

/** Equal for names that some file system takes for one: in any case, composed or not, ß or ss, full or half width. */
const foldedName = (segment: string): string => segment.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKC");

type NameTree = {
  /** Adds an entry and the folders that its name implies. Throws `ArchiveRefused` when the archive can't have it too. */
  add(name: EntryName): void;
};

/** Counts all nodes, so a few deep names can't imply more folders than an archive may have files. */
export const createNameTree = (): NameTree => {
  const root: Node = { segment: "", isFolder: true, isNamed: true, children: new Map() };
  let nodes = 0;

  const childOf = (parent: Node, segment: string, isFolder: boolean, entry: string): Node => {
    const key = foldedName(segment);
    const known = parent.children.get(key);
    if (known && known.segment !== segment)
      throw new ArchiveRefused("name_collision", `another name differs only in case or spelling: ${known.segment}`, {
        entry,
      });
    if (known && known.isFolder !== isFolder)
      throw new ArchiveRefused("folder_or_file", "the archive has it as a file and as a folder", { entry });
    if (known) return known;
    nodes += 1;
    if (nodes > maxNodes)
      throw new ArchiveRefused("too_many_files", `the archive has more than ${maxNodes} files and folders`, { entry });
    const node = { segment, isFolder, isNamed: false, children: new Map() };
    parent.children.set(key, node);
    return node;
  };

  return {
    add({ path, segments, isFolder }) {
      let node = root;
      for (const [index, segment] of segments.entries()) {
        const isLast = index === segments.length - 1;
        node = childOf(node, segment, isLast ? isFolder : true, path);
      }
      if (node.isNamed) throw new ArchiveRefused("name_collision", "the archive has this name twice", { entry: path });
      node.isNamed = true;
    },
  };
};
