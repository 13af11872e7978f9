/**
 * What comes and goes by the thousand a second, such as open requests. A `Set` is not for that: V8 links each table that
 * a set has outgrown to its next one, so a dead table in the old generation keeps all later ones, and what was in them,
 * until that generation is collected.
 */
export type Bag<T> = {
  /** Returns what takes it out again. */
  add(item: T): () => void;
  /** What is in it now. */
  items(): T[];
  size(): number;
};

/** An empty bag. */
export const createBag = <T>(): Bag<T> => {
  const held: { item: T; at: number }[] = [];
  return {
    add(item) {
      const own = { item, at: held.length };
      held.push(own);
      return () => {
        if (held[own.at] !== own) return;
        const last = held.pop();
        if (!last || last === own) return;
        held[own.at] = last;
        last.at = own.at;
      };
    },
    items: () => held.map(({ item }) => item),
    size: () => held.length,
  };
};
